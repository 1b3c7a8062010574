package store

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/plural-go/plural/internal/migrate"
	"github.com/plural-go/plural/internal/model"
)

const versionOne = `
version: 1
collections:
  people:
    required: [name]
    search: [name, bio]
    index: [[address.city]]
    attributes:
      name: {type: string, maxLength: 40, unique: true}
      bio: {type: string}
      nick: {type: string}
      rank: {type: integer}
      address: {type: object, properties: {city: {type: string, maxLength: 40}}}
      colours: {type: array, items: {type: string}, index: true}
      lead_id: {references: {collection: people, on_delete: set_null}, inverse: team}
  notes:
    parent: people
    attributes:
      text: {type: string}
      weight: {type: integer}
`

// versionTwo renames everything, keeps nick for version 1 only, and adds what version 1 does not have.
const versionTwo = `
version: 2
collections:
  users:
    renamed_from: people
    required: [title]
    search: [title, bio]
    index: [[place.city]]
    attributes:
      title: {type: string, maxLength: 40, unique: true, renamed_from: name}
      bio: {type: string}
      nick: {type: string, until: 1}
      rank: {type: integer}
      place: {type: object, properties: {city: {type: string, maxLength: 40}}, renamed_from: address}
      tags: {type: array, items: {type: string}, index: true, renamed_from: colours}
      boss_id: {references: {collection: users, on_delete: set_null}, inverse: reports, renamed_from: lead_id}
      score: {type: integer, default: 5}
      badge_id: {references: {collection: badges, on_delete: cascade}, inverse: holders}
    unique: [[rank, score]]
  comments:
    renamed_from: notes
    parent: users
    attributes:
      body: {type: string, renamed_from: text}
      weight: {type: integer}
  badges:
    attributes:
      label: {type: string}
      user_id: {references: {collection: users, on_delete: cascade}, inverse: badges}
access:
  roles:
    reader:
      users: {list: true, read: "resource.boss_id == null || resource.boss.title != 'Cy'"}
      comments: [list, read]
      badges: [list, read]
`

// openVersions opens a database that had version 1 before version 2.
func openVersions(t *testing.T, url string) *Store {
	t.Helper()
	first, err := Open(context.Background(), url, parse(t, versionOne))
	if err != nil {
		t.Fatal(err)
	}
	closeStore(t, first)
	now := parse(t, versionTwo)
	if _, err := migrate.Run(context.Background(), url, now, migrate.Options{}); err != nil {
		t.Fatal(err)
	}
	st := open(t, url, now)
	st.now = func() time.Time { return time.Date(2027, 1, 2, 3, 4, 5, 0, time.UTC) }
	return st
}

// seen is the collections that are stored as users, comments and badges, as a schema shows them.
func seen(st *Store, s *model.Schema) (users, comments, badges *model.Collection) {
	stored := func(name string) *model.Collection { return s.Of(st.Schema().Base().Collection(name)) }
	return stored("users"), stored("comments"), stored("badges")
}

// put stores a resource as a schema shows its collection. The body has the names that are stored.
func put(t *testing.T, st *Store, c *model.Collection, n int, body string) (r model.Record) {
	t.Helper()
	r = record(t, c.Base(), body)
	r[model.IDColumn] = model.IDValue(idOf(t, n))
	write(t, st, func(tx *Tx) error {
		r[c.CreatedColumn()], r[c.UpdatedColumn()] = tx.Now(), tx.Now()
		_, err := tx.Insert(c, r)
		return err
	})
	return r
}

// fillVersions stores resources as a schema shows them.
func fillVersions(t *testing.T, st *Store, s *model.Schema) {
	t.Helper()
	users, comments, badges := seen(st, s)
	put(t, st, users, 1, `{"title":"Ada","bio":"love of engines","nick":"a","rank":1,"place":{"city":"Paris"},"tags":["red","blue"]}`)
	put(t, st, users, 2, `{"title":"Bob","bio":"engines","nick":"b","rank":2,"place":{"city":"Rome"},"tags":["red"],"boss_id":"`+id(1)+`"}`)
	put(t, st, badges, 20, `{"label":"gold","user_id":"`+id(2)+`"}`)
	put(t, st, users, 3, `{"title":"Cy","bio":"Lovelace","nick":"c","rank":3,"place":{"city":"Paris"},"tags":["green"],"boss_id":"`+id(1)+`","badge_id":"`+id(20)+`"}`)
	put(t, st, users, 4, `{"title":"Di","rank":2,"score":6,"boss_id":"`+id(3)+`"}`)
	put(t, st, users, 5, `{"title":"Eve","boss_id":"`+id(2)+`"}`)
	put(t, st, comments, 11, `{"body":"first love","weight":1,"user_id":"`+id(1)+`"}`)
	put(t, st, comments, 12, `{"body":"second","weight":5,"user_id":"`+id(1)+`"}`)
	put(t, st, comments, 13, `{"body":"third love","weight":9,"user_id":"`+id(2)+`"}`)
	put(t, st, comments, 14, `{"body":"fourth","weight":2,"user_id":"`+id(4)+`"}`)
}

// TestVersions: a store knows the versions of its database, and one without versions reads nothing for them.
func TestVersions(t *testing.T) {
	eachDatabase(t, func(t *testing.T, url string) {
		st := openVersions(t, url)
		var lines []string
		for _, each := range st.Versions() {
			lines = append(lines, fmt.Sprint(each.Number, each.Schema == st.Version(each.Number), each.Schema == st.Schema(), len(each.Ended)))
		}
		if want := []string{"1 true false 0", "2 true true 0"}; !slices.Equal(lines, want) {
			t.Errorf("got %q, want %q", lines, want)
		}
		if st.Version(0) != st.Schema() || st.Version(3) != nil || st.Version(-1) != nil {
			t.Error("a version is known that there is not")
		}
		var statements recorder
		plain, err := Open(context.Background(), sameKind(t, url), parse(t, relatedSchema), Trace(statements.trace))
		if err != nil {
			t.Fatal(err)
		}
		defer closeStore(t, plain)
		if plain.Versions() != nil || plain.Version(0) != plain.Schema() || plain.Version(1) != nil {
			t.Errorf("a schema without versions has %v", plain.Versions())
		}
	})
}
