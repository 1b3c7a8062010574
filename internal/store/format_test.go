package store

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/plural-go/plural/internal/changelog"
	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/db/databases"
	"github.com/plural-go/plural/internal/maintain"
	"github.com/plural-go/plural/internal/migrate"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/schema"
)

// loadFormat3 makes a database that a server of the previous format made: two users, of which
// one was updated, a post, and a user that was deleted; with six changes.
func loadFormat3(t *testing.T, url string) {
	t.Helper()
	kind, _, _ := strings.Cut(url, ":")
	text, err := os.ReadFile(filepath.Join("testdata", "format3-"+kind+".sql"))
	if err != nil {
		t.Fatal(err)
	}
	b, err := databases.Open(context.Background(), url, db.Options{})
	if err != nil {
		t.Fatal(err)
	}
	err = b.Migrate(context.Background(), func(c db.Conn) error {
		return db.ExecAll(c, strings.Split(strings.TrimSpace(string(text)), "\n")...)
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
}

const formatStep = "the database gets the format 4 instead of 3: the change log gets another form and begins anew"

func TestPreviousFormatIsMigrated(t *testing.T) {
	s := (*model.Schema)(schema.Example())
	eachDatabase(t, func(t *testing.T, url string) {
		loadFormat3(t, url)
		_, err := Open(context.Background(), url, s)
		want := "the database does not fit the schema:\n  - " + formatStep + " (additive)\n" +
			`"plural migrate" changes the database. With "--migrate additive" the server applies such steps itself.`
		if err == nil || err.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
		_, err = maintain.Examine(context.Background(), url, false)
		if want := `the database has format "3", but this version of Plural supports only format "4": run "plural migrate", which changes it`; err == nil || err.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
		for range 2 { // the second time there is nothing to do
			if _, err := migrate.Run(context.Background(), url, s, migrate.Options{}); err != nil {
				t.Fatal(err)
			}
		}
		expectUpgraded(t, open(t, url, s), url)
	})
}

func TestPreviousFormatIsMigratedAtTheStart(t *testing.T) {
	s := (*model.Schema)(schema.Example())
	eachDatabase(t, func(t *testing.T, url string) {
		loadFormat3(t, url)
		var steps []string
		st, err := Open(context.Background(), url, s, MigrateAdditive(func(step *migrate.Step) { steps = append(steps, step.Text) }))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { closeStore(t, st) })
		if !slices.Equal(steps, []string{formatStep}) {
			t.Errorf("took %q", steps)
		}
		expectUpgraded(t, st, url)
	})
}

// TestPreviousFormatIsMigratedWithTheSchema: the steps of a schema are taken at the same time.
func TestPreviousFormatIsMigratedWithTheSchema(t *testing.T) {
	after := parse(t, `
collections:
  people:
    renamed_from: users
    required: [title, email]
    attributes:
      title: {type: string, maxLength: 200, renamed_from: name}
      email: {type: string, format: email}
      level: {type: integer, default: 3}
`)
	eachDatabase(t, func(t *testing.T, url string) {
		loadFormat3(t, url)
		if _, err := migrate.Run(context.Background(), url, after, migrate.Options{AllowLoss: true}); err != nil {
			t.Fatal(err)
		}
		st := open(t, url, after)
		people := after.Collection("people")
		read(t, st, func(tx *Tx) {
			ada, _ := model.ParseID("01936f2e-7d3c-7a4b-9c5d-000000000001")
			record, err := tx.Get(people, nil, ada)
			if err != nil || record[people.Field("title").Column].Text() != "Ada L." || record[people.Field("level").Column].Int() != 3 {
				t.Errorf("got %v, %v", record, err)
			}
		})
		if findings, err := maintain.Examine(context.Background(), url, false); len(findings) > 0 || err != nil {
			t.Errorf("the doctor says %q, %v", findings, err)
		}
	})
}

// TestBackupOfThePreviousFormat: it can be made and restored, and migrated then.
func TestBackupOfThePreviousFormat(t *testing.T) {
	s := (*model.Schema)(schema.Example())
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	loadFormat3(t, "sqlite:"+at("live.db"))
	if err := maintain.Backup(context.Background(), "sqlite:"+at("live.db"), at("backup.db")); err != nil {
		t.Fatal(err)
	}
	if err := maintain.Restore(context.Background(), "sqlite:"+at("new.db"), at("backup.db"), false); err != nil {
		t.Fatal(err)
	}
	if _, err := migrate.Run(context.Background(), "sqlite:"+at("new.db"), s, migrate.Options{}); err != nil {
		t.Fatal(err)
	}
	expectUpgraded(t, open(t, "sqlite:"+at("new.db"), s), "sqlite:"+at("new.db"))
}

func expectUpgraded(t *testing.T, st *Store, url string) {
	t.Helper()
	users := st.schema.Collection("users")
	ada, _ := model.ParseID("01936f2e-7d3c-7a4b-9c5d-000000000001")
	var before, after model.Record
	write(t, st, func(tx *Tx) (err error) {
		if before, err = tx.Get(users, nil, ada); err != nil || before == nil {
			return err
		}
		after = slices.Clone(before)
		after[users.Field("name").Column] = model.TextValue("Ada")
		_, err = tx.Update(users, before, after)
		return err
	})
	sequence(t, st)
	read(t, st, func(tx *Tx) {
		expectTotals(t, tx, users, 2)
		expectTotals(t, tx, st.schema.Collection("posts"), 1)
		if bounds, err := tx.Bounds(); bounds.Floor != 6 || bounds.FloorAt == "" || bounds.History == (model.ID{}) || err != nil {
			t.Errorf("got %+v, %v", bounds, err)
		}
		entries, last, more, err := tx.Log(changelog.Query{Most: 10})
		before[users.RevisionColumn()] = model.Null
		if err != nil || last != 7 || more || len(entries) != 1 || entries[0].Revision != 7 || !slices.Equal(entries[0].Before, before) || !slices.Equal(entries[0].After, after) {
			t.Errorf("the log has %v up to %d, %v", entries, last, err)
		}
	})
	if findings, err := maintain.Examine(context.Background(), url, false); len(findings) > 0 || err != nil {
		t.Errorf("the doctor says %q, %v", findings, err)
	}
}
