package suite

import (
	"regexp"
)

var (
	UUIDForm      = regexp.MustCompile(`^(?i)[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`)
	TimestampForm = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$`)
	Timestamps    = []string{"created_at", "updated_at"}
)

// Each calls a function with the resources of a list, and with one that is read alone.
func (p *Probe) Each(look func(*Reply, Resource)) {
	p.Need(1)
	list := p.OK(p.List("limit=20"))
	for _, each := range list.Resources() {
		look(list, each)
	}
	alone := p.OK(p.Get(p.Item(0)))
	look(alone, alone.Resource())
}

// EachTimestamp skips collections that have none.
func (p *Probe) EachTimestamp(look func(r *Reply, name, text string)) {
	found := false
	p.Each(func(r *Reply, each Resource) {
		for _, name := range Timestamps {
			if !each.Has(name) {
				continue
			}
			if found = true; look != nil {
				look(r, name, each.Text(name))
			}
		}
	})
	if !found {
		p.Skip("the collection has no timestamps")
	}
}
