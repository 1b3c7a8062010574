package resource

import (
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/query"
	"github.com/plural-go/plural/internal/reads"
	"github.com/plural-go/plural/internal/rules"
)

// A write of many resources is bounded by the bytes of what its caller can see. If values that are hidden
// from the caller counted, the bound would tell how long they are. So that hidden values take no unbounded
// memory either, most of them are not kept: they are read again when the resource is stored.

// loaded is a resource that was read to be changed. The zero value: there is none.
type loaded struct {
	record  model.Record
	size    int  // bytes of all its texts
	partial bool // the record has null in place of texts that are hidden from the caller
}

// wholeBytes bounds the whole records that a write keeps for a caller who does not see all of them, and
// those that it stores at once.
const wholeBytes = 4 << 20

// loader counts and reduces the resources that a write reads.
type loader struct {
	work    *Work
	visible model.ColumnSet
	hidden  []int // columns that need not be kept
	bytes   int   // of visible texts
	whole   int   // bytes of all texts
	unseen  int   // bytes of texts that are kept although they are hidden: rules and unique groups need them

	reserved int // bytes that are reserved already, for earlier states that are no longer in use
}

func (w *Work) newLoader(path reads.Path) *loader {
	l := &loader{work: w, visible: path.By.Visible(path.Collection)}
	if l.visible == nil {
		return l
	}
	c := path.Collection
	needed := map[int]bool{}
	for _, group := range c.UniqueGroups() {
		for _, column := range group {
			needed[column] = true
		}
	}
	for _, rule := range path.By.Rules(c) { // an upsert creates too, and its rules may read what it updates
		query.EachColumn(rule, c, func(of *model.Collection, column int) { needed[column] = needed[column] || of.Base() == c.Base() })
	}
	if set := rules.Of(c); set != nil {
		for column, has := range set.Reads() {
			needed[column] = needed[column] || has
		}
	}
	for i, column := range c.Columns() {
		if (column.Kind == model.KindText || column.Kind == model.KindJSON) && !l.visible.Has(i) && !needed[i] {
			l.hidden = append(l.hidden, i)
		}
	}
	return l
}

// add counts a resource and reserves memory for it.
func (l *loader) add(record model.Record) (loaded, error) {
	visible := record.TextSizeOf(l.visible)
	if l.bytes += visible; l.bytes > MaxManyBytes {
		return loaded{}, tooMuch()
	}
	before := min(visible, l.reserved)
	l.reserved -= before
	if err := l.work.reserveBytes(visible - before); err != nil {
		return loaded{}, err
	}
	found := loaded{record: record, size: record.TextSize()}
	// The first is whole, however large: where hooks take part, which see all values, each is read by itself.
	if len(l.hidden) > 0 && l.whole > 0 && l.whole+found.size > wholeBytes {
		found.partial = true
		for _, column := range l.hidden {
			record[column] = model.Null
		}
	}
	l.whole += found.size
	// This bound tells how long hidden texts are together. Without it, one request could take any memory.
	if l.unseen += record.TextSize() - visible; l.unseen > MaxManyBytes {
		return loaded{}, tooMuch()
	}
	return found, nil
}

// complete reads the hidden values of resources that are about to be stored.
func (w *Work) complete(c *model.Collection, all []writing, before, after []model.Record, items []int) error {
	var ids []model.ID
	for _, i := range items {
		if all[i].before.partial {
			ids = append(ids, before[i].ID(model.IDColumn))
		}
	}
	if len(ids) == 0 {
		return nil
	}
	records, err := w.tx.FindAll(c, ids)
	if err != nil {
		return err
	}
	whole := make(map[model.ID]model.Record, len(records))
	for _, record := range records {
		whole[record.ID(model.IDColumn)] = record
	}
	for _, i := range items {
		if all[i].before.partial {
			before[i] = whole[before[i].ID(model.IDColumn)]
			after[i] = keepComputed(c, after[i], apply(c, before[i], all[i].input))
		}
	}
	return nil
}

// parts divides the resources that are updated into parts of bounded size, if some of them must be read again.
func parts(all []writing, items []int) (parts [][]int) {
	if len(items) == 0 {
		return nil
	}
	start, bytes, partial := 0, 0, false
	for k, i := range items {
		if partial = partial || all[i].before.partial; partial && k > start && bytes+all[i].before.size > wholeBytes {
			parts, start, bytes = append(parts, items[start:k]), k, 0
		}
		bytes += all[i].before.size
	}
	return append(parts, items[start:])
}
