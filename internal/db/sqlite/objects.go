package sqlite

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"zombiezen.com/go/sqlite"

	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/model"
)

// object is a table, an index, a view or a trigger, with the statement that created it.
type object struct{ kind, name, table, sql string }

func (o object) String() string {
	if o.table == o.name {
		return fmt.Sprintf("the %s %q", o.kind, o.name)
	}
	return fmt.Sprintf("the %s %q of the table %q", o.kind, o.name, o.table)
}

// CheckObjects refuses a database whose tables, indexes, views and triggers are not exactly those that create makes in
// an empty one: a trigger, a default or a generated column of somebody else would be executed by every write.
func CheckObjects(c db.Conn, create func(db.Conn, db.Dialect) error) (err error) {
	raw, err := openFile(":memory:", sqlite.OpenReadWrite)
	if err != nil {
		return err
	}
	empty := newConn(raw, func(string) {})
	defer func() { err = errors.Join(err, empty.close()) }()
	if err := create(empty, dialect{}); err != nil {
		return err
	}
	wanted, err := objects(empty)
	if err != nil {
		return err
	}
	found, err := objects(c)
	if err != nil {
		return err
	}
	if differences := compareObjects(found, wanted); len(differences) > 0 {
		return &db.MisfitError{
			Problem: "its tables, indexes, views and triggers are not those that Plural creates", Differences: differences,
			Advice: "Undo these changes with the program sqlite3 (such as DROP TRIGGER, DROP VIEW), in the database or in a copy of the file. To copy a database with them, use VACUUM INTO of sqlite3 instead of \"plural backup\".",
		}
	}
	return nil
}

// objects lists what a database has, by kind and name, without the tables that SQLite keeps for itself, and without the
// indexes that are part of a table.
func objects(c db.Conn) (map[string]object, error) {
	all := map[string]object{}
	err := db.Each(c, func(row model.Row) {
		o := object{row.Text(0), row.Text(1), row.Text(2), row.Text(3)}
		all[o.kind+" "+o.name] = o
	}, `SELECT type, name, tbl_name, sql FROM sqlite_schema
		WHERE sql IS NOT NULL AND NOT (type = 'table' AND name IN ('sqlite_sequence', 'sqlite_stat1', 'sqlite_stat4'))`)
	return all, err
}

func compareObjects(found, wanted map[string]object) (differences []string) {
	for key, have := range found {
		want, ok := wanted[key]
		if !ok {
			differences = append(differences, have.String()+": Plural does not create it")
			continue
		}
		switch parts, others := partsOf(want.sql), partsOf(have.sql); {
		case have == want || have.kind == "table" && have.table == want.table && slices.Equal(others, parts):
		case have.kind == "table":
			differs := func(part string) bool { return slices.Contains(parts, part) }
			differences = append(differences, fmt.Sprintf("%s is defined otherwise: %q", have, slices.DeleteFunc(others, differs)))
		default:
			differences = append(differences, fmt.Sprintf("%s is defined otherwise: %q", have, have.sql))
		}
	}
	for key, want := range wanted {
		if _, ok := found[key]; !ok {
			differences = append(differences, want.String()+" is missing")
		}
	}
	slices.Sort(differences)
	return differences
}

// partsOf splits the definition of a table at the commas between its columns and constraints, and sorts the parts: a
// migration may leave the columns in another order.
func partsOf(sql string) (parts []string) {
	depth, start, quote := 0, 0, byte(0)
	for i := range len(sql) {
		c := sql[i]
		switch {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'' || c == '`':
			quote = c
		case c == '(' || c == ')' || c == ',':
			if c == ')' {
				depth--
			}
			if depth == 0 && c != ',' || depth == 1 && c == ',' {
				parts = append(parts, strings.TrimSpace(sql[start:i]))
				start = i + 1
			}
			if c == '(' {
				depth++
			}
		}
	}
	slices.Sort(parts)
	return append(parts, strings.TrimSpace(sql[start:])) // the options of the table
}
