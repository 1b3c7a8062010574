package resource

import (
	"errors"
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
	of     map[model.ID][]int // their positions in the group, by key
	totals map[model.ID]int64
}

func newGroup(c *model.Collection, visible model.ColumnSet, includes []*query.Include) *group {
	return &group{collection: c, visible: visible, includes: includes, keys: make([][]key, len(includes)), related: make([]*relatives, len(includes))}
}

func (g *group) len() int { return len(g.ends) }

func (g *group) clear() {
	g.text, g.ends = g.text[:0], g.ends[:0]
	for i := range g.keys {
		g.keys[i] = g.keys[i][:0]
	}
}

// add renders a resource.
func (g *group) add(row model.Row) {
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

// load reads the related resources of a part of the group.
func (g *group) load(tx *store.Tx, from, to int) error {
	most := maxLoaded
	if to-from == 1 {
		most = maxEmbedded
	}
	left := most
	err := g.loadAll(tx, from, to, &left)
	if errors.Is(err, errTooLarge) && to-from == 1 {
		return tooManyRelated()
	}
	return err
}

// loadAll does so, and for the related resources of those. Left is how many bytes they may have.
func (g *group) loadAll(tx *store.Tx, from, to int, left *int) error {
	for i, include := range g.includes {
		r := &relatives{group: newGroup(include.Relation.To, include.Visible, include.Includes), of: map[model.ID][]int{}}
		g.related[i] = r
		keys := distinct(g.keys[i][from:to])
		if len(keys) == 0 {
			continue
		}
		if include.Total {
			r.totals = map[model.ID]int64{}
			if err := tx.RelatedTotals(include, keys, func(key model.ID, total int64) { r.totals[key] = total }); err != nil {
				return err
			}
		}
		if include.Size() == 0 {
			continue
		}
		if err := r.read(tx, include, keys, left); err != nil {
			return err
		}
		if err := r.group.loadAll(tx, 0, r.group.len(), left); err != nil {
			return err
		}
	}
	return nil
}

func (r *relatives) read(tx *store.Tx, include *query.Include, keys []model.ID, left *int) error {
	column := include.Relation.Column
	if include.Relation.One {
		column = model.IDColumn
	}
	before := *left
	err := tx.Related(include, keys, func(row model.Row) bool {
		by := row.ID(column)
		r.of[by] = append(r.of[by], r.group.len())
		r.group.add(row)
		*left = before - len(r.group.text)
		return *left >= 0
	})
	if err == nil && *left < 0 {
		err = errTooLarge
	}
	return err
}

// distinct is the ids of keys, each once, in their order.
func distinct(keys []key) []model.ID {
	var ids []model.ID
	seen := make(map[model.ID]bool, len(keys))
	for _, key := range keys {
		if !key.null && !seen[key.id] {
			seen[key.id] = true
			ids = append(ids, key.id)
		}
	}
	return ids
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
		indexes := r.of[by.id]
		switch {
		case include.Relation.One && (by.null || len(indexes) == 0):
			dst = append(dst, "null"...)
		case include.Relation.One:
			dst, err = r.group.appendUpTo(dst, indexes[0], most)
		default:
			dst = append(dst, '[')
			for j, index := range indexes {
				if j > 0 {
					dst = append(dst, ',')
				}
				if dst, err = r.group.appendUpTo(dst, index, most); err != nil {
					break
				}
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
