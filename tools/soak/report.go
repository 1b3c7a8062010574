//go:build linux

package soak

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// Report adds up the results of runs.
type Report struct {
	Databases int
	Crashes   map[string]int // by how
	Findings  []Violation
	Trouble   Weathered
	rows      map[Kind]*row
}

// row has the outcomes of the requests of a kind.
type row struct {
	sent, acknowledged, refused, unknown int
	keyed, repeated                      int
	faults                               map[Fault]int
}

// nobody is the kind of findings that belong to no request.
const nobody Kind = "nobody's"

// Add adds a run.
func (t *Report) Add(r *Run) {
	if t.Crashes == nil {
		t.Crashes, t.rows = map[string]int{}, map[Kind]*row{}
	}
	t.Databases++
	for _, how := range r.Crashes {
		how, _, _ = strings.Cut(how, ":")
		t.Crashes[how]++
	}
	t.Findings = append(t.Findings, r.Findings...)
	t.Trouble.add(r.Trouble)
	for _, request := range r.ledger.Requests() {
		if request.Kind != Seen {
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

func (t *Report) row(kind Kind) *row {
	if t.rows[kind] == nil {
		t.rows[kind] = &row{faults: map[Fault]int{}}
	}
	return t.rows[kind]
}

func (w *row) add(r *Request) {
	w.sent++
	switch {
	case r.Outcome == Done || r.Operation != "":
		w.acknowledged++
	case r.Outcome == Refused:
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

// maxEvidence is how many findings are shown.
const maxEvidence = 10

// Print prints the table, and the evidence of the first findings.
func (t *Report) Print(out io.Writer) {
	fmt.Fprintf(out, "%d databases", t.Databases)
	for _, how := range slices.Sorted(maps.Keys(t.Crashes)) {
		fmt.Fprintf(out, ", %d × %s", t.Crashes[how], how)
	}
	fmt.Fprintln(out)
	if t.Trouble != (Weathered{}) {
		fmt.Fprintln(out, t.Trouble)
	}
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "sent\tacknowledged\trefused\tno answer\twith key\tagain\tlost\tdoubled\thalf-done\twrong\t  kind")
	var total row
	total.faults = map[Fault]int{}
	for _, kind := range slices.Sorted(maps.Keys(t.rows)) {
		t.rows[kind].print(table, kind)
		total.plus(t.rows[kind])
	}
	total.print(table, "all")
	table.Flush()
	for i, v := range t.Findings {
		if i == maxEvidence {
			fmt.Fprintf(out, "\nand %d more\n", len(t.Findings)-maxEvidence)
			break
		}
		fmt.Fprintf(out, "\n%s\n", v)
	}
}

func (w *row) print(out io.Writer, kind Kind) {
	fmt.Fprintf(out, "%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t  %s\n", w.sent, w.acknowledged, w.refused, w.unknown, w.keyed, w.repeated,
		w.faults[Lost], w.faults[Doubled], w.faults[HalfDone], w.faults[Wrong], kind)
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

func (v Violation) String() string {
	s := strings.ToUpper(string(v.Fault)) + ": " + v.Text
	if v.Request != nil {
		s += v.Request.String()
	}
	for i, other := range v.History {
		if i == maxEvidence {
			s += fmt.Sprintf("\n  and %d more on the same resources", len(v.History)-maxEvidence)
			break
		}
		s += "\n and on the same resource:" + other.String()
	}
	return s
}

// String is the line of the ledger.
func (r *Request) String() string {
	s := fmt.Sprintf("\n  line %d, writer %d, from %v to %v: %s, %v\n    sent: %s", r.Order, r.Writer,
		r.Call.Round(time.Microsecond), r.Over.Round(time.Microsecond), r.Kind, r.Outcome, r.Sent)
	for _, a := range slices.Concat(r.Failures, r.Answers) {
		answered := "answered"
		if a.Replayed {
			answered = "answered again"
		}
		s += fmt.Sprintf("\n    %s: %d Location: %s ETag: %s %s", answered, a.Status, a.Location, a.ETag, shortened(a.Body))
	}
	return s
}
