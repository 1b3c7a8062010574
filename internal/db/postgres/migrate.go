package postgres

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/plural-go/plural/internal/db"
)

// Migrate sees, statement by statement, what is committed: once the tables are
// locked, that is the same to its end.
func (b *Database) Migrate(ctx context.Context, fn func(db.Conn) error) error {
	acquired, err := b.acquire(ctx)
	if err != nil {
		return err
	}
	defer acquired.Release()
	c := &connection{ctx: ctx, trace: b.options.Trace, raw: acquired.Conn(), isolated: "begin isolation level read committed"}
	c.begin()
	err = lockTables(ctx, c, b)
	if err == nil {
		err = fn(c)
	}
	if err == nil {
		_, err = c.commit()
	}
	if err != nil {
		c.rollback()
	}
	return err
}

// migrationLock is a number that means this in every database.
const migrationLock = "758725" // "plural" on the keys of a telephone

// lockTables keeps everybody out. Those who migrate, or make the first tables, wait
// for each other. Those who read and write hold the table of schemas, so that it is
// the first to be locked: whoever has it has no other to wait for.
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
	// A change that waits for its check would keep its table from being altered.
	return db.ExecAll(c, "SET CONSTRAINTS ALL IMMEDIATE")
}

const (
	// lockTries is how often a migration tries to lock the tables, and lockPause how long
	// it lets the others go on in between: all in all about ten seconds.
	lockTries = 10
	lockPause = 500 * time.Millisecond
	// notLocked is the code of a lock that was not to be had in time.
	notLocked = "55P03"
)

// lockSoon locks tables. Who reads for long is waited for, but only for a moment at a time, as
// all others wait behind whoever waits for such a lock.
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

// lockSchemas comes first in a transaction: a statement that waits for a migration to end
// would else see the schema as it was when it began to wait. LOCK TABLE takes no snapshot.
const lockSchemas = "LOCK TABLE " + db.SchemasTable + " IN ACCESS SHARE MODE"
