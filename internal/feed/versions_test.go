package feed

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/plural-go/plural/internal/changelog"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/query"
	"github.com/plural-go/plural/internal/reads"
)

// namesOfVersions are those of the earlier versions of the notes, by the names in the newest version. A version does not have what has
// no name there. The versions 3 and 4 have all names of the newest one.
var namesOfVersions = map[int]map[string]string{
	1: { // two attributes have each other's names
		"books": "shelf books", "books.name": "name", "books.owner": "holder",
		"notes": "note notes", "notes.book_id": "book_id", "notes.title": "owner", "notes.owner": "title",
		"links": "tag tags", "links.label": "name", "links.note_id": "memo_id",
	},
	2: {
		"books": "book shelves", "books.name": "label",
		"notes": "memo memos", "notes.book_id": "shelf_id", "notes.title": "heading", "notes.open": "open", "notes.owner": "owner",
	},
}

// version is the schema under the names of a version.
func (n *notes) version(number int) *model.Schema {
	names := namesOfVersions[number]
	return n.schema.View(model.Versions{Newest: number}, func(stored *model.Collection) (shown model.Shown) {
		if names == nil {
			shown.Collection = stored
		} else if singular, plural, ok := strings.Cut(names[stored.Name], " "); ok {
			shown.Collection = &model.Collection{Name: plural, Singular: singular}
		}
		for _, a := range stored.Attributes {
			if names != nil {
				a.Name = names[stored.Name+"."+a.Name]
			}
			if a.Name == "" {
				shown.Attributes = append(shown.Attributes, nil)
			} else {
				shown.Attributes = append(shown.Attributes, &a)
			}
		}
		return shown
	})
}

// in is a collection of a version, and a body, whose names are those of the newest version, under its names. A collection that the
// version does not have stays as it is.
func in(s *model.Schema, c *model.Collection, body map[string]any) (*model.Collection, map[string]any) {
	of := s.Of(c)
	if of.IsAbsent() {
		return c, body
	}
	renamed := map[string]any{}
	for name, value := range body {
		if column := c.Field(name).Column; of.Shows().Has(column) {
			renamed[of.Columns()[column].Name] = value
		}
	}
	return of, renamed
}

// writeForVersions writes what the versions see differently, up to the shelf 9.
func (n *notes) writeForVersions(t *testing.T) {
	book, note, link := model.ID{15: 1}, model.ID{15: 2}, model.ID{15: 3}
	n.mustDo(t, http.MethodPost, n.books, book, map[string]any{"name": "b", "owner": "ada"})
	n.mustDo(t, http.MethodPost, n.notes, note, map[string]any{"book_id": book.String(), "title": "a", "owner": "ada", "secret": "s"})
	n.mustDo(t, http.MethodPatch, n.notes, note, map[string]any{"secret": "t"})               // in neither version
	n.mustDo(t, http.MethodPatch, n.notes, note, map[string]any{"open": true})                // in the second
	n.mustDo(t, http.MethodPatch, n.notes, note, map[string]any{"title": "c", "secret": "u"}) // in both
	n.mustDo(t, http.MethodPost, n.links, link, map[string]any{"label": "l", "note_id": note.String()})
	n.mustDo(t, http.MethodPatch, n.books, book, map[string]any{"owner": "eve"}) // in the first
	n.mustDo(t, http.MethodDelete, n.notes, note, nil)                           // which changes the link as well
	n.mustDo(t, http.MethodPost, n.books, model.ID{15: 9}, map[string]any{"name": "last"})
}

// untilLastBook is what a stream sends up to the book that was written last, without what differs from run to run.
func untilLastBook(t *testing.T, s *Subscription) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), maxWait)
	defer cancel()
	for text := ""; ; {
		events, err := s.Next(ctx)
		if err != nil {
			t.Fatal(err)
		}
		for _, event := range events {
			text += fmt.Sprintf("%s %s\n", event.Kind, event.Data)
			if strings.Contains(string(event.Data), model.ID{15: 9}.String()) {
				return short(text)
			}
		}
	}
}

// short is a text without what differs from run to run, and with the last digit of ids.
func short(text string) string {
	text = times.ReplaceAllString(withoutLog(text), `""`)
	text = strings.ReplaceAll(text, `,"created_at":"","updated_at":""`, "")
	text = strings.ReplaceAll(text, `,"change":{"id":"","by":null,"at":"","revision":0}`, "")
	text = strings.ReplaceAll(text, `"id":"","type":"changes",`, "")
	text = strings.ReplaceAll(text, `"revision":0,"by":null,`, "")
	text = strings.ReplaceAll(text, `,"created_at":""`, "")
	return strings.ReplaceAll(text, "00000000-0000-0000-0000-00000000000", "")
}

// TestStreamsOfVersions: a stream shows the names and attributes of the version that asks, also of what was written before, and of
// those changes only that touch them.
func TestStreamsOfVersions(t *testing.T) {
	eachDatabase(t, func() Options { return Options{} }, func(t *testing.T, n *notes) {
		v1, v2, book := n.version(1), n.version(2), model.ID{15: 1}
		shapes := []Shape{
			{Schema: v1, Path: reads.Path{Collection: v1.Collection("books")}},
			{Schema: v2, Path: reads.Path{Collection: v2.Collection("shelves")}},
			{Schema: v2, Path: reads.Path{By: n.permit("admin", "root")}},
			{Schema: v1, Path: reads.Path{}},
			{Schema: v2, Path: reads.Path{}, Filter: n.collectionIs("memos", "shelves")},
		}
		var before []*Subscription
		for _, shape := range shapes {
			s := n.subscribe(t, shape, "")
			take(t, s, 1) // synced
			before = append(before, s)
		}
		n.writeForVersions(t)
		const books1 = `created {"data":{"id":"1","type":"books","name":"b","holder":"ada"}}
updated {"data":{"id":"1","type":"books","name":"b","holder":"eve"},"previous":{"holder":"ada"}}
created {"data":{"id":"9","type":"books","name":"last","holder":null}}
`
		const log2 = `created {"data":{"kind":"created","resource":{"id":"1","type":"shelves"},"previous":null,"data":{"id":"1","type":"shelves","label":"b"}}}
created {"data":{"kind":"created","resource":{"id":"2","type":"memos"},"previous":null,"data":{"id":"2","type":"memos","heading":"a","open":null,"owner":"ada","shelf_id":"1"}}}
created {"data":{"kind":"updated","resource":{"id":"2","type":"memos"},"previous":{"open":null},"data":{"id":"2","type":"memos","heading":"a","open":true,"owner":"ada","shelf_id":"1"}}}
created {"data":{"kind":"updated","resource":{"id":"2","type":"memos"},"previous":{"heading":"a"},"data":{"id":"2","type":"memos","heading":"c","open":true,"owner":"ada","shelf_id":"1"}}}
created {"data":{"kind":"deleted","resource":{"id":"2","type":"memos"},"previous":{"id":"2","type":"memos","heading":"c","open":true,"owner":"ada","shelf_id":"1"},"data":null}}
created {"data":{"kind":"created","resource":{"id":"9","type":"shelves"},"previous":null,"data":{"id":"9","type":"shelves","label":"last"}}}
`
		const log1 = `created {"data":{"kind":"created","resource":{"id":"1","type":"books"},"previous":null,"data":{"id":"1","type":"books","name":"b","holder":"ada"}}}
created {"data":{"kind":"created","resource":{"id":"2","type":"notes"},"previous":null,"data":{"id":"2","type":"notes","owner":"a","title":"ada","book_id":"1"}}}
created {"data":{"kind":"updated","resource":{"id":"2","type":"notes"},"previous":{"owner":"a"},"data":{"id":"2","type":"notes","owner":"c","title":"ada","book_id":"1"}}}
created {"data":{"kind":"created","resource":{"id":"3","type":"tags"},"previous":null,"data":{"id":"3","type":"tags","name":"l","memo_id":"2"}}}
created {"data":{"kind":"updated","resource":{"id":"1","type":"books"},"previous":{"holder":"ada"},"data":{"id":"1","type":"books","name":"b","holder":"eve"}}}
created {"data":{"kind":"updated","resource":{"id":"3","type":"tags"},"previous":{"memo_id":"2"},"data":{"id":"3","type":"tags","name":"l","memo_id":null}}}
created {"data":{"kind":"deleted","resource":{"id":"2","type":"notes"},"previous":{"id":"2","type":"notes","owner":"c","title":"ada","book_id":"1"},"data":null}}
created {"data":{"kind":"created","resource":{"id":"9","type":"books"},"previous":null,"data":{"id":"9","type":"books","name":"last","holder":null}}}
`
		want := []string{books1, `created {"data":{"id":"1","type":"shelves","label":"b"}}
created {"data":{"id":"9","type":"shelves","label":"last"}}
`, log2, log1, log2}
		for i, s := range before {
			if got := untilLastBook(t, s); got != want[i] {
				t.Errorf("stream %d:\n%s\nwant\n%s", i, got, want[i])
			}
		}
		for i, asListed := range map[int]string{2: log2, 3: log1, 4: log2} { // also of the log as it is then
			s := n.subscribe(t, shapes[i], "")
			if got, want := untilLastBook(t, s), strings.ReplaceAll(asListed, "created {", "listed {"); got != want {
				t.Errorf("snapshot of %d:\n%s\nwant\n%s", i, got, want)
			}
		}
		for _, each := range []struct {
			shape Shape
			want  []string
		}{
			{Shape{Schema: v2, Path: reads.Path{Collection: v2.Collection("shelves")}, ID: &book}, []string{`listed {"data":{"id":"1","type":"shelves","label":"b"}}`, `synced {}`}},
			{Shape{Schema: v1, Path: reads.Path{Collection: v1.Collection("tags")}}, []string{`listed {"data":{"id":"3","type":"tags","name":"l","memo_id":null}}`, `synced {}`}},
		} {
			got := next(t, n.subscribe(t, each.shape, ""), len(each.want))
			for i := range got {
				got[i] = short(got[i])
			}
			if !slices.Equal(got, each.want) {
				t.Errorf("got %s, want %s", got, each.want)
			}
		}
	})
}

// collectionIs is a filter of changes, by the names of a version.
func (n *notes) collectionIs(names ...string) query.Filter {
	in := query.In{Column: n.schema.Changes().Field(model.ChangeCollection).Column}
	for _, name := range names {
		in.Values = append(in.Values, model.TextValue(name))
	}
	return in
}

// changesIn is a range of the log in a version, without what differs from run to run, and its total.
func (n *notes) changesIn(t *testing.T, request LogRequest) (text string, total int64, known bool) {
	t.Helper()
	request.Exact = true
	changes, err := n.feed.Changes(context.Background(), request)
	if err == nil {
		err = changes.Begin()
	}
	if err != nil {
		t.Fatal(err)
	}
	request.Query.Range.Limit = 100
	text = n.changesOf(t, request)
	return short(text), changes.Total, changes.Known
}

// TestChangesOfVersions: the log and histories have the names and attributes of the version that asks, and only changes of these.
// So do their totals, which are known where nothing is hidden from the caller besides.
func TestChangesOfVersions(t *testing.T) {
	eachDatabaseURL(t, func(t *testing.T, url string) {
		n := openNotes(t, url, Options{})
		n.writeForVersions(t)
		v1, v2, note := n.version(1), n.version(2), model.ID{15: 2}
		const history2 = `{"kind":"created","resource":{"id":"2","type":"memos"},"previous":null,"data":{"id":"2","type":"memos","heading":"a","open":null,"owner":"ada","shelf_id":"1"}}
{"kind":"updated","resource":{"id":"2","type":"memos"},"previous":{"open":null},"data":{"id":"2","type":"memos","heading":"a","open":true,"owner":"ada","shelf_id":"1"}}
{"kind":"updated","resource":{"id":"2","type":"memos"},"previous":{"heading":"a"},"data":{"id":"2","type":"memos","heading":"c","open":true,"owner":"ada","shelf_id":"1"}}
{"kind":"deleted","resource":{"id":"2","type":"memos"},"previous":{"id":"2","type":"memos","heading":"c","open":true,"owner":"ada","shelf_id":"1"},"data":null}
`
		const tags = `{"kind":"created","resource":{"id":"3","type":"tags"},"previous":null,"data":{"id":"3","type":"tags","name":"l","memo_id":"2"}}
{"kind":"updated","resource":{"id":"3","type":"tags"},"previous":{"memo_id":"2"},"data":{"id":"3","type":"tags","name":"l","memo_id":null}}
`
		updated := query.Compare{Column: n.schema.Changes().Field("kind").Column, Op: query.Equal, Value: model.TextValue("updated")}
		for i, each := range []struct {
			request LogRequest
			want    string
			total   int64 // negative: it is not known
		}{
			{LogRequest{Schema: v2, Path: reads.Path{Collection: v2.Collection("memos")}, ID: note}, history2, 4},
			{LogRequest{Schema: v2, Path: reads.Path{Collection: v2.Collection("memos"), Parent: &model.ID{15: 1}}, ID: note}, history2, 4},
			{LogRequest{Schema: v2, Path: reads.Path{By: n.permit("admin", "x")}, Query: query.Query{Filter: is(n, "memos")}}, history2, 4},
			{LogRequest{Schema: v2, Path: reads.Path{By: n.permit("follower", "ada")}, Query: query.Query{Filter: is(n, "memos")}}, history2, -1},
			{LogRequest{Schema: v2, Query: query.Query{Filter: is(n, "links")}}, "", 0},
			{LogRequest{Schema: v2, Query: query.Query{Filter: is(n, "tags")}}, "", 0},
			{LogRequest{Schema: v1, Query: query.Query{Filter: is(n, "tags")}}, tags, 2},
			{LogRequest{Schema: v1, Query: query.Query{Filter: is(n, "links")}}, "", 0},
			{LogRequest{Schema: v1, Query: query.Query{Filter: query.Both(n.collectionIs("tags", "links"), updated)}}, strings.SplitAfter(tags, "\n")[1], 1},
		} {
			got, total, known := n.changesIn(t, each.request)
			if got != each.want || known != (each.total >= 0) || known && total != each.total {
				t.Errorf("%d: %d, %t\n%s\nwant %d\n%s", i, total, known, got, each.total, each.want)
			}
		}
		for s, want := range map[*model.Schema]int64{nil: 10, v1: 8, v2: 6} {
			if text, total, known := n.changesIn(t, LogRequest{Schema: s}); total != want || !known || int64(strings.Count(text, "\n")) != want {
				t.Errorf("the log has %d, %t changes, want %d:\n%s", total, known, want, text)
			}
		}
	})
}

// is is the filter of the changes of one collection.
func is(n *notes, name string) query.Filter {
	return query.Compare{Column: n.schema.Changes().Field(model.ChangeCollection).Column, Op: query.Equal, Value: model.TextValue(name)}
}

// bounds is where the log begins and ends.
func (n *notes) bounds(t *testing.T) changelog.Bounds {
	t.Helper()
	if _, err := n.feed.store.AssignNumbers(context.Background()); err != nil {
		t.Fatal(err)
	}
	tx, err := n.feed.store.Read(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Close()
	bounds, err := tx.Bounds()
	if err != nil {
		t.Fatal(err)
	}
	return bounds
}

// TestOneChangeInVersions: one change has the names of the version that asks. One that a version does not see is not there for it.
func TestOneChangeInVersions(t *testing.T) {
	eachDatabaseURL(t, func(t *testing.T, url string) {
		n := openNotes(t, url, Options{})
		n.writeForVersions(t)
		bounds := n.bounds(t)
		for s, want := range map[*model.Schema]map[int64]string{
			nil: {
				4: `{"kind":"updated","resource":{"id":"2","type":"notes"},"previous":{"open":null},"data":{"id":"2","type":"notes","title":"a","open":true,"owner":"ada","secret":"t","book_id":"1"}}`,
				6: `{"kind":"created","resource":{"id":"3","type":"links"},"previous":null,"data":{"id":"3","type":"links","label":"l","rank":null,"note_id":"2"}}`,
			},
			n.version(1): {
				4: "", 6: `{"kind":"created","resource":{"id":"3","type":"tags"},"previous":null,"data":{"id":"3","type":"tags","name":"l","memo_id":"2"}}`,
			},
			n.version(2): {
				4: `{"kind":"updated","resource":{"id":"2","type":"memos"},"previous":{"open":null},"data":{"id":"2","type":"memos","heading":"a","open":true,"owner":"ada","shelf_id":"1"}}`, 6: "",
			},
		} {
			for number, want := range want {
				got, _, found, err := n.feed.Change(context.Background(), LogRequest{Schema: s}, model.ChangeID(bounds.History, number))
				if err != nil || found != (want != "") || short(string(got)) != want {
					t.Errorf("change %d: %s, %t, %v, want %s", number, short(string(got)), found, err, want)
				}
			}
		}
	})
}

// TestPositionsOfVersions: a stream goes on from a position of its version, and begins again after one of another version. A position of a
// list of a version is one of the stream of that version.
func TestPositionsOfVersions(t *testing.T) {
	eachDatabase(t, func() Options { return Options{} }, func(t *testing.T, n *notes) {
		v1, v2, v3, v4 := n.version(1), n.version(2), n.version(3), n.version(4)
		n.mustDo(t, http.MethodPost, n.books, model.ID{15: 1}, map[string]any{"name": "b"})
		shapes := []Shape{
			{Path: reads.Path{Collection: n.books}}, {Schema: v1, Path: reads.Path{Collection: v1.Collection("books")}}, {Schema: v2, Path: reads.Path{Collection: v2.Collection("shelves")}},
			{Schema: v3, Path: reads.Path{Collection: v3.Collection("books")}},
			{Schema: v4, Path: reads.Path{Collection: v4.Collection("books")}},
			{}, {Schema: v1}, {Schema: v2}, {Schema: v3}, {Schema: v4},
		}
		bounds := n.bounds(t)
		for i, from := range shapes {
			position := n.feed.Link(from, bounds.History, changelog.Point{History: bounds.History, Number: bounds.Number})
			for j, shape := range shapes {
				ctx, cancel := context.WithCancel(context.Background())
				s, err := n.feed.Subscribe(ctx, shape, position, "test")
				if err != nil {
					t.Fatal(err)
				}
				_, goesOn := s.Bookmark()
				if goesOn != (i == j) {
					t.Errorf("a position of shape %d in shape %d: it goes on: %t", i, j, goesOn)
				}
				cancel()
				s.Close()
			}
		}
	})
}

// TestFingerprintsWithoutVersions: what identifies a shape is what it was before there were versions.
func TestFingerprintsWithoutVersions(t *testing.T) {
	n := openNotes(t, "sqlite:"+t.TempDir()+"/notes.db", Options{})
	for want, shape := range map[string]Shape{
		"notes\x001\x00\x00true\x00-\x00-":                                                  {Path: reads.Path{Collection: n.notes}},
		"changes\x00books\x001\x00\x00-\x00notes\x001\x00\x00-\x00links\x001\x00\x00-\x00-": {},
	} {
		if got := string(n.feed.canonical(&shape)); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// TestVersionsShareNoChains: subscriptions of one version share their events, and those of others have events of their own, also where
// both would be called the same.
func TestVersionsShareNoChains(t *testing.T) {
	eachDatabase(t, func() Options { return Options{} }, func(t *testing.T, n *notes) {
		all := map[*chain]int{}
		for _, s := range []*model.Schema{nil, n.version(1), n.version(1), n.version(2), n.version(3), n.version(4), nil} {
			in := n.schema
			if s != nil {
				in = s
			}
			all[n.subscribe(t, Shape{Schema: s, Path: reads.Path{Collection: in.Of(n.books)}}, "").chain]++
			all[n.subscribe(t, Shape{Schema: s}, "").chain]++
		}
		if counts := slices.Sorted(maps.Values(all)); !slices.Equal(counts, []int{1, 1, 1, 1, 1, 1, 2, 2, 2, 2}) {
			t.Errorf("the chains have %v subscriptions", counts)
		}
	})
}

// TestPollsOfVersions: a poll is woken by the first change of what its version has, and not by others.
func TestPollsOfVersions(t *testing.T) {
	eachDatabase(t, func() Options { return Options{} }, func(t *testing.T, n *notes) {
		book, note := model.ID{15: 1}, model.ID{15: 2}
		n.mustDo(t, http.MethodPost, n.books, book, map[string]any{"name": "b"})
		n.mustDo(t, http.MethodPost, n.notes, note, map[string]any{"book_id": book.String()})
		woken, polls := make(chan int), map[int]*Changes{}
		for number := range 3 {
			request := LogRequest{Query: query.Query{Range: query.Range{Limit: 100}}}
			if number > 0 {
				request.Schema = n.version(number)
			}
			all, err := n.feed.Changes(context.Background(), request)
			if err != nil {
				t.Fatal(err)
			}
			request.Query.Since = all.Link()
			if polls[number], err = n.feed.Changes(context.Background(), request); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(polls[number].EndWait)
			if found, err := polls[number].Later(); found || err != nil {
				t.Fatal(found, err)
			}
			poll := polls[number]
			go func() {
				if err := poll.Wait(context.Background(), "test"); err != nil {
					t.Error(err)
				}
				woken <- number
			}()
		}
		waitFor(t, func() bool {
			n.feed.mutex.Lock()
			defer n.feed.mutex.Unlock()
			return n.feed.attached == len(polls)
		})
		for _, each := range []struct {
			c     *model.Collection
			id    model.ID
			write map[string]any
			woken int
		}{
			{n.notes, note, map[string]any{"secret": "s"}, 0},
			{n.notes, note, map[string]any{"open": true}, 2},
			{n.books, book, map[string]any{"owner": "ada"}, 1},
		} {
			n.mustDo(t, http.MethodPatch, each.c, each.id, each.write)
			number := <-woken
			if found, err := polls[number].Later(); number != each.woken || !found || err != nil {
				t.Errorf("%v: version %d was woken, and finds a change: %t, %v", each.write, number, found, err)
			}
		}
	})
}
