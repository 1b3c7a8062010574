//go:build linux

package bench

import (
	"slices"
)

// The servers that are compared.
const (
	Bare           = "bare net/http"
	HandSQLite     = "by hand, SQLite"
	PluralSQLite   = "Plural, SQLite"
	HandPostgres   = "by hand, PostgreSQL"
	PluralPostgres = "Plural, PostgreSQL"
	BaseSQLite     = "base, SQLite"
	BasePostgres   = "base, PostgreSQL"
)

// byHand is the hand-written server that a server of ours is compared with.
var byHand = map[string]string{PluralSQLite: HandSQLite, PluralPostgres: HandPostgres}

// Key is what a figure is of.
type Key struct{ Line, Server string }

// Results are the figures of a run, one for each round, in the unit of their line.
type Results struct {
	Users, Rows, Children int // see Plan
	Rounds                int
	Processor             bool
	Servers               []string // in the order of the table
	Figures               map[Key][]float64
}

func (r *Results) add(line, server string, figure float64) {
	if r.Figures == nil {
		r.Figures = map[Key][]float64{}
	}
	r.Figures[Key{line, server}] = append(r.Figures[Key{line, server}], figure)
}

// ratios compares two figures round by round.
func (r *Results) ratios(of, to Key) []float64 {
	above, below := r.Figures[of], r.Figures[to]
	ratios := make([]float64, min(len(above), len(below)))
	for i := range ratios {
		ratios[i] = above[i] / below[i]
	}
	return ratios
}

// Summary is a median and the spread around it.
type Summary struct{ Median, Min, Max float64 }

// summarize summarizes figures, of which there is at least one.
func summarize(figures []float64) Summary {
	sorted := slices.Sorted(slices.Values(figures))
	middle := len(sorted) / 2
	median := sorted[middle]
	if len(sorted)%2 == 0 {
		median = (sorted[middle-1] + median) / 2
	}
	return Summary{Median: median, Min: sorted[0], Max: sorted[len(sorted)-1]}
}
