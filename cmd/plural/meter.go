package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/plural-go/plural/internal/terminal"
)

const (
	barWidth  = 30
	barPause  = 100 * time.Millisecond
	wholeLine = "\r\x1b[K" // go to the start of the line and clear it
)

// meter shows progress on a terminal: a bar, the rate and the remaining time.
type meter struct {
	out     io.Writer // nil: not a terminal
	started time.Time
	shown   time.Time
}

func newMeter(out io.Writer) *meter {
	m := &meter{started: time.Now()}
	if out = direct(out); terminal.Is(out) {
		m.out = out
	}
	return m
}

// show updates the line from time to time. Part is the fraction that is done, negative if
// unknown.
func (m *meter) show(rows int64, part float64) {
	now := time.Now()
	if m.out == nil || now.Sub(m.shown) < barPause {
		return
	}
	m.shown = now
	fmt.Fprint(m.out, wholeLine+meterLine(rows, part, now.Sub(m.started)))
}

// end clears the line.
func (m *meter) end() {
	if m.out != nil && !m.shown.IsZero() {
		fmt.Fprint(m.out, wholeLine)
	}
}

func meterLine(rows int64, part float64, took time.Duration) string {
	line := fmt.Sprintf("rows %s  %s", grouped(rows), rateOf(rows, took))
	if part < 0 {
		return line
	}
	part = min(part, 1)
	line = barOf(part, line)
	if part > 0 {
		left := time.Duration(float64(took) * (1 - part) / part)
		line += fmt.Sprintf("  %s left", left.Round(time.Second))
	}
	return line
}

// barOf is a bar of which a part is filled, with a text behind it.
func barOf(part float64, text string) string {
	filled := int(barWidth * part)
	return fmt.Sprintf("[%s%s] %3d %%  %s", strings.Repeat("#", filled), strings.Repeat(".", barWidth-filled), int(100*part+1e-9), text) // 100 * 0.29 is a little less than 29
}

func rateOf(rows int64, took time.Duration) string {
	return grouped(int64(float64(rows)/max(took.Seconds(), 1e-3))) + "/s"
}

// pace is how long it took, if long enough to mention.
func pace(rows int64, took time.Duration) string {
	if took < time.Second {
		return ""
	}
	return fmt.Sprintf(" in %.1f s (%s)", took.Seconds(), rateOf(rows, took))
}

// grouped is a number with commas: 1,000,000.
func grouped(n int64) string {
	text := fmt.Sprint(n)
	for at := len(text) - 3; at > 0; at -= 3 {
		text = text[:at] + "," + text[at:]
	}
	return text
}

func rowsOf(n int64) string {
	if n == 1 {
		return "1 row"
	}
	return grouped(n) + " rows"
}
