package store

import (
	"context"
	"fmt"

	"github.com/plural-go/plural/internal/auth"
	"github.com/plural-go/plural/internal/catalog"
	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/db/databases"
	"github.com/plural-go/plural/internal/model"
)

const keyColumns = "prefix, hash, name, role, subject, at, expires, revoked"

func scanKey(row model.Row) auth.StoredKey {
	text := func(column int) string {
		if row.Null(column) {
			return ""
		}
		return row.Text(column)
	}
	return auth.StoredKey{Prefix: text(0), Hash: text(1), Name: text(2), Role: text(3), Subject: text(4), Created: text(5), Expires: text(6), Revoked: text(7)}
}

// APIKey returns the API key with a prefix, or nil.
func (s *Store) APIKey(ctx context.Context, prefix string) (key *auth.StoredKey, err error) {
	tx, err := s.ReadOne(ctx)
	if err != nil {
		return nil, err
	}
	defer tx.Close()
	key, err = findKey(tx.conn, prefix)
	return key, s.fault(ctx, err)
}

// AddAPIKey stores an API key.
func (s *Store) AddAPIKey(ctx context.Context, key auth.StoredKey) error {
	return s.Write(ctx, func(tx *Tx) error { return addKey(tx.conn, key) })
}

// APIKeys lists the API keys, the oldest first.
func (s *Store) APIKeys(ctx context.Context) (keys []auth.StoredKey, err error) {
	tx, err := s.ReadOne(ctx)
	if err != nil {
		return nil, err
	}
	defer tx.Close()
	keys, err = listKeys(tx.conn)
	return keys, s.fault(ctx, err)
}

// RevokeAPIKey revokes an API key, from now on and for every server. A key that is already revoked
// keeps its time. It returns the key, or nil if there is none.
func (s *Store) RevokeAPIKey(ctx context.Context, prefix, at string) (key *auth.StoredKey, err error) {
	err = s.Write(ctx, func(tx *Tx) error {
		key, err = revokeKey(tx.conn, prefix, at)
		return err
	})
	return key, err
}

// AddAPIKey stores an API key in a database. A server may be using it.
func AddAPIKey(ctx context.Context, url string, key auth.StoredKey) error {
	return withKeys(ctx, url, func(c db.Conn) error { return addKey(c, key) })
}

// ListAPIKeys lists the API keys of a database, the oldest first.
func ListAPIKeys(ctx context.Context, url string) (keys []auth.StoredKey, err error) {
	err = databases.Read(ctx, url, func(b db.Database, c db.Conn) error {
		if err := catalog.Require(c, b); err != nil {
			return err
		}
		keys, err = listKeys(c)
		return err
	})
	return keys, err
}

// RevokeAPIKey revokes an API key of a database, from now on and for every server. A key that is
// already revoked keeps its time.
func RevokeAPIKey(ctx context.Context, url, prefix, at string) error {
	return withKeys(ctx, url, func(c db.Conn) error {
		key, err := revokeKey(c, prefix, at)
		if err == nil && key == nil {
			err = fmt.Errorf("there is no API key with the prefix %s", prefix)
		}
		return err
	})
}

// addKey stores a key, and accepts one that is stored already: a transaction runs again if the reply to its
// commit was lost.
func addKey(c db.Conn, key auth.StoredKey) error {
	expires := model.Null
	if key.Expires != "" {
		expires = model.TimeValue(key.Expires)
	}
	added, err := c.Exec("INSERT INTO "+db.KeysTable+" ("+keyColumns+") VALUES ($1, $2, $3, $4, $5, $6, $7, NULL) ON CONFLICT (prefix) DO NOTHING",
		model.TextValue(key.Prefix), model.TextValue(key.Hash), model.TextValue(key.Name), model.TextValue(key.Role), model.TextValue(key.Subject),
		model.TimeValue(key.Created), expires)
	if err != nil || added == 1 {
		return err
	}
	stored, err := findKey(c, key.Prefix)
	if err == nil && (stored == nil || stored.Hash != key.Hash) {
		err = fmt.Errorf("there is another API key with the prefix %s", key.Prefix)
	}
	return err
}

func listKeys(c db.Conn) ([]auth.StoredKey, error) {
	return db.All(c, scanKey, "SELECT "+keyColumns+" FROM "+db.KeysTable+" ORDER BY at, prefix")
}

func findKey(c db.Conn, prefix string) (key *auth.StoredKey, err error) {
	_, err = db.One(c, func(row model.Row) { found := scanKey(row); key = &found },
		"SELECT "+keyColumns+" FROM "+db.KeysTable+" WHERE prefix = $1", model.TextValue(prefix))
	return key, err
}

func revokeKey(c db.Conn, prefix, at string) (*auth.StoredKey, error) {
	_, err := c.Exec("UPDATE "+db.KeysTable+" SET revoked = coalesce(revoked, $1) WHERE prefix = $2", model.TimeValue(at), model.TextValue(prefix))
	if err != nil {
		return nil, err
	}
	return findKey(c, prefix)
}

// withKeys runs fn in a transaction on a Plural database, whatever its schema.
func withKeys(ctx context.Context, url string, fn func(db.Conn) error) error {
	return databases.With(ctx, url, func(b db.Database) error {
		return db.Write(ctx, b, func(c db.Conn) error {
			if err := catalog.Require(c, b); err != nil {
				return err
			}
			return fn(c)
		})
	})
}
