// Package include reads the related resources that a query includes, and renders them inside the resources that they
// belong to. It reads those of many resources together.
package include

import (
	"errors"
	"slices"
	"strconv"
	"time"

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
	// maxReused bounds what is kept of all references for the next chunks.
	maxReused = 6 << 20
	// maxEmbedded bounds the related resources of one resource, as loaded and as sent.
	maxEmbedded = 8 << 20
)

// errTooLarge: the related resources of several resources take too much memory.
var errTooLarge = errors.New("too many related resources for one chunk")

// Renderer renders the resources of a page, or groups, with what they include, chunk by chunk: the related resources of a chunk
// are read together, from the snapshot of the page, by one statement for each relation.
type Renderer struct {
	next   func() (bool, error) // adds the next resource to the chunk; false: there is none
	run    func(func(*store.Tx) error) error
	chunk  *chunk
	rows   int // of a chunk at most
	step   int // resources whose related resources are loaded together
	at     int // next resource of the chunk
	loaded int // resources of the chunk whose related resources are loaded
	ended  bool
}

// Took is how long the database took to read a relation.
type Took struct {
	Include *query.Include
	Time    time.Duration
}

// Took returns how long each relation took since the last call.
func (r *Renderer) Took() []Took {
	return r.chunk.takeTimes(nil)
}

// takeTimes adds the times of all relations that were read, and forgets them.
func (k *chunk) takeTimes(all []Took) []Took {
	for i, include := range k.includes {
		r := k.related[i]
		if r.took > 0 {
			all = append(all, Took{include, r.took})
		}
		r.took = 0
		all = r.chunk.takeTimes(all)
	}
	return all
}

// OfPage adds the included relations of a query to its page.
func OfPage(page *store.Page, c *model.Collection, q query.Query) *Renderer {
	k := newChunk(c, q.Visible, q.Includes)
	next := func() (bool, error) {
		row, err := page.Next()
		if err != nil || row == nil {
			return false, err
		}
		k.add(row)
		return true, nil
	}
	return newRenderer(k, page.Run, next)
}

func newRenderer(k *chunk, run func(func(*store.Tx) error) error, next func() (bool, error)) *Renderer {
	rows := int(min(max(chunkTotal/sizeOf(k.includes), 1), chunkRows))
	return &Renderer{next: next, run: run, chunk: k, rows: rows, step: rows}
}

// One renders the resource with an id, if it is in the scope, with the included relations of a query.
func One(tx *store.Tx, c *model.Collection, scope query.Filter, id model.ID, q query.Query) (representation []byte, found bool, err error) {
	k := newChunk(c, q.Visible, q.Includes)
	if found, err = tx.View(c, scope, id, k.add); err != nil || !found {
		return nil, false, err
	}
	if err := k.load(tx, 0, 1); err != nil {
		return nil, false, err
	}
	representation, err = k.append(nil, 0)
	return representation, true, err
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
func (r *Renderer) Append(dst []byte) ([]byte, bool, error) {
	if r.at == r.chunk.len() && !r.ended {
		if err := r.read(); err != nil {
			return dst, false, err
		}
	}
	if r.at == r.chunk.len() {
		return dst, false, nil
	}
	if r.at == r.loaded {
		if err := r.run(r.load); err != nil {
			return dst, false, err
		}
	}
	dst, err := r.chunk.append(dst, r.at)
	r.at++
	return dst, true, err
}

// read reads the next chunk.
func (r *Renderer) read() error {
	r.chunk.clear()
	r.at, r.loaded = 0, 0
	for r.chunk.len() < r.rows && r.chunk.texts.size < chunkBytes {
		more, err := r.next()
		if err != nil {
			return err
		}
		if !more {
			r.ended = true
			break
		}
	}
	return nil
}

// load loads the related resources of the next part of the chunk.
func (r *Renderer) load(tx *store.Tx) error {
	for {
		upTo := min(r.loaded+r.step, r.chunk.len())
		err := r.chunk.load(tx, r.loaded, upTo)
		if !errors.Is(err, errTooLarge) {
			r.loaded = upTo
			r.step = min(2*r.step, r.rows)
			return err
		}
		r.step = (upTo - r.loaded + 1) / 2
	}
}

// chunk is some resources of one collection with their related resources. What a relation leads to is a chunk as well.
type chunk struct {
	collection *model.Collection
	visible    model.ColumnSet
	includes   []*query.Include  // by the request
	included   []*store.Included // with their plans, once prepared

	texts   texts      // representations without their closing braces
	buffer  []byte     // for the next one
	keys    [][]key    // by include: what each resource is related by
	related []*related // by include
}

// key is the id that a relation leads from or to; null: to none.
type key struct {
	id   model.ID
	null bool
	at   int32 // its position in the spans, once the related resources are loaded
}

// related is the resources that a relation leads to from the resources of a chunk.
type related struct {
	chunk  *chunk
	of     map[model.ID]int32 // the position of each key in the spans
	spans  []span             // where those of a key are in the chunk; empty: it has none
	totals map[model.ID]int64
	ids    []model.ID // that are read next
	took   time.Duration
}

// span is a half-open range of the resources of a chunk.
type span struct{ from, to int }

func newChunk(c *model.Collection, visible model.ColumnSet, includes []*query.Include) *chunk {
	k := &chunk{collection: c, visible: visible, includes: includes, keys: make([][]key, len(includes)), related: make([]*related, len(includes))}
	for i, include := range includes {
		k.related[i] = &related{
			chunk: newChunk(include.Relation.To, include.Visible, include.Includes), of: map[model.ID]int32{}, totals: map[model.ID]int64{},
		}
	}
	return k
}

func (k *chunk) len() int { return k.texts.len() }

// clear removes the resources of the chunk, but not those that are related.
func (k *chunk) clear() {
	k.texts.clear()
	for i := range k.keys {
		k.keys[i] = k.keys[i][:0]
	}
}

// clear removes the related resources, and those that are related to them.
func (r *related) clear() {
	clear(r.of)
	r.spans = r.spans[:0]
	clear(r.totals)
	r.chunk.clear()
	for _, inner := range r.chunk.related {
		inner.clear()
	}
}

// size is the length of the related resources.
func (r *related) size() int {
	total := r.chunk.texts.size + 64*len(r.of) // an id without visible resources takes memory too
	for _, inner := range r.chunk.related {
		total += inner.size()
	}
	return total
}

// add renders a resource.
func (k *chunk) add(row model.Row) {
	k.buffer = k.collection.AppendSome(k.buffer[:0], row, k.visible)
	k.addText()
	for i, include := range k.includes {
		column := model.IDColumn
		if include.Relation.One {
			column = include.Relation.Column
		}
		k.addKey(i, model.KindUUID.Read(row, column))
	}
}

// addText adds the representation in the buffer. What is included goes before its brace.
func (k *chunk) addText() { k.texts.add(k.buffer[:len(k.buffer)-1]) }

// addKey adds what the last resource is related by.
func (k *chunk) addKey(include int, value model.Value) {
	if value.IsNull() {
		k.keys[include] = append(k.keys[include], key{null: true})
	} else {
		k.keys[include] = append(k.keys[include], key{id: value.ID()})
	}
}

// load reads the related resources of a part of the chunk, which are then the only ones in memory. What a
// reference leads to is kept for the next part, as it is often the same, and the snapshot is the same.
func (k *chunk) load(tx *store.Tx, from, to int) error {
	k.clearRelated()
	left := maxLoaded
	if to-from == 1 {
		left = maxEmbedded
	}
	err := k.loadAll(tx, from, to, &left)
	if err != nil { // they are not complete
		for _, r := range k.related {
			r.clear()
		}
	}
	if errors.Is(err, errTooLarge) && to-from == 1 {
		return tooManyRelated()
	}
	return err
}

// clearRelated removes the related resources, except for what references lead to: of these, those of the largest relations
// are removed until the others are small enough to be kept.
func (k *chunk) clearRelated() {
	total, sizes := 0, make([]int, len(k.related))
	for i, r := range k.related {
		if !k.includes[i].Relation.One {
			r.clear()
			continue
		}
		sizes[i] = r.size()
		total += sizes[i]
	}
	for total > maxReused {
		largest := slices.Index(sizes, slices.Max(sizes))
		k.related[largest].clear()
		total -= sizes[largest]
		sizes[largest] = 0
	}
}

// loadAll reads the related resources of a part of the chunk, and those that are related to them. Left is
// how many bytes they may have.
func (k *chunk) loadAll(tx *store.Tx, from, to int, left *int) error {
	if err := k.prepare(tx); err != nil {
		return err
	}
	for i, include := range k.included {
		r := k.related[i]
		r.want(k.keys[i][from:to])
		if len(r.ids) == 0 {
			continue
		}
		before, begun := r.chunk.len(), time.Now()
		err := r.read(tx, include, left)
		r.took += time.Since(begun)
		if err != nil {
			return err
		}
		if err := r.chunk.loadAll(tx, before, r.chunk.len(), left); err != nil {
			return err
		}
	}
	return nil
}

// prepare plans the includes, once: all resources are read from the same snapshot.
func (k *chunk) prepare(tx *store.Tx) error {
	if k.included != nil {
		return nil
	}
	all := make([]*store.Included, len(k.includes))
	for i, include := range k.includes {
		var err error
		if all[i], err = tx.Prepare(include); err != nil {
			return err
		}
	}
	k.included = all
	return nil
}

// want finds the positions of keys, and lists the ids whose resources were not read yet, each once.
func (r *related) want(keys []key) {
	r.ids = r.ids[:0]
	for i := range keys {
		key := &keys[i]
		if key.null {
			continue
		}
		at, known := r.of[key.id]
		if !known {
			at = int32(len(r.spans)) // #nosec G115 -- what is kept is bounded
			r.of[key.id] = at
			r.spans = append(r.spans, span{})
			r.ids = append(r.ids, key.id)
		}
		key.at = at
	}
}

// read reads the resources of the ids, and how many there are if that is asked for. Those of one id follow each other.
func (r *related) read(tx *store.Tx, include *store.Included, left *int) error {
	if include.Total {
		if err := tx.RelatedTotals(include, r.ids, func(key model.ID, total int64) { r.totals[key] = total }); err != nil {
			return err
		}
	}
	if include.Size() == 0 {
		return nil
	}
	column := include.Relation.Column
	if include.Relation.One {
		column = model.IDColumn
	}
	err := tx.Related(include, r.ids, func(row model.Row) bool {
		n, before := r.chunk.len(), r.chunk.texts.size
		own := &r.spans[r.of[row.ID(column)]]
		if own.to == 0 {
			own.from = n
		}
		own.to = n + 1
		r.chunk.add(row)
		*left -= r.chunk.texts.size - before
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

// append appends a resource of the chunk with its related resources.
func (k *chunk) append(dst []byte, n int) ([]byte, error) {
	return k.appendUpTo(dst, n, len(dst)+maxEmbedded+k.texts.size)
}

func (k *chunk) appendUpTo(dst []byte, n, most int) ([]byte, error) {
	dst = append(dst, k.texts.at(n)...)
	var err error
	for i, include := range k.includes {
		by, r := k.keys[i][n], k.related[i]
		dst = append(append(append(dst, `,"`...), include.Relation.Name...), `":`...)
		var own span
		if !by.null {
			own = r.spans[by.at]
		}
		switch {
		case include.Relation.One && own.to == 0:
			dst = append(dst, "null"...)
		case include.Relation.One:
			dst, err = r.chunk.appendUpTo(dst, own.from, most)
		default:
			dst = append(dst, '[')
			for j := own.from; j < own.to && err == nil; j++ {
				if j > own.from {
					dst = append(dst, ',')
				}
				dst, err = r.chunk.appendUpTo(dst, j, most)
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
