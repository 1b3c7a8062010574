package bench

import (
	"fmt"
	"strings"
)

// Goal is what a figure should come to.
type Goal struct {
	What   string // the row of the table that it stands in
	Text   string
	server string
	of     string // the server that it is compared with, if it is another one
	bound  float64
	atMost bool // otherwise at least
	ratios func(*Results) []float64
}

// Goals are all of them, for a run with so many rows.
func Goals(rows int) []Goal {
	goals := []Goal{
		least(0.75, Get, PluralSQLite, Bare),
		least(0.40, List, PluralSQLite, Bare),
		least(0.35, Filtered, PluralSQLite, Bare),
		least(0.50, Create64, PluralSQLite, Bare),
		least(0.90, Create1, PluralSQLite, HandSQLite),
		least(1.00, Export, PluralSQLite, HandSQLite),
	}
	for _, what := range []string{Get, List, Create1, Create8, Create64} {
		goals = append(goals, least(0.90, what, PluralPostgres, HandPostgres))
	}
	deepest := 1.5
	if rows >= 10_000_000 {
		deepest = 2
	}
	for _, server := range []string{PluralSQLite, PluralPostgres} {
		goals = append(goals, Goal{
			What: Deep, Text: fmt.Sprintf("%s ≤ %.1f times as long as %s", store(server), deepest, Shallow), server: server, bound: deepest, atMost: true,
			ratios: func(r *Results) []float64 { return r.ratios(Key{Shallow, server}, Key{Deep, server}) },
		})
	}
	return append(goals,
		most(30, IdleMemory, PluralSQLite),
		most(64, ExportMemory, PluralSQLite),
		most(64, ExportMemory, PluralPostgres))
}

func least(bound float64, what, server, of string) Goal {
	return Goal{
		What: what, Text: fmt.Sprintf("%s ≥ %.2f of %s", store(server), bound, of), server: server, of: of, bound: bound,
		ratios: func(r *Results) []float64 { return r.ratios(Key{what, server}, Key{what, of}) },
	}
}

func most(bound float64, what, server string) Goal {
	return Goal{
		What: what, Text: fmt.Sprintf("%s ≤ %.0f MiB", store(server), bound), server: server, bound: bound, atMost: true,
		ratios: func(r *Results) []float64 { return r.Figures[Key{what, server}] },
	}
}

// store is what a server stands on: goals are those of our own servers only.
func store(server string) string { return strings.TrimPrefix(server, "Plural, ") }

// judge compares the median with the goal, unless there is nothing to compare.
func (g Goal) judge(r *Results) (came Summary, met, measured bool) {
	figures := g.ratios(r)
	if len(figures) == 0 {
		return Summary{}, false, false
	}
	came = summarize(figures)
	return came, came.Median == g.bound || (came.Median < g.bound) == g.atMost, true
}
