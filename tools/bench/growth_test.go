//go:build linux

package bench

import (
	"strings"
	"testing"
)

// growing has a line that grows, and one that does not.
func growing() *Growth {
	g := &Growth{Sizes: []int{1000, 10_000, 100_000}, Processor: true, Servers: []string{PluralSQLite}}
	for i, size := range g.Sizes {
		r := &Results{Users: size, Rows: size, Servers: g.Servers}
		for _, figure := range []float64{100_000, 10_000, 1} {
			r.add("get", PluralSQLite, figure)
		}
		r.add("sort-offset", PluralSQLite, []float64{0.1, 0.2, 0.21}[i])
		g.results = append(g.results, r)
	}
	return g
}

func TestGrowthTable(t *testing.T) {
	want := `
| µs per request |  | 1000 | 10000 | 100000 | last / first |  |
|---|---|---|---|---|---|---|
| get | Plural, SQLite | 100 | 100 | 100 | 1.00 |  |
| sort by an index, offset at 90 % | Plural, SQLite | 100 | 200 | 210 | 2.10 | grows |
`
	var got strings.Builder
	if err := growing().Markdown(&got); err != nil {
		t.Fatal(err)
	}
	if got.String() != want[1:] {
		t.Errorf("got\n%swant%s", got.String(), want)
	}
}

func TestGrowthJSON(t *testing.T) {
	g := growing()
	g.Sizes, g.results = g.Sizes[:1], g.results[:1]
	var got strings.Builder
	if err := g.JSON(&got); err != nil {
		t.Fatal(err)
	}
	const want = `{"sizes":[1000],"processor":true,"unit":"µs","lines":[` +
		`{"line":"get","server":"Plural,SQLite","costs":[100],"grows":false},` +
		`{"line":"sort-offset","server":"Plural,SQLite","costs":[100],"grows":false}]}`
	if got := strings.Join(strings.Fields(got.String()), ""); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestGrowthPlot(t *testing.T) {
	svg := drawn(t, growing().SVG)
	for part, want := range map[string]int{
		"<polyline":          2,
		`stroke-width="3"`:   1,
		`font-weight="bold"`: 1,
		// From 100 to 210 between the powers 2 and 3, which are 420 pixels apart.
		`points="60.0,470.0 240.0,343.6 420.0,334.7"`: 1,
	} {
		if got := strings.Count(svg, part); got != want {
			t.Errorf("%s is there %d times, want %d:\n%s", part, got, want, svg)
		}
	}
}
