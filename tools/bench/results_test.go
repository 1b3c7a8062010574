package bench

import (
	"encoding/xml"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestSummary(t *testing.T) {
	for _, c := range []struct {
		figures []float64
		want    Summary
	}{
		{[]float64{3}, Summary{Median: 3, Min: 3, Max: 3}},
		{[]float64{4, 1}, Summary{Median: 2.5, Min: 1, Max: 4}},
		{[]float64{9, 1, 2}, Summary{Median: 2, Min: 1, Max: 9}},
		{[]float64{4, 3, 2, 1}, Summary{Median: 2.5, Min: 1, Max: 4}},
	} {
		before := slices.Clone(c.figures)
		if got := summarize(c.figures); got != c.want || !slices.Equal(c.figures, before) {
			t.Errorf("%v: got %v, want %v, and the figures left alone", before, got, c.want)
		}
	}
}

// As many figures are below a median as above it.
func TestMedian(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		figures := rapid.SliceOfN(rapid.Float64Range(0, 10), 1, 20).Draw(t, "figures")
		got := summarize(figures)
		var below, above int
		for _, figure := range figures {
			if figure < got.Median {
				below++
			}
			if figure > got.Median {
				above++
			}
		}
		if below > len(figures)/2 || above > len(figures)/2 || got.Min != slices.Min(figures) || got.Max != slices.Max(figures) {
			t.Errorf("%v of %v", got, figures)
		}
	})
}

// example has figures for some of all that can be measured.
func example() *Results {
	r := &Results{Rows: 100_000, Servers: []string{Bare, HandSQLite, PluralSQLite}}
	for key, figures := range map[Key][]float64{
		{Get, Bare}:                {1000, 2000, 1000},
		{Get, HandSQLite}:          {500, 1200, 400},
		{Get, PluralSQLite}:        {750, 1000, 800},
		{Shallow, PluralSQLite}:    {300, 300, 300},
		{Deep, PluralSQLite}:       {100, 150, 190},
		{Create64, Bare}:           {100},
		{Create64, PluralSQLite}:   {49},
		{Export, HandSQLite}:       {50e6, 50e6},
		{Export, PluralSQLite}:     {50e6, 51e6},
		{StartUp, PluralSQLite}:    {20.4},
		{IdleMemory, PluralSQLite}: {30, 31, 29},
	} {
		for _, figure := range figures {
			r.add(key.What, key.Server, figure)
		}
	}
	return r
}

func TestTable(t *testing.T) {
	want := `
|  | bare net/http | by hand, SQLite | Plural, SQLite | of by hand | goals |
|---|---|---|---|---|---|
| get | 1000/s (1000–2000) | 0.50 (0.40–0.60) | 0.75 (0.50–0.80) | 1.50 (0.83–2.00) | SQLite ≥ 0.75 of bare net/http: met (0.75) |
| offset-0 | – | – | – | – |  |
| offset-0.9 | – | – | – | – | SQLite ≤ 1.5 times as long as offset-0: not met (2.00) |
| create-64 | 100/s (100–100) | – | 0.49 (0.49–0.49) | – | SQLite ≥ 0.50 of bare net/http: not met (0.49) |
| export | – | 50 MB/s (50–50) | 50 MB/s (50–51) | 1.01 (1.00–1.02) | SQLite ≥ 1.00 of by hand, SQLite: met (1.01) |
| start-up | – | – | 20 ms (20–20) | – |  |
| idle memory | – | – | 30 MiB (29–31) | – | SQLite ≤ 30 MiB: met (30.00) |
`
	var got strings.Builder
	if err := example().Markdown(&got); err != nil {
		t.Fatal(err)
	}
	if got.String() != want[1:] {
		t.Errorf("got\n%swant%s", got.String(), want)
	}
}

func TestPrint(t *testing.T) {
	r := &Results{Rows: 100_000, Servers: []string{Bare, HandSQLite}}
	r.add(Get, Bare, 1000)
	r.add(Get, HandSQLite, 500)
	var got strings.Builder
	if err := r.Print(&got); err != nil {
		t.Fatal(err)
	}
	const want = "     bare net/http       by hand, SQLite   goals\n" +
		"get  1000/s (1000–1000)  0.50 (0.50–0.50)  \n"
	if got.String() != want {
		t.Errorf("got\n%swant\n%s", got.String(), want)
	}
}

// Of ten million rows a deep offset may take longer.
func TestGoalOfDeepOffsets(t *testing.T) {
	for rows, want := range map[int]bool{1_000_000: false, 10_000_000: true} {
		r := &Results{Rows: rows}
		r.add(Shallow, PluralPostgres, 180)
		r.add(Deep, PluralPostgres, 100)
		var got []bool
		for _, goal := range Goals(rows) {
			if _, met, measured := goal.judge(r); measured {
				got = append(got, met)
			}
		}
		if !slices.Equal(got, []bool{want}) {
			t.Errorf("%d rows: got %v, want %t", rows, got, want)
		}
	}
}

func TestPlot(t *testing.T) {
	var svg strings.Builder
	if err := example().SVG(&svg); err != nil {
		t.Fatal(err)
	}
	// A get of two servers, one with a goal, and a create of one.
	for part, want := range map[string]int{
		`<rect x="110"`:   4, // one of the legend
		`stroke="black"`:  3,
		`stroke="#c00"`:   2,
		`width="280.0"`:   1, // half of a bare server
		`x1="530.0" y1=`:  1, // the goal of 0.75
		`>create-64</tex`: 1,
	} {
		if got := strings.Count(svg.String(), part); got != want {
			t.Errorf("%s is there %d times, want %d:\n%s", part, got, want, svg.String())
		}
	}
	decoder := xml.NewDecoder(strings.NewReader(svg.String()))
	for {
		if _, err := decoder.Token(); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatal(err)
		}
	}
}
