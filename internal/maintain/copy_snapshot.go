package maintain

import (
	"errors"
	"fmt"
	"strings"

	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/db/databases"
	"github.com/plural-go/plural/internal/migrate"
	"github.com/plural-go/plural/internal/model"
)

func tablesOf(p *databases.Source) (map[string]*db.TableShape, error) {
	c, release, err := p.Read()
	if err != nil {
		return nil, err
	}
	defer release()
	return db.Describe(c, p)
}

// lastOf is the highest revision that has been given by now.
func lastOf(p *databases.Source) (revision int64, err error) {
	c, release, err := p.Read()
	if err != nil {
		return 0, err
	}
	defer release()
	return lastGiven(c, p)
}

func lastGiven(c db.Conn, d db.Dialect) (revision int64, err error) {
	_, err = db.One(c, func(row model.Row) { revision = row.Int(0) }, d.LastGiven())
	return revision, err
}

// snapshot is all that a database of Plural's holds at one moment.
type snapshot struct {
	db.Conn
	db.Dialect
	release func()
	schema  *model.Schema
	tables  []copiedTable
	last    int64    // the highest revision that was given
	floor   db.Floor // of the change log
}

// snapshot begins to read. Until it is released, nobody changes the schema.
func takeSnapshot(p *databases.Source) (*snapshot, error) {
	found, err := tablesOf(p)
	switch {
	case err != nil:
		return nil, err
	case len(found) == 0:
		return nil, errors.New("it is empty, so that there is nothing to copy")
	case found[db.MetaTable] == nil || found[db.SchemasTable] == nil:
		return nil, fmt.Errorf("it is the database of another program: it has tables that Plural did not make (%s), and none of Plural's own", listed(found))
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

// survey finds out what there is to be read.
func (s *snapshot) survey() error {
	// This comes ahead of all reading: the tables of a schema that comes in between
	// would be taken for those of the one before.
	if err := db.ExecAll(s, s.HoldSchema()...); err != nil {
		return err
	}
	found, err := db.Describe(s, s)
	if err != nil {
		return err
	}
	if s.schema, err = migrate.StoredSchema(s, s, found); err != nil {
		return err
	}
	if s.floor, err = db.ReadFloor(s); err != nil {
		return err
	}
	s.tables = copiedTables(s.schema, s.floor)
	if err := isCovered(s.tables, found); err != nil {
		return err
	}
	s.last, err = lastGiven(s, s)
	return err
}

// listed names some tables.
func listed(found map[string]*db.TableShape) string {
	names := db.SortedNames(found)
	if most := 5; len(names) > most {
		names = append(names[:most], "…")
	}
	return strings.Join(names, ", ")
}
