package conform

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

const totalHeader = "X-Total-Count"

var totalChecks = []Check{
	{
		ID: "total.present", Title: "X-Total-Count of a collection", Source: ourResponses,
		Rule: "A collection without a filter has X-Total-Count.",
		run: func(p *probe) {
			if r := p.ok(p.list("limit=3")); r.header.Get(totalHeader) == "" {
				p.fail(r, totalHeader+": "+strconv.Itoa(len(p.reference)), "no such header")
			}
		},
	},
	{
		ID: "total.value", Title: "value of X-Total-Count", Source: ourResponses,
		Rule: "X-Total-Count is the number of resources in the collection, whatever the range.",
		run: func(p *probe) {
			for _, query := range []string{"limit=3", "limit=0", "offset=2&limit=1"} {
				p.total(p.ok(p.list(query)), len(p.reference))
			}
		},
	},
	{
		ID: "total.filtered", Title: "X-Total-Count of a filtered collection", Source: ourResponses,
		Rule: "With Prefer: count=exact a filtered collection has X-Total-Count, the number of matching resources.",
		run: func(p *probe) {
			p.need(4)
			r := p.ok(p.list("filter[id][lte]="+p.reference[3].id()+"&limit=2", "Prefer", "count=exact"))
			if len(p.filtered("filter[id][lte]="+p.reference[3].id())) != 4 {
				p.skip("the filter does not work (see filter.id)")
			}
			if r.header.Get(totalHeader) == "" {
				p.fail(r, totalHeader+": 4", "no such header")
			}
			p.total(r, 4)
		},
	},
}

// total fails unless X-Total-Count has a value. If it is missing, total.present fails, and this check
// is skipped.
func (p *probe) total(r *reply, want int) {
	switch got := r.header.Get(totalHeader); {
	case got == "":
		p.skip("there is no %s (see total.present)", totalHeader)
	case got != strconv.Itoa(want):
		p.fail(r, fmt.Sprintf("%s: %d", totalHeader, want), "%s", got)
	}
}

// maxLink is how many bytes the Link header has at most.
const maxLink = 2 << 10

var linkChecks = []Check{
	{
		ID: "link.first", Title: "the first page", Source: ourResponses,
		Rule: "Link has first, which leads to the first page of the same size.",
		run: func(p *probe) {
			p.need(20)
			p.positions(p.follow(p.list("offset=7&limit=5"), "first"), span(0, 5))
		},
	},
	{
		ID: "link.last", Title: "the last page", Source: ourResponses,
		Rule: "Link has last, which leads to the last page of the same size.",
		run: func(p *probe) {
			p.need(20)
			total := len(p.reference)
			p.inAnyOrder(p.follow(p.list("limit=5"), "last"), span(total-5, total))
		},
	},
	{
		ID: "link.next", Title: "the next page", Source: ourResponses,
		Rule: "Link has next, which leads to the page after this one.",
		run: func(p *probe) {
			p.need(20)
			p.positions(p.follow(p.list("limit=5"), "next"), span(5, 10))
		},
	},
	{
		ID: "link.next-by-offset", Title: "the next page by offset", Source: ourResponses,
		Rule: "A request by offset has a next by offset, which begins where the range ended.",
		run: func(p *probe) {
			p.need(20)
			r := p.ok(p.list("offset=3&limit=5"))
			p.positions(p.follow(r, "next"), span(8, 13))
			p.parameters(r, "next", "offset")
		},
	},
	{
		ID: "link.prev", Title: "the page before", Source: ourResponses,
		Rule: "Link has prev, which leads to the page before this one.",
		run: func(p *probe) {
			p.need(20)
			p.inAnyOrder(p.follow(p.list("cursor="+p.reference[10].id()+"&limit=5"), "prev"), span(5, 10))
		},
	},
	{
		ID: "link.prev-by-offset", Title: "the page before by offset", Source: ourResponses,
		Rule: "A request by offset has a prev by offset, which ends where the range began.",
		run: func(p *probe) {
			p.need(20)
			r := p.ok(p.list("offset=8&limit=5"))
			p.inAnyOrder(p.follow(r, "prev"), span(3, 8))
			p.parameters(r, "prev", "offset")
		},
	},
	{
		ID: "link.by-cursor", Title: "links do not drift", Source: ourResponses,
		Rule: "A request that is not by offset has next and prev by cursor, which do not drift.",
		run: func(p *probe) {
			p.need(20)
			p.parameters(p.ok(p.list("limit=5")), "next", "cursor")
			p.parameters(p.ok(p.list("limit=-5")), "prev", "cursor")
		},
	},
	{
		ID: "link.end", Title: "no next at the end", Source: ourResponses,
		Rule: "The last range has no next.",
		run: func(p *probe) {
			p.need(20)
			total := len(p.reference)
			for _, query := range []string{"limit=-5", fmt.Sprintf("offset=%d&limit=5", total-5), "cursor=" + p.reference[total-5].id() + "&limit=5"} {
				p.noLink(p.ok(p.list(query)), "next")
			}
		},
	},
	{
		ID: "link.start", Title: "no prev at the start", Source: ourResponses,
		Rule: "The first range has no prev.",
		run: func(p *probe) {
			p.need(20)
			for _, query := range []string{"limit=5", "offset=0&limit=5", "cursor=" + p.reference[0].id() + "&limit=5"} {
				p.noLink(p.ok(p.list(query)), "prev")
			}
		},
	},
	{
		ID: "link.limit-zero", Title: "no pages for limit=0", Source: ourResponses,
		Rule: "A range with limit 0 has no links to pages.",
		run: func(p *probe) {
			r := p.ok(p.list("limit=0"))
			for _, relation := range []string{"first", "prev", "next", "last"} {
				p.noLink(r, relation)
			}
		},
	},
	{
		ID: "link.walk", Title: "walking by next", Source: ourResponses,
		Rule: "Following next from the first page visits every resource once, in order.",
		run:  func(p *probe) { p.need(20); p.walk("limit=7", "next") },
	},
	{
		ID: "link.walk-back", Title: "walking by prev", Source: ourResponses,
		Rule: "Following prev from the last page visits every resource once.",
		run:  func(p *probe) { p.need(20); p.walk("limit=-7", "prev") },
	},
	{
		ID: "link.keeps-query", Title: "links keep filters and sorting", Source: ourResponses,
		Rule: "Links keep the filters and the sort of the request.",
		run: func(p *probe) {
			p.need(20)
			down := p.downwards()
			left := down[7] // of what would be the second page
			r := p.list("filter[id][ne]=" + p.reference[left].id() + "&sort=-id&limit=5")
			p.positions(p.follow(r, "next"), []int{down[5], down[6], down[8], down[9], down[10]})
		},
	},
	{
		ID: "link.bounded", Title: "the size of Link", Source: ourResponses,
		Rule: "Link has at most 2 KiB, however long the query is; relations that do not fit are left out.",
		run: func(p *probe) {
			p.need(20)
			ids := make([]string, 100) // 3,700 bytes
			for i := range ids {
				ids[i] = p.reference[i%20].id()
			}
			r := p.ok(p.list("filter[id][in]=" + strings.Join(ids, ",") + "&limit=5"))
			if size := len(strings.Join(r.header.Values("Link"), ", ")); size > maxLink {
				p.fail(r, fmt.Sprintf("a Link header of at most %d bytes", maxLink), "%d bytes", size)
			}
		},
	},
	{
		ID: "link.form", Title: "form of links", Source: ourResponses,
		Rule: "Links are path-absolute, with the long names of parameters.",
		run: func(p *probe) {
			p.need(20)
			base, _ := url.Parse(p.base)
			r := p.ok(p.list("o=7&l=5"))
			for relation, target := range links(r) {
				parsed, err := url.Parse(target)
				if err != nil || !strings.HasPrefix(target, base.Path+p.collection.path()+"?") || parsed.Query().Has("o") || parsed.Query().Has("l") {
					p.fail(r, relation+" as "+base.Path+p.collection.path()+"?…limit=…", "%s", target)
				}
			}
		},
	},
}

// links parses a Link header (RFC 8288), as far as the convention uses it.
func links(r *reply) map[string]string {
	found := map[string]string{}
	rest := strings.Join(r.header.Values("Link"), ", ")
	for {
		_, behind, ok := strings.Cut(rest, "<")
		if !ok {
			return found
		}
		target, parameters, ok := strings.Cut(behind, ">")
		if !ok {
			return found
		}
		rest = parameters
		parameters, _, _ = strings.Cut(parameters, "<")
		for parameter := range strings.SplitSeq(parameters, ";") {
			name, value, _ := strings.Cut(strings.Trim(parameter, " ,"), "=")
			if strings.TrimSpace(name) == "rel" {
				for relation := range strings.FieldsSeq(strings.Trim(strings.TrimSpace(value), `"`)) {
					found[relation] = target
				}
			}
		}
	}
}

// follow requests the target of a relation.
func (p *probe) follow(r *reply, relation string) *reply {
	target, has := links(p.ok(r))[relation]
	if !has {
		p.fail(r, "a Link with the relation "+relation, "%q", r.header.Get("Link"))
	}
	return p.get(r.target(target))
}

func (p *probe) noLink(r *reply, relation string) {
	if target, has := links(r)[relation]; has {
		p.fail(r, "no Link with the relation "+relation, "%s", target)
	}
}

// parameters fails unless the target of a relation has certain parameters. Other checks fail if
// the relation is missing.
func (p *probe) parameters(r *reply, relation, want string) {
	target, has := links(r)[relation]
	if !has {
		p.skip("there is no %s (see link.%s)", relation, relation)
	}
	if parsed, err := url.Parse(target); err != nil || !parsed.Query().Has(want) {
		p.fail(r, relation+" with the parameter "+want, "%s", target)
	}
}

// walk follows a relation to its end.
func (p *probe) walk(query, relation string) {
	r := p.ok(p.list(query))
	if _, has := links(r)[relation]; !has {
		p.skip("there is no %s to follow (see link.%s)", relation, relation)
	}
	var visited []int
	for range len(p.reference) + 1 { // a walk in circles ends too
		page := p.positionsOf(p.ok(r).resources())
		if relation == "next" {
			visited = append(visited, page...)
		} else {
			slices.Sort(page) // as for inAnyOrder
			visited = slices.Concat(page, visited)
		}
		if _, has := links(r)[relation]; !has {
			break
		}
		r = p.follow(r, relation)
	}
	if want := span(0, len(p.reference)); !slices.Equal(visited, want) {
		p.fail(r, "on the way "+describe(want), "%s", describe(visited))
	}
}
