package bench

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// table is the table of a run: its head, and a row for everything that was
// measured.
func (r *Results) table() [][]string {
	head := []string{""}
	for _, server := range r.Servers {
		head = append(head, server)
		if byHand[server] != "" {
			head = append(head, "of by hand")
		}
	}
	rows := [][]string{append(head, "goals")}
	for _, workload := range Workloads() {
		rows = r.appendRow(rows, workload.Name, func(key Key) string { return r.compared(workload, key) })
	}
	for _, what := range []string{StartUp, IdleMemory, ExportMemory} {
		unit := " MiB"
		if what == StartUp {
			unit = " ms"
		}
		rows = r.appendRow(rows, what, func(key Key) string { return spread("%.0f", unit, r.Figures[key]) })
	}
	return rows
}

// appendRow appends the row of what was measured, if it was at all.
func (r *Results) appendRow(rows [][]string, what string, cell func(Key) string) [][]string {
	row, any := []string{what}, false
	for _, server := range r.Servers {
		key := Key{what, server}
		any = any || len(r.Figures[key]) > 0
		row = append(row, cell(key))
		if hand := byHand[server]; hand != "" {
			row = append(row, spread("%.2f", "", r.ratios(key, Key{what, hand})))
		}
	}
	if !any {
		return rows
	}
	return append(rows, append(row, r.judged(what)))
}

// compared is the ratio to the bare server, and its own rate of that; or the rate
// of an export, which has no bare server.
func (r *Results) compared(w Workload, key Key) string {
	switch {
	case w.bytes:
		megabytes := make([]float64, len(r.Figures[key]))
		for i, rate := range r.Figures[key] {
			megabytes[i] = rate / 1e6
		}
		return spread("%.0f", " MB/s", megabytes)
	case key.Server == Bare:
		return spread("%.0f", "/s", r.Figures[key])
	}
	return spread("%.2f", "", r.ratios(key, Key{key.What, Bare}))
}

// spread is a median with its unit, and from where to where the figures went.
func spread(format, unit string, figures []float64) string {
	if len(figures) == 0 {
		return "–"
	}
	s := summarize(figures)
	return fmt.Sprintf(format+"%s ("+format+"–"+format+")", s.Median, unit, s.Min, s.Max)
}

// judged is what became of the goals of a row.
func (r *Results) judged(what string) string {
	var all []string
	for _, goal := range Goals(r.Rows) {
		if goal.What != what {
			continue
		}
		came, met, measured := goal.judge(r)
		if !measured {
			continue
		}
		outcome := "not met"
		if met {
			outcome = "met"
		}
		all = append(all, fmt.Sprintf("%s: %s (%.2f)", goal.Text, outcome, came.Median))
	}
	return strings.Join(all, "; ")
}

// Print writes the table for a terminal.
func (r *Results) Print(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, row := range r.table() {
		fmt.Fprintln(w, strings.Join(row, "\t"))
	}
	return w.Flush()
}

// Markdown writes the table for a document.
func (r *Results) Markdown(out io.Writer) error {
	var b strings.Builder
	for i, row := range r.table() {
		fmt.Fprintf(&b, "| %s |\n", strings.Join(row, " | "))
		if i == 0 {
			b.WriteString(strings.Repeat("|---", len(row)) + "|\n")
		}
	}
	_, err := io.WriteString(out, b.String())
	return err
}
