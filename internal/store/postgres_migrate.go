package store

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/plural-go/plural/internal/model"
)

// migrate sees, statement by statement, what is committed: once the tables are
// locked, that is the same to its end.
func (b *postgresBackend) migrate(ctx context.Context, fn func(conn) error) error {
	acquired, err := b.acquire(ctx)
	if err != nil {
		return err
	}
	defer acquired.Release()
	c := &postgresConn{ctx: ctx, raw: acquired.Conn(), isolated: "begin isolation level read committed"}
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
func lockTables(ctx context.Context, c conn, d dialect) error {
	if err := execAll(c, "SELECT pg_advisory_xact_lock("+migrationLock+")"); err != nil {
		return err
	}
	found, err := describe(c, d)
	if err != nil || len(found) == 0 {
		return err
	}
	var names []string
	for _, name := range sortedNames(found) {
		if name != schemasTable {
			names = append(names, quote(d, name))
		}
	}
	if found[schemasTable] != nil {
		names = slices.Insert(names, 0, schemasTable)
	}
	if err := lockSoon(ctx, c, "LOCK TABLE "+strings.Join(names, ", ")+" IN ACCESS EXCLUSIVE MODE"); err != nil {
		return err
	}
	// A change that waits for its check would keep its table from being altered.
	return execAll(c, "SET CONSTRAINTS ALL IMMEDIATE")
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
func lockSoon(ctx context.Context, c conn, lock string) error {
	if err := execAll(c, "SET LOCAL lock_timeout = '500ms'"); err != nil {
		return err
	}
	for try := 1; ; try++ {
		err := execAll(c, "SAVEPOINT unlocked", lock)
		if !hasCode(err, notLocked) {
			return err
		}
		if try == lockTries {
			return inUse(err)
		}
		if err := execAll(c, "ROLLBACK TO SAVEPOINT unlocked"); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(lockPause):
		}
	}
}

// holdSchema: a statement that waits for a migration to end would else see the
// schema as it was when it began to wait. LOCK TABLE takes no snapshot.
func (*postgresBackend) holdSchema() []string {
	return []string{"LOCK TABLE " + schemasTable + " IN ACCESS SHARE MODE"}
}

func (b *postgresBackend) reshape(c *model.Collection, have *tableShape, moves map[string]string) []string {
	alter := "ALTER TABLE " + quote(b, c.Name) + " "
	wanted := map[string]model.Column{}
	for _, column := range c.Columns() {
		wanted[column.Name] = column
	}
	notNull, moving := map[string]bool{}, slices.Collect(maps.Values(moves))
	var statements []string
	for _, column := range have.columns {
		notNull[column.name] = column.notNull
		_, stays := wanted[column.name]
		if moves[column.name] != "" || !stays && !slices.Contains(moving, column.name) {
			statements = append(statements, alter+"DROP COLUMN "+quote(b, column.name))
			notNull[column.name] = false
		}
	}
	for _, column := range c.Columns() {
		if from := moves[column.Name]; from != "" {
			statements = append(statements, alter+"RENAME COLUMN "+quote(b, from)+" TO "+quote(b, column.Name))
		}
		if column.NotNull != notNull[column.Name] {
			statements = append(statements, alter+"ALTER COLUMN "+quote(b, column.Name)+choose(column.NotNull, " SET NOT NULL", " DROP NOT NULL"))
		}
	}
	return statements
}
