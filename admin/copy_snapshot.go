package admin

import (
	"errors"
	"fmt"
	"strings"

	"github.com/plural-go/plural/internal/catalog"
	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/db/databases"
	"github.com/plural-go/plural/internal/model"
)

// ask asks a source something, in a snapshot of its own.
func ask[T any](source *databases.Source, question func(db.Conn) (T, error)) (answer T, err error) {
	c, release, err := source.Read()
	if err != nil {
		return answer, err
	}
	defer release()
	return question(c)
}

func tablesOf(p *databases.Source) (map[string]*db.TableDefinition, error) {
	return ask(p, func(c db.Conn) (map[string]*db.TableDefinition, error) { return db.Describe(c, p) })
}

// snapshot is a consistent view of everything that a database of Plural stores.
type snapshot struct {
	db.Conn
	db.Dialect
	release func()
	schema  *model.Schema
	tables  []copiedTable
	last    int64    // the highest revision assigned
	floor   db.Floor // of the change log
}

// snapshot starts to read. The schema cannot change until it is released.
func takeSnapshot(p *databases.Source) (*snapshot, error) {
	found, err := tablesOf(p)
	switch {
	case err != nil:
		return nil, err
	case len(found) == 0:
		return nil, errors.New("it is empty: there is nothing to copy")
	case found[db.MetaTable] == nil || found[db.SchemasTable] == nil:
		return nil, fmt.Errorf("it belongs to another program: it has tables that Plural did not create (%s), and none of Plural's own", listed(found))
	}
	c, release, err := p.Read()
	if err != nil {
		return nil, err
	}
	s := &snapshot{Conn: c, Dialect: p, release: release}
	if err := s.survey(); err != nil {
		release()
		return nil, err
	}
	return s, nil
}

// survey finds the tables to read.
func (s *snapshot) survey() error {
	// The schema is locked before anything else is read, so that a migration cannot come between.
	if err := db.ExecAll(s, s.HoldSchema()...); err != nil {
		return err
	}
	found, err := db.Describe(s, s)
	if err != nil {
		return err
	}
	state, err := catalog.Open(s, s, found)
	if err != nil {
		return err
	}
	s.schema = state.Schema
	if s.floor, err = db.ReadFloor(s); err != nil {
		return err
	}
	s.tables = copiedTables(s.schema, s.floor)
	if err := isCovered(s.schema, s.tables, found); err != nil {
		return err
	}
	s.last, err = db.Int(s, s.LastGiven())
	return err
}

// listed joins the names of a few tables.
func listed(found map[string]*db.TableDefinition) string {
	names := db.SortedNames(found)
	if most := 5; len(names) > most {
		names = append(names[:most], "…")
	}
	return strings.Join(names, ", ")
}
