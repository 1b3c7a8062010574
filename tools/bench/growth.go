//go:build linux

package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
)

// Growth is what requests cost at several sizes of the collections.
type Growth struct {
	Sizes     []int // ascending
	Processor bool
	Servers   []string
	results   []*Results // by size
}

// grownBy is how many times as much a request may cost at the largest size as at the smallest before its line
// counts as growing. The depth of a B-tree and caches that no longer hold everything stay below it.
const grownBy = 2

// Growth measures the cost of each kind of request with so many users and tasks.
func (p *Plan) Growth(ctx context.Context, sizes []int, progress io.Writer) (_ *Growth, err error) {
	if len(sizes) == 0 || !slices.IsSorted(sizes) || len(slices.Compact(slices.Clone(sizes))) < len(sizes) {
		return nil, errors.New("the sizes must be different and in ascending order, for example 10000,100000")
	}
	p.Users, p.Rows = sizes[0], sizes[0]
	chosen, err := p.chooseRequests()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, p.close()) }()
	if err := p.open(ctx); err != nil {
		return nil, err
	}
	if err := p.addOurs(ctx, PluralSQLite, PluralPostgres, p.binary); err != nil {
		return nil, err
	}
	growth := &Growth{Sizes: sizes, Processor: p.Processor}
	for i, size := range sizes {
		fmt.Fprintf(progress, "loading %d users and %d tasks on each server\n", size, size)
		if err := p.growTo(ctx, size, i == 0); err != nil {
			return nil, err
		}
		results := p.newResults()
		// All rounds of the reads come before those of the writes, which make the collections larger.
		for number, m := range chosen {
			fmt.Fprintln(progress, m.Name)
			for round := range p.Rounds {
				if err := p.turns(ctx, m, round, number, results); err != nil {
					return nil, err
				}
			}
		}
		growth.Servers, growth.results = results.Servers, append(growth.results, results)
	}
	return growth, nil
}

// chooseRequests returns the measurements of the plan, which must be of what one request costs.
func (p *Plan) chooseRequests() ([]Measurement, error) {
	p.Children = 1 // of no use
	costs := func(m Measurement) bool { return m.next != nil && !m.bytes }
	chosen, err := p.choose(costs)
	for _, m := range chosen {
		if !costs(m) {
			err = fmt.Errorf("%s does not measure what a request costs: leave it out", m.Name)
		}
	}
	return chosen, err
}

// addOurs adds a server of ours on each database.
func (p *Plan) addOurs(ctx context.Context, sqlite, postgres, binary string) error {
	err := p.addPlural(ctx, sqlite, binary, false)
	if err == nil && p.Postgres {
		err = p.addPlural(ctx, postgres, binary, true)
	}
	return err
}

// growTo loads what is missing to a size.
func (p *Plan) growTo(ctx context.Context, size int, first bool) error {
	users, rows := p.Users, p.Rows
	p.Users, p.Rows = size, size
	if first {
		return p.startAll(ctx)
	}
	for _, s := range p.servers {
		if err := p.fill(ctx, s, users, rows); err != nil {
			return err
		}
	}
	return p.warm(ctx)
}

// costs are what one request took in each round, in microseconds.
func (r *Results) costs(line Line, server string) []float64 {
	costs := slices.Clone(r.Figures[Key{line.Name, server}])
	for i, figure := range costs {
		if line.Unit == rate {
			costs[i] = 1e6 / figure
		} else {
			costs[i] = 1e3 * figure
		}
	}
	return costs
}

// curve is the cost of a line on a server at each size: medians, in microseconds.
type curve struct {
	number int // of the line
	Line   Line
	Server string
	Costs  []float64
}

// grows reports whether a request costs more at the largest size than the growth of trees explains.
func (c curve) grows() bool { return c.factor() > grownBy }

func (c curve) factor() float64 { return c.Costs[len(c.Costs)-1] / c.Costs[0] }

func (g *Growth) curves() (curves []curve) {
	for number, line := range g.results[0].lines() {
		for _, server := range g.Servers {
			c := curve{number: number, Line: line, Server: server}
			for _, results := range g.results {
				c.Costs = append(c.Costs, summarize(results.costs(line, server)).Median)
			}
			curves = append(curves, c)
		}
	}
	return curves
}

func (g *Growth) table() [][]string {
	head := []string{"µs per request", ""}
	for _, size := range g.Sizes {
		head = append(head, fmt.Sprint(size))
	}
	table := [][]string{append(head, "last / first", "")}
	for _, c := range g.curves() {
		row := []string{c.Line.Text, c.Server}
		for _, cost := range c.Costs {
			row = append(row, number(cost))
		}
		verdict := ""
		if c.grows() {
			verdict = "grows"
		}
		table = append(table, append(row, number(c.factor()), verdict))
	}
	return table
}

// Print writes the table for a terminal.
func (g *Growth) Print(out io.Writer) error { return printTable(out, g.table()) }

// Markdown writes the table for a document.
func (g *Growth) Markdown(out io.Writer) error { return markdownTable(out, g.table()) }

// JSON writes the medians.
func (g *Growth) JSON(out io.Writer) error {
	type written struct {
		Line   string    `json:"line"`
		Server string    `json:"server"`
		Costs  []float64 `json:"costs"`
		Grows  bool      `json:"grows"`
	}
	all := struct {
		Sizes     []int     `json:"sizes"`
		Processor bool      `json:"processor"`
		Unit      string    `json:"unit"`
		Lines     []written `json:"lines"`
	}{Sizes: g.Sizes, Processor: g.Processor, Unit: "µs"}
	for _, c := range g.curves() {
		all.Lines = append(all.Lines, written{c.Line.Name, c.Server, c.Costs, c.grows()})
	}
	encoder := json.NewEncoder(out)
	encoder.SetIndent("", "  ")
	return encoder.Encode(all)
}
