package store

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

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
	for name, s := range map[string]*schema.Schema{
		"example": schema.Example(), "every kind": parse(t, everyKind), "odd names": parse(t, oddNames),
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
		"collection users: name is required in the database, and optional in the schema",
		"collection users: age is stored as integer, and the schema needs boolean",
		"collection users: born is stored as text, and the schema needs date",
		"collection users: the database has no column for added",
		"collection users: the database has a column gone, which the schema does not have",
		"collection users: the database has no unique index on email, age",
		"collection users: the database has an index on gone, id, which the schema does not have",
		"collection users: the database has a unique index on email, which the schema does not have",
		"collection users: boss_id refers to users in the database, and to teams in the schema",
		"collection teams: the database has no table for it",
		"table old: the schema has no collection for it",
	}
	eachDatabase(t, func(t *testing.T, url string) {
		first, err := Open(context.Background(), url, parse(t, before))
		if err != nil {
			t.Fatal(err)
		}
		closeStore(t, first)
		_, err = Open(context.Background(), url, parse(t, after))
		var misfit *MisfitError
		if !errors.As(err, &misfit) {
			t.Fatalf("got %v", err)
		}
		if got := misfit.Differences; !slices.Equal(got, want) {
			t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	})
}

func TestForeignTablesAreRefused(t *testing.T) {
	eachDatabase(t, func(t *testing.T, url string) {
		st, err := Open(context.Background(), url, schema.Example())
		if err != nil {
			t.Fatal(err)
		}
		write(t, st, func(tx *Tx) error {
			for _, table := range []string{"posts", "users", metaTable, changesTable, totalsTable} {
				if _, err := tx.conn.exec("DROP TABLE " + table); err != nil {
					return err
				}
			}
			_, err := tx.conn.exec("CREATE TABLE invoices (number INTEGER)")
			return err
		})
		closeStore(t, st)
		_, err = Open(context.Background(), url, schema.Example())
		want := "the database does not fit the schema:\n  - it has tables that Plural did not make (invoices), and none of Plural's own"
		if err == nil || err.Error() != want {
			t.Errorf("got %v", err)
		}
	})
}
