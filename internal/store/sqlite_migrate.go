package store

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"zombiezen.com/go/sqlite"

	"github.com/plural-go/plural/internal/model"
)

// migrate uses a connection without foreign keys: with them, dropping a table
// that is about to be replaced would count as the loss of what others refer to.
// They are checked before the commit instead.
func (b *sqliteBackend) migrate(ctx context.Context, fn func(conn) error) (err error) {
	c, err := b.open(sqlite.OpenReadWrite, "foreign_keys = OFF", "cache_size = -65536")
	if err != nil {
		return err
	}
	c.raw.SetInterrupt(ctx.Done())
	defer func() {
		c.raw.SetInterrupt(nil)
		if !c.raw.AutocommitEnabled() {
			_, rollBack := c.exec("ROLLBACK")
			err = errors.Join(err, rollBack)
		}
		err = errors.Join(err, c.close())
	}()
	if _, err := c.exec("BEGIN IMMEDIATE"); err != nil {
		return err
	}
	if err := keepTriggers(c, fn); err != nil {
		return err
	}
	if err := checkForeignKeys(c); err != nil {
		return err
	}
	_, err = c.exec("COMMIT")
	return err
}

func checkForeignKeys(c conn) error {
	var table string
	broken, err := one(c, func(row model.Row) { table = string(row.AppendText(nil, 0)) }, "PRAGMA foreign_key_check")
	if err == nil && broken {
		err = fmt.Errorf("a resource of %s refers to one that does not exist", table)
	}
	return err
}

// keepTriggers refuses what fn does if it loses a trigger: those of a table that is
// made anew would silently go with the old one.
func keepTriggers(c conn, fn func(conn) error) error {
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
			err = errors.Join(err, fmt.Errorf("the trigger %s, which Plural did not make, would be lost: drop it first, and make it again afterwards", trigger))
		}
	}
	return err
}

func triggers(c conn) (names []string, err error) {
	err = each(c, func(row model.Row) bool {
		names = append(names, string(row.AppendText(nil, 0)))
		return true
	}, "SELECT name FROM sqlite_schema WHERE type = 'trigger' ORDER BY name")
	return names, err
}

// checkOwner refuses the database of another program before anything in it is
// changed, be it only the journal mode. What cannot be read shows later.
func checkOwner(file string) error {
	if info, err := os.Stat(file); err != nil || info.Size() == 0 {
		return nil
	}
	raw, err := openRaw(context.Background(), file, sqlite.OpenReadOnly)
	if err != nil {
		return nil
	}
	c := &sqliteConn{raw: raw, statements: map[string]*sqlite.Stmt{}}
	found, err := describe(c, &sqliteBackend{})
	if err := c.close(); err != nil {
		return err
	}
	if err == nil && len(found) > 0 && found[metaTable] == nil {
		return foreign(found)
	}
	return nil
}

// rebuilt is the name of a table until it replaces the one that it was made from.
const rebuilt = "_plural_rebuilt"

// reshape makes a new table and takes the rows over: SQLite cannot change
// whether a column is required, nor what it refers to.
func (b *sqliteBackend) reshape(c *model.Collection, have *tableShape, moves map[string]string) []string {
	wanted := map[string]columnShape{}
	var into, from []string
	for _, column := range c.Columns() {
		wanted[column.Name] = columnShape{name: column.Name, kind: b.columnType(column.Kind), notNull: column.NotNull}
		into = append(into, quote(b, column.Name))
		source := column.Name
		if moved, ok := moves[column.Name]; ok {
			source = moved
		}
		from = append(from, quote(b, source))
	}
	found := map[string]columnShape{}
	for _, column := range have.columns {
		found[column.name] = column
	}
	references := map[string]string{}
	for _, link := range c.Links() {
		references[c.Columns()[link.Column].Name] = link.To.Name
	}
	if len(moves) == 0 && maps.Equal(wanted, found) && maps.Equal(references, have.references) {
		return nil
	}
	name := quote(b, c.Name)
	return []string{
		createTable(b, c, rebuilt),
		"INSERT INTO " + rebuilt + " (" + strings.Join(into, ", ") + ") SELECT " + strings.Join(from, ", ") + " FROM " + name,
		"DROP TABLE " + name,
		"ALTER TABLE " + rebuilt + " RENAME TO " + name,
	}
}
