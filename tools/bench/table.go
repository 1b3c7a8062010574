//go:build linux

package bench

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// lines are the lines for which something was measured.
func (r *Results) lines() (lines []Line) {
	for _, m := range Measurements() {
		for _, line := range m.Lines {
			for _, server := range r.Servers {
				if len(r.Figures[Key{line.Name, server}]) > 0 {
					lines = append(lines, line)
					break
				}
			}
		}
	}
	return lines
}

// table is the table of a run: its head, and its lines.
func (r *Results) table() [][]string {
	head := []string{""}
	for _, server := range r.Servers {
		head = append(head, server)
		if byHand[server] != "" {
			head = append(head, "of by hand", "goal")
		}
	}
	table := [][]string{head}
	for _, line := range r.lines() {
		row := []string{line.Text}
		for _, server := range r.Servers {
			key := Key{line.Name, server}
			row = append(row, r.cell(line, key))
			if hand := byHand[server]; hand != "" {
				row = append(row, spread("", r.ratios(key, Key{line.Name, hand})), r.judged(line, server))
			}
		}
		table = append(table, row)
	}
	return table
}

// cell is a figure with its unit, or the ratio of a rate to that of the bare server.
func (r *Results) cell(line Line, key Key) string {
	if line.Unit == rate && key.Server != Bare {
		return spread("", r.ratios(key, Key{line.Name, Bare}))
	}
	return spread(line.Unit.Name, r.Figures[key])
}

// judged are the goals of a line for a server, and whether they are met.
func (r *Results) judged(line Line, server string) string {
	var all []string
	for _, goal := range line.Goals {
		if goal.Server != server {
			continue
		}
		text := goal.text(line)
		switch met, measured := goal.met(line, r); {
		case measured && met:
			text += ": met"
		case measured:
			text += ": not met"
		}
		all = append(all, text)
	}
	return strings.Join(all, "; ")
}

// spread is a median with its unit, and the lowest and the highest of several figures.
func spread(unit string, figures []float64) string {
	switch len(figures) {
	case 0:
		return "–"
	case 1:
		return number(figures[0]) + unit
	}
	s := summarize(figures)
	return fmt.Sprintf("%s%s (%s–%s)", number(s.Median), unit, number(s.Min), number(s.Max))
}

// number writes a figure with as many digits as mean something.
func number(figure float64) string {
	switch {
	case figure >= 100:
		return fmt.Sprintf("%.0f", figure)
	case figure >= 10:
		return fmt.Sprintf("%.1f", figure)
	}
	return fmt.Sprintf("%.2f", figure)
}

// Print writes the table for a terminal.
func (r *Results) Print(out io.Writer) error { return printTable(out, r.table()) }

// Markdown writes the table for a document, after a line that says how it was measured.
func (r *Results) Markdown(out io.Writer) error {
	clock := "by the clock"
	if r.Processor {
		clock = "by processor time"
	}
	fmt.Fprintf(out, "%d users, %d tasks and imported rows, %d children of a cascade; %d rounds, %s.\n\n", r.Users, r.Rows, r.Children, r.Rounds, clock)
	return markdownTable(out, r.table())
}

func printTable(out io.Writer, table [][]string) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, row := range table {
		fmt.Fprintln(w, strings.Join(row, "\t"))
	}
	return w.Flush()
}

func markdownTable(out io.Writer, table [][]string) error {
	var b strings.Builder
	for i, row := range table {
		fmt.Fprintf(&b, "| %s |\n", strings.Join(row, " | "))
		if i == 0 {
			b.WriteString(strings.Repeat("|---", len(row)) + "|\n")
		}
	}
	_, err := io.WriteString(out, b.String())
	return err
}

// The results in JSON.
type (
	jsonResults struct {
		Users     int        `json:"users"`
		Rows      int        `json:"rows"`
		Children  int        `json:"children"`
		Processor bool       `json:"processor"`
		Lines     []jsonLine `json:"lines"`
	}
	jsonLine struct {
		Name    string               `json:"name"`
		Text    string               `json:"text"`
		Unit    string               `json:"unit"`
		Figures map[string][]float64 `json:"figures"` // of the rounds, by server
		Goals   []jsonGoal           `json:"goals,omitempty"`
	}
	jsonGoal struct {
		Server string `json:"server"`
		Goal   string `json:"goal"`
		Met    bool   `json:"met"`
	}
)

// JSON writes all figures.
func (r *Results) JSON(out io.Writer) error {
	all := jsonResults{Users: r.Users, Rows: r.Rows, Children: r.Children, Processor: r.Processor}
	for _, line := range r.lines() {
		written := jsonLine{Name: line.Name, Text: line.Text, Unit: strings.TrimSpace(line.Unit.Name), Figures: map[string][]float64{}}
		for _, server := range r.Servers {
			if figures := r.Figures[Key{line.Name, server}]; len(figures) > 0 {
				written.Figures[server] = figures
			}
		}
		for _, goal := range line.Goals {
			if met, measured := goal.met(line, r); measured {
				written.Goals = append(written.Goals, jsonGoal{Server: goal.Server, Goal: goal.text(line), Met: met})
			}
		}
		all.Lines = append(all.Lines, written)
	}
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(all)
}
