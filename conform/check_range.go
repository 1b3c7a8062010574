package conform

import (
	"fmt"
	"slices"
)

// The seed does not say whether positions start at 0 or 1. Its checks compare a range with what the
// server itself returns at a position. Another check tests that positions are zero-based.
var rangeChecks = []Check{
	{
		ID: "range.positive-limit", Title: "offset=5&limit=10", Source: seedPagination + ", 1",
		Rule: "With offset and a positive limit, the result is a range of limit resources counted from the offset position.",
		run: func(p *probe) {
			p.need(16)
			r, start := p.list("offset=5&limit=10"), p.at(5)
			p.positions(r, span(start, start+10))
		},
	},
	{
		ID: "range.negative-limit", Title: "offset=39&limit=-25", Source: seedPagination + ", 2",
		Rule: "A negative limit counts backwards from the offset: offset 39 and limit -25 give 25 resources starting at position 14.",
		run: func(p *probe) {
			p.need(40)
			r, start := p.list("offset=39&limit=-25"), p.at(14)
			p.inAnyOrder(r, span(start, start+25))
		},
	},
	{
		ID: "range.negative-limit-cut", Title: "offset=5&limit=-20", Source: seedPagination + ", 4",
		Rule: "A negative limit that reaches beyond the start returns the existing resources: offset 5 and limit -20 give 5 resources.",
		run: func(p *probe) {
			p.need(6)
			p.inAnyOrder(p.list("offset=5&limit=-20"), span(0, 5))
		},
	},
	{
		ID: "range.limit-beyond-end", Title: "a limit that reaches beyond the end", Source: seedPagination + ", 4",
		Rule: "When the limit exceeds the available resources of the range, all of them are returned, without error.",
		run: func(p *probe) {
			p.need(6)
			offset := len(p.reference) - 5
			p.positions(p.list(fmt.Sprintf("offset=%d&limit=1000", offset)), span(p.at(offset), len(p.reference)))
		},
	},
	{
		ID: "range.limit-beyond-total", Title: "a limit larger than the collection", Source: seedPagination + ", 4",
		Rule: "A limit larger than the collection returns all of it, without error, never a shorter response.",
		run: func(p *probe) {
			p.need(1)
			p.positions(p.list(fmt.Sprintf("limit=%d", len(p.reference)+1000)), span(0, len(p.reference)))
		},
	},
	{
		ID: "range.alias-o", Title: "o for offset", Source: seedPagination + ", 5",
		Rule: "o is interchangeable with offset.",
		run: func(p *probe) {
			p.need(8)
			p.positions(p.list("o=3&limit=4"), p.positionsOf(p.ok(p.list("offset=3&limit=4")).resources()))
		},
	},
	{
		ID: "range.alias-l", Title: "l for limit", Source: seedPagination + ", 5",
		Rule: "l is interchangeable with limit.",
		run: func(p *probe) {
			p.need(8)
			p.positions(p.list("offset=3&l=4"), p.positionsOf(p.ok(p.list("offset=3&limit=4")).resources()))
		},
	},
	{
		ID: "range.zero-based", Title: "where counting begins", Source: ourRanges,
		Rule: "Positions are zero-based, and the resource at the offset is included.",
		run: func(p *probe) {
			p.need(8)
			p.positions(p.list("offset=0&limit=1"), []int{0})
			p.positions(p.list("offset=7&limit=1"), []int{7})
		},
	},
	{
		ID: "range.negative-limit-order", Title: "order with a negative limit", Source: ourRanges,
		Rule: "A range is in position order, also with a negative limit.",
		run: func(p *probe) {
			p.need(12)
			r := p.list("offset=10&limit=-8")
			if got := p.positionsOf(p.ok(r).resources()); !slices.IsSorted(got) {
				p.fail(r, "ascending positions", "%s", describe(got))
			}
		},
	},
	{
		ID: "range.last", Title: "a negative limit alone", Source: ourRanges,
		Rule: "A negative limit without an offset counts back from the end: limit=-5 gives the last five.",
		run: func(p *probe) {
			p.need(6)
			p.inAnyOrder(p.list("limit=-5"), span(len(p.reference)-5, len(p.reference)))
		},
	},
	{
		ID: "range.limit-zero", Title: "limit=0", Source: ourRanges,
		Rule: "limit=0 gives an empty array.",
		run:  func(p *probe) { p.need(1); p.positions(p.list("limit=0"), []int{}) },
	},
	{
		ID: "range.offset-past-end", Title: "an offset past the end", Source: ourRanges,
		Rule: "An offset past the end gives an empty array.",
		run: func(p *probe) {
			p.positions(p.list(fmt.Sprintf("offset=%d&limit=5", len(p.reference)+1000)), []int{})
		},
	},
	{
		ID: "range.back-from-past-end", Title: "back from past the end", Source: ourRanges,
		Rule: "A range is cut to what exists: from three past the end, limit -5 gives the last two.",
		run: func(p *probe) {
			p.need(3)
			total := len(p.reference)
			p.inAnyOrder(p.list(fmt.Sprintf("offset=%d&limit=-5", total+3)), span(total-2, total))
		},
	},
	{
		ID: "range.any-size", Title: "numbers of any size", Source: ourRanges,
		Rule: "Offset and limit may have any number of digits.",
		run: func(p *probe) {
			p.need(1)
			p.positions(p.list("offset=0&limit=99999999999999999999999999"), span(0, len(p.reference)))
			p.positions(p.list("offset=99999999999999999999999999&limit=1"), []int{})
		},
	},
	{
		ID: "range.negative-offset", Title: "a negative offset", Source: ourRanges,
		Rule: "A negative offset is 400.",
		run:  func(p *probe) { p.status(p.list("offset=-1"), 400) },
	},
	{
		ID: "range.not-an-integer", Title: "an offset or limit that is no integer", Source: ourRanges,
		Rule: "Offset and limit are decimal digits with an optional minus; anything else is 400.",
		run: func(p *probe) {
			for _, query := range []string{"limit=ten", "limit=1.5", "limit=", "limit", "offset=0x10", "offset=1e3", "limit=%2B5"} {
				p.status(p.list(query), 400)
			}
		},
	},
}

// at is the position in the reference of the resource that the server returns at an offset.
func (p *probe) at(offset int) int {
	r := p.list(fmt.Sprintf("offset=%d&limit=1", offset))
	found := p.positionsOf(p.ok(r).resources())
	if len(found) != 1 {
		p.fail(r, "one resource", "%s", describe(found))
	}
	return found[0]
}

var parameterChecks = []Check{
	{
		ID: "parameter.unknown", Title: "a parameter that nobody knows", Source: ourRanges,
		Rule: "An unknown parameter is 400.",
		run: func(p *probe) {
			p.status(p.list("conform_unknown=1"), 400)
		},
	},
	{
		ID: "parameter.unknown-on-item", Title: "a parameter on one resource", Source: ourRanges,
		Rule: "A parameter in a request for one resource is 400.",
		run:  func(p *probe) { p.status(p.get(p.item(0)+"?limit=1"), 400) },
	},
	{
		ID: "parameter.twice", Title: "a parameter given twice", Source: ourRanges,
		Rule: "A repeated parameter is 400, except those that hold a list: filter[field], [in], [not_in] and sort.",
		run: func(p *probe) {
			p.status(p.list("limit=1&limit=1"), 400)
			p.status(p.list("offset=2&offset=2"), 400)
		},
	},
	{
		ID: "parameter.both-names", Title: "a parameter by both its names", Source: ourRanges,
		Rule: "A parameter given by both its names is 400.",
		run: func(p *probe) {
			p.status(p.list("limit=1&l=1"), 400)
			p.status(p.list("o=1&offset=1"), 400)
		},
	},
	{
		ID: "parameter.encoding", Title: "broken encoding in the query", Source: ourRanges,
		Rule: "Invalid percent-encoding, invalid UTF-8 and U+0000 in the query are 400.",
		run: func(p *probe) {
			for _, query := range []string{"limit=%zz", "limit=1%", "filter[id]=%FF", "filter[type]=a%00"} {
				p.status(p.list(query), 400)
			}
		},
	},
	{
		ID: "parameter.semicolon", Title: "a semicolon between parameters", Source: ourRanges,
		Rule: "A semicolon as separator of parameters is 400.",
		run:  func(p *probe) { p.status(p.list("limit=1;offset=1"), 400) },
	},
}
