//go:build linux

package soak

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

// Rest is a database while nobody uses it.
type Rest struct {
	Observed
	Problems []string // where the database is at odds with itself
}

// stored is a resource as a table or the change log has it.
type stored struct {
	revision       int64
	representation string
}

// collections are those of the schema, and the attribute that holds the parent.
var collections = map[string]string{"accounts": "", "orders": "account_id", "notes": "", "counters": ""}

// readSQLite reads a database file, and whatever log lies beside it.
func readSQLite(file string) (*Rest, error) {
	rest := &Rest{Observed: Observed{Resources: map[Ref]Value{}, Changes: []Change{}}}
	if _, err := os.Stat(file); os.IsNotExist(err) {
		return rest, nil // it crashed before there was one
	}
	conn, err := sqlite.OpenConn(file, sqlite.OpenReadWrite)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	reader := &restReader{conn: conn, rest: rest}
	if reader.integrity(); reader.err != nil {
		// A file too broken to be read is a finding, not a failure of ours.
		rest.Problems = append(rest.Problems, "the database cannot be read: "+reader.err.Error())
		return rest, nil
	}
	if !reader.hasTables() {
		return rest, nil
	}
	reader.compare(reader.replay())
	reader.totals()
	if reader.err != nil {
		return nil, reader.err
	}
	return rest, nil
}

// restReader reads until the first error.
type restReader struct {
	conn   *sqlite.Conn
	rest   *Rest
	tables []string // of collections
	err    error
}

func (r *restReader) query(sql string, row func(*sqlite.Stmt)) {
	if r.err == nil {
		r.err = sqlitex.ExecuteTransient(r.conn, sql, &sqlitex.ExecOptions{ResultFunc: func(stmt *sqlite.Stmt) error {
			row(stmt)
			return nil
		}})
	}
}

func (r *restReader) problem(format string, args ...any) {
	r.rest.Problems = append(r.rest.Problems, fmt.Sprintf(format, args...))
}

func (r *restReader) integrity() {
	r.query("PRAGMA integrity_check", func(stmt *sqlite.Stmt) {
		if line := stmt.ColumnText(0); line != "ok" {
			r.problem("integrity_check: %s", line)
		}
	})
	r.query("PRAGMA foreign_key_check", func(stmt *sqlite.Stmt) {
		r.problem("foreign_key_check: a row of %s refers to none in %s", stmt.ColumnText(0), stmt.ColumnText(2))
	})
}

func (r *restReader) hasTables() bool {
	r.query(`SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE '\_plural\_%' ESCAPE '\' AND name NOT LIKE 'sqlite\_%' ESCAPE '\'`,
		func(stmt *sqlite.Stmt) { r.tables = append(r.tables, stmt.ColumnText(0)) })
	return len(r.tables) > 0
}

// replay applies the change log to nothing.
func (r *restReader) replay() map[Ref]stored {
	resources := map[Ref]stored{}
	r.query("SELECT revision, collection, id, kind, representation FROM _plural_changes ORDER BY revision", func(stmt *sqlite.Stmt) {
		ref := Ref{stmt.ColumnText(1), uuid(stmt, 2)}
		kind, representation := stmt.ColumnText(3), stmt.ColumnText(4)
		before, there := resources[ref]
		switch kind {
		case created, updated:
			if there != (kind == updated) {
				r.problem("change log: %s of %v, and it was there: %t", kind, ref, there)
			}
			resources[ref] = stored{stmt.ColumnInt64(0), representation}
		case deleted:
			if before.representation != representation {
				r.problem("change log: %v was deleted as %s, and was %s", ref, representation, before.representation)
			}
			delete(resources, ref)
		default:
			r.problem("change log: a change %q", kind)
		}
		if _, ours := collections[ref.Collection]; ours {
			r.rest.Changes = append(r.rest.Changes, Change{ref, kind, parseValue([]byte(representation)).Token})
		}
	})
	for ref, s := range resources {
		if _, ours := collections[ref.Collection]; ours {
			r.rest.Resources[ref] = parseValue([]byte(s.representation))
		}
	}
	return resources
}

// compare looks whether the tables have what the change log says, and no more.
func (r *restReader) compare(resources map[Ref]stored) {
	for _, table := range r.tables {
		r.query(`SELECT * FROM "`+table+`"`, func(stmt *sqlite.Stmt) {
			ref := Ref{table, uuid(stmt, stmt.ColumnIndex("id"))}
			want, there := resources[ref]
			if !there {
				r.problem("%v is in its table, and not in the change log", ref)
				return
			}
			delete(resources, ref)
			if revision := stmt.GetInt64("_revision"); revision != want.revision {
				r.problem("%v has revision %d, and its last change is %d", ref, revision, want.revision)
			}
			for _, difference := range differences(stmt, want.representation) {
				r.problem("%v: %s", ref, difference)
			}
		})
	}
	for ref := range resources {
		r.problem("%v is in the change log, and not in its table", ref)
	}
}

// differences compares a row with a representation.
func differences(stmt *sqlite.Stmt, representation string) (found []string) {
	members := map[string]json.RawMessage{}
	if err := json.Unmarshal([]byte(representation), &members); err != nil {
		return []string{err.Error()}
	}
	delete(members, "type")
	for column := range stmt.ColumnCount() {
		name := stmt.ColumnName(column)
		if strings.HasPrefix(name, "_") {
			continue
		}
		if member := string(members[name]); !slices.Contains(asJSON(stmt, column), member) {
			found = append(found, fmt.Sprintf("%s is %s in the table, and %s in the change log", name, stmt.ColumnText(column), member))
		}
		delete(members, name)
	}
	for name := range members {
		found = append(found, name+" is in the change log only")
	}
	return found
}

// asJSON lists what a column can be in JSON: a text is a string, or JSON itself,
// and a boolean is a number in SQLite.
func asJSON(stmt *sqlite.Stmt, column int) []string {
	switch stmt.ColumnType(column) {
	case sqlite.TypeNull:
		return []string{"null"}
	case sqlite.TypeInteger:
		n := stmt.ColumnInt64(column)
		return []string{strconv.FormatInt(n, 10), strconv.FormatBool(n == 1)}
	case sqlite.TypeBlob:
		return []string{strconv.Quote(uuid(stmt, column))}
	default:
		text := stmt.ColumnText(column)
		quoted, _ := json.Marshal(text)
		return []string{string(quoted), text}
	}
}

func uuid(stmt *sqlite.Stmt, column int) string {
	var b [16]byte
	stmt.ColumnBytes(column, b[:])
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[0:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// totals compares the numbers that are kept with those that can be counted.
func (r *restReader) totals() {
	type total struct{ collection, parent string }
	counted, kept := map[total]int64{}, map[total]int64{}
	for _, collection := range r.tables {
		r.query("SELECT count(*) FROM "+collection, func(stmt *sqlite.Stmt) { counted[total{collection, ""}] = stmt.ColumnInt64(0) })
		if parent := collections[collection]; parent != "" {
			r.query("SELECT "+parent+", count(*) FROM "+collection+" WHERE "+parent+" IS NOT NULL GROUP BY 1",
				func(stmt *sqlite.Stmt) { counted[total{collection, uuid(stmt, 0)}] = stmt.ColumnInt64(1) })
		}
	}
	r.query("SELECT collection, parent, total FROM _plural_totals", func(stmt *sqlite.Stmt) {
		kept[total{stmt.ColumnText(0), stmt.ColumnText(1)}] = stmt.ColumnInt64(2)
	})
	for key, n := range counted {
		if kept[key] != n {
			r.problem("the total of %v is kept as %d, and %d are there", key, kept[key], n)
		}
		delete(kept, key)
	}
	for key, n := range kept {
		if n != 0 {
			r.problem("the total of %v is kept as %d, and none are there", key, n)
		}
	}
}
