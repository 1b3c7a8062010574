package search

import (
	"slices"
	"strconv"

	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/model"
)

// maxPut is how many bytes of words, and of texts whose words stay, are stored at once.
const maxPut = 1 << 20

// Put stores the words of resources. Before are the previous states, nil for new resources. Only the words of attributes
// that have changed are found and replaced: those of a long text take long.
func Put(texts *Texts, c db.Conn, sql db.SearchSQL, collection *model.Collection, before, after []model.Record) error {
	var rows []db.ResourceWords
	size := 0
	var last model.Record // the resource before this one: many may get the same text
	var numbers []int
	var words string
	for i, record := range after {
		var previous model.Record
		if before != nil {
			previous = before[i]
		}
		changed := changedNumbers(collection, previous, record)
		if len(changed) == 0 {
			continue
		}
		if last == nil || !slices.Equal(changed, numbers) || len(changedNumbers(collection, last, record)) > 0 {
			words = textOf(texts, collection, record, changed)
		}
		last, numbers = record, changed
		row := db.ResourceWords{ID: record[model.IDColumn], Words: words}
		if len(changed) < len(collection.SearchColumns()) {
			row.Marks, row.Kept = marks(changed), lengthWithout(collection, record, changed)
		}
		rows = append(rows, row)
		if size += len(words) + row.Kept; size > maxPut {
			if err := sql.Put(c, rows); err != nil {
				return err
			}
			rows, size = nil, 0
		}
	}
	if len(rows) == 0 {
		return nil
	}
	return sql.Put(c, rows)
}

// Find asks the index for the resources that have the terms, and returns their ids in order. False: there
// are more than most.
func Find(c db.Conn, d db.Dialect, table string, terms db.SearchTerms, common []bool, most int) (ids []model.ID, all bool, err error) {
	b := &builder{}
	b.Write(d.FindSearched(table, terms, common, strconv.Itoa(most+1), b.text))
	found := 0
	err = db.Each(c, func(row model.Row) {
		if found++; row.Bool(1) {
			ids = append(ids, row.ID(0))
		}
	}, b.String(), b.Args...)
	slices.SortFunc(ids, model.ID.Compare)
	return ids, found <= most, err
}

// SampleSize is how many resources are looked at to estimate how frequent the words of a search are. It is a variable for tests.
var SampleSize = 200

// Sample is how many of some resources have the words of a search. With Traits.OrderedSearch, they are the first that the index
// finds by the prefixes that it has; otherwise they are the first of the collection.
type Sample struct {
	size int
	all  int   // that have all words
	each []int // that have each word
}

// ReadSample looks at the first resources, or at the last ones. Where nothing needs a sample, it is empty.
func ReadSample(c db.Conn, d db.Dialect, table string, terms db.SearchTerms, last bool) (found Sample, err error) {
	b := &builder{}
	b.Write(d.SampleSearched(table, terms, last, strconv.Itoa(SampleSize), b.text))
	found.each = make([]int, len(terms))
	if b.String() == "" {
		return found, nil
	}
	_, err = db.One(c, func(row model.Row) {
		found.size, found.all = int(row.Int(0)), int(row.Int(1))
		for i := range terms {
			found.each[i] = int(row.Int(2 + i))
		}
	}, b.String(), b.Args...)
	return found, err
}

// Rare reports the words that few of the resources have which the index finds by shorter prefixes. If these resources are few, all
// are compared soon.
func (s Sample) Rare() []bool {
	rare := make([]bool, len(s.each))
	for i, n := range s.each {
		rare[i] = s.size == SampleSize && 50*n < s.size
	}
	return rare
}

// Dense reports whether so many resources match that a page in the order of ids finds its matches soon by comparing words. The
// sample does not have long texts, which are slow to compare.
func (s Sample) Dense() bool { return 2*s.size >= SampleSize && 100*s.all >= s.size }

// Common reports the words for which the index need not be asked, because other words are less frequent.
func (s Sample) Common() []bool {
	common, least := make([]bool, len(s.each)), slices.Min(s.each)
	for i, n := range s.each {
		common[i] = n > least
	}
	return common
}

// builder is SQL with texts as arguments.
type builder struct{ db.Builder }

func (b *builder) text(value string) string { return b.Placeholder(model.TextValue(value)) }
