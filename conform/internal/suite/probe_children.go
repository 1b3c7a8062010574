package suite

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
)

// Parents is a parent with three children, in the order of their ids, and another parent with
// one child.
type Parents struct {
	relation
	First, Second  string
	Children       []string
	SecondChildren []string
}

// SharedParents returns a fixture that several checks use, so they must not change it.
func (p *Probe) SharedParents() Parents {
	if p.shared == nil {
		made := p.NewParents()
		p.shared = &made
	}
	return *p.shared
}

func (p *Probe) NewParents() Parents {
	p.SkipIf(p.Suite.children == nil, "%s", p.noChild)
	f := Parents{relation: *p.Suite.children}
	if _, given := p.samples[f.Child.Name]; given {
		// Finds out which attributes keep the values of the sample.
		_, err := p.createValid(f.Child)
		p.SkipIf(err != nil, "%v", err)
	}
	f.First, f.Second = p.NewParent(f), p.NewParent(f)
	for range 3 {
		f.Children = append(f.Children, p.OK(p.Send(http.MethodPost, f.Path(f.First), f.Body(p, nil))).CreatedID())
	}
	slices.Sort(f.Children)
	// A server that ignores the parent would list this one too.
	f.SecondChildren = []string{p.OK(p.Send(http.MethodPost, f.Path(f.Second), f.Body(p, nil))).CreatedID()}
	return f
}

// NewParent is the id of a new parent without children.
func (p *Probe) NewParent(f Parents) string {
	created, err := p.createValid(f.Parent)
	p.SkipIf(err != nil, "%v", err)
	return p.OK(created).CreatedID()
}

// Body is the body of a child, without its parent, which is in the path.
func (f Parents) Body(p *Probe, changes map[string]any) string {
	members := p.membersOf(f.Child, map[string]any{f.Attribute: Nothing{}})
	maps.Copy(members, changes)
	return EncodeJSON(members)
}

// RelatedParents is SharedParents of collections whose relations the server lists.
func (p *Probe) RelatedParents() Parents {
	// Its resources are created as those of other checks are, also if the server does that later.
	plain := &Probe{Suite: p.Suite}
	f := plain.SharedParents()
	p.SkipIf(len(f.Parent.Relations) == 0 && len(f.Child.Relations) == 0, "GET / lists no relations")
	return f
}

// RelationToParent is the name of the relation from a child to its parent.
func (p *Probe) RelationToParent(f Parents) string {
	return p.relationOf(f.Child, func(r includable) bool { return !r.Many && r.Attribute == f.Attribute })
}

// RelationToChildren is the name of the relation from a parent to its children.
func (p *Probe) RelationToChildren(f Parents) string {
	return p.relationOf(f.Parent, func(r includable) bool {
		return r.Many && r.Collection == f.Child.Name && r.Attribute == f.Attribute
	})
}

func (p *Probe) relationOf(c Collection, fits func(includable) bool) string {
	at := slices.IndexFunc(c.Relations, fits)
	p.SkipIf(at < 0, "GET / lists no relation of %s for this", c.Name)
	return c.Relations[at].Name
}

// Embeds fails unless a resource embeds the resources of these ids, whole.
func (p *Probe) Embeds(path, name string, want []string) *Reply {
	r := p.OK(p.Get(path))
	embedded, isList := r.Resource().Members[name].([]any)
	var got []string
	for _, each := range embedded {
		members, _ := each.(map[string]any)
		got = append(got, Resource{Members: members}.ID())
	}
	if !isList || !slices.Equal(got, want) {
		p.Fail(r, fmt.Sprintf("%s with the resources %s", name, strings.Join(want, ", ")), "%s", EncodeJSON(r.Resource().Members[name]))
	}
	return r
}

// Selected fails unless a resource has id, type and one attribute.
func (p *Probe) Selected(r *Reply, members map[string]any, attribute string) {
	got := Resource{Members: members}
	p.FailIf(!got.Has("id") || !got.Has("type") || !got.Has(attribute) || len(members) != 3, r, "id, type and "+attribute, "%s", EncodeJSON(members))
}

// Lists fails unless a list has the resources of these ids.
func (p *Probe) Lists(path string, want []string) {
	p.HasIDs(p.OK(p.Get(path)), want)
}
