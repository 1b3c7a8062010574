package checks

import (
	"fmt"
	"slices"
	"strings"

	"github.com/plural-go/plural/conform/internal/suite"
)

var cursorChecks = []suite.Check{
	{
		ID: "cursor.inclusive", Title: "a cursor is included", Source: suite.ConventionPagination + ", 3", Needs: 12,
		Rule: "With a cursor, the result starts at the resource with the given identifier.",
		Run: func(p *suite.Probe) {
			r := p.List("cursor=" + p.Reference[10].ID() + "&limit=30")
			got := p.PositionsOf(p.OK(r).Resources())
			p.FailIf(len(got) == 0 || got[0] != 10, r, "the resource of the cursor first, position 10", "%s", suite.Describe(got))
		},
	},
	{
		ID: "cursor.limit", Title: "cursor and limit 30", Source: suite.ConventionPagination + ", 3", Needs: 42,
		Rule: "With a cursor and limit 30, 30 resources are returned, one after the other.",
		Run: func(p *suite.Probe) {
			r := p.List("cursor=" + p.Reference[10].ID() + "&limit=30")
			got := p.PositionsOf(p.OK(r).Resources())
			p.FailIf(len(got) != 30 || !slices.Equal(got, suite.Span(got[0], got[0]+30)), r, "30 consecutive resources", "%s", suite.Describe(got))
		},
	},
	{
		ID: "cursor.limit-beyond-end", Title: "cursor near the end", Source: suite.ConventionPagination + ", 4", Needs: 12,
		Rule: "With a cursor near the end, all available resources of the range are returned, without error.",
		Run: func(p *suite.Probe) {
			total := len(p.Reference)
			r := p.List("cursor=" + p.Reference[total-5].ID() + "&limit=30")
			// cursor.inclusive checks whether the cursor is included.
			got := p.PositionsOf(p.OK(r).Resources())
			p.FailIf(!slices.Equal(got, suite.Span(total-len(got), total)) || len(got) < 4, r, suite.Describe(suite.Span(total-5, total)), "%s", suite.Describe(got))
		},
	},
	{
		ID: "cursor.negative-limit", Title: "cursor and a negative limit", Source: suite.OurRanges, Needs: 12,
		Rule: "With a cursor at position p, a negative limit gives [p-|limit|, p), without the resource itself.",
		Run: func(p *suite.Probe) {
			p.InAnyOrder(p.List("cursor="+p.Reference[10].ID()+"&limit=-4"), suite.Span(6, 10))
			p.InAnyOrder(p.List("cursor="+p.Reference[2].ID()+"&limit=-4"), suite.Span(0, 2))
		},
	},
	{
		ID: "cursor.upper-case", Title: "a cursor in upper case", Source: suite.OurResources, Needs: 3,
		Rule: "An id in upper case is accepted as a cursor.",
		Run: func(p *suite.Probe) {
			lower := p.PositionsOf(p.OK(p.List("cursor=" + p.Reference[1].ID() + "&limit=2")).Resources())
			p.Positions(p.List("cursor="+strings.ToUpper(p.Reference[1].ID())+"&limit=2"), lower)
		},
	},
	{
		ID: "cursor.with-offset", Title: "cursor and offset together", Source: suite.OurRanges, Needs: 2,
		Rule: "A cursor together with an offset is 400.",
		Run:  func(p *suite.Probe) { p.Status(p.List("cursor="+p.Reference[1].ID()+"&offset=1"), 400) },
	},
	{
		ID: "cursor.unknown", Title: "a cursor that never existed", Source: suite.OurRanges,
		Rule: "A cursor that never existed in the collection is 400.",
		Run:  func(p *suite.Probe) { p.Status(p.List("cursor="+suite.NewUUID()), 400) },
	},
	{
		ID: "cursor.malformed", Title: "a cursor that is no UUID", Source: suite.OurRanges, Needs: 2,
		Rule: "A cursor that is not a UUID in canonical form is 400.",
		Run: func(p *suite.Probe) {
			id := p.Reference[1].ID()
			for _, cursor := range []string{"", "first", "{" + id + "}", "urn:uuid:" + id, strings.ReplaceAll(id, "-", "")} {
				p.Status(p.List("cursor="+cursor), 400)
			}
		},
	},
	{
		ID: "cursor.outside-filter", Title: "a cursor that the filter excludes", Source: suite.OurRanges, Needs: 5,
		Rule: "A cursor that the filter excludes counts from the position it would have.",
		Run: func(p *suite.Probe) {
			excluded := p.Reference[2].ID()
			r := p.List(fmt.Sprintf("filter[id][ne]=%s&cursor=%s&limit=2", excluded, excluded))
			p.Positions(r, []int{3, 4})
		},
	},
}

var cursorWriteChecks = []suite.Check{
	{
		ID: "cursor.deleted", Title: "a cursor whose resource was deleted", Source: suite.OurRanges, Writes: true,
		Rule: "A cursor keeps its position when its resource has been deleted.",
		Run: func(p *suite.Probe) {
			made := map[string]bool{}
			for range 3 {
				made[p.OK(p.Post(p.Body(nil))).CreatedID()] = true
			}
			var ids []string // in the order of the collection
			for _, each := range p.All("") {
				if made[each.ID()] {
					ids = append(ids, each.ID())
				}
			}
			p.SkipIf(len(ids) != 3, "what was created is not listed")
			p.OK(p.Delete(p.Collection.PathOf(ids[1])))
			r := p.OK(p.List("cursor=" + ids[1] + "&limit=1"))
			got := r.IDs()
			p.FailIf(!slices.Equal(got, ids[2:3]), r, "the resource behind the deleted one, "+ids[2], "%s", strings.Join(got, ", "))
			r = p.OK(p.List("cursor=" + ids[1] + "&limit=-1"))
			got = r.IDs()
			p.FailIf(!slices.Equal(got, ids[:1]), r, "the resource before the deleted one, "+ids[0], "%s", strings.Join(got, ", "))
		},
	},
}
