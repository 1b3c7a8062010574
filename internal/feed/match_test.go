package feed

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/plural-go/plural/internal/auth"
	"github.com/plural-go/plural/internal/changelog"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/query"
	"github.com/plural-go/plural/internal/reads"
	"github.com/plural-go/plural/internal/store"
	"github.com/plural-go/plural/schema"
)

const notesFile = `
collections:
  books:
    attributes:
      name: {type: string}
      owner: {type: string}
  notes:
    parent: {collection: books, on_delete: cascade}
    attributes:
      title: {type: string}
      open: {type: boolean}
      owner: {type: string}
      secret: {type: string}
    search: [title, secret]
  links:
    attributes:
      label: {type: string}
      rank: {type: integer}
      note_id: {type: string, format: uuid, references: {collection: notes, on_delete: set_null}}
access:
  roles:
    admin:
      books: {list: true, read: true, changes: true}
      notes: {list: true, read: true, changes: true}
      links: {list: true, read: true, changes: true}
    follower:
      books: {list: true, read: 'resource.owner == auth.sub', changes: true}
      notes: {list: true, read: 'resource.owner == auth.sub', changes: true, visible: [book_id, title, open, owner]}
    user:
      books: {list: true, read: 'resource.owner == auth.sub'}
      links: {list: true, read: 'resource.rank > 1 || resource.note_id == null'}
      notes: {list: true, read: 'resource.owner == auth.sub', visible: [book_id, title, open, owner]}
    reader: # whose rules read through references
      books: {list: true, read: true, changes: true}
      links: {list: true, read: 'resource.note.book.owner == auth.sub || resource.note.owner != auth.sub && resource.rank > 1', changes: true}
      notes: {list: true, read: 'resource.book.owner == auth.sub || resource.book.name == null && resource.open', changes: true}
    member: # who sees the notes of own books with the name open
      books: {list: true, read: true}
      notes: {list: true, read: 'resource.book.name == "open" && resource.book.owner == auth.sub || resource.title == "public"'}
    child: # whose parents are ruled so
      books: {list: true, read: 'resource.owner == auth.sub'}
      notes: {list: true, read: 'resource.book.owner != auth.sub || resource.open'}
      links: {list: true, read: 'resource.note.book.owner == auth.sub'}
`

// notes is a feed of a database, and what tests need of its schema.
type notes struct {
	feed                *Feed
	schema              *model.Schema
	policy              *auth.Policy
	books, notes, links *model.Collection
	waited              atomic.Int64 // how often subscriptions had to wait for a place
}

func openNotes(t *testing.T, url string, options Options) *notes {
	file, err := schema.Parse([]byte(notesFile))
	if err != nil {
		t.Fatal(err)
	}
	s := (*model.Schema)(file.Schema)
	policy, err := auth.Compile(s, file.Access)
	if err != nil {
		t.Fatal(err)
	}
	st, err := store.Open(context.Background(), url, s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := st.Close(); err != nil {
			t.Error("closing:", err)
		}
	})
	n := &notes{}
	counted := options.Metrics.Waiting
	options.Metrics.Waiting = func(change int) {
		n.waited.Add(int64(max(0, change)))
		if counted != nil {
			counted(change)
		}
	}
	n.feed, n.schema, n.policy, n.books, n.notes, n.links = New(st, options), s, policy, s.Collection("books"), s.Collection("notes"), s.Collection("links")
	return n
}

func (n *notes) permit(role, subject string) *auth.Permit {
	return n.policy.Permit(auth.Caller{ID: "program:" + subject, Role: role, Subject: subject})
}

func (n *notes) view(s Shape) *view { return n.feed.newView(s, n.feed.canonical(&s)) }

// record is a state of a resource: the values of its attributes by name, timestamps and id
// added.
func record(c *model.Collection, id byte, updated int, values map[string]any) model.Record {
	r := make(model.Record, len(c.Columns()))
	for i, column := range c.Columns() {
		switch value := values[column.Name].(type) {
		case string:
			r[i] = model.TextValue(value)
		case bool:
			r[i] = model.BoolValue(value)
		case model.ID:
			r[i] = model.IDValue(value)
		}
	}
	r[model.IDColumn] = model.IDValue(model.ID{15: id})
	r[c.CreatedColumn()] = model.TimeValue("2026-01-01T00:00:00.000Z")
	r[c.UpdatedColumn()] = model.TimeValue(fmt.Sprintf("2026-01-01T00:00:%02d.000Z", updated))
	return r
}

// told is what an event tells, in one line, without the position.
func told(events []Event, err error) string {
	if err != nil {
		return err.Error()
	}
	var lines []string
	for _, each := range events {
		if each.effect == beginsAgain {
			lines = append(lines, "restart")
			continue
		}
		lines = append(lines, fmt.Sprintf("%s %s %d", each.Kind, each.Data, each.effect))
	}
	return strings.Join(lines, "\n")
}

func TestEventsOfChanges(t *testing.T) {
	n := openNotes(t, "sqlite:"+filepath.Join(t.TempDir(), "test.db"), Options{})
	history := model.ID{8: 0x80, 15: 7}
	book := model.ID{15: 9}
	note := func(updated int, title, owner string, open bool, secret string) model.Record {
		return record(n.notes, 1, updated, map[string]any{"book_id": book, "title": title, "owner": owner, "open": open, "secret": secret})
	}
	shown := func(title, owner string, open bool, updated int) string {
		return fmt.Sprintf(`{"id":"00000000-0000-0000-0000-000000000001","type":"notes","title":%q,"open":%v,"owner":%q,"book_id":"00000000-0000-0000-0000-000000000009","created_at":"2026-01-01T00:00:00.000Z","updated_at":"2026-01-01T00:00:%02d.000Z"}`,
			title, open, owner, updated)
	}
	const change = `"change":{"id":"00000000-0000-8005-8000-000000000007","by":null,"at":"2026-02-01T00:00:00.000Z","revision":12}`
	isOpen := query.Compare{Column: n.notes.Field("open").Column, Op: query.Equal, Value: model.BoolValue(true)}
	ada := reads.Path{Collection: n.notes, By: n.permit("user", "ada")}
	one, none := model.ID{15: 1}, model.ID{15: 2}
	a := note(1, "a", "ada", true, "x")
	for _, each := range []struct {
		name          string
		shape         Shape
		before, after model.Record
		want          string
	}{
		{"created", Shape{Path: ada}, nil, a, `created {"data":` + shown("a", "ada", true, 1) + `,` + change + `} 0`},
		{"created and hidden", Shape{Path: ada}, nil, note(1, "a", "eve", true, "x"), ""},
		{"created without a match", Shape{Path: ada, Filter: isOpen}, nil, note(1, "a", "ada", false, "x"), ""},
		{"updated", Shape{Path: ada, Filter: isOpen}, a, note(2, "b", "ada", true, "y"),
			`updated {"data":` + shown("b", "ada", true, 2) + `,"previous":{"title":"a"},` + change + `} 0`},
		{"updated where nobody sees it", Shape{Path: ada}, a, note(2, "a", "ada", true, "y"), ""},
		{"enters the filter", Shape{Path: ada, Filter: isOpen}, note(1, "a", "ada", false, "x"), note(2, "a", "ada", true, "x"),
			`entered {"data":` + shown("a", "ada", true, 2) + `,` + change + `} 0`},
		{"leaves the filter", Shape{Path: ada, Filter: isOpen}, a, note(2, "a", "ada", false, "x"),
			`left {"data":{"id":"00000000-0000-0000-0000-000000000001","type":"notes"}} 0`},
		{"enters the rule", Shape{Path: ada}, note(1, "a", "eve", true, "x"), a, `entered {"data":` + shown("a", "ada", true, 1) + `,` + change + `} 0`},
		{"leaves the rule", Shape{Path: ada}, a, note(2, "a", "eve", true, "x"), `left {"data":{"id":"00000000-0000-0000-0000-000000000001","type":"notes"}} 0`},
		{"hidden before and after", Shape{Path: ada}, note(1, "a", "eve", true, "x"), note(2, "b", "eve", true, "x"), ""},
		{"deleted", Shape{Path: ada}, a, nil, `deleted {"data":` + shown("a", "ada", true, 1) + `,` + change + `} 0`},
		{"deleted and hidden", Shape{Path: ada}, note(1, "a", "eve", true, "x"), nil, ""},
		{"deleted without a match", Shape{Path: ada, Filter: isOpen}, note(1, "a", "ada", false, "x"), nil, ""},
		{"the one resource is deleted", Shape{Path: ada, ID: &one}, a, nil, `deleted {"data":` + shown("a", "ada", true, 1) + `,` + change + `} 1`},
		{"the one resource leaves", Shape{Path: ada, ID: &one}, a, note(2, "a", "eve", true, "x"),
			`left {"data":{"id":"00000000-0000-0000-0000-000000000001","type":"notes"}} 2`},
		{"another resource", Shape{Path: ada, ID: &none}, a, nil, ""},
		{"another parent", Shape{Path: reads.Path{Collection: n.notes, Parent: &none, By: ada.By}}, nil, a, ""},
		{"the parent", Shape{Path: reads.Path{Collection: n.notes, Parent: &book, By: ada.By}}, nil, a,
			`created {"data":` + shown("a", "ada", true, 1) + `,` + change + `} 0`},
	} {
		e := &changelog.Entry{Number: 5, Revision: 12, Collection: n.notes, ID: one, Kind: kindOf(each.before, each.after),
			At: model.TimeValue("2026-02-01T00:00:00.000Z"), Caller: "key:abc", Before: each.before, After: each.after}
		if got := told(n.view(each.shape).match(nil, history, e, nil, 0)); got != each.want {
			t.Errorf("%s:\ngot  %s\nwant %s", each.name, got, each.want)
		}
	}
}

func kindOf(before, after model.Record) changelog.Kind {
	switch {
	case before == nil:
		return changelog.Created
	case after == nil:
		return changelog.Deleted
	}
	return changelog.Updated
}

func TestChangesOfTheParent(t *testing.T) {
	n := openNotes(t, "sqlite:"+filepath.Join(t.TempDir(), "test.db"), Options{})
	book := func(name, owner string) model.Record {
		return record(n.books, 9, 1, map[string]any{"name": name, "owner": owner})
	}
	parent, other := model.ID{15: 9}, model.ID{15: 8}
	for _, each := range []struct {
		name          string
		parent        model.ID
		role          string
		before, after model.Record
		want          string
	}{
		{"renamed", parent, "user", book("a", "ada"), book("b", "ada"), ""},
		{"hidden", parent, "user", book("a", "ada"), book("a", "eve"), "restart"},
		{"shown", parent, "user", book("a", "eve"), book("a", "ada"), "restart"},
		{"deleted", parent, "user", book("a", "ada"), nil, "restart"},
		{"created", parent, "user", nil, book("a", "ada"), "restart"},
		{"deleted and hidden", parent, "user", book("a", "eve"), nil, ""},
		{"given away, which the admin sees", parent, "admin", book("a", "ada"), book("a", "eve"), ""},
		{"another one", other, "user", book("a", "ada"), nil, ""},
	} {
		view := n.view(Shape{Path: reads.Path{Collection: n.notes, Parent: &each.parent, By: n.permit(each.role, "ada")}})
		e := &changelog.Entry{Number: 5, Collection: n.books, ID: parent, Kind: kindOf(each.before, each.after), Before: each.before, After: each.after}
		if got := told(view.match(nil, model.ID{}, e, nil, 0)); got != each.want {
			t.Errorf("%s: got %q, want %q", each.name, got, each.want)
		}
	}
}

func TestChangesAsResources(t *testing.T) {
	n := openNotes(t, "sqlite:"+filepath.Join(t.TempDir(), "test.db"), Options{})
	note := func(title, owner, secret string) model.Record {
		return record(n.notes, 1, 1, map[string]any{"title": title, "owner": owner, "secret": secret})
	}
	shown := func(title, owner, secret string) string {
		return fmt.Sprintf(`{"id":"00000000-0000-0000-0000-000000000001","type":"notes","title":%q,"open":null,"owner":%q,"secret":%q,"book_id":null,"created_at":"2026-01-01T00:00:00.000Z","updated_at":"2026-01-01T00:00:01.000Z"}`,
			title, owner, secret)
	}
	head := func(kind string) string {
		return `{"id":"00000000-0000-8005-8000-000000000007","type":"changes","kind":"` + kind + `","resource":{"id":"00000000-0000-0000-0000-000000000001","type":"notes"},"revision":12,"by":"key:abc",`
	}
	const tail = `,"created_at":"2026-02-01T00:00:00.000Z"}`
	for _, each := range []struct {
		name          string
		by            *auth.Permit
		before, after model.Record
		want          string
	}{
		{"created", nil, nil, note("a", "ada", "x"), head("created") + `"previous":null,"data":` + shown("a", "ada", "x") + tail},
		{"updated", n.permit("admin", "root"), note("a", "ada", "x"), note("b", "ada", "y"), head("updated") + `"previous":{"title":"a","secret":"x"},"data":` + shown("b", "ada", "y") + tail},
		{"deleted", nil, note("a", "ada", "x"), nil, head("deleted") + `"previous":` + shown("a", "ada", "x") + `,"data":null` + tail},
		{"no difference", nil, note("a", "ada", "x"), note("a", "ada", "x"), ""},
		{"without the verb", n.permit("user", "ada"), nil, note("a", "ada", "x"), ""},
	} {
		e := &changelog.Entry{Number: 5, Revision: 12, Collection: n.notes, ID: model.ID{15: 1}, Kind: kindOf(each.before, each.after),
			At: model.TimeValue("2026-02-01T00:00:00.000Z"), Caller: "key:abc", Before: each.before, After: each.after}
		event, ok, err := n.view(Shape{Path: reads.Path{By: each.by}}).changeEvent(model.ID{8: 0x80, 15: 7}, e, nil, 0)
		if err != nil || ok != (each.want != "") || ok && string(event.Data) != `{"data":`+each.want+`}` {
			t.Errorf("%s:\ngot  %t %s\nwant %s", each.name, ok, event.Data, each.want)
		}
	}
}

// TestFingerprints: shapes that are told the same have the same, others do not.
func TestFingerprints(t *testing.T) {
	n := openNotes(t, "sqlite:"+filepath.Join(t.TempDir(), "test.db"), Options{})
	title, open := n.notes.Field("title").Column, n.notes.Field("open").Column
	isOpen := query.Compare{Column: open, Op: query.Equal, Value: model.BoolValue(true)}
	named := query.In{Column: title, Values: []model.Value{model.TextValue("a"), model.TextValue("b")}}
	swapped := query.In{Column: title, Values: []model.Value{model.TextValue("b"), model.TextValue("a")}}
	one := model.ID{15: 1}
	path := func(by *auth.Permit) reads.Path { return reads.Path{Collection: n.notes, By: by} }
	fingerprint := func(s Shape) fingerprint { return fingerprintOf(n.feed.canonical(&s)) }
	equal := [][2]Shape{
		{{Path: path(nil), Filter: query.And{isOpen, named}}, {Path: path(nil), Filter: query.And{swapped, isOpen}}},
		{{Path: path(n.permit("user", "ada"))}, {Path: path(n.permit("user", "ada"))}},
		{{Path: path(n.permit("admin", "ada"))}, {Path: path(n.permit("admin", "eve"))}},
	}
	for i, pair := range equal {
		if fingerprint(pair[0]) != fingerprint(pair[1]) {
			t.Errorf("pair %d: the fingerprints differ", i)
		}
	}
	different := map[string]Shape{
		"all": {Path: path(nil)}, "open": {Path: path(nil), Filter: isOpen}, "not open": {Path: path(nil), Filter: query.Not{Filter: isOpen}},
		"named": {Path: path(nil), Filter: named}, "and": {Path: path(nil), Filter: query.And{isOpen, named}}, "or": {Path: path(nil), Filter: query.Or{isOpen, named}},
		"null": {Path: path(nil), Filter: query.IsNull{Column: open}}, "ada": {Path: path(n.permit("user", "ada"))}, "eve": {Path: path(n.permit("user", "eve"))},
		"one": {Path: path(nil), ID: &one}, "parent": {Path: reads.Path{Collection: n.notes, Parent: &one}}, "books": {Path: reads.Path{Collection: n.books}},
		"search": {Path: path(nil), Filter: query.Search{Columns: []int{title}, Words: []string{"a"}}}, "search for others": {Path: path(nil), Filter: query.Search{Columns: []int{title}, Words: []string{"a", "b"}}},
		"search elsewhere": {Path: path(nil), Filter: query.Search{Columns: []int{title, n.notes.Field("secret").Column}, Words: []string{"a"}}},
		"log":              {}, "log of a user": {Path: reads.Path{By: n.permit("user", "ada")}}, "log with a filter": {Filter: isOpen},
	}
	seen := map[string]string{}
	for name, shape := range different {
		f := fingerprint(shape)
		if other, ok := seen[string(f[:])]; ok {
			t.Errorf("%s and %s have the same fingerprint", name, other)
		}
		seen[string(f[:])] = name
	}
}
