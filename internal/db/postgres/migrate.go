package postgres

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/plural-go/plural/internal/db"
)

// Migrate runs at read committed: each statement sees all committed changes. Once the tables are
// locked, nothing else changes them.
func (b *Database) Migrate(ctx context.Context, fn func(db.Conn) error) error {
	acquired, err := b.acquire(ctx)
	if err != nil {
		return err
	}
	defer acquired.Release()
	c := b.transaction(ctx, acquired, beginCommitted)
	err = lockTables(ctx, c, b)
	if err == nil {
		err = fn(c)
	}
	if err == nil {
		var unknown bool
		if unknown, err = c.commit(); unknown {
			err = fmt.Errorf("it is unknown whether the migration was committed; run it again, and it says what is left to do: %w", err)
		}
	}
	if err != nil {
		c.rollback()
	}
	return err
}

// migrationLock identifies the lock in every database.
const migrationLock = "758725" // "plural" on a telephone keypad

// lockTables locks all tables. Concurrent migrations, and servers that create the first tables,
// wait for each other. Readers and writers lock the table of schemas first, so it is locked first
// here: with that lock, there is no other transaction to wait for.
func lockTables(ctx context.Context, c db.Conn, d db.Dialect) error {
	if err := db.ExecAll(c, "SELECT pg_advisory_xact_lock("+migrationLock+")"); err != nil {
		return err
	}
	found, err := db.Describe(c, d)
	if err != nil || len(found) == 0 {
		return err
	}
	var names []string
	for _, name := range db.SortedNames(found) {
		if name != db.SchemasTable {
			names = append(names, db.Quote(d, name))
		}
	}
	if found[db.SchemasTable] != nil {
		names = slices.Insert(names, 0, db.SchemasTable)
	}
	if err := lockSoon(ctx, c, "LOCK TABLE "+strings.Join(names, ", ")+" IN ACCESS EXCLUSIVE MODE"); err != nil {
		return err
	}
	// Deferred constraint checks would prevent altering the table.
	return db.ExecAll(c, "SET CONSTRAINTS ALL IMMEDIATE")
}

const (
	// lockTries is how often a migration tries to lock the tables, and lockPause how long it waits in
	// between: about ten seconds in total.
	lockTries = 10
	lockPause = 500 * time.Millisecond
	// notLocked is the code of a lock timeout.
	notLocked = "55P03"
)

// lockSoon locks tables. It waits for long reads, but only for a short time each, because all
// later transactions queue behind a waiting ACCESS EXCLUSIVE lock.
func lockSoon(ctx context.Context, c db.Conn, lock string) error {
	if err := db.ExecAll(c, "SET LOCAL lock_timeout = '500ms'"); err != nil {
		return err
	}
	for try := 1; ; try++ {
		err := db.ExecAll(c, "SAVEPOINT unlocked", lock)
		if !hasCode(err, notLocked) {
			return err
		}
		if try == lockTries {
			return db.InUse(err)
		}
		if err := db.ExecAll(c, "ROLLBACK TO SAVEPOINT unlocked"); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(lockPause):
		}
	}
}

// lockSchemas comes first in a transaction. Otherwise a statement that waits for a migration would
// see the schema as it was before the wait. LOCK TABLE takes no snapshot.
const lockSchemas = "LOCK TABLE " + db.SchemasTable + " IN ACCESS SHARE MODE"
