package query

import "github.com/plural-go/plural/internal/model"

// What a condition costs for each byte of text, compared with looking for a part of it.
const (
	parseWork = 8  // reading JSON
	wordWork  = 32 // finding words
	itemWork  = 4  // comparing the items with one of several values
	valueWork = 16 // comparing with one of several values, in all
)

// Work is what Match costs at most for a resource, about, as the bytes of text in which a part could be
// looked for at the same cost. Conditions on related resources and comparisons with one value, which cost next to
// nothing, do not count.
func Work(f Filter, r model.Record) (work int) {
	if r == nil {
		return 0
	}
	for _, each := range parts(f) {
		work += Work(each, r)
	}
	switch f := f.(type) {
	case Compare:
		if f.Op == Contains {
			return len(r[f.Column].Text())
		}
	case In:
		return valueWork * len(f.Values)
	case Has:
		return (parseWork + itemWork*len(f.Values)) * len(r[f.Column].Text())
	case Inside:
		return parseWork * len(r[f.Column].Text())
	case Search:
		for _, column := range f.Columns {
			work += wordWork * len(r[column].Text())
		}
	}
	return work
}
