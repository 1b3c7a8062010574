//go:build linux

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
	r := &Results{Users: 100_000, Rows: 200_000, Children: 1000, Rounds: 3, Servers: []string{Bare, HandSQLite, PluralSQLite}}
	for key, figures := range map[Key][]float64{
		{"get", Bare}:                  {1000, 2000, 1000},
		{"get", HandSQLite}:            {500, 1200, 400},
		{"get", PluralSQLite}:          {450, 1100, 360},
		{offset0, PluralSQLite}:        {300, 300, 300},
		{"offset-0.9", PluralSQLite}:   {100, 150, 190},
		{create64, Bare}:               {100},
		{create64, PluralSQLite}:       {49},
		{"filter-sort", PluralSQLite}:  {4.5, 5, 12.34},
		{"export", HandSQLite}:         {50, 50},
		{"export", PluralSQLite}:       {50, 51},
		{"memory-idle", PluralSQLite}:  {25, 26, 25.1},
		{"memory-load", PluralSQLite}:  {99.5},
		{"size", PluralSQLite}:         {251},
		{"import", PluralSQLite}:       {59_999},
		{"cascade", PluralSQLite}:      {0.5},
		{"memory-uploads", HandSQLite}: {1},
	} {
		for _, figure := range figures {
			r.add(key.Line, key.Server, figure)
		}
	}
	return r
}

func TestTable(t *testing.T) {
	want := `
100000 users, 200000 tasks and imported rows, 1000 children of a cascade; 3 rounds, by the clock.

|  | bare net/http | by hand, SQLite | Plural, SQLite | of by hand | goal |
|---|---|---|---|---|---|
| get | 1000/s (1000–2000) | 0.50 (0.40–0.60) | 0.45 (0.36–0.55) | 0.90 (0.90–0.92) | ≥ 0.90 of by hand: met |
| offset 0 | – | – | – | – |  |
| offset at 90 % | – | – | – | – | ≥ 0.67 of offset-0: not met |
| create, 64 writers | 100/s | – | 0.49 | – | ≥ 0.70 of by hand |
| filter + sort by another attribute, group index, page 1 | – | – | 5.00 ms (4.50–12.3) | – | ≤ 5.00 ms: met |
| export | – | 50.0 MB/s (50.0–50.0) | 50.5 MB/s (50.0–51.0) | 1.01 (1.00–1.02) | ≥ 1.00 of by hand: met |
| cascade | – | – | 0.50 s | – | ≤ 0.50 s: met |
| import | – | – | 59999 rows/s | – | ≥ 60000 rows/s: not met |
| file size per row of the example | – | – | 251 B | – | ≤ 250 B: not met |
| memory, idle | – | – | 25.1 MiB (25.0–26.0) | – | ≤ 25.0 MiB: not met |
| peak memory, 64 clients | – | – | 99.5 MiB | – | ≤ 100 MiB: met |
| peak memory, 400 stalled uploads | – | 1.00 MiB | – | – | ≤ 89.0 MiB |
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
	r := &Results{Servers: []string{Bare, HandSQLite}}
	r.add("get", Bare, 1000)
	r.add("get", HandSQLite, 500)
	var got strings.Builder
	if err := r.Print(&got); err != nil {
		t.Fatal(err)
	}
	const want = "     bare net/http  by hand, SQLite\n" +
		"get  1000/s         0.50\n"
	if got.String() != want {
		t.Errorf("got\n%swant\n%s", got.String(), want)
	}
}

func TestJSON(t *testing.T) {
	r := &Results{Users: 100, Rows: 200, Children: 300, Servers: []string{HandSQLite, PluralSQLite}}
	r.add("get", HandSQLite, 1000)
	r.add("get", PluralSQLite, 500)
	r.add("get", PluralSQLite, 950)
	var got strings.Builder
	if err := r.JSON(&got); err != nil {
		t.Fatal(err)
	}
	const want = `{
  "users": 100,
  "rows": 200,
  "children": 300,
  "processor": false,
  "lines": [
    {
      "name": "get",
      "text": "get",
      "unit": "/s",
      "figures": {
        "Plural, SQLite": [
          500,
          950
        ],
        "by hand, SQLite": [
          1000
        ]
      },
      "goals": [
        {
          "server": "Plural, SQLite",
          "goal": "≥ 0.90 of by hand",
          "met": false
        }
      ]
    }
  ]
}
`
	if got.String() != want {
		t.Errorf("got\n%s\nwant\n%s", got.String(), want)
	}
}

// Every line has its own name, and refers only to lines that exist.
func TestMeasurements(t *testing.T) {
	names := map[string]bool{}
	for _, m := range Measurements() {
		if (m.next == nil) == (m.run == nil) || len(m.Lines) == 0 || m.next != nil && len(m.Lines) > 1 {
			t.Errorf("%s: it needs either requests and one line, or a function", m.Name)
		}
		for _, line := range m.Lines {
			if names[line.Name] {
				t.Errorf("%s is there twice", line.Name)
			}
			names[line.Name] = true
			for _, goal := range line.Goals {
				if goal.of.Line != "" && !names[goal.of.Line] {
					t.Errorf("%s refers to %s, which is not above it", line.Name, goal.of.Line)
				}
			}
		}
	}
}

func TestPlot(t *testing.T) {
	svg := drawn(t, example().SVG)
	// A get of two servers, and a create of one.
	for part, want := range map[string]int{
		`<rect x="140"`:           4, // one of the legend
		`stroke="black"`:          3,
		`width="280.0"`:           1, // half of a bare server
		`>create, 64 writers</te`: 1,
	} {
		if got := strings.Count(svg, part); got != want {
			t.Errorf("%s is there %d times, want %d:\n%s", part, got, want, svg)
		}
	}
}

// drawn returns a plot, which is valid XML.
func drawn(t *testing.T, draw func(io.Writer) error) string {
	t.Helper()
	var svg strings.Builder
	if err := draw(&svg); err != nil {
		t.Fatal(err)
	}
	decoder := xml.NewDecoder(strings.NewReader(svg.String()))
	for {
		if _, err := decoder.Token(); errors.Is(err, io.EOF) {
			return svg.String()
		} else if err != nil {
			t.Fatal(err)
		}
	}
}
