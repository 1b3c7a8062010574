package search

import (
	"math"
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

// Part is the sorted ids from low to high, both included, nil: without a bound, and of these at most so many at
// the start, or at the end.
func Part(ids []model.ID, low, high *model.ID, most int64, last bool) []model.ID {
	if high != nil {
		end, found := slices.BinarySearchFunc(ids, *high, model.ID.Compare)
		if found {
			end++
		}
		ids = ids[:end]
	}
	if low != nil {
		start, _ := slices.BinarySearchFunc(ids, *low, model.ID.Compare)
		ids = ids[start:]
	}
	if n := int64(len(ids)); most < n && last {
		return ids[n-most:]
	} else if most < n {
		return ids[:most]
	}
	return ids
}

// FirstSampled is how many resources are looked at to estimate how many matches a search has, and MoreSampled
// how many if these have few. They are variables for tests.
var FirstSampled, MoreSampled = 200, 1000

// sample is how many of some resources have the words of a search.
type sample struct {
	size int64
	all  int64   // that have all words
	each []int64 // that have each word
}

// readSample looks at the first resources of a collection, or at the last ones. Where nothing needs a sample, it is empty.
func readSample(c db.Conn, d db.Dialect, table string, terms db.SearchTerms, last bool, most int) (found sample, err error) {
	b := &builder{}
	b.Write(d.SampleSearched(table, terms, last, strconv.Itoa(most), b.text))
	if b.String() == "" {
		return sample{}, nil
	}
	_, err = db.One(c, func(row model.Row) {
		found.size, found.all = row.Int(0), row.Int(1)
		for i := range terms {
			found.each = append(found.each, row.Int(2+i))
		}
	}, b.String(), b.Args...)
	return found, err
}

// RareSampled is how many resources that the index finds are looked at to find the words that few of them have. Of 50, at
// least one must have a word, or it is rare. It is a variable for tests.
var RareSampled = 100

// FindRare finds the terms that are rare among the resources that the index finds by shorter prefixes.
func FindRare(c db.Conn, d db.Dialect, table string, terms db.SearchTerms, last bool) (rare []bool, err error) {
	rare = make([]bool, len(terms))
	found, err := readSample(c, d, table, terms, last, RareSampled)
	if err != nil || found.size < int64(RareSampled) {
		return rare, err // all that the index finds is compared soon
	}
	for i, n := range found.each {
		rare[i] = 50*n < found.size
	}
	return rare, nil
}

// Choose estimates which way is faster where the index of words has no order: to read the words in the order
// of ids until need matches were found, or to find all matches by the index. Common are words for which
// the index need not be asked, because another word is in no resource of the sample. Total returns the number of
// resources.
func Choose(c db.Conn, d db.Dialect, table string, terms db.SearchTerms, last bool, need int64, total func() (int64, error)) (inOrder bool, common []bool, err error) {
	common = make([]bool, len(terms))
	first, err := readSample(c, d, table, terms, last, FirstSampled)
	if dense := 2*first.size >= int64(FirstSampled) && 50*first.all >= first.size; err != nil || dense {
		return dense, common, err
	}
	more, err := readSample(c, d, table, terms, last, MoreSampled)
	if err != nil {
		return false, nil, err
	}
	if slices.Contains(more.each, 0) {
		for i, n := range more.each {
			common[i] = n > 0
		}
	}
	if more.all == 0 || more.size < int64(MoreSampled)/2 {
		return false, common, nil
	}
	n, err := total()
	return more.inOrder(need, n), common, err
}

// fewMatches is how many matches a sample must have to tell how frequent they are.
const fewMatches = 4

// Nanoseconds to read the words of a resource in the order of ids, to read them by the index, and for the index to read an
// entry of a word.
const (
	inOrderCost = 300
	byIndexCost = 3000
	entryCost   = 500
)

// inOrder compares the costs of both ways. If there are few matches, these may be chance: the estimate is between them and
// what there would be if no word had to do with another.
func (s sample) inOrder(need, total int64) bool {
	size, all := float64(s.size), float64(total)
	matches, entries, independent := float64(s.all)/size*all, 0.0, all
	for _, n := range s.each {
		entries += float64(n) / size * all
		independent *= float64(n) / size
	}
	if s.all < fewMatches {
		matches = math.Sqrt(matches * independent)
	}
	read := min(all, float64(need)/matches*all)
	return read*inOrderCost <= entries*entryCost+matches*byIndexCost
}

// builder is SQL with texts as arguments.
type builder struct{ db.Builder }

func (b *builder) text(value string) string { return b.Placeholder(model.TextValue(value)) }
