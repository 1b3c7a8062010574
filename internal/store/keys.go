package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/plural-go/plural/internal/model"
)

// APIKey is an API key as it is kept: everything but its secret.
type APIKey struct {
	Prefix  string // by which it is found, and recognised by people
	Hash    string // of its secret
	Name    string
	Role    string
	Subject string
	At      string // when it was made, in the form of model.FormatTime
	Expires string // empty: never
	Revoked string // empty: it was not
}

const keyColumns = "prefix, hash, name, role, subject, at, expires, revoked"

func scanKey(row model.Row) APIKey {
	text := func(column int) string {
		if row.Null(column) {
			return ""
		}
		return string(row.AppendText(nil, column))
	}
	return APIKey{text(0), text(1), text(2), text(3), text(4), text(5), text(6), text(7)}
}

// APIKey finds the key with a prefix, or nil.
func (s *Store) APIKey(ctx context.Context, prefix string) (key *APIKey, err error) {
	tx, err := s.Look(ctx)
	if err != nil {
		return nil, err
	}
	defer tx.Close()
	_, err = one(tx.conn, func(row model.Row) { found := scanKey(row); key = &found },
		"SELECT "+keyColumns+" FROM "+keysTable+" WHERE prefix = $1", model.TextValue(prefix))
	return key, s.fault(ctx, err)
}

// AddAPIKey keeps a key in a database that a server may be using.
func AddAPIKey(ctx context.Context, url string, key APIKey) error {
	return withKeys(ctx, url, func(c conn) error {
		expires := model.Null
		if key.Expires != "" {
			expires = model.TimeValue(key.Expires)
		}
		_, err := c.exec("INSERT INTO "+keysTable+" ("+keyColumns+") VALUES ($1, $2, $3, $4, $5, $6, $7, NULL)",
			model.TextValue(key.Prefix), model.TextValue(key.Hash), model.TextValue(key.Name), model.TextValue(key.Role), model.TextValue(key.Subject),
			model.TimeValue(key.At), expires)
		return err
	})
}

// ListAPIKeys lists the keys of a database, the oldest first.
func ListAPIKeys(ctx context.Context, url string) (keys []APIKey, err error) {
	err = onDatabase(ctx, url, func(b backend) error {
		c, release, err := b.read(ctx, atLength)
		if err != nil {
			return err
		}
		defer release()
		if err := requireSchema(c, b); err != nil {
			return err
		}
		return each(c, func(row model.Row) bool {
			keys = append(keys, scanKey(row))
			return true
		}, "SELECT "+keyColumns+" FROM "+keysTable+" ORDER BY at, prefix")
	})
	return keys, err
}

// RevokeAPIKey makes a key useless, from now on and on every server. One that was
// revoked before stays so since then.
func RevokeAPIKey(ctx context.Context, url, prefix, at string) error {
	return withKeys(ctx, url, func(c conn) error {
		changed, err := c.exec("UPDATE "+keysTable+" SET revoked = coalesce(revoked, $1) WHERE prefix = $2", model.TimeValue(at), model.TextValue(prefix))
		if err == nil && changed == 0 {
			err = fmt.Errorf("there is no key with the prefix %s", prefix)
		}
		return err
	})
}

// withKeys runs fn in a transaction on a database of Plural's, whatever its schema.
func withKeys(ctx context.Context, url string, fn func(conn) error) error {
	return onDatabase(ctx, url, func(b backend) error {
		return b.write(ctx, func(c conn) error {
			if err := requireSchema(c, b); err != nil {
				return err
			}
			return fn(c)
		})
	})
}

// onDatabase opens a database that exists, and closes it again.
func onDatabase(ctx context.Context, url string, fn func(backend) error) error {
	b, err := connectExisting(ctx, url)
	if err != nil {
		return explained(err)
	}
	return explained(errors.Join(fn(b), b.close()))
}

// requireSchema refuses a database that Plural has not made.
func requireSchema(c conn, d dialect) error {
	found, err := describe(c, d)
	if err != nil {
		return err
	}
	_, err = storedSchema(c, d, found)
	return err
}
