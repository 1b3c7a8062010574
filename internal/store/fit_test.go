package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/migrate"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/schema"
)

// oddNames has every name that a database keeps to itself.
const oddNames = `
collections:
  sqlite_things:
    singular: sqlite_thing
    attributes:
      xmin: {type: string, maxLength: 10, unique: true}
      rowid: {type: integer, index: true}
      order: {type: boolean}
  with-dashes:
    singular: with-dash
    parent: sqlite_things
    attributes:
      a_very_long_name_that_takes_up_very_nearly_all_of_sixty_three: {type: integer, index: true}
  loops:
    attributes:
      next_id: {references: loops}
    index: [next_id]
`

func TestReopeningFits(t *testing.T) {
	for name, s := range map[string]*model.Schema{
		"example": (*model.Schema)(schema.Example()), "every kind": parse(t, everyKind), "odd names": parse(t, oddNames),
	} {
		t.Run(name, func(t *testing.T) {
			eachDatabase(t, func(t *testing.T, url string) {
				first, err := Open(context.Background(), url, s)
				if err != nil {
					t.Fatal(err)
				}
				closeStore(t, first)
				open(t, url, s)
			})
		})
	}
}

func TestMisfitListsTheDifferences(t *testing.T) {
	const before = `
collections:
  users:
    attributes:
      name: {type: string}
      age: {type: integer}
      born: {type: string}
      email: {type: string, maxLength: 100, unique: true}
      gone: {type: boolean, index: true}
      boss_id: {references: users}
    required: [name]
  old: {singular: older}
`
	const after = `
collections:
  users:
    attributes:
      name: {type: string}
      age: {type: boolean}
      born: {type: string, format: date}
      email: {type: string, maxLength: 100}
      added: {type: number}
      boss_id: {references: teams}
    required: [age]
    unique: [[email, age]]
  teams: {}
`
	want := []string{
		"users: name becomes optional (additive)",
		"users: age is converted from integer to boolean (rewriting)",
		"users: age becomes required (rewriting)",
		"users: born is converted from string to date (rewriting)",
		"users: new attribute added (number) (additive)",
		"users: boss_id refers to teams (rewriting)",
		"users: attribute gone is removed (losing)",
		"users: values of email, age must be unique (rewriting)",
		"users: values of email no longer need to be unique (additive)",
		"new collection teams (additive)",
		"collection old is removed (losing)",
	}
	eachDatabase(t, func(t *testing.T, url string) {
		s := parse(t, before)
		first := open(t, url, s)
		insert(t, first, s.Collection("users"), `{"id":"`+id(1)+`","name":"Ada","age":1,"born":"x","gone":true,"boss_id":"`+id(1)+`"}`)
		insert(t, first, s.Collection("old"), `{}`)
		closeStore(t, first)
		for _, options := range [][]Option{nil, {MigrateAdditive(func(step *migrate.Step) { t.Errorf("took the step %s", step.Text) })}} {
			_, err := Open(context.Background(), url, parse(t, after), options...)
			var misfit *db.MisfitError
			if !errors.As(err, &misfit) {
				t.Fatalf("got %v", err)
			}
			if got := misfit.Differences; !slices.Equal(got, want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		}
		open(t, url, parse(t, before)) // nothing was changed
	})
}

// TestTablesChangedByHandAreRefused: what Plural did not do to its tables, it
// does not build upon.
func TestTablesChangedByHandAreRefused(t *testing.T) {
	s := parse(t, `
collections:
  users:
    attributes:
      name: {type: string, maxLength: 10, index: true}
      email: {type: string, maxLength: 10, unique: true}
  posts:
    parent: users
    attributes:
      likes: {type: integer}
  old: {singular: older}
`)
	want := []string{
		"collection users: the database has no column for name",
		"collection users: the database has a column nickname, which the schema does not have",
		"collection users: the database has no unique index on email",
		"collection users: the database has an index on -nickname, which the schema does not have",
		"collection old: the database has no table for it",
		"table older: the schema has no collection for it",
	}
	eachDatabase(t, func(t *testing.T, url string) {
		st, err := Open(context.Background(), url, s)
		if err != nil {
			t.Fatal(err)
		}
		number, generated := "bigint", "STORED"
		if strings.HasPrefix(url, "sqlite:") {
			number, generated = "INTEGER", "VIRTUAL"
		}
		write(t, st, func(tx *Tx) error {
			return db.ExecAll(tx.conn, `DROP INDEX "_index.users.name.id"`, "ALTER TABLE users RENAME COLUMN name TO nickname", `DROP INDEX "_unique.users.email"`,
				"CREATE INDEX by_hand ON users (nickname DESC)", "ALTER TABLE old RENAME TO older",
				"ALTER TABLE posts DROP COLUMN likes", "ALTER TABLE posts ADD COLUMN likes "+number+" GENERATED ALWAYS AS (1) "+generated)
		})
		closeStore(t, st)
		_, err = Open(context.Background(), url, s, MigrateAdditive(func(*migrate.Step) {}))
		var misfit *db.MisfitError
		if !errors.As(err, &misfit) || misfit.Problem != "the tables of the database were changed outside Plural" {
			t.Fatalf("got %v", err)
		}
		want := append(slices.Clone(want), "collection users: the database has no index on name, id",
			fmt.Sprintf("collection posts: the column of likes has the type %[1]s GENERATED instead of %[1]s", number))
		slices.Sort(want)
		if got := slices.Sorted(slices.Values(misfit.Differences)); !slices.Equal(got, want) {
			t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	})
}

func TestForeignTablesAreRefused(t *testing.T) {
	eachDatabase(t, func(t *testing.T, url string) {
		st, err := Open(context.Background(), url, (*model.Schema)(schema.Example()))
		if err != nil {
			t.Fatal(err)
		}
		write(t, st, func(tx *Tx) error {
			for _, table := range []string{"posts", "users", "operations", db.MetaTable, db.ChangesTable, db.TotalsTable, db.SchemasTable, db.IdempotencyTable, db.QueueTable, db.FollowersTable, db.DeltasTable, db.OffsetsTable, db.KeysTable, db.UsesTable, db.SequenceTable, db.TicksTable} {
				if _, err := tx.conn.Exec("DROP TABLE IF EXISTS " + table); err != nil {
					return err
				}
			}
			_, err := tx.conn.Exec("CREATE TABLE invoices (number INTEGER)")
			return err
		})
		if file, ok := strings.CutPrefix(url, "sqlite:"); ok { // as others leave it
			closeStore(t, st)
			runSQLite(t, file, "PRAGMA journal_mode = DELETE")
			bytes, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			defer func() {
				if after, err := os.ReadFile(file); err != nil || string(after) != string(bytes) {
					t.Errorf("the file was changed, %v", err)
				}
			}()
		} else {
			closeStore(t, st)
		}
		_, err = Open(context.Background(), url, (*model.Schema)(schema.Example()))
		want := "the database does not fit the schema:\n  - it has tables that Plural did not create (invoices), and none of Plural's own\n" +
			`It seems to belong to another program. Use an empty database, or the right one.`
		if err == nil || err.Error() != want {
			t.Errorf("got %v", err)
		}
	})
}
