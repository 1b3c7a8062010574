package checks

import (
	"slices"
	"strings"
	"time"

	"github.com/plural-go/plural/conform/internal/suite"
)

var representationChecks = []suite.Check{
	{
		ID: "representation.id", Title: "every representation has an id", Source: suite.ConventionResources + ", 1",
		Rule: "Every resource representation carries id, a string.",
		Run: func(p *suite.Probe) {
			p.Each(func(r *suite.Reply, each suite.Resource) {
				p.FailIf(each.Text("id") == "", r, "the member id, a string", "%s", suite.EncodeJSON(each.Members))
			})
		},
	},
	{
		ID: "representation.type", Title: "every representation has its type", Source: suite.ConventionResources + ", 1 and 2",
		Rule: "Every resource representation carries type, the name of its collection.",
		Run: func(p *suite.Probe) {
			p.Each(func(r *suite.Reply, each suite.Resource) {
				p.FailIf(each.Text("type") != p.Collection.Name, r, `"type":"`+p.Collection.Name+`"`, "%s", suite.EncodeJSON(each.Members))
			})
		},
	},
	{
		ID: "representation.uuid", Title: "ids are UUIDs", Source: suite.ConventionResources,
		Rule: "The id of a resource is in UUID format.",
		Run: func(p *suite.Probe) {
			p.Each(func(r *suite.Reply, each suite.Resource) {
				id := each.Text("id")
				p.FailIf(id != "" && !suite.UUIDForm.MatchString(id), r, "a UUID such as 01936f2e-7d3c-7a4b-9c5d-0123456789ab", "%q", id)
			})
		},
	},
	{
		ID: "representation.uuid-lower-case", Title: "ids are in lower case", Source: suite.OurResources,
		Rule: "The id of a resource is in lower case.",
		Run: func(p *suite.Probe) {
			p.Each(func(r *suite.Reply, each suite.Resource) {
				id := each.Text("id")
				p.FailIf(id != strings.ToLower(id), r, strings.ToLower(id), "%s", id)
			})
		},
	},
	{
		ID: "representation.timestamps", Title: "timestamps are ISO 8601 in UTC", Source: suite.ConventionResources,
		Rule: "created_at and updated_at, where a representation has them, are ISO 8601 UTC timestamps.",
		Run: func(p *suite.Probe) {
			p.EachTimestamp(func(r *suite.Reply, name, text string) {
				when, err := time.Parse(time.RFC3339, text)
				_, offset := when.Zone()
				p.FailIf(err != nil || offset != 0, r, name+" in UTC, such as 2026-11-14T09:30:00.123Z", "%q", text)
			})
		},
	},
	{
		ID: "representation.timestamps-form", Title: "timestamps have one form", Source: suite.OurResources,
		Rule: "Timestamps are RFC 3339 with Z and milliseconds, always 24 characters.",
		Run: func(p *suite.Probe) {
			p.EachTimestamp(func(r *suite.Reply, name, text string) {
				p.FailIf(!suite.TimestampForm.MatchString(text), r, name+" such as 2026-11-14T09:30:00.123Z", "%q", text)
			})
		},
	},
	{
		ID: "representation.timestamps-order", Title: "nothing is updated before it is created", Source: suite.OurResources,
		Rule: "updated_at is not before created_at.",
		Run: func(p *suite.Probe) {
			p.EachTimestamp(func(*suite.Reply, string, string) {}) // skips if there are none
			for _, each := range p.Reference {
				created, err1 := time.Parse(time.RFC3339, each.Text("created_at"))
				updated, err2 := time.Parse(time.RFC3339, each.Text("updated_at"))
				if err1 == nil && err2 == nil && updated.Before(created) {
					p.Fail(p.List("limit=2"), "updated_at at or after created_at", "%s", suite.EncodeJSON(each.Members))
				}
			}
		},
	},
	{
		ID: "representation.all-attributes", Title: "no attribute is missing", Source: suite.OurResources, Needs: 1,
		Rule: "Every attribute is in every representation, null where it has no value.",
		Run: func(p *suite.Probe) {
			names := map[string]bool{}
			for _, a := range p.Collection.Attributes {
				names[a.Name] = true
			}
			for _, each := range p.Reference {
				for name := range each.Members {
					names[name] = true
				}
			}
			// Other checks look at the members that every resource must have.
			delete(names, "id")
			delete(names, "type")
			p.Each(func(r *suite.Reply, each suite.Resource) {
				for name := range names {
					p.FailIf(!each.Has(name), r, "the member "+name, "%s", suite.EncodeJSON(each.Members))
				}
			})
		},
	},
	{
		ID: "representation.member-order", Title: "order of members", Source: suite.OurResources,
		Rule: "The members are id, type, the attributes in the order of the schema, created_at, updated_at.",
		Run: func(p *suite.Probe) {
			p.SkipIf(!p.Collection.Described, "the server does not describe the collection at GET /")
			order := []string{"id", "type"}
			for _, a := range p.Collection.Attributes {
				order = append(order, a.Name)
			}
			order = append(order, suite.Timestamps...)
			p.Each(func(r *suite.Reply, each suite.Resource) {
				// Only what is there has an order.
				want := slices.DeleteFunc(slices.Clone(order), func(name string) bool { return !each.Has(name) })
				got := slices.DeleteFunc(slices.Clone(each.Order), func(name string) bool { return !slices.Contains(order, name) })
				p.FailIf(!slices.Equal(got, want), r, strings.Join(want, ", "), "%s", strings.Join(got, ", "))
			})
		},
	},
}
