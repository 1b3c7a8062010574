package store

import (
	"crypto/rand"
	"encoding/base64"
	"fmt"

	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/model"
)

const (
	secretKey   = "secret"
	secretBytes = 32
)

// Secret is known only to the servers of the database. They sign what clients
// send back with it.
func (s *Store) Secret() []byte { return s.secret }

// ensureSecret reads the secret of a database, or makes one.
func ensureSecret(c db.Conn) ([]byte, error) {
	text, err := db.ReadMeta(c, secretKey)
	if err != nil {
		return nil, err
	}
	if text == "" {
		secret := make([]byte, secretBytes)
		_, _ = rand.Read(secret) // it never fails
		_, err := c.Exec("INSERT INTO "+db.MetaTable+" (key, value) VALUES ($1, $2)", model.TextValue(secretKey), model.TextValue(base64.StdEncoding.EncodeToString(secret)))
		return secret, err
	}
	secret, err := base64.StdEncoding.DecodeString(text)
	if err == nil && len(secret) != secretBytes {
		err = fmt.Errorf("it has %d bytes", len(secret))
	}
	if err != nil {
		return nil, fmt.Errorf("the secret of the database cannot be used: %w", err)
	}
	return secret, nil
}
