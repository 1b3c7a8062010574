package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"zombiezen.com/go/sqlite"

	"github.com/plural-go/plural/internal/model"
)

// place is a database that is looked at and not written to, not even by opening it.
type place struct {
	dialect
	lend  func() (c conn, release func(), err error) // reads from one snapshot
	close func() error
}

// lookInto opens a database that exists.
func lookInto(ctx context.Context, url string) (*place, error) {
	if file, ok := strings.CutPrefix(url, "sqlite:"); ok {
		return lookIntoFile(ctx, file)
	}
	b, err := connect(ctx, url)
	if err != nil {
		return nil, err
	}
	return &place{b, func() (conn, func(), error) { return b.read(ctx, atLength) }, b.close}, nil
}

func lookIntoFile(ctx context.Context, file string) (*place, error) {
	if err := checkFile(file); err != nil {
		return nil, err
	}
	if _, err := os.Stat(file); errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("there is no database %s", file)
	}
	raw, err := openRaw(ctx, file, sqlite.OpenReadOnly)
	if err != nil {
		return nil, err
	}
	c := &sqliteConn{raw: raw, statements: map[string]*sqlite.Stmt{}}
	lend := func() (conn, func(), error) {
		_, err := c.exec("BEGIN")
		return c, func() { _, _ = c.exec("ROLLBACK") }, err
	}
	return &place{&sqliteBackend{}, lend, c.close}, nil
}

// tables lists what is there now.
func (p *place) tables() (map[string]*tableShape, error) {
	c, release, err := p.lend()
	if err != nil {
		return nil, err
	}
	defer release()
	return describe(c, p)
}

// last is the highest revision that has been given by now.
func (p *place) last() (revision int64, err error) {
	c, release, err := p.lend()
	if err != nil {
		return 0, err
	}
	defer release()
	return lastGiven(c, p)
}

func lastGiven(c conn, d dialect) (revision int64, err error) {
	_, err = one(c, func(row model.Row) { revision = row.Int(0) }, d.lastGiven())
	return revision, err
}

// snapshot is all that a database of Plural's holds at one moment.
type snapshot struct {
	conn
	dialect
	release func()
	schema  *model.Schema
	tables  []copiedTable
	last    int64 // the highest revision that was given
}

// snapshot begins to read. Until it is released, nobody changes the schema.
func (p *place) snapshot() (*snapshot, error) {
	found, err := p.tables()
	switch {
	case err != nil:
		return nil, err
	case len(found) == 0:
		return nil, errors.New("it is empty, so that there is nothing to copy")
	case found[metaTable] == nil || found[schemasTable] == nil:
		return nil, fmt.Errorf("it is the database of another program: it has tables that Plural did not make (%s), and none of Plural's own", listed(found))
	}
	c, release, err := p.lend()
	if err != nil {
		return nil, err
	}
	s := &snapshot{conn: c, dialect: p, release: release}
	if err := s.survey(); err != nil {
		release()
		return nil, err
	}
	return s, nil
}

// survey finds out what there is to be read.
func (s *snapshot) survey() error {
	// This comes ahead of all reading: the tables of a schema that comes in between
	// would be taken for those of the one before.
	if err := execAll(s, s.holdSchema()...); err != nil {
		return err
	}
	found, err := describe(s, s)
	if err != nil {
		return err
	}
	if s.schema, err = storedSchema(s, s, found); err != nil {
		return err
	}
	s.tables = copiedTables(s.schema)
	if err := isCovered(s.tables, found); err != nil {
		return err
	}
	s.last, err = lastGiven(s, s)
	return err
}

// listed names some tables.
func listed(found map[string]*tableShape) string {
	names := sortedNames(found)
	if most := 5; len(names) > most {
		names = append(names[:most], "…")
	}
	return strings.Join(names, ", ")
}
