package conform

import (
	"regexp"
	"slices"
	"strings"
	"time"
)

var (
	uuidForm      = regexp.MustCompile(`^(?i)[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`)
	timestampForm = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$`)
	timestamps    = []string{"created_at", "updated_at"}
)

var representationChecks = []Check{
	{
		ID: "representation.id", Title: "every representation has an id", Source: seedResources + ", 1",
		Rule: "Every resource representation carries id, a string.",
		run: func(p *probe) {
			p.each(func(r *reply, each resource) {
				if each.text("id") == "" {
					p.fail(r, "the member id, a string", "%s", encodeJSON(each.members))
				}
			})
		},
	},
	{
		ID: "representation.type", Title: "every representation has its type", Source: seedResources + ", 1 and 2",
		Rule: "Every resource representation carries type, the name of its collection.",
		run: func(p *probe) {
			p.each(func(r *reply, each resource) {
				if each.text("type") != p.collection.Name {
					p.fail(r, `"type":"`+p.collection.Name+`"`, "%s", encodeJSON(each.members))
				}
			})
		},
	},
	{
		ID: "representation.uuid", Title: "ids are UUIDs", Source: seedResources,
		Rule: "The id of a resource is in UUID format.",
		run: func(p *probe) {
			p.each(func(r *reply, each resource) {
				if id := each.text("id"); id != "" && !uuidForm.MatchString(id) {
					p.fail(r, "a UUID such as 01936f2e-7d3c-7a4b-9c5d-0123456789ab", "%q", id)
				}
			})
		},
	},
	{
		ID: "representation.uuid-lower-case", Title: "ids are in lower case", Source: ourResources,
		Rule: "The id of a resource is in lower case.",
		run: func(p *probe) {
			p.each(func(r *reply, each resource) {
				if id := each.text("id"); id != strings.ToLower(id) {
					p.fail(r, strings.ToLower(id), "%s", id)
				}
			})
		},
	},
	{
		ID: "representation.timestamps", Title: "timestamps are ISO 8601 in UTC", Source: seedResources,
		Rule: "created_at and updated_at, where a representation has them, are ISO 8601 UTC timestamps.",
		run: func(p *probe) {
			p.eachTimestamp(func(r *reply, name, text string) {
				if when, err := time.Parse(time.RFC3339, text); err != nil || !inUTC(when) {
					p.fail(r, name+" in UTC, such as 2026-11-14T09:30:00.123Z", "%q", text)
				}
			})
		},
	},
	{
		ID: "representation.timestamps-form", Title: "timestamps have one form", Source: ourResources,
		Rule: "Timestamps are RFC 3339 with Z and milliseconds, always 24 characters.",
		run: func(p *probe) {
			p.eachTimestamp(func(r *reply, name, text string) {
				if !timestampForm.MatchString(text) {
					p.fail(r, name+" such as 2026-11-14T09:30:00.123Z", "%q", text)
				}
			})
		},
	},
	{
		ID: "representation.timestamps-order", Title: "nothing is updated before it is created", Source: ourResources,
		Rule: "updated_at is not before created_at.",
		run: func(p *probe) {
			p.eachTimestamp(nil)
			for _, each := range p.reference {
				created, err1 := time.Parse(time.RFC3339, each.text("created_at"))
				updated, err2 := time.Parse(time.RFC3339, each.text("updated_at"))
				if err1 == nil && err2 == nil && updated.Before(created) {
					p.fail(p.list("limit=2"), "updated_at at or after created_at", "%s", encodeJSON(each.members))
				}
			}
		},
	},
	{
		ID: "representation.all-attributes", Title: "no attribute is missing", Source: ourResources,
		Rule: "Every attribute is in every representation, null where it has no value.",
		run: func(p *probe) {
			p.need(1)
			names := map[string]bool{}
			for _, a := range p.collection.Attributes {
				names[a.Name] = true
			}
			for _, each := range p.reference {
				for name := range each.members {
					names[name] = true
				}
			}
			// Other checks look at the members that every resource must have.
			delete(names, "id")
			delete(names, "type")
			p.each(func(r *reply, each resource) {
				for name := range names {
					if !each.has(name) {
						p.fail(r, "the member "+name, "%s", encodeJSON(each.members))
					}
				}
			})
		},
	},
	{
		ID: "representation.member-order", Title: "order of members", Source: ourResources,
		Rule: "The members are id, type, the attributes in the order of the schema, created_at, updated_at.",
		run: func(p *probe) {
			if !p.collection.described {
				p.skip("the server does not describe the collection at GET /")
			}
			order := []string{"id", "type"}
			for _, a := range p.collection.Attributes {
				order = append(order, a.Name)
			}
			order = append(order, timestamps...)
			p.each(func(r *reply, each resource) {
				// Only what is there has an order.
				want := slices.DeleteFunc(slices.Clone(order), func(name string) bool { return !each.has(name) })
				got := slices.DeleteFunc(slices.Clone(each.order), func(name string) bool { return !slices.Contains(order, name) })
				if !slices.Equal(got, want) {
					p.fail(r, strings.Join(want, ", "), "%s", strings.Join(got, ", "))
				}
			})
		},
	},
}

// each calls a function with the resources of a list, and with one that is read alone.
func (p *probe) each(look func(*reply, resource)) {
	p.need(1)
	list := p.ok(p.list("limit=20"))
	for _, each := range list.resources() {
		look(list, each)
	}
	alone := p.ok(p.get(p.item(0)))
	look(alone, alone.resource())
}

// eachTimestamp skips collections that have none.
func (p *probe) eachTimestamp(look func(r *reply, name, text string)) {
	found := false
	p.each(func(r *reply, each resource) {
		for _, name := range timestamps {
			if !each.has(name) {
				continue
			}
			if found = true; look != nil {
				look(r, name, each.text(name))
			}
		}
	})
	if !found {
		p.skip("the collection has no timestamps")
	}
}

func inUTC(when time.Time) bool {
	_, offset := when.Zone()
	return offset == 0
}
