package checks

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/plural-go/plural/conform/internal/suite"
)

var totalChecks = []suite.Check{
	{
		ID: "total.present", Title: "X-Total-Count of a collection", Source: suite.OurResponses,
		Rule: "A collection without a filter has X-Total-Count.",
		Run: func(p *suite.Probe) {
			r := p.OK(p.List("limit=3"))
			p.FailIf(r.Header.Get(suite.TotalHeader) == "", r, suite.TotalHeader+": "+strconv.Itoa(len(p.Reference)), "no such header")
		},
	},
	{
		ID: "total.value", Title: "value of X-Total-Count", Source: suite.OurResponses,
		Rule: "X-Total-Count is the number of resources in the collection, whatever the range.",
		Run: func(p *suite.Probe) {
			for _, query := range []string{"limit=3", "limit=0", "offset=2&limit=1"} {
				p.Total(p.OK(p.List(query)), len(p.Reference))
			}
		},
	},
	{
		ID: "total.filtered", Title: "X-Total-Count of a filtered collection", Source: suite.OurResponses, Needs: 4,
		Rule: "With Prefer: count=exact a filtered collection has X-Total-Count, the number of matching resources.",
		Run: func(p *suite.Probe) {
			r := p.OK(p.List("filter[id][lte]="+p.Reference[3].ID()+"&limit=2", "Prefer", "count=exact"))
			p.SkipIf(len(p.Filtered("filter[id][lte]="+p.Reference[3].ID())) != 4, "the filter does not work (see filter.id)")
			p.FailIf(r.Header.Get(suite.TotalHeader) == "", r, suite.TotalHeader+": 4", "no such header")
			p.Total(r, 4)
		},
	},
}

// maxLink is how many bytes the Link header has at most.
const maxLink = 2 << 10

// longRange is the smallest size of a sorted range whose end a server may not know when it sends the headers.
const longRange = 1001

var linkChecks = []suite.Check{
	{
		ID: "link.first", Title: "the first page", Source: suite.OurResponses, Needs: 20,
		Rule: "Link has first, which leads to the first page of the same size.",
		Run:  func(p *suite.Probe) { p.Positions(p.Follow(p.List("offset=7&limit=5"), "first"), suite.Span(0, 5)) },
	},
	{
		ID: "link.last", Title: "the last page", Source: suite.OurResponses, Needs: 20,
		Rule: "Link has last, which leads to the last page of the same size.",
		Run: func(p *suite.Probe) {
			total := len(p.Reference)
			p.InAnyOrder(p.Follow(p.List("limit=5"), "last"), suite.Span(total-5, total))
		},
	},
	{
		ID: "link.next", Title: "the next page", Source: suite.OurResponses, Needs: 20,
		Rule: "Link has next, which leads to the page after this one.",
		Run:  func(p *suite.Probe) { p.Positions(p.Follow(p.List("limit=5"), "next"), suite.Span(5, 10)) },
	},
	{
		ID: "link.next-by-offset", Title: "the next page by offset", Source: suite.OurResponses, Needs: 20,
		Rule: "A request by offset has a next by offset, which begins where the range ended.",
		Run: func(p *suite.Probe) {
			r := p.OK(p.List("offset=3&limit=5"))
			p.Positions(p.Follow(r, "next"), suite.Span(8, 13))
			p.Parameters(r, "next", "offset")
		},
	},
	{
		ID: "link.prev", Title: "the page before", Source: suite.OurResponses, Needs: 20,
		Rule: "Link has prev, which leads to the page before this one.",
		Run: func(p *suite.Probe) {
			p.InAnyOrder(p.Follow(p.List("cursor="+p.Reference[10].ID()+"&limit=5"), "prev"), suite.Span(5, 10))
		},
	},
	{
		ID: "link.prev-by-offset", Title: "the page before by offset", Source: suite.OurResponses, Needs: 20,
		Rule: "A request by offset has a prev by offset, which ends where the range began.",
		Run: func(p *suite.Probe) {
			r := p.OK(p.List("offset=8&limit=5"))
			p.InAnyOrder(p.Follow(r, "prev"), suite.Span(3, 8))
			p.Parameters(r, "prev", "offset")
		},
	},
	{
		ID: "link.by-cursor", Title: "links do not drift", Source: suite.OurResponses, Needs: 20,
		Rule: "A request that is not by offset has next and prev by cursor, which do not drift.",
		Run: func(p *suite.Probe) {
			p.Parameters(p.OK(p.List("limit=5")), "next", "cursor")
			p.Parameters(p.OK(p.List("limit=-5")), "prev", "cursor")
		},
	},
	{
		ID: "link.end", Title: "no next at the end", Source: suite.OurResponses, Needs: 20,
		Rule: "The last range has no next.",
		Run: func(p *suite.Probe) {
			total := len(p.Reference)
			for _, query := range []string{"limit=-5", fmt.Sprintf("offset=%d&limit=5", total-5), "cursor=" + p.Reference[total-5].ID() + "&limit=5"} {
				p.NoLink(p.OK(p.List(query)), "next")
			}
		},
	},
	{
		ID: "link.start", Title: "no prev at the start", Source: suite.OurResponses, Needs: 20,
		Rule: "The first range has no prev.",
		Run: func(p *suite.Probe) {
			for _, query := range []string{"limit=5", "offset=0&limit=5", "cursor=" + p.Reference[0].ID() + "&limit=5"} {
				p.NoLink(p.OK(p.List(query)), "prev")
			}
		},
	},
	{
		ID: "link.limit-zero", Title: "no pages for limit=0", Source: suite.OurResponses,
		Rule: "A range with limit 0 has no links to pages.",
		Run: func(p *suite.Probe) {
			r := p.OK(p.List("limit=0"))
			for _, relation := range []string{"first", "prev", "next", "last"} {
				p.NoLink(r, relation)
			}
		},
	},
	{
		ID: "link.walk", Title: "walking by next", Source: suite.OurResponses, Needs: 20,
		Rule: "Following next from the first page visits every resource once, in order.",
		Run:  func(p *suite.Probe) { p.Walk("limit=7", "next") },
	},
	{
		ID: "link.walk-back", Title: "walking by prev", Source: suite.OurResponses, Needs: 20,
		Rule: "Following prev from the last page visits every resource once.",
		Run:  func(p *suite.Probe) { p.Walk("limit=-7", "prev") },
	},
	{
		ID: "link.walk-long", Title: "walking by next in long ranges", Source: suite.OurResponses, Needs: longRange + 1,
		Rule: "A range of more than 1,000 that is sorted has next unless it is at the end, and following it visits every resource once, in order.",
		Run: func(p *suite.Probe) {
			down := p.Downwards()
			r := p.List(fmt.Sprintf("sort=-id&limit=%d", longRange))
			visited := p.PositionsOf(p.OK(r).Resources())
			for len(visited) < len(down) {
				r = p.Follow(r, "next")
				page := p.PositionsOf(p.OK(r).Resources())
				p.FailIf(len(page) == 0, r, "the rest of "+suite.Describe(down), "no more than %s", suite.Describe(visited))
				visited = append(visited, page...)
			}
			p.FailIf(!slices.Equal(visited, down), r, "on the way "+suite.Describe(down), "%s", suite.Describe(visited))
		},
	},
	{
		ID: "link.beyond-end", Title: "no next beyond the end", Source: suite.OurResponses, Needs: 1,
		Rule: "A range beyond the end, which next may lead to from a long one, is empty and has no next.",
		Run: func(p *suite.Probe) {
			r := p.List(fmt.Sprintf("sort=-id&offset=%d&limit=%d", len(p.Reference), longRange))
			p.Positions(r, nil)
			p.NoLink(r, "next")
		},
	},
	{
		ID: "link.keeps-query", Title: "links keep filters and sorting", Source: suite.OurResponses, Needs: 20,
		Rule: "Links keep the filters and the sort of the request.",
		Run: func(p *suite.Probe) {
			down := p.Downwards()
			left := down[7] // of what would be the second page
			r := p.List("filter[id][ne]=" + p.Reference[left].ID() + "&sort=-id&limit=5")
			p.Positions(p.Follow(r, "next"), []int{down[5], down[6], down[8], down[9], down[10]})
		},
	},
	{
		ID: "link.bounded", Title: "the size of Link", Source: suite.OurResponses, Needs: 20,
		Rule: "Link has at most 2 KiB, however long the query is; relations that do not fit are left out.",
		Run: func(p *suite.Probe) {
			ids := make([]string, 100) // 3,700 bytes
			for i := range ids {
				ids[i] = p.Reference[i%20].ID()
			}
			r := p.OK(p.List("filter[id][in]=" + strings.Join(ids, ",") + "&limit=5"))
			size := len(strings.Join(r.Header.Values("Link"), ", "))
			p.FailIf(size > maxLink, r, fmt.Sprintf("a Link header of at most %d bytes", maxLink), "%d bytes", size)
		},
	},
	{
		ID: "link.form", Title: "form of links", Source: suite.OurResponses, Needs: 20,
		Rule: "Links are path-absolute, with the long names of parameters.",
		Run: func(p *suite.Probe) {
			base, _ := url.Parse(p.Base)
			r := p.OK(p.List("o=7&l=5"))
			for relation, target := range suite.Links(r) {
				parsed, err := url.Parse(target)
				if err != nil || !strings.HasPrefix(target, base.Path+p.Collection.Path()+"?") || parsed.Query().Has("o") || parsed.Query().Has("l") {
					p.Fail(r, relation+" as "+base.Path+p.Collection.Path()+"?…limit=…", "%s", target)
				}
			}
		},
	},
}
