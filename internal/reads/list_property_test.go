package reads

import (
	"context"
	"fmt"
	"slices"
	"sort"
	"testing"

	"pgregory.net/rapid"

	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/query"
	"github.com/plural-go/plural/problem"
)

// pageContent is what a page gives.
type pageContent struct {
	ids            []model.ID
	total          int64
	known          bool
	previous, next *query.Range
}

func (p pageContent) String() string {
	return fmt.Sprintf("%v total %d %v previous %+v next %+v", p.ids, p.total, p.known, p.previous, p.next)
}

// list reads a page. Neighbours is called behind the given number of rows,
// or at the end if there are fewer, and once more at the end.
func (w *dataset) list(path Path, q query.Query, exact bool, rows int) (pageContent, error) {
	page, err := w.reader.List(context.Background(), path, q, exact)
	if err != nil {
		return pageContent{}, err
	}
	defer page.Close()
	p := pageContent{ids: []model.ID{}, total: page.Total, known: page.TotalKnown}
	asked := false
	for {
		_, more, err := page.Append(nil)
		if err != nil {
			return p, err
		}
		if more {
			p.ids = append(p.ids, page.ID())
		}
		if len(p.ids) == rows && !asked || !more {
			asked = true
			if p.previous, p.next, err = page.Neighbours(); err != nil {
				return p, err
			}
		}
		if !more {
			return p, nil
		}
	}
}

// model is what a page must give, found the simplest way. False means that
// the cursor is unknown.
func (w *dataset) model(path Path, q query.Query, exact bool) (pageContent, bool) {
	matching := w.matching(path, q)
	p := pageContent{known: q.Filter == nil || exact}
	if p.known {
		p.total = int64(len(matching))
	}
	r, size := q.Range, q.Range.Size()
	anchor := 0
	switch {
	case r.Anchor == query.AtCursor:
		cursor := w.cursor(path, q)
		if cursor == nil {
			return pageContent{}, false
		}
		for anchor < len(matching) && before(q, matching[anchor], cursor) {
			anchor++
		}
	case r.Anchor == query.AtOffset:
		anchor = int(min(r.Offset, 1<<40))
	case r.Limit < 0:
		anchor = len(matching)
	}
	from, to := anchor, anchor+int(min(max(r.Limit, -1<<40), 1<<40))
	if to < from {
		from, to = to, from
	}
	from, to = min(max(from, 0), len(matching)), min(max(to, 0), len(matching))
	p.ids = []model.ID{}
	for _, record := range matching[from:to] {
		p.ids = append(p.ids, idOf(record))
	}
	if size > 0 && from > 0 {
		p.previous = &query.Range{Anchor: r.Anchor, Offset: int64(from), Limit: -size}
		if r.Anchor != query.AtOffset {
			p.previous = &query.Range{Anchor: query.AtCursor, Cursor: r.Cursor, Limit: -size}
			if from < to {
				p.previous.Cursor = p.ids[0]
			}
		}
	}
	if size > 0 && to < len(matching) {
		p.next = &query.Range{Anchor: r.Anchor, Offset: int64(to), Limit: size}
		if r.Anchor != query.AtOffset {
			p.next = &query.Range{Anchor: query.AtCursor, Cursor: idOf(matching[to]), Limit: size}
		}
	}
	return p, true
}

// matching is what a query selects without its range, in its order.
func (w *dataset) matching(path Path, q query.Query) []model.Record {
	var matching []model.Record
	for _, record := range w.present {
		if within(path, record) && (q.Filter == nil || q.Filter.Match(record)) {
			matching = append(matching, record)
		}
	}
	sort.SliceStable(matching, func(i, j int) bool { return before(q, matching[i], matching[j]) })
	return matching
}

func within(path Path, record model.Record) bool {
	return path.Parent == nil || record[path.Collection.ParentLink().Column] == model.IDValue(*path.Parent)
}

func before(q query.Query, a, b model.Record) bool {
	for _, key := range q.Sort {
		order := model.Compare(a[key.Column], b[key.Column])
		if key.Descending {
			order = -order
		}
		if order != 0 {
			return order < 0
		}
	}
	idA, idB := idOf(a), idOf(b)
	return idA.Compare(idB) < 0
}

// cursor finds the resource that a query starts at, nil if it is unknown here.
func (w *dataset) cursor(path Path, q query.Query) model.Record {
	known := w.present
	if len(q.Sort) == 0 {
		known = slices.Concat(w.present, w.deleted)
	}
	for _, record := range known {
		if idOf(record) == q.Range.Cursor && within(path, record) {
			return record
		}
	}
	return nil
}

func parse(t *rapid.T, c *model.Collection, raw string) query.Query {
	q, err := query.Parse(query.OfList, c, raw, limits)
	if err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
	return q
}

// TestListEqualsAModel compares random pages, their totals and their
// neighbours with the model. Where in the stream the neighbours are asked for
// makes no difference.
func TestListEqualsAModel(t *testing.T) {
	eachLibrary(t, func(t *testing.T, w *dataset) {
		rapid.Check(t, func(t *rapid.T) {
			w.populate(t, 14)
			for range 12 { // queries cost less than a library
				path, exact := w.drawPath(t), rapid.Bool().Draw(t, "exact")
				raw := w.drawConditions(t) + "&" + w.drawRange(t)
				q := parse(t, w.tracks, raw)
				got, err := w.list(path, q, exact, rapid.IntRange(1, 10).Draw(t, "rows"))
				want, known := w.model(path, q, exact)
				if !known {
					if faults := fault.From(err); err == nil || faults[0].Code != problem.CodeUnknownCursor || faults[0].Source.Parameter != "cursor" {
						t.Fatalf("%s: an unknown cursor gives %s, %v", raw, got, err)
					}
					continue
				}
				if err != nil || !equalPages(got, want) {
					t.Fatalf("%s: %v\ngot  %s\nwant %s", raw, err, got, want)
				}
			}
		})
	})
}

func equalPages(a, b pageContent) bool {
	return slices.Equal(a.ids, b.ids) && a.total == b.total && a.known == b.known && equalRanges(a.previous, b.previous) && equalRanges(a.next, b.next)
}

func equalRanges(a, b *query.Range) bool {
	return a == b || a != nil && b != nil && *a == *b
}

// TestLinksVisitEveryResourceOnce follows next from the first page, and previous
// from the last: either way every resource is met once, in order.
func TestLinksVisitEveryResourceOnce(t *testing.T) {
	eachLibrary(t, func(t *testing.T, w *dataset) {
		rapid.Check(t, func(t *rapid.T) {
			w.populate(t, 14)
			path, conditions := w.drawPath(t), w.drawConditions(t)
			size := rapid.IntRange(1, 6).Draw(t, "size")
			var want []model.ID
			for _, record := range w.matching(path, parse(t, w.tracks, conditions)) {
				want = append(want, idOf(record))
			}
			forward := func(ids, page []model.ID) []model.ID { return append(ids, page...) }
			backward := func(ids, page []model.ID) []model.ID { return append(slices.Clone(page), ids...) }
			next := func(p pageContent) *query.Range { return p.next }
			previous := func(p pageContent) *query.Range { return p.previous }
			for _, walk := range []struct {
				start string
				add   func(ids, page []model.ID) []model.ID
				turn  func(pageContent) *query.Range
			}{
				{fmt.Sprintf("limit=%d", size), forward, next},
				{fmt.Sprintf("offset=0&limit=%d", size), forward, next},
				{fmt.Sprintf("limit=-%d", size), backward, previous},
				{fmt.Sprintf("offset=%d&limit=-%d", len(want), size), backward, previous},
			} {
				raw := conditions + "&" + walk.start
				var got []model.ID
				for pages := 0; raw != "" && pages <= len(want)+1; pages++ {
					q := parse(t, w.tracks, raw)
					p, err := w.list(path, q, false, rapid.IntRange(1, 6).Draw(t, "rows"))
					if err != nil {
						t.Fatalf("%s: %v", raw, err)
					}
					got, raw = walk.add(got, p.ids), ""
					if turn := walk.turn(p); turn != nil {
						raw = string(q.AppendLink(nil, *turn))
					}
				}
				if !slices.Equal(got, want) {
					t.Fatalf("%s from %s\ngot  %v\nwant %v", conditions, walk.start, got, want)
				}
			}
		})
	})
}
