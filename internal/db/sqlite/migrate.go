package sqlite

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"zombiezen.com/go/sqlite"

	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/model"
)

// Migrate uses a connection without foreign keys: with them, dropping a table that is about to
// be replaced would violate the references to its rows. They are checked before the commit.
func (b *Database) Migrate(ctx context.Context, fn func(db.Conn) error) (err error) {
	c, err := b.open(sqlite.OpenReadWrite, "foreign_keys = OFF", "cache_size = -65536")
	if err != nil {
		return err
	}
	c.watch(ctx)
	defer func() {
		c.unwatch()
		if !c.raw.AutocommitEnabled() {
			_, rollBack := c.Exec("ROLLBACK")
			err = errors.Join(err, rollBack)
		}
		err = errors.Join(err, c.close())
	}()
	if _, err := c.Exec("BEGIN IMMEDIATE"); err != nil {
		return err
	}
	if err := keepTriggers(c, fn); err != nil {
		return err
	}
	if err := checkForeignKeys(c); err != nil {
		return err
	}
	if err := context.Cause(ctx); err != nil { // an interrupt comes a moment after the end of the context
		return err
	}
	_, err = c.Exec("COMMIT")
	return err
}

func checkForeignKeys(c db.Conn) error {
	var table string
	broken, err := db.One(c, func(row model.Row) { table = row.Text(0) }, "PRAGMA foreign_key_check")
	if err == nil && broken {
		err = fmt.Errorf("a resource of %s refers to one that does not exist", table)
	}
	return err
}

// keepTriggers fails if fn drops a trigger: SQLite drops the triggers of a table with the table,
// also when it is only rebuilt. Those of the tables of words are ours.
func keepTriggers(c db.Conn, fn func(db.Conn) error) error {
	before, err := triggers(c)
	if err != nil {
		return err
	}
	if err := fn(c); err != nil {
		return err
	}
	after, err := triggers(c)
	for _, trigger := range before {
		if !slices.Contains(after, trigger) {
			err = errors.Join(err, fmt.Errorf("the trigger %s, which Plural did not create, would be lost: drop it first, and create it again afterwards", trigger))
		}
	}
	return err
}

func triggers(c db.Conn) ([]string, error) {
	return db.All(c, func(row model.Row) string { return row.Text(0) }, "SELECT name FROM sqlite_schema WHERE type = 'trigger' AND name NOT GLOB '_search.*' AND name NOT GLOB '_items.*' ORDER BY name")
}
