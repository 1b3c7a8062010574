package suite

import (
	"net/http"
	"slices"
)

// parentsFixture is a parent with three children, in the order of their ids, and another parent with
// one child.
type parentsFixture struct {
	relation
	First, Second string
	Children      []string
}

// SharedParents returns a fixture that several checks use, so they must not change it.
func (p *Probe) SharedParents() parentsFixture {
	if p.shared == nil {
		made := p.NewParents()
		p.shared = &made
	}
	return *p.shared
}

func (p *Probe) NewParents() parentsFixture {
	if p.Suite.children == nil {
		p.Skip("%s", p.noChild)
	}
	f := parentsFixture{relation: *p.Suite.children}
	parent := func() string {
		created, err := p.createValid(f.Parent)
		if err != nil {
			p.Skip("%v", err)
		}
		return p.OK(created).CreatedID()
	}
	f.First, f.Second = parent(), parent()
	for range 3 {
		f.Children = append(f.Children, p.OK(p.Send(http.MethodPost, f.Path(f.First), f.Body(p, nil))).CreatedID())
	}
	slices.Sort(f.Children)
	p.OK(p.Send(http.MethodPost, f.Path(f.Second), f.Body(p, nil))) // a server that ignores the parent would list this one too
	return f
}

// Body is the body of a child, without its parent, which is in the path.
func (f parentsFixture) Body(p *Probe, changes map[string]any) string {
	p.counter++
	members, err := p.Members(f.Child, p.counter)
	if err != nil {
		p.Skip("%v", err)
	}
	delete(members, f.Attribute)
	for name, value := range changes {
		members[name] = value
	}
	return EncodeJSON(members)
}
