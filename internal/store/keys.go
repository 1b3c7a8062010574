package store

import (
	"context"

	"github.com/plural-go/plural/internal/auth"
	"github.com/plural-go/plural/internal/keys"
	"github.com/plural-go/plural/internal/versions"
)

// APIKey returns the API key with a prefix, or nil.
func (s *Store) APIKey(ctx context.Context, prefix string) (key *auth.StoredKey, err error) {
	tx, err := s.ReadOne(ctx)
	if err != nil {
		return nil, err
	}
	defer tx.Close()
	key, err = keys.Find(tx.conn, prefix)
	return key, s.fault(ctx, err)
}

// AddAPIKey stores an API key.
func (s *Store) AddAPIKey(ctx context.Context, key auth.StoredKey) error {
	return s.Write(ctx, func(tx *Tx) error { return keys.Add(tx.conn, key) })
}

// APIKeys lists the API keys, the oldest first.
func (s *Store) APIKeys(ctx context.Context) (all []auth.StoredKey, err error) {
	tx, err := s.ReadOne(ctx)
	if err != nil {
		return nil, err
	}
	defer tx.Close()
	all, err = keys.All(tx.conn)
	return all, s.fault(ctx, err)
}

// RevokeAPIKey revokes an API key, from now on and for every server. A key that is already revoked
// keeps its time. It returns the key, or nil if there is none.
func (s *Store) RevokeAPIKey(ctx context.Context, prefix, at string) (key *auth.StoredKey, err error) {
	err = s.Write(ctx, func(tx *Tx) error {
		key, err = keys.Revoke(tx.conn, prefix, at)
		return err
	})
	return key, err
}

// StoreUses stores which callers have used versions of the interface that are not the newest, and removes what is older than a year.
func (s *Store) StoreUses(ctx context.Context, uses []versions.Use) error {
	return s.Write(ctx, func(tx *Tx) error { return versions.StoreUses(tx.conn, uses, s.now()) })
}
