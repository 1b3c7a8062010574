package resource

import (
	"errors"
	"slices"
	"strconv"

	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/query"
	"github.com/plural-go/plural/internal/store"
	"github.com/plural-go/plural/problem"
)

const (
	chunkBytes = 32 << 10 // of resources whose related resources are read together
	chunkRows  = 500
	chunkTotal = 4000 // resources that a chunk has with all that are related

	// maxLoaded bounds the related resources in memory, of more than one resource. If they are more,
	// those of fewer resources are read together.
	maxLoaded = 512 << 10
	// maxReused bounds what is kept of one relation for the next chunks.
	maxReused = 4 << 20
	// maxEmbedded bounds the related resources of one resource, as loaded and as sent.
	maxEmbedded = 8 << 20
)

// errTooLarge: the related resources of several resources take too much memory.
var errTooLarge = errors.New("too many related resources for one chunk")

// IncludingPage is a page with related resources. Those of a chunk of resources are read together,
// from the snapshot of the page, by one statement for each relation.
type IncludingPage struct {
	page   *Page
	chunk  *group
	rows   int // of a chunk at most
	step   int // resources whose related resources are loaded together
	next   int // resource of the chunk
	loaded int // resources of the chunk whose related resources are loaded
	ended  bool
}

// Including adds the included relations of a query to its page.
func Including(page *Page, c *model.Collection, q query.Query) *IncludingPage {
	rows := int(min(max(chunkTotal/sizeOf(q.Includes), 1), chunkRows))
	return &IncludingPage{page: page, chunk: newGroup(c, q.Visible, q.Includes), rows: rows, step: rows}
}

// sizeOf is how many related resources one resource has at most, at least 1.
func sizeOf(includes []*query.Include) int64 {
	total := int64(0)
	for _, include := range includes {
		total += include.Size() * (1 + sizeOf(include.Includes))
	}
	return max(total, 1)
}

// Append appends the next representation. False means that there is none.
func (l *IncludingPage) Append(dst []byte) ([]byte, bool, error) {
	if l.next == l.chunk.len() && !l.ended {
		if err := l.read(); err != nil {
			return dst, false, err
		}
	}
	if l.next == l.chunk.len() {
		return dst, false, nil
	}
	if l.next == l.loaded {
		if err := l.page.Run(l.load); err != nil {
			return dst, false, err
		}
	}
	dst, err := l.chunk.append(dst, l.next)
	l.next++
	return dst, true, err
}

// read reads the next chunk.
func (l *IncludingPage) read() error {
	l.chunk.clear()
	l.next, l.loaded = 0, 0
	for l.chunk.len() < l.rows && len(l.chunk.text) < chunkBytes {
		row, err := l.page.Next()
		if err != nil {
			return err
		}
		if row == nil {
			l.ended = true
			break
		}
		l.chunk.add(row)
	}
	return nil
}

// load loads the related resources of the next part of the chunk.
func (l *IncludingPage) load(tx *store.Tx) error {
	for {
		upTo := min(l.loaded+l.step, l.chunk.len())
		err := l.chunk.load(tx, l.loaded, upTo)
		if !errors.Is(err, errTooLarge) {
			l.loaded = upTo
			l.step = min(2*l.step, l.rows)
			return err
		}
		l.step = (upTo - l.loaded + 1) / 2
	}
}

// Extend is that of the page.
func (l *IncludingPage) Extend() error { return l.page.Extend() }

// Close ends the page.
func (l *IncludingPage) Close() { l.page.Close() }

// group is some resources of one collection with their related resources.
type group struct {
	collection *model.Collection
	visible    model.ColumnSet
	includes   []*query.Include

	text    []byte       // representations without their closing braces
	ends    []int        // of each in text
	keys    [][]key      // by include: what each resource is related by
	related []*relatives // by include
}

// key is the id that a relation leads from or to; null: to none.
type key struct {
	id   model.ID
	null bool
}

// relatives are the resources that a relation leads to from the resources of a group.
type relatives struct {
	group  *group
	of     map[model.ID]span // where those of a key are in the group; empty: it has none
	totals map[model.ID]int64
	ids    []model.ID // that are read next
}

// span is a half-open range of the resources of a group.
type span struct{ from, to int }

func newGroup(c *model.Collection, visible model.ColumnSet, includes []*query.Include) *group {
	g := &group{collection: c, visible: visible, includes: includes, keys: make([][]key, len(includes)), related: make([]*relatives, len(includes))}
	for i, include := range includes {
		g.related[i] = &relatives{
			group: newGroup(include.Relation.To, include.Visible, include.Includes), of: map[model.ID]span{}, totals: map[model.ID]int64{},
		}
	}
	return g
}

func (g *group) len() int { return len(g.ends) }

// clear removes the resources of the group, but not those that are related.
func (g *group) clear() {
	g.text, g.ends = g.text[:0], g.ends[:0]
	for i := range g.keys {
		g.keys[i] = g.keys[i][:0]
	}
}

// clear removes the related resources, and those that are related to them.
func (r *relatives) clear() {
	clear(r.of)
	clear(r.totals)
	r.group.clear()
	for _, inner := range r.group.related {
		inner.clear()
	}
}

// size is the length of the related resources.
func (r *relatives) size() int {
	total := len(r.group.text) + 64*len(r.of) // an id without visible resources takes memory too
	for _, inner := range r.group.related {
		total += inner.size()
	}
	return total
}

// add renders a resource.
func (g *group) add(row model.Row) {
	if size := len(g.text); size > chunkBytes && cap(g.text)-size < size/8 {
		g.text = slices.Grow(g.text, size) // append would grow it in many smaller steps
	}
	g.text = g.collection.AppendSome(g.text, row, g.visible)
	g.text = g.text[:len(g.text)-1] // what is included goes before the brace
	g.ends = append(g.ends, len(g.text))
	for i, include := range g.includes {
		column := model.IDColumn
		if include.Relation.One {
			column = include.Relation.Column
		}
		if row.Null(column) {
			g.keys[i] = append(g.keys[i], key{null: true})
		} else {
			g.keys[i] = append(g.keys[i], key{id: row.ID(column)})
		}
	}
}

// load reads the related resources of a part of the group, which are then the only ones in memory. What a
// reference leads to is kept for the next part, as it is often the same, and the snapshot is the same.
func (g *group) load(tx *store.Tx, from, to int) error {
	for i, r := range g.related {
		if !g.includes[i].Relation.One || r.size() > maxReused {
			r.clear()
		}
	}
	left := maxLoaded
	if to-from == 1 {
		left = maxEmbedded
	}
	err := g.loadAll(tx, from, to, &left)
	if err != nil { // they are not complete
		for _, r := range g.related {
			r.clear()
		}
	}
	if errors.Is(err, errTooLarge) && to-from == 1 {
		return tooManyRelated()
	}
	return err
}

// loadAll reads the related resources of a part of the group, and those that are related to them. Left is
// how many bytes they may have.
func (g *group) loadAll(tx *store.Tx, from, to int, left *int) error {
	for i, include := range g.includes {
		r := g.related[i]
		r.want(g.keys[i][from:to])
		if len(r.ids) == 0 {
			continue
		}
		if include.Total {
			if err := tx.RelatedTotals(include, r.ids, func(key model.ID, total int64) { r.totals[key] = total }); err != nil {
				return err
			}
		}
		if include.Size() == 0 {
			continue
		}
		before := r.group.len()
		if err := r.read(tx, include, left); err != nil {
			return err
		}
		if err := r.group.loadAll(tx, before, r.group.len(), left); err != nil {
			return err
		}
	}
	return nil
}

// want lists the ids of keys whose resources were not read yet, each once.
func (r *relatives) want(keys []key) {
	r.ids = r.ids[:0]
	for _, key := range keys {
		if key.null {
			continue
		}
		if _, known := r.of[key.id]; !known {
			r.of[key.id] = span{}
			r.ids = append(r.ids, key.id)
		}
	}
}

// read reads the resources of the ids. Those of one id follow each other.
func (r *relatives) read(tx *store.Tx, include *query.Include, left *int) error {
	column := include.Relation.Column
	if include.Relation.One {
		column = model.IDColumn
	}
	err := tx.Related(include, r.ids, func(row model.Row) bool {
		by, n, before := row.ID(column), r.group.len(), len(r.group.text)
		own := r.of[by]
		if own.to == 0 {
			own.from = n
		}
		own.to = n + 1
		r.of[by] = own
		r.group.add(row)
		*left -= len(r.group.text) - before
		return *left >= 0
	})
	if err == nil && *left < 0 {
		err = errTooLarge
	}
	return err
}

func tooManyRelated() error {
	return fault.Parameter("include", problem.CodeLimitTooLarge, "The related resources of one resource have more than %d MiB. Give a smaller limit, as in include[comments][limit]=3, or fewer attributes, as in fields[comments]=id.", maxEmbedded>>20)
}

// append appends a resource of the group with its related resources.
func (g *group) append(dst []byte, n int) ([]byte, error) {
	return g.appendUpTo(dst, n, len(dst)+maxEmbedded+len(g.text))
}

func (g *group) appendUpTo(dst []byte, n, most int) ([]byte, error) {
	start := 0
	if n > 0 {
		start = g.ends[n-1]
	}
	dst = append(dst, g.text[start:g.ends[n]]...)
	var err error
	for i, include := range g.includes {
		by, r := g.keys[i][n], g.related[i]
		dst = append(append(append(dst, `,"`...), include.Relation.Name...), `":`...)
		var own span
		if !by.null {
			own = r.of[by.id]
		}
		switch {
		case include.Relation.One && own.to == 0:
			dst = append(dst, "null"...)
		case include.Relation.One:
			dst, err = r.group.appendUpTo(dst, own.from, most)
		default:
			dst = append(dst, '[')
			for j := own.from; j < own.to && err == nil; j++ {
				if j > own.from {
					dst = append(dst, ',')
				}
				dst, err = r.group.appendUpTo(dst, j, most)
			}
			dst = append(dst, ']')
		}
		if err == nil && len(dst) > most {
			err = tooManyRelated()
		}
		if err != nil {
			return dst, err
		}
		if include.Total {
			dst = append(append(append(dst, `,"`...), include.Relation.TotalName()...), `":`...)
			dst = strconv.AppendInt(dst, r.totals[by.id], 10)
		}
	}
	return append(dst, '}'), nil
}
