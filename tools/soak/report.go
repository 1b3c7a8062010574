//go:build linux

package soak

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/plural-go/plural/tools/soak/ledger"
)

// Report adds up the results of runs.
type Report struct {
	Databases int
	Crashes   map[string]int // by how
	Findings  []ledger.Violation
	Impact    Impact
	rows      map[ledger.Kind]*row
}

// row has the outcomes of the requests of a kind.
type row struct {
	sent, acknowledged, refused, unknown int
	keyed, repeated                      int
	faults                               map[ledger.Fault]int
}

// nobody is the kind of findings that belong to no request.
const nobody ledger.Kind = "nobody's"

// Add adds a run.
func (t *Report) Add(r *Run) {
	if t.Crashes == nil {
		t.Crashes, t.rows = map[string]int{}, map[ledger.Kind]*row{}
	}
	t.Databases++
	for _, how := range r.Crashes {
		how, _, _ = strings.Cut(how, ":")
		t.Crashes[how]++
	}
	t.Findings = append(t.Findings, r.Findings...)
	t.Impact.add(r.Impact)
	for _, request := range r.ledger.Requests() {
		if request.Kind != ledger.Seen {
			t.row(request.Kind).add(request)
		}
	}
	for _, v := range r.Findings {
		kind := nobody
		if v.Request != nil {
			kind = v.Request.Kind
		}
		t.row(kind).faults[v.Fault]++
	}
}

func (t *Report) row(kind ledger.Kind) *row {
	if t.rows[kind] == nil {
		t.rows[kind] = &row{faults: map[ledger.Fault]int{}}
	}
	return t.rows[kind]
}

func (w *row) add(r *ledger.Request) {
	w.sent++
	switch {
	case r.Outcome == ledger.Done || r.Operation != "":
		w.acknowledged++
	case r.Outcome == ledger.Refused:
		w.refused++
	default:
		w.unknown++
	}
	if r.Keyed {
		w.keyed++
		w.repeated += max(0, len(r.Answers)-1)
	}
}

// Acknowledged is the number of acknowledged writes.
func (t *Report) Acknowledged() (n int) {
	for _, row := range t.rows {
		n += row.acknowledged
	}
	return n
}

// Print prints the table, and the evidence of the first findings.
func (t *Report) Print(out io.Writer) {
	fmt.Fprintf(out, "%d databases", t.Databases)
	for _, how := range slices.Sorted(maps.Keys(t.Crashes)) {
		fmt.Fprintf(out, ", %d × %s", t.Crashes[how], how)
	}
	fmt.Fprintln(out)
	if t.Impact != (Impact{}) {
		fmt.Fprintln(out, t.Impact)
	}
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "sent\tacknowledged\trefused\tno answer\twith key\tagain\tlost\tdoubled\thalf-done\twrong\t  kind")
	var total row
	total.faults = map[ledger.Fault]int{}
	for _, kind := range slices.Sorted(maps.Keys(t.rows)) {
		t.rows[kind].print(table, kind)
		total.plus(t.rows[kind])
	}
	total.print(table, "all")
	table.Flush()
	for i, v := range t.Findings {
		if i == ledger.MaxEvidence {
			fmt.Fprintf(out, "\nand %d more\n", len(t.Findings)-ledger.MaxEvidence)
			break
		}
		fmt.Fprintf(out, "\n%s\n", v)
	}
}

func (w *row) print(out io.Writer, kind ledger.Kind) {
	fmt.Fprintf(out, "%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t  %s\n", w.sent, w.acknowledged, w.refused, w.unknown, w.keyed, w.repeated,
		w.faults[ledger.Lost], w.faults[ledger.Doubled], w.faults[ledger.HalfDone], w.faults[ledger.Wrong], kind)
}

func (w *row) plus(other *row) {
	w.sent += other.sent
	w.acknowledged += other.acknowledged
	w.refused += other.refused
	w.unknown += other.unknown
	w.keyed += other.keyed
	w.repeated += other.repeated
	for fault, n := range other.faults {
		w.faults[fault] += n
	}
}
