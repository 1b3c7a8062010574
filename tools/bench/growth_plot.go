//go:build linux

package bench

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
)

// The measures of the plot of costs, in pixels.
const (
	curvesLeft   = 60  // of the costs on the axis
	curvesWidth  = 360 // of the sizes
	curvesRight  = 120 // of the names of lines
	curvesTop    = 50
	curvesHeight = 420
	nameHeight   = 13 // that names are apart
)

var curveColours = []string{"#1f77b4", "#ff7f0e", "#2ca02c", "#d62728", "#9467bd", "#8c564b", "#e377c2", "#7f7f7f", "#bcbd22", "#17becf"}

// SVG draws cost over size with logarithmic axes, one panel for each server. Lines that grow are bold.
func (g *Growth) SVG(out io.Writer) error {
	curves := g.curves()
	lowest, highest := math.Inf(1), math.Inf(-1)
	for _, c := range curves {
		lowest, highest = min(lowest, slices.Min(c.Costs)), max(highest, slices.Max(c.Costs))
	}
	low, high := math.Floor(math.Log10(lowest)), math.Ceil(math.Log10(highest))
	if low == high {
		high++
	}
	y := func(cost float64) float64 { return curvesTop + curvesHeight*(high-math.Log10(cost))/(high-low) }
	var b strings.Builder
	panel := curvesLeft + curvesWidth + curvesRight
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" font-family="sans-serif" font-size="12">`+"\n",
		panel*len(g.Servers), curvesTop+curvesHeight+40)
	b.WriteString(`<rect width="100%" height="100%" fill="white"/>` + "\n")
	for i, server := range g.Servers {
		left := float64(i*panel + curvesLeft)
		x := func(size int) float64 {
			first, last := math.Log10(float64(g.Sizes[0])), math.Log10(float64(g.Sizes[len(g.Sizes)-1]))
			return left + curvesWidth*(math.Log10(float64(size))-first)/max(last-first, 1e-9)
		}
		fmt.Fprintf(&b, `<text x="%.0f" y="20">%s: µs per request, by size of the collection</text>`+"\n", left, server)
		for power := low; power <= high; power++ {
			at := y(math.Pow(10, power))
			fmt.Fprintf(&b, `<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke="#ddd"/><text x="%.1f" y="%.1f" text-anchor="end">%g</text>`+"\n",
				left, at, left+curvesWidth, at, left-6, at+4, math.Pow(10, power))
		}
		for _, size := range g.Sizes {
			fmt.Fprintf(&b, `<line x1="%.1f" y1="%d" x2="%.1f" y2="%d" stroke="#ddd"/><text x="%.1f" y="%d" text-anchor="middle">%d</text>`+"\n",
				x(size), curvesTop, x(size), curvesTop+curvesHeight, x(size), curvesTop+curvesHeight+18, size)
		}
		drawCurves(&b, curves, server, left, g.Sizes, x, y)
	}
	b.WriteString("</svg>\n")
	_, err := io.WriteString(out, b.String())
	return err
}

// drawCurves draws the curves of a server, and their names beside their ends, the highest first and none over
// another.
func drawCurves(b *strings.Builder, curves []curve, server string, left float64, sizes []int, x func(int) float64, y func(float64) float64) {
	mine := slices.DeleteFunc(slices.Clone(curves), func(c curve) bool { return c.Server != server })
	slices.SortStableFunc(mine, func(a, b curve) int {
		return int(y(a.Costs[len(a.Costs)-1])) - int(y(b.Costs[len(b.Costs)-1]))
	})
	nameAt := 0.0
	for _, c := range mine {
		colour, width, weight := curveColours[c.number%len(curveColours)], 1.5, "normal"
		if c.grows() {
			width, weight = 3, "bold"
		}
		var points []string
		for j, cost := range c.Costs {
			points = append(points, fmt.Sprintf("%.1f,%.1f", x(sizes[j]), y(cost)))
		}
		end := y(c.Costs[len(c.Costs)-1])
		nameAt = max(nameAt+nameHeight, end)
		fmt.Fprintf(b, `<polyline points="%s" fill="none" stroke="%s" stroke-width="%g"/>`, strings.Join(points, " "), colour, width)
		fmt.Fprintf(b, `<text x="%.1f" y="%.1f" fill="%s" font-weight="%s">%s</text>`+"\n", left+curvesWidth+8, nameAt+4, colour, weight, c.Line.Name)
	}
}
