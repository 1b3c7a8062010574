package checks

import (
	"fmt"
	"slices"

	"github.com/plural-go/plural/conform/internal/suite"
)

// The convention does not say whether positions start at 0 or 1. Its checks compare a range with what the
// server itself returns at a position. Another check tests that positions are zero-based.
var rangeChecks = []suite.Check{
	{
		ID: "range.positive-limit", Title: "offset=5&limit=10", Source: suite.ConventionPagination + ", 1", Needs: 16,
		Rule: "With offset and a positive limit, the result is a range of limit resources counted from the offset position.",
		Run: func(p *suite.Probe) {
			r, start := p.List("offset=5&limit=10"), p.At(5)
			p.Positions(r, suite.Span(start, start+10))
		},
	},
	{
		ID: "range.negative-limit", Title: "offset=39&limit=-25", Source: suite.ConventionPagination + ", 2", Needs: 40,
		Rule: "A negative limit counts backwards from the offset: offset 39 and limit -25 give 25 resources starting at position 14.",
		Run: func(p *suite.Probe) {
			r, start := p.List("offset=39&limit=-25"), p.At(14)
			p.InAnyOrder(r, suite.Span(start, start+25))
		},
	},
	{
		ID: "range.negative-limit-cut", Title: "offset=5&limit=-20", Source: suite.ConventionPagination + ", 4", Needs: 6,
		Rule: "A negative limit that reaches beyond the start returns the existing resources: offset 5 and limit -20 give 5 resources.",
		Run:  func(p *suite.Probe) { p.InAnyOrder(p.List("offset=5&limit=-20"), suite.Span(0, 5)) },
	},
	{
		ID: "range.limit-beyond-end", Title: "a limit that reaches beyond the end", Source: suite.ConventionPagination + ", 4", Needs: 6,
		Rule: "When the limit exceeds the available resources of the range, all of them are returned, without error.",
		Run: func(p *suite.Probe) {
			offset := len(p.Reference) - 5
			p.Positions(p.List(fmt.Sprintf("offset=%d&limit=1000", offset)), suite.Span(p.At(offset), len(p.Reference)))
		},
	},
	{
		ID: "range.limit-beyond-total", Title: "a limit larger than the collection", Source: suite.ConventionPagination + ", 4", Needs: 1,
		Rule: "A limit larger than the collection returns all of it, without error, never a shorter response.",
		Run: func(p *suite.Probe) {
			p.Positions(p.List(fmt.Sprintf("limit=%d", len(p.Reference)+1000)), suite.Span(0, len(p.Reference)))
		},
	},
	{
		ID: "range.alias-o", Title: "o for offset", Source: suite.ConventionPagination + ", 5", Needs: 8,
		Rule: "o is interchangeable with offset.",
		Run: func(p *suite.Probe) {
			p.Positions(p.List("o=3&limit=4"), p.PositionsOf(p.OK(p.List("offset=3&limit=4")).Resources()))
		},
	},
	{
		ID: "range.alias-l", Title: "l for limit", Source: suite.ConventionPagination + ", 5", Needs: 8,
		Rule: "l is interchangeable with limit.",
		Run: func(p *suite.Probe) {
			p.Positions(p.List("offset=3&l=4"), p.PositionsOf(p.OK(p.List("offset=3&limit=4")).Resources()))
		},
	},
	{
		ID: "range.zero-based", Title: "where counting begins", Source: suite.OurRanges, Needs: 8,
		Rule: "Positions are zero-based, and the resource at the offset is included.",
		Run: func(p *suite.Probe) {
			p.Positions(p.List("offset=0&limit=1"), []int{0})
			p.Positions(p.List("offset=7&limit=1"), []int{7})
		},
	},
	{
		ID: "range.negative-limit-order", Title: "order with a negative limit", Source: suite.OurRanges, Needs: 12,
		Rule: "A range is in position order, also with a negative limit.",
		Run: func(p *suite.Probe) {
			r := p.List("offset=10&limit=-8")
			got := p.PositionsOf(p.OK(r).Resources())
			p.FailIf(!slices.IsSorted(got), r, "ascending positions", "%s", suite.Describe(got))
		},
	},
	{
		ID: "range.last", Title: "a negative limit alone", Source: suite.OurRanges, Needs: 6,
		Rule: "A negative limit without an offset counts back from the end: limit=-5 gives the last five.",
		Run: func(p *suite.Probe) {
			p.InAnyOrder(p.List("limit=-5"), suite.Span(len(p.Reference)-5, len(p.Reference)))
		},
	},
	{
		ID: "range.limit-zero", Title: "limit=0", Source: suite.OurRanges, Needs: 1,
		Rule: "limit=0 gives an empty array.",
		Run:  func(p *suite.Probe) { p.Positions(p.List("limit=0"), []int{}) },
	},
	{
		ID: "range.offset-past-end", Title: "an offset past the end", Source: suite.OurRanges,
		Rule: "An offset past the end gives an empty array.",
		Run: func(p *suite.Probe) {
			p.Positions(p.List(fmt.Sprintf("offset=%d&limit=5", len(p.Reference)+1000)), []int{})
		},
	},
	{
		ID: "range.back-from-past-end", Title: "back from past the end", Source: suite.OurRanges, Needs: 3,
		Rule: "A range is cut to what exists: from three past the end, limit -5 gives the last two.",
		Run: func(p *suite.Probe) {
			total := len(p.Reference)
			p.InAnyOrder(p.List(fmt.Sprintf("offset=%d&limit=-5", total+3)), suite.Span(total-2, total))
		},
	},
	{
		ID: "range.any-size", Title: "numbers of any size", Source: suite.OurRanges, Needs: 1,
		Rule: "Offset and limit may have any number of digits.",
		Run: func(p *suite.Probe) {
			p.Positions(p.List("offset=0&limit=99999999999999999999999999"), suite.Span(0, len(p.Reference)))
			p.Positions(p.List("offset=99999999999999999999999999&limit=1"), []int{})
		},
	},
	{
		ID: "range.negative-offset", Title: "a negative offset", Source: suite.OurRanges,
		Rule: "A negative offset is 400.",
		Run:  refused("offset=-1"),
	},
	{
		ID: "range.not-an-integer", Title: "an offset or limit that is no integer", Source: suite.OurRanges,
		Rule: "Offset and limit are decimal digits with an optional minus; anything else is 400.",
		Run:  refused("limit=ten", "limit=1.5", "limit=", "limit", "offset=0x10", "offset=1e3", "limit=%2B5"),
	},
}

// refused checks that lists with these queries are 400.
func refused(queries ...string) func(*suite.Probe) {
	return func(p *suite.Probe) {
		for _, query := range queries {
			p.Status(p.List(query), 400)
		}
	}
}

var parameterChecks = []suite.Check{
	{
		ID: "parameter.unknown", Title: "a parameter that nobody knows", Source: suite.OurRanges,
		Rule: "An unknown parameter is 400.",
		Run:  refused("conform_unknown=1"),
	},
	{
		ID: "parameter.unknown-on-item", Title: "a parameter on one resource", Source: suite.OurRanges,
		Rule: "A parameter in a request for one resource is 400.",
		Run:  func(p *suite.Probe) { p.Status(p.Get(p.Item(0)+"?limit=1"), 400) },
	},
	{
		ID: "parameter.twice", Title: "a parameter given twice", Source: suite.OurRanges,
		Rule: "A repeated parameter is 400, except those that hold a list: filter[field], [in], [not_in] and sort.",
		Run:  refused("limit=1&limit=1", "offset=2&offset=2"),
	},
	{
		ID: "parameter.both-names", Title: "a parameter by both its names", Source: suite.OurRanges,
		Rule: "A parameter given by both its names is 400.",
		Run:  refused("limit=1&l=1", "o=1&offset=1"),
	},
	{
		ID: "parameter.encoding", Title: "broken encoding in the query", Source: suite.OurRanges,
		Rule: "Invalid percent-encoding, invalid UTF-8 and U+0000 in the query are 400.",
		Run:  refused("limit=%zz", "limit=1%", "filter[id]=%FF", "filter[type]=a%00"),
	},
	{
		ID: "parameter.semicolon", Title: "a semicolon between parameters", Source: suite.OurRanges,
		Rule: "A semicolon as separator of parameters is 400.",
		Run:  refused("limit=1;offset=1"),
	},
}
