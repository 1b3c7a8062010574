package suite

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

const TotalHeader = "X-Total-Count"

// Total fails unless X-Total-Count has a value. If it is missing, total.present fails, and this check
// is skipped.
func (p *Probe) Total(r *Reply, want int) {
	switch got := r.Header.Get(TotalHeader); {
	case got == "":
		p.Skip("there is no %s (see total.present)", TotalHeader)
	case got != strconv.Itoa(want):
		p.Fail(r, fmt.Sprintf("%s: %d", TotalHeader, want), "%s", got)
	}
}

// Links parses a Link header (RFC 8288), as far as the convention uses it.
func Links(r *Reply) map[string]string {
	found := map[string]string{}
	rest := strings.Join(r.Header.Values("Link"), ", ")
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

// Follow requests the target of a relation.
func (p *Probe) Follow(r *Reply, relation string) *Reply {
	target, has := Links(p.OK(r))[relation]
	if !has {
		p.Fail(r, "a Link with the relation "+relation, "%q", r.Header.Get("Link"))
	}
	return p.Get(r.Target(target))
}

func (p *Probe) NoLink(r *Reply, relation string) {
	if target, has := Links(r)[relation]; has {
		p.Fail(r, "no Link with the relation "+relation, "%s", target)
	}
}

// Parameters fails unless the target of a relation has certain parameters. Other checks fail if
// the relation is missing.
func (p *Probe) Parameters(r *Reply, relation, want string) {
	target, has := Links(r)[relation]
	if !has {
		p.Skip("there is no %s (see link.%s)", relation, relation)
	}
	if parsed, err := url.Parse(target); err != nil || !parsed.Query().Has(want) {
		p.Fail(r, relation+" with the parameter "+want, "%s", target)
	}
}

// Walk follows a relation to its end.
func (p *Probe) Walk(query, relation string) {
	r := p.OK(p.List(query))
	if _, has := Links(r)[relation]; !has {
		p.Skip("there is no %s to follow (see link.%s)", relation, relation)
	}
	var visited []int
	for range len(p.Reference) + 1 { // a walk in circles ends too
		page := p.PositionsOf(p.OK(r).Resources())
		if relation == "next" {
			visited = append(visited, page...)
		} else {
			slices.Sort(page) // as for inAnyOrder
			visited = slices.Concat(page, visited)
		}
		if _, has := Links(r)[relation]; !has {
			break
		}
		r = p.Follow(r, relation)
	}
	if want := Span(0, len(p.Reference)); !slices.Equal(visited, want) {
		p.Fail(r, "on the way "+Describe(want), "%s", Describe(visited))
	}
}
