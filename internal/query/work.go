package query

import "github.com/plural-go/plural/internal/model"

// What a condition costs for each byte of text, compared with looking for a part of it.
const (
	parseWork = 8  // reading JSON
	wordWork  = 32 // finding words
	itemWork  = 4  // comparing the items with one of several values
	valueWork = 16 // comparing with one of several values, in all
)

const (
	conditionWork = 128 // what each condition costs, whatever the text
	fewConditions = 8   // which together cost next to nothing
)

// ConditionsWork is what the conditions of a filter cost for a resource besides Work, in the same unit. A few are free.
func ConditionsWork(f Filter) int {
	n := 0
	eachCondition(f, func(Filter) { n++ })
	if n <= fewConditions {
		return 0
	}
	return conditionWork * n
}

// Work is what Match costs at most for a resource, about, as the bytes of text in which a part could be
// looked for at the same cost. Conditions on related resources, which cost next to nothing, do not count, nor do comparisons with one
// value, for which there is ConditionsWork.
func Work(f Filter, r model.Record) (work int) {
	if r == nil {
		return 0
	}
	eachCondition(f, func(each Filter) {
		switch f := each.(type) {
		case Compare:
			if f.Op == Contains {
				work += len(r[f.Column].Text())
			}
		case In:
			work += valueWork * len(f.Values)
		case Has:
			work += (parseWork + itemWork*len(f.Values)) * len(r[f.Column].Text())
		case OnValue: // of the resource itself
			work += parseWork * len(r[f.Column].Text())
		case Search:
			for _, column := range f.Columns {
				work += wordWork * len(r[column].Text())
			}
		}
	})
	return work
}
