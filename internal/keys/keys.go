// Package keys stores API keys in a database.
package keys

import (
	"fmt"

	"github.com/plural-go/plural/internal/auth"
	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/model"
)

const columns = "prefix, hash, name, role, subject, at, expires, revoked, version, agent_writes"

func scan(row model.Row) auth.StoredKey {
	text := func(column int) string {
		if row.Null(column) {
			return ""
		}
		return row.Text(column)
	}
	version := 0
	if !row.Null(8) {
		version = int(row.Int(8))
	}
	return auth.StoredKey{Prefix: text(0), Hash: text(1), Name: text(2), Role: text(3), Subject: text(4), Created: text(5), Expires: text(6), Revoked: text(7), Version: version, AgentWrites: row.Bool(9)}
}

// Add stores a key, and accepts one that is stored already: a transaction runs again if the reply to its
// commit was lost.
func Add(c db.Conn, key auth.StoredKey) error {
	expires := model.Null
	if key.Expires != "" {
		expires = model.TimeValue(key.Expires)
	}
	version := model.Null
	if key.Version != 0 {
		version = model.IntValue(int64(key.Version))
	}
	added, err := c.Exec("INSERT INTO "+db.KeysTable+" ("+columns+") VALUES ($1, $2, $3, $4, $5, $6, $7, NULL, $8, $9) ON CONFLICT (prefix) DO NOTHING",
		model.TextValue(key.Prefix), model.TextValue(key.Hash), model.TextValue(key.Name), model.TextValue(key.Role), model.TextValue(key.Subject),
		model.TimeValue(key.Created), expires, version, model.BoolValue(key.AgentWrites))
	if err != nil || added == 1 {
		return err
	}
	stored, err := Find(c, key.Prefix)
	if err == nil && (stored == nil || stored.Hash != key.Hash) {
		err = fmt.Errorf("there is another API key with the prefix %s", key.Prefix)
	}
	return err
}

// All lists the keys, the oldest first.
func All(c db.Conn) ([]auth.StoredKey, error) {
	return db.All(c, scan, "SELECT "+columns+" FROM "+db.KeysTable+" ORDER BY at, prefix")
}

// Find returns the key with a prefix, or nil.
func Find(c db.Conn, prefix string) (key *auth.StoredKey, err error) {
	_, err = db.One(c, func(row model.Row) { found := scan(row); key = &found },
		"SELECT "+columns+" FROM "+db.KeysTable+" WHERE prefix = $1", model.TextValue(prefix))
	return key, err
}

// Revoke revokes the key with a prefix, and returns it; nil if there is none. A key that is already revoked keeps its time.
func Revoke(c db.Conn, prefix, at string) (*auth.StoredKey, error) {
	_, err := c.Exec("UPDATE "+db.KeysTable+" SET revoked = coalesce(revoked, $1) WHERE prefix = $2", model.TimeValue(at), model.TextValue(prefix))
	if err != nil {
		return nil, err
	}
	return Find(c, prefix)
}
