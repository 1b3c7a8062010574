//go:build linux

package bench

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// The measures of the plot, in pixels.
const (
	plotLeft   = 140 // of the names of lines
	plotWidth  = 560 // of a ratio of 1
	plotTop    = 60  // of the legend
	barHeight  = 9
	groupSpace = 12
)

var colours = map[string]string{
	HandSQLite: "#9ecae1", PluralSQLite: "#2171b5", HandPostgres: "#fdbe85", PluralPostgres: "#d94801",
}

// SVG draws the ratios to the bare server as bars, with the spread as a line
// through the end of each.
func (r *Results) SVG(out io.Writer) error {
	servers := slices.DeleteFunc(slices.Clone(r.Servers), func(server string) bool { return server == Bare })
	var b strings.Builder
	y := plotTop
	for _, line := range r.lines() {
		if line.Unit != rate {
			continue
		}
		fmt.Fprintf(&b, `<text x="%d" y="%d" text-anchor="end">%s</text>`+"\n", plotLeft-8, y+len(servers)*barHeight/2+4, line.Text)
		for _, server := range servers {
			r.bar(&b, line, server, y)
			y += barHeight
		}
		y += groupSpace
	}
	var svg strings.Builder
	fmt.Fprintf(&svg, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" font-family="sans-serif" font-size="12">`+"\n",
		plotLeft+plotWidth+60, y+20)
	svg.WriteString(`<rect width="100%" height="100%" fill="white"/>` + "\n")
	fmt.Fprintf(&svg, `<text x="%d" y="20">Rate of answers, as a ratio to bare net/http; %d users</text>`+"\n", plotLeft, r.Users)
	for i, server := range servers {
		x := plotLeft + i*150
		fmt.Fprintf(&svg, `<rect x="%d" y="31" width="10" height="10" fill="%s"/><text x="%d" y="40">%s</text>`+"\n", x, colours[server], x+14, server)
	}
	for tenths := 0; tenths <= 10; tenths += 2 {
		x := plotLeft + tenths*plotWidth/10
		fmt.Fprintf(&svg, `<line x1="%d" y1="%d" x2="%d" y2="%d" stroke="#ddd"/><text x="%d" y="%d" text-anchor="middle">%.1f</text>`+"\n",
			x, plotTop-6, x, y, x, y+14, float64(tenths)/10)
	}
	svg.WriteString(b.String())
	svg.WriteString("</svg>\n")
	_, err := io.WriteString(out, svg.String())
	return err
}

// bar draws one server of one line.
func (r *Results) bar(b *strings.Builder, line Line, server string, y int) {
	ratios := r.ratios(Key{line.Name, server}, Key{line.Name, Bare})
	if len(ratios) == 0 {
		return
	}
	s := summarize(ratios)
	at := func(ratio float64) float64 { return plotLeft + ratio*plotWidth }
	fmt.Fprintf(b, `<rect x="%d" y="%d" width="%.1f" height="%d" fill="%s"/>`, plotLeft, y, at(s.Median)-plotLeft, barHeight-1, colours[server])
	fmt.Fprintf(b, `<line x1="%.1f" y1="%d" x2="%.1f" y2="%d" stroke="black"/>`+"\n", at(s.Min), y+barHeight/2, at(s.Max), y+barHeight/2)
}
