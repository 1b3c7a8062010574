package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/plural-go/plural/admin"
	"github.com/plural-go/plural/internal/catalog"
	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/db/databases"
	"github.com/plural-go/plural/internal/db/postgres"
	"github.com/plural-go/plural/internal/lists"
	"github.com/plural-go/plural/internal/migrate"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/pgtest"
)

func rawJSON(text string) json.RawMessage { return json.RawMessage(text) }

// TestMigrationEqualsAFreshDatabase draws a schema with data and another schema:
// the migrated database is the same as a new one of that schema, loaded with the
// same resources.
func TestMigrationEqualsAFreshDatabase(t *testing.T) {
	keys := migrate.MaxKeys
	migrate.MaxKeys = 3 // so that rows are read several times
	t.Cleanup(func() { migrate.MaxKeys = keys })
	// A database of PostgreSQL is costly, so each is emptied and used again.
	databases := map[string]func(*testing.T) func() (string, string){
		"sqlite": func(t *testing.T) func() (string, string) {
			dir := t.TempDir()
			return func() (string, string) {
				one, two := filepath.Join(dir, "one.db"), filepath.Join(dir, "two.db")
				for _, file := range []string{one, two} {
					for _, suffix := range []string{"", "-journal", "-wal", "-shm"} {
						os.Remove(file + suffix)
					}
				}
				return "sqlite:" + one, "sqlite:" + two
			}
		},
		"postgres": func(t *testing.T) func() (string, string) {
			one, two := pgtest.URL(t), pgtest.URL(t)
			return func() (string, string) {
				emptyPostgres(t, one)
				emptyPostgres(t, two)
				return one, two
			}
		},
	}
	for name, prepare := range databases {
		t.Run(name, func(t *testing.T) {
			fresh := prepare(t)
			runs, migrated, blocked, lossy, additive := 0, 0, 0, 0, 0
			rapid.Check(t, func(rt *rapid.T) {
				w := drawDataset(rt)
				if runs++; w == nil || name == "postgres" && runs > 40 { // it takes ten times as long
					return
				}
				rows := w.drawRows(rt)
				one, two := fresh()
				load(rt, one, w.old, rows)
				steps, _, err := migrate.Plan(context.Background(), one, w.now, migrate.Whole)
				if err != nil {
					rt.Fatal(err)
				}
				all := !slices.ContainsFunc(steps, func(s *migrate.Step) bool { return s.Class != migrate.Additive })
				loses := slices.ContainsFunc(steps, func(s *migrate.Step) bool { return s.Loses() })
				w.expectViolations(rt, steps, rows)
				if w.calm && !all {
					rt.Fatalf("not additive:\n%s", describeSteps(steps))
				}
				before := dump(rt, one)
				if all {
					additive++
					st, err := Open(context.Background(), one, w.now, MigrateAdditive(func(*migrate.Step) {}))
					if err != nil {
						rt.Fatalf("%v\n%s", err, w.now.Document())
					}
					st.Close()
				} else {
					if loses {
						expectRefusal(rt, one, w.now, false)
						lossy++
					}
					if slices.ContainsFunc(steps, func(s *migrate.Step) bool { return s.Blocked }) {
						expectRefusal(rt, one, w.now, true)
						if after := dump(rt, one); after != before {
							rt.Fatalf("a refused migration changed something:\n%s\n%s", before, after)
						}
						blocked++
						return
					}
					if _, err := migrate.Run(context.Background(), one, w.now, migrate.Options{AllowLoss: true}); err != nil {
						rt.Fatalf("%v\nfrom %s\nto %s", err, w.old.Document(), w.now.Document())
					}
				}
				migrated++
				load(rt, two, w.now, w.expected(rows))
				got, want := dump(rt, one), dump(rt, two)
				if got != want {
					rt.Fatalf("from %s\nto %s\n%s\ngot\n%s\nwant\n%s", w.old.Document(), w.now.Document(), describeSteps(steps), got, want)
				}
				if steps, _, err := migrate.Plan(context.Background(), one, w.now, migrate.Whole); err != nil || len(steps) > 0 {
					rt.Fatalf("still to do: %s, %v", describeSteps(steps), err)
				}
				if name == "sqlite" { // the statements in the file are those of a new one as well
					os.Remove(strings.TrimPrefix(two, "sqlite:"))
					if err := admin.Backup(context.Background(), one, strings.TrimPrefix(two, "sqlite:")); err != nil {
						rt.Fatalf("no backup: %v\n%s", err, describeSteps(steps))
					}
				}
			})
			if migrated < 5 || lossy == 0 || blocked == 0 || additive == 0 {
				t.Errorf("%d migrated, %d of them additive, %d lossy, %d blocked: this tests too little", migrated, additive, lossy, blocked)
			}
		})
	}
}

func expectRefusal(t *rapid.T, url string, s *model.Schema, allowLoss bool) {
	_, err := migrate.Run(context.Background(), url, s, migrate.Options{AllowLoss: allowLoss})
	var refused *migrate.RefusedError
	if !errors.As(err, &refused) {
		t.Fatalf("not refused, but %v", err)
	}
}

func describeSteps(steps []*migrate.Step) string {
	var lines []string
	for _, step := range steps {
		lines = append(lines, fmt.Sprintf("%s: %s; %s, %d violations", step.Class, step.Text, step.Cost, step.Violations))
	}
	return strings.Join(lines, "\n")
}

// expected converts the resources by the names alone: what the plan makes of
// them is not asked.
func (w *dataset) expected(rows map[string][]model.Record) map[string][]model.Record {
	converted := map[string][]model.Record{}
	for _, c := range w.now.Collections() {
		old := w.old.Collection(w.source[c.Name])
		if old == nil {
			continue
		}
		for _, row := range rows[old.Name] {
			record := make(model.Record, len(c.Columns()))
			for i, column := range c.Columns() {
				record[i] = w.convert(c, old, column, row, rows)
			}
			converted[c.Name] = append(converted[c.Name], record)
		}
	}
	return converted
}

func (w *dataset) convert(c, old *model.Collection, column model.Column, row model.Record, rows map[string][]model.Record) model.Value {
	a := column.Attribute
	if a == nil {
		field := old.Field(column.Name)
		if field == nil && column.Kind == model.KindDateTime {
			return addedTime
		}
		if field == nil {
			return model.Null // the revision
		}
		return row[field.Column]
	}
	field := old.Field(w.source[c.Name+"."+a.Name])
	if field == nil || field.Column == model.NoColumn {
		return a.DefaultValue()
	}
	value := row[field.Column]
	if value.IsNull() {
		if a.Required {
			return a.DefaultValue()
		}
		return value
	}
	value, _ = a.Convert(field.Kind, value)
	if a.References != nil && !value.IsNull() {
		exists := func(r model.Record) bool { return r[model.IDColumn] == value }
		if !slices.ContainsFunc(rows[w.source[a.References.Collection]], exists) {
			return model.Null
		}
	}
	return value
}

// addedTime stands for the time of the migration, which dump does not show.
var addedTime = model.TimeValue("2030-01-01T00:00:00.000Z")

func load(t *rapid.T, url string, s *model.Schema, rows map[string][]model.Record) {
	st, err := Open(context.Background(), url, s)
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	err = st.Write(context.Background(), func(tx *Tx) error {
		for _, c := range s.Collections() {
			for _, row := range rows[c.Name] {
				if _, err := tx.Insert(c, slices.Clone(row)); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatalf("%v\n%s", err, s.Document())
	}
}

// dump is everything in a database but the change log, the revisions and the
// times of migrations: tables, indexes, keys, resources, totals and the schema.
func dump(t *rapid.T, url string) string {
	b, err := databases.Open(context.Background(), url, db.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	err = db.Write(context.Background(), b, func(c db.Conn) error {
		state, err := catalog.ReadState(c)
		if err != nil {
			return err
		}
		_, err = lists.Merge(c, b, db.NewTables(b, state.Schema))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	c, release, err := b.Read(context.Background(), db.ShortRead)
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	found, err := db.Describe(c, b)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	note := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	for _, name := range db.SortedNames(found) {
		table := found[name]
		for _, column := range table.Columns {
			note("%s %+v", name, column)
		}
		for _, index := range table.Indexes {
			note("%s %+v", name, index)
		}
		for column, target := range table.References {
			note("%s.%s -> %s", name, column, target)
		}
	}
	state, err := catalog.ReadState(c)
	if err != nil {
		t.Fatal(err)
	}
	s := state.Schema
	note("%s", s.Document())
	recent := model.FormatTime(time.Now().Add(-time.Hour))
	for _, collection := range s.Collections() {
		table := db.NewTable(b, collection)
		err := db.Each(c, func(row model.Row) {
			record := collection.Scan(row)
			if created := collection.CreatedColumn(); created != model.NoColumn && record[created].Text() > recent {
				record[created], record[collection.UpdatedColumn()] = addedTime, addedTime
			}
			note("%s", collection.Append(nil, record))
		}, "SELECT "+table.All+" FROM "+table.Name)
		if err != nil {
			t.Fatal(err)
		}
	}
	err = db.Each(c, func(row model.Row) {
		// A total of nothing may be kept or not.
		if row.Int(2) != 0 {
			note("total %s %s %d", row.AppendText(nil, 0), row.AppendText(nil, 1), row.Int(2))
		}
	}, "SELECT collection, parent, total FROM "+db.TotalsTable)
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

func emptyPostgres(t *testing.T, url string) {
	t.Helper()
	b, err := postgres.Open(context.Background(), url, db.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	err = db.Write(context.Background(), b, func(c db.Conn) error {
		return db.ExecAll(c, "DROP SCHEMA public CASCADE", "CREATE SCHEMA public")
	})
	if err != nil {
		t.Fatal(err)
	}
}
