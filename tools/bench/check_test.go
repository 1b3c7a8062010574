//go:build linux

package bench

import (
	"strings"
	"testing"
)

// compared are two lines, by the costs of the base and now.
func compared(base, now []float64) *Results {
	r := &Results{Servers: []string{BaseSQLite, PluralSQLite}}
	for i := range base {
		r.add("get", BaseSQLite, 1e6/base[i])
		r.add("get", PluralSQLite, 1e6/now[i])
		r.add("filter-sort", BaseSQLite, 1)
		r.add("filter-sort", PluralSQLite, 1.09)
	}
	return r
}

func TestComparison(t *testing.T) {
	seemsToLose := compared([]float64{10, 10, 10}, []float64{9, 12, 11.5})
	losesAgain := compared([]float64{10, 10}, []float64{11, 13})
	again := &Results{Servers: seemsToLose.Servers}
	again.Figures = map[Key][]float64{{"get", BaseSQLite}: {1e5, 1e5}, {"get", PluralSQLite}: {1e5, 1e5}}
	delete(losesAgain.Figures, Key{"filter-sort", PluralSQLite})
	const head = "µs of processor time per request                                          v1     now    change                     \n"
	const sorted = "filter + sort by another attribute, group index, page 1  Plural, SQLite  1000   1090   +9.0 % (+9.0 to +9.0)      \n"
	for name, c := range map[string]struct {
		second     *Results
		line, want string
	}{
		"once": {nil, "get                                                      Plural, SQLite  10.0   11.5   +15.0 % (-10.0 to +20.0)  lost\n",
			"a request costs over 10 % more than with v1: get on Plural, SQLite"},
		"twice": {losesAgain, "get                                                      Plural, SQLite  10.0   12.0   +20.0 % (+10.0 to +30.0)  lost\n",
			"a request costs over 10 % more than with v1: get on Plural, SQLite"},
		"not again": {again, "get                                                      Plural, SQLite  10.0   10.0   +0.0 % (+0.0 to +0.0)     measured again\n", ""},
	} {
		var got strings.Builder
		comparison := &Comparison{Base: "v1", first: seemsToLose, second: c.second}
		err := comparison.Print(&got)
		text := ""
		if err != nil {
			text = err.Error()
		}
		if fields(got.String()) != fields(head+c.line+sorted) || text != c.want {
			t.Errorf("%s: got %q and\n%swant %q and\n%s", name, text, got.String(), c.want, head+c.line+sorted)
		}
	}
}

// fields leaves the widths of columns out.
func fields(text string) string { return strings.Join(strings.Fields(text), " ") }
