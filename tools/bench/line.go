//go:build linux

package bench

import (
	"context"
	"fmt"
)

// Measurement is one thing that is measured. It gives one or more lines of the table.
type Measurement struct {
	Name  string // for -only
	Lines []Line

	on   func(*server) bool // the servers that it is measured on
	most int                // rounds; 0: all rounds of the plan

	// Either requests are sent for a while,
	next        func(*caller) // makes the next request
	connections int           // 0: as many as the plan says
	bytes       bool          // bytes count, not requests

	// or a function returns the figures of the lines.
	run func(*Plan, context.Context, *server) ([]float64, error)
}

// Line is a line of the table.
type Line struct {
	Name  string // in JSON, and for other lines
	Text  string // in tables
	Unit  Unit
	Goals []Goal
}

// Unit is the unit of the figures of a line.
type Unit struct {
	Name  string
	fewer bool // less is better
}

// The units. A rate is shown as a ratio to the bare server.
var (
	rate          = Unit{Name: "/s"}
	rowRate       = Unit{Name: " rows/s"}
	byteRate      = Unit{Name: " MB/s"}
	milliseconds  = Unit{Name: " ms", fewer: true}
	seconds       = Unit{Name: " s", fewer: true}
	mebibytes     = Unit{Name: " MiB", fewer: true}
	bytesOfOneRow = Unit{Name: " B", fewer: true}
)

// Names of lines that others refer to.
const (
	create64 = "create-64"
	offset0  = "offset-0"
	listOf30 = 30
)

// Measurements are all of them, in the order of the table.
func Measurements() []Measurement {
	return []Measurement{
		{Name: "get", Lines: []Line{{"get", "get", rate, ofHand(0.90, 0.80)}}, next: (*caller).get},
		{Name: "list30", Lines: []Line{{"list30", "list of 30", rate, ofHand(0.85, 0.80)}},
			next: func(c *caller) { c.list("limit=30", 0, 30, false) }},
		{Name: "filter", Lines: []Line{{"filter", "filter on an index", rate, ofHand(0.85, 0.80)}},
			next: func(c *caller) { c.list("filter[active]&limit=30", 0, 60, true) }},
		{Name: offset0, Lines: []Line{{offset0, "offset 0", rate, nil}}, next: func(c *caller) { c.offset(0) }},
		{Name: "offset-0.9", Lines: []Line{{"offset-0.9", "offset at 90 %", rate, ofLine(offset0, 0.67)}},
			next: func(c *caller) { c.offset(deep(c.users)) }},
		{Name: "create-1", Lines: []Line{{"create-1", "create, 1 writer", rate, nil}}, next: (*caller).create, connections: 1},
		{Name: create64, Lines: []Line{{create64, "create, 64 writers", rate, ofHand(0.70, 0.70)}}, next: (*caller).create, connections: 64},
		{Name: "patch", Lines: []Line{{"patch", "patch, 64 writers", rate, ofHand(0.75, 0.70)}}, next: (*caller).patch, connections: 64},
		{Name: "mixed", Lines: []Line{{"mixed", "9 gets to 1 create", rate, nil}}, next: (*caller).mixed},
		{Name: "filter-sort", Lines: []Line{{"filter-sort", "filter + sort by another attribute, group index, page 1", milliseconds, bounds(5, 0.7)}},
			on: isPlural, next: func(c *caller) { c.tasks("filter[state]=open&sort=-priority") }, connections: 1},
		{Name: "filter-offset", Lines: []Line{{"filter-offset", "filter, offset at 90 % of the matches", milliseconds, bounds(15, 30)}},
			on: isPlural, next: func(c *caller) { c.tasks(fmt.Sprint("filter[state]=open&offset=", deep(c.rows/2))) }, connections: 1},
		{Name: "sort-offset", Lines: []Line{{"sort-offset", "sort by an index, offset at 90 %", milliseconds, bounds(5, 30)}},
			on: isPlural, next: func(c *caller) { c.tasks(fmt.Sprint("sort=priority&offset=", deep(c.rows))) }, connections: 1},
		{Name: "export", Lines: []Line{{"export", "export", byteRate, ofHand(1, 0)}}, on: hasDatabase, next: (*caller).export, connections: 1, bytes: true},
		{Name: "cascade", Lines: []Line{
			{"cascade", "cascade", seconds, bounds(0.5, 1.5)},
			{"cascade-memory", "cascade, peak memory beyond idle", mebibytes, bounds(32, 0)},
		}, on: isPlural, most: 3, run: (*Plan).cascade},
		{Name: "import", Lines: []Line{
			{"import", "import", rowRate, bounds(60_000, 40_000)},
			{"size", "file size per row of the example", bytesOfOneRow, bounds(250, 350)},
		}, on: isPlural, most: 1, run: (*Plan).importRows},
		{Name: "start", Lines: []Line{
			{"start-up", "start until the first answer", milliseconds, nil},
			{"memory-idle", "memory, idle", mebibytes, bounds(25, 25)},
		}, most: 3, run: (*Plan).startUp},
		{Name: "memory", Lines: []Line{
			{"memory-load", "peak memory, 64 clients", mebibytes, bounds(100, 100)},
			{"memory-export", "peak memory, export", mebibytes, bounds(64, 64)},
			// The memory of an idle server and the default of max_body_memory.
			{"memory-uploads", fmt.Sprintf("peak memory, %d stalled uploads", stalledUploads), mebibytes, bounds(25+64, 25+64)},
		}, on: isPlural, most: 1, run: (*Plan).memory},
	}
}

// deep is the offset at 90 %, with a whole page behind it.
func deep(rows int) int { return min(rows/10*9, rows-listOf30) }

// Goal is what a figure of a line should come to: at least, or at most if less is better.
type Goal struct {
	Server string // one of ours
	of     Key    // the figure is divided by this one; zero: it is not
	bound  float64
}

// ofHand are goals in relation to the hand-written server on the same database. Zero is no goal.
func ofHand(sqlite, postgres float64) (goals []Goal) {
	for _, goal := range bounds(sqlite, postgres) {
		goal.of.Server = byHand[goal.Server]
		goals = append(goals, goal)
	}
	return goals
}

// ofLine are goals in relation to another line of the same server.
func ofLine(line string, bound float64) (goals []Goal) {
	for _, goal := range bounds(bound, bound) {
		goal.of = Key{line, goal.Server}
		goals = append(goals, goal)
	}
	return goals
}

// bounds are goals of the figures themselves. Zero is no goal.
func bounds(sqlite, postgres float64) (goals []Goal) {
	if sqlite != 0 {
		goals = append(goals, Goal{Server: PluralSQLite, bound: sqlite})
	}
	if postgres != 0 {
		goals = append(goals, Goal{Server: PluralPostgres, bound: postgres})
	}
	return goals
}

// figures are those that the goal of a line is compared with.
func (g Goal) figures(line Line, r *Results) []float64 {
	if g.of.Server == "" {
		return r.Figures[Key{line.Name, g.Server}]
	}
	of := g.of
	if of.Line == "" {
		of.Line = line.Name
	}
	return r.ratios(Key{line.Name, g.Server}, of)
}

// text is the goal for people.
func (g Goal) text(line Line) string {
	text := "≥ "
	if line.Unit.fewer {
		text = "≤ "
	}
	switch {
	case g.of.Server == "":
		return text + number(g.bound) + line.Unit.Name
	case g.of.Line != "":
		return text + number(g.bound) + " of " + g.of.Line
	}
	return text + number(g.bound) + " of by hand"
}

// met compares the median with the goal, unless there is nothing to compare.
func (g Goal) met(line Line, r *Results) (met, measured bool) {
	figures := g.figures(line, r)
	if len(figures) == 0 {
		return false, false
	}
	median := summarize(figures).Median
	return median == g.bound || (median < g.bound) == line.Unit.fewer, true
}
