package store

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/plural-go/plural/admin"
	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/migrate"
	"github.com/plural-go/plural/internal/model"
)

// TestExamineSearch: what the index has too much, too little or otherwise is found, and repaired.
func TestExamineSearch(t *testing.T) {
	s := parse(t, searched)
	books := s.Collection("books")
	table := `"` + db.SearchTable(books) + `"`
	eachDatabase(t, func(t *testing.T, url string) {
		st := open(t, url, s)
		first := insert(t, st, books, `{"id":"00000000-0000-0000-0000-000000000000","title":"first"}`).ID(model.IDColumn)
		second := insert(t, st, books, `{"title":"second","body":"two"}`).ID(model.IDColumn)
		insert(t, st, books, `{}`)
		expectHealthy(t, url)
		sql := st.db.Search(db.SearchTable(books))
		put := func(id model.ID, text string) func(*Tx) error {
			return func(tx *Tx) error {
				return sql.Put(tx.conn, []db.ResourceWords{{ID: model.IDValue(id), Words: text}})
			}
		}
		breaks := map[string]func(*Tx) error{
			"books: the search index has other words than 1 resources, for example " + first.String():                    put(first, " afirs"),
			"books: the search index has other words than 1 resources, for example " + second.String():                   put(second, " asecond btwo btwofold"),
			"books: the search index has other words than 1 resources, for example ffffffff-ffff-ffff-ffff-ffffffffffff": put(model.ID([]byte(strings.Repeat("\xff", 16))), " ax"),
			"books: the search index has other words than 3 resources, for example " + first.String(): func(tx *Tx) error {
				_, err := tx.conn.Exec("DELETE FROM " + table)
				return err
			},
		}
		if sql.Indexed != "" {
			breaks["books: the search index does not agree with its own table of words"] = func(tx *Tx) error {
				index := `"` + db.SearchTable(books) + `.words"`
				_, err := tx.conn.Exec("INSERT INTO " + index + " (rowid, _words) VALUES (1, 'azzz')")
				return err
			}
			breaks["books: the search index does not have the order of ids"] = func(tx *Tx) error {
				if _, err := tx.conn.Exec("DELETE FROM "+table+" WHERE _resource = $1", model.IDValue(first)); err != nil {
					return err
				}
				_, err := tx.conn.Exec("INSERT INTO "+table+" VALUES (9, $1, ' afirst')", model.IDValue(first))
				return err
			}
		}
		for want, broken := range breaks {
			write(t, st, broken)
			for _, repair := range []bool{false, true} {
				if got, err := admin.Examine(context.Background(), url, admin.ExamineOptions{Repair: repair}); err != nil || !slices.Equal(got, []string{want}) {
					t.Errorf("got %q, %v\nwant %q", got, err, want)
				}
			}
			expectHealthy(t, url)
			if got := found(t, st, searchFor(books, "tw", "body"), "title"); !slices.Equal(got, []string{"second"}) {
				t.Errorf("found %q", got)
			}
		}
	})
}

// TestExamineSearchPrefixes: a list of prefixes that has lost a resource is found and built again by a repair. On PostgreSQL
// there are no such lists.
func TestExamineSearchPrefixes(t *testing.T) {
	s := parse(t, searched)
	books := s.Collection("books")
	url := "sqlite:" + filepath.Join(t.TempDir(), "test.db")
	st := open(t, url, s)
	defer closeStore(t, st)
	insert(t, st, books, `{"title":"first"}`)
	insert(t, st, books, `{"title":"second"}`)
	index := `"` + db.SearchTable(books) + `.words"`
	write(t, st, func(tx *Tx) error {
		// The prefixes of a word that the resource does not have: of these it loses "a", "as" and "ase".
		rank := `(SELECT _rank FROM "` + db.SearchTable(books) + `" WHERE _words = ' asecond')`
		if _, err := tx.conn.Exec("INSERT INTO " + index + " (" + index + ", rowid, _words) VALUES ('delete', " + rank + ", 'aseX')"); err != nil {
			return err
		}
		_, err := tx.conn.Exec("INSERT INTO " + index + " (rowid, _words) VALUES (" + rank + ", '')")
		return err
	})
	if got := found(t, st, searchFor(books, "se", "title"), "title"); len(got) != 0 {
		t.Fatalf("found %q: the list of prefixes is still right", got)
	}
	want := []string{"books: the search index has wrong lists of prefixes"}
	if got, err := admin.Examine(context.Background(), url, admin.ExamineOptions{Repair: true}); err != nil || !slices.Equal(got, want) {
		t.Errorf("got %q, %v\nwant %q", got, err, want)
	}
	if got, err := admin.Examine(context.Background(), url, admin.ExamineOptions{Repair: true}); err != nil || len(got) > 0 {
		t.Errorf("after the repair: got %q, %v", got, err)
	}
	if got := found(t, st, searchFor(books, "se", "title"), "title"); !slices.Equal(got, []string{"second"}) {
		t.Errorf("found %q", got)
	}
}

// TestMigrateSearch: the index follows the declaration, also through renames and changed values.
func TestMigrateSearch(t *testing.T) {
	const title, body = "title: {type: string}", "body: {type: string}"
	books := func(rest string, attributes ...string) string {
		return "collections:\n  books:\n    timestamps: false\n    attributes: {" + strings.Join(attributes, ", ") + "}\n    " + rest + "\n"
	}
	steps := []struct {
		schema string
		plan   []string
		search string
		in     []string
		want   []string // titles; nil: the collection is not searched
	}{
		{schema: books("", title, body)},
		{books("search: [title]", title, body), []string{"books: search in title"}, "a", []string{"title"}, []string{"Ada", "Alan"}},
		{books("search: [title]\n    label: body", title, body), []string{"books: search in title, body"}, "ana", []string{"title", "body"}, []string{"Ada"}},
		{books("search: [body, title]", title, body), []string{"books: search in body, title"}, "ana", []string{"body"}, []string{"Ada"}},
		{books("search: [text, title]", title, "text: {type: string, renamed_from: body}"), []string{"books: attribute body is renamed to text"}, "ana", []string{"text"}, []string{"Ada"}},
		{books("search: [text]", title, "text: {type: string, enum: [Analyst, other]}"), []string{"books: text is restricted by enum", "books: search in text"}, "ana", []string{"text"}, []string{"Ada"}},
		{strings.Replace(books("renamed_from: books\n    search: [text]", title, "text: {type: string, enum: [Analyst, other]}"), "books:", "volumes:", 1),
			[]string{"collection books is renamed to volumes", "volumes: the singular becomes volume"}, "ana", []string{"text"}, []string{"Ada"}},
		{strings.Replace(books("", title, "text: {type: string, enum: [Analyst, other]}"), "books:", "volumes:", 1), []string{"volumes: no longer searched"}, "", nil, nil},
		{strings.Replace(books("label: title", title, "text: {type: string, enum: [Analyst, other]}"), "books:", "volumes:", 1), []string{"volumes: search in title"}, "al", []string{"title"}, []string{"Alan"}},
		{strings.Replace(books("", "text: {type: string, enum: [Analyst, other]}"), "books:", "volumes:", 1), []string{"volumes: attribute title is removed", "volumes: no longer searched"}, "", nil, nil},
		{strings.Replace(books("search: [title]", title), "books:", "others:", 1), []string{"new collection others", "collection volumes is removed"}, "a", []string{"title"}, []string{}},
	}
	eachDatabase(t, func(t *testing.T, url string) {
		for i, step := range steps {
			s := parse(t, step.schema)
			if i > 0 {
				applied, err := migrate.Run(context.Background(), url, s, migrate.Options{AllowLoss: true})
				if err != nil {
					t.Fatalf("step %d: %v", i, err)
				}
				var texts []string
				for _, each := range applied {
					texts = append(texts, each.Text)
				}
				if !slices.EqualFunc(texts, step.plan, strings.HasPrefix) {
					t.Errorf("step %d: got %q, want %q", i, texts, step.plan)
				}
			}
			st, err := Open(context.Background(), url, s)
			if err != nil {
				t.Fatalf("step %d: %v", i, err)
			}
			c := s.Collections()[0]
			if i == 0 {
				insert(t, st, c, `{"title":"Ada","body":"Analyst"}`)
				insert(t, st, c, `{"title":"Alan"}`)
			}
			if step.want != nil {
				if got := found(t, st, searchFor(c, step.search, step.in...), "title"); !slices.Equal(got, step.want) {
					t.Errorf("step %d: found %q, want %q", i, got, step.want)
				}
			}
			closeStore(t, st)
			expectHealthy(t, url)
		}
	})
}

// TestCopySearch: a copy finds what its source finds.
func TestCopySearch(t *testing.T) {
	s := parse(t, searched)
	books := s.Collection("books")
	eachDatabase(t, func(t *testing.T, from string) {
		st := open(t, from, s)
		insert(t, st, books, `{"title":"Ada Lovelace"}`)
		insert(t, st, books, `{"title":"Alan"}`)
		eachDatabase(t, func(t *testing.T, to string) {
			if _, err := admin.Copy(context.Background(), from, to, nil); err != nil {
				t.Fatal(err)
			}
			expectHealthy(t, to)
			target := open(t, to, s)
			if got := found(t, target, searchFor(books, "lov", "title"), "title"); !slices.Equal(got, []string{"Ada Lovelace"}) {
				t.Errorf("found %q", got)
			}
			insert(t, target, books, `{"title":"Lovely"}`)
			if got := found(t, target, searchFor(books, "LOV", "title"), "title"); !slices.Equal(got, []string{"Ada Lovelace", "Lovely"}) {
				t.Errorf("found %q", got)
			}
		})
	})
}
