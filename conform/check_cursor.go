package conform

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
)

var cursorChecks = []Check{
	{
		ID: "cursor.inclusive", Title: "a cursor is included", Source: seedPagination + ", 3",
		Rule: "With a cursor, the result starts at the resource with the given identifier.",
		run: func(p *probe) {
			p.need(12)
			r := p.list("cursor=" + p.reference[10].id() + "&limit=30")
			if got := p.positionsOf(p.ok(r).resources()); len(got) == 0 || got[0] != 10 {
				p.fail(r, "the resource of the cursor first, position 10", "%s", describe(got))
			}
		},
	},
	{
		ID: "cursor.limit", Title: "cursor and limit 30", Source: seedPagination + ", 3",
		Rule: "With a cursor and limit 30, 30 resources are returned, one after the other.",
		run: func(p *probe) {
			p.need(42)
			r := p.list("cursor=" + p.reference[10].id() + "&limit=30")
			got := p.positionsOf(p.ok(r).resources())
			if len(got) != 30 || !slices.Equal(got, span(got[0], got[0]+30)) {
				p.fail(r, "30 consecutive resources", "%s", describe(got))
			}
		},
	},
	{
		ID: "cursor.limit-beyond-end", Title: "cursor near the end", Source: seedPagination + ", 4",
		Rule: "With a cursor near the end, all available resources of the range are returned, without error.",
		run: func(p *probe) {
			p.need(12)
			total := len(p.reference)
			r := p.list("cursor=" + p.reference[total-5].id() + "&limit=30")
			// cursor.inclusive checks whether the cursor is included.
			if got := p.positionsOf(p.ok(r).resources()); !slices.Equal(got, span(total-len(got), total)) || len(got) < 4 {
				p.fail(r, describe(span(total-5, total)), "%s", describe(got))
			}
		},
	},
	{
		ID: "cursor.negative-limit", Title: "cursor and a negative limit", Source: ourRanges,
		Rule: "With a cursor at position p, a negative limit gives [p-|limit|, p), without the resource itself.",
		run: func(p *probe) {
			p.need(12)
			p.inAnyOrder(p.list("cursor="+p.reference[10].id()+"&limit=-4"), span(6, 10))
			p.inAnyOrder(p.list("cursor="+p.reference[2].id()+"&limit=-4"), span(0, 2))
		},
	},
	{
		ID: "cursor.upper-case", Title: "a cursor in upper case", Source: ourResources,
		Rule: "An id in upper case is accepted as a cursor.",
		run: func(p *probe) {
			p.need(3)
			lower := p.positionsOf(p.ok(p.list("cursor=" + p.reference[1].id() + "&limit=2")).resources())
			p.positions(p.list("cursor="+strings.ToUpper(p.reference[1].id())+"&limit=2"), lower)
		},
	},
	{
		ID: "cursor.with-offset", Title: "cursor and offset together", Source: ourRanges,
		Rule: "A cursor together with an offset is 400.",
		run:  func(p *probe) { p.need(2); p.status(p.list("cursor="+p.reference[1].id()+"&offset=1"), 400) },
	},
	{
		ID: "cursor.unknown", Title: "a cursor that never existed", Source: ourRanges,
		Rule: "A cursor that never existed in the collection is 400.",
		run:  func(p *probe) { p.status(p.list("cursor="+newUUID()), 400) },
	},
	{
		ID: "cursor.malformed", Title: "a cursor that is no UUID", Source: ourRanges,
		Rule: "A cursor that is not a UUID in canonical form is 400.",
		run: func(p *probe) {
			p.need(2)
			id := p.reference[1].id()
			for _, cursor := range []string{"", "first", "{" + id + "}", "urn:uuid:" + id, strings.ReplaceAll(id, "-", "")} {
				p.status(p.list("cursor="+cursor), 400)
			}
		},
	},
	{
		ID: "cursor.outside-filter", Title: "a cursor that the filter excludes", Source: ourRanges,
		Rule: "A cursor that the filter excludes counts from the position it would have.",
		run: func(p *probe) {
			p.need(5)
			excluded := p.reference[2].id()
			r := p.list(fmt.Sprintf("filter[id][ne]=%s&cursor=%s&limit=2", excluded, excluded))
			p.positions(r, []int{3, 4})
		},
	},
}

var cursorWriteChecks = []Check{
	{
		ID: "cursor.deleted", Title: "a cursor whose resource was deleted", Source: ourRanges, Writes: true,
		Rule: "A cursor keeps its position when its resource has been deleted.",
		run: func(p *probe) {
			made := map[string]bool{}
			for range 3 {
				made[p.ok(p.post(p.body(nil))).createdID()] = true
			}
			var ids []string // in the order of the collection
			for _, each := range p.all(p.collection.path(), "") {
				if made[each.id()] {
					ids = append(ids, each.id())
				}
			}
			if len(ids) != 3 {
				p.skip("what was created is not listed")
			}
			p.ok(p.send(http.MethodDelete, p.collection.path()+"/"+ids[1], ""))
			r := p.ok(p.list("cursor=" + ids[1] + "&limit=1"))
			if got := r.ids(); !slices.Equal(got, ids[2:3]) {
				p.fail(r, "the resource behind the deleted one, "+ids[2], "%s", strings.Join(got, ", "))
			}
			r = p.ok(p.list("cursor=" + ids[1] + "&limit=-1"))
			if got := r.ids(); !slices.Equal(got, ids[:1]) {
				p.fail(r, "the resource before the deleted one, "+ids[0], "%s", strings.Join(got, ", "))
			}
		},
	},
}
