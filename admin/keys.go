package admin

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/plural-go/plural/internal/auth"
	"github.com/plural-go/plural/internal/catalog"
	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/db/databases"
	"github.com/plural-go/plural/internal/keys"
	"github.com/plural-go/plural/internal/model"
)

// Key is an API key without its secret.
type Key struct {
	Prefix  string // what follows plural_ at its start
	Name    string // what it is for
	Role    string
	Subject string // auth.sub in rules

	// APIVersion is the version of the interface that requests with the key have, unless they have the header API-Version. 0: the newest.
	APIVersion int

	// AgentWrites lets agents with the key, which send requests by the Model Context Protocol, write what its role may write. Otherwise they
	// only read.
	AgentWrites bool

	Created time.Time
	Expires time.Time // zero: never
	Revoked time.Time // zero: not revoked
}

// CreateKey creates an API key in a database, which a server may be using. It uses Name,
// Role, Subject, APIVersion, AgentWrites and Expires of the key; the default Subject is the prefix. It returns the key
// itself, which is not stored.
func CreateKey(ctx context.Context, database string, key Key) (secret string, err error) {
	if key.Name == "" || key.Role == "" {
		return "", errors.New("an API key needs a name and a role")
	}
	for what, text := range map[string]string{"name": key.Name, "role": key.Role, "sub": key.Subject} {
		if !utf8.ValidString(text) || utf8.RuneCountInString(text) > maxKeyText || strings.ContainsFunc(text, unicode.IsControl) { // not legible in a list or a log
			return "", fmt.Errorf("the %s of an API key has at most %d characters, and no control characters", what, maxKeyText)
		}
	}
	if !key.Expires.IsZero() && !key.Expires.After(time.Now()) {
		return "", errors.New("the expiry of an API key must be in the future")
	}
	declared := auth.StoredKey{Name: key.Name, Role: key.Role, Subject: key.Subject, Version: key.APIVersion, AgentWrites: key.AgentWrites}
	if !key.Expires.IsZero() {
		declared.Expires = model.FormatTime(key.Expires)
	}
	stored, secret := auth.NewAPIKey(declared, time.Now())
	return secret, changeKeys(ctx, database, func(b db.Database, c db.Conn) error {
		if err := checkVersion(b, c, key.APIVersion); err != nil {
			return err
		}
		return keys.Add(c, stored)
	})
}

// checkVersion checks that servers of a database serve a version of the interface. 0: none is asked for.
func checkVersion(b db.Database, c db.Conn, number int) error {
	if number == 0 {
		return nil
	}
	_, known, err := readVersions(b, c)
	if err != nil {
		return err
	}
	found, served := servedVersion(known, number)
	switch {
	case found != nil:
		return nil
	case served == "":
		return errors.New("the schema of the database has no versions, so no API key can be for one")
	}
	return fmt.Errorf("an API key cannot be for version %d: the versions that the database can serve are %s", number, served)
}

// Keys lists the API keys of a database, the oldest first.
func Keys(ctx context.Context, database string) ([]Key, error) {
	var all []Key
	err := databases.Read(ctx, database, func(b db.Database, c db.Conn) error {
		if _, err := catalog.Require(c, b); err != nil {
			return err
		}
		stored, err := keys.All(c)
		for _, each := range stored {
			all = append(all, Key{
				Prefix: each.Prefix, Name: each.Name, Role: each.Role, Subject: each.Subject, APIVersion: each.Version, AgentWrites: each.AgentWrites,
				Created: timeOf(each.Created), Expires: timeOf(each.Expires), Revoked: timeOf(each.Revoked),
			})
		}
		return err
	})
	return all, err
}

// RevokeKey revokes an API key, at once and on every server. It accepts the prefix of the
// key or the whole key, and returns the prefix: the secret is in no error.
func RevokeKey(ctx context.Context, database, key string) (prefix string, err error) {
	prefix, ok := auth.PrefixOf(key)
	if !ok {
		return "", errors.New("nothing was revoked: this is not the prefix of an API key; \"plural keys list\" shows the prefixes")
	}
	err = changeKeys(ctx, database, func(_ db.Database, c db.Conn) error {
		revoked, err := keys.Revoke(c, prefix, model.FormatTime(time.Now()))
		if err == nil && revoked == nil {
			err = fmt.Errorf("there is no API key with the prefix %s", prefix)
		}
		return err
	})
	if err != nil {
		return "", fmt.Errorf("nothing was revoked: %w", err)
	}
	return prefix, nil
}

// changeKeys runs fn in a transaction on a database, whatever its schema.
func changeKeys(ctx context.Context, database string, fn func(db.Database, db.Conn) error) error {
	return databases.With(ctx, database, func(b db.Database) error {
		return db.Write(ctx, b, func(c db.Conn) error {
			if _, err := catalog.Require(c, b); err != nil {
				return err
			}
			return fn(b, c)
		})
	})
}

const maxKeyText = 255

// timeOf parses a stored time; an empty one is zero.
func timeOf(text string) time.Time {
	at, _ := time.Parse(time.RFC3339, text)
	return at
}
