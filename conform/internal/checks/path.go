package checks

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/plural-go/plural/conform/internal/suite"
)

var pathChecks = []suite.Check{
	{
		ID: "path.root", Title: "GET / lists the collections", Source: suite.OurOperations,
		Rule: "GET / lists the collections as resources of type collections, each with name, singular, total and attributes.",
		Run: func(p *suite.Probe) {
			r := p.OK(p.Get("/", "Accept", "application/json"))
			all := r.Resources()
			listed := slices.ContainsFunc(all, func(each suite.Resource) bool { return each.Text("name") == p.Collection.Name })
			p.FailIf(!listed, r, "the collection "+p.Collection.Name+" among the resources", "%s", r.Summary())
			for _, each := range all {
				for _, name := range []string{"id", "name", "singular", "total", "attributes"} {
					p.FailIf(!each.Has(name), r, "the member "+name, "%s", suite.Shorten(suite.EncodeJSON(each.Members)))
				}
				p.FailIf(each.Text("type") != "collections", r, `"type":"collections"`, "%q", each.Text("type"))
			}
		},
	},
	{
		ID: "path.unknown-id", Title: "an id that nothing has", Source: suite.OurPaths,
		Rule: "GET with an unknown id is 404.",
		Run:  func(p *suite.Probe) { p.Status(p.Get(p.UnknownID()), 404) },
	},
	{
		ID: "path.not-a-uuid", Title: "an id that is no UUID", Source: suite.OurPaths,
		Rule: "An id that is not a UUID in canonical form is 404.",
		Run: func(p *suite.Probe) {
			id := p.FirstReference()
			for _, form := range []string{"1", "conform", "%7B" + id + "%7D", "urn:uuid:" + id, strings.ReplaceAll(id, "-", "")} {
				p.Status(p.Get(p.Collection.PathOf(form)), 404)
			}
		},
	},
	{
		ID: "path.upper-case-id", Title: "an id in upper case", Source: suite.OurResources,
		Rule: "An id in upper case is accepted in a path.",
		Run: func(p *suite.Probe) {
			r := p.OK(p.Get(p.Collection.PathOf(strings.ToUpper(p.FirstReference()))))
			got := r.Resource().ID()
			p.FailIf(suite.UUIDForm.MatchString(got) && got != p.FirstReference(), r, "the resource "+p.FirstReference(), "%s", got)
		},
	},
	{
		ID: "path.unknown", Title: "a path that nobody knows", Source: suite.OurPaths,
		Rule: "An unknown path is 404.",
		Run: func(p *suite.Probe) {
			p.Status(p.Get("/"+p.Collection.Name+"-"+suite.NewTag()), 404)
			p.Status(p.Get(p.Item(0)+"/conform_unknown"), 404)
		},
	},
	{
		ID: "path.trailing-slash", Title: "a slash at the end", Source: suite.OurPaths,
		Rule: "A trailing slash is 308 to the path without it, with the same query.",
		Run: func(p *suite.Probe) {
			for _, path := range []string{p.Collection.Path(), p.Item(0)} {
				r := p.Status(p.Get(path+"/?limit=1"), 308)
				got, want := r.Target(r.Header.Get("Location")), p.Base+path+"?limit=1"
				p.FailIf(got != want, r, "Location: "+want, "%s", got)
			}
		},
	},
	{
		ID: "path.singular", Title: "the singular", Source: suite.OurPaths,
		Rule: "GET on the singular, such as /user/<id>, answers as /users/<id> does.",
		Run: func(p *suite.Probe) {
			r, want := p.OK(p.Get(p.Singular())), p.OK(p.Get(p.Item(0)))
			p.FailIf(!suite.EqualMembers(r.Resource(), want.Resource()), r, want.Summary(), "%s", r.Summary())
		},
	},
	{
		ID: "path.singular-location", Title: "Content-Location of the singular", Source: suite.OurPaths,
		Rule: "A response under the singular has Content-Location, the path in the collection.",
		Run: func(p *suite.Probe) {
			r := p.Get(p.Singular())
			p.SkipIf(!r.Succeeded(), "the singular cannot be read (see path.singular)")
			given, want := r.Header.Get("Content-Location"), p.Base+p.Item(0)
			p.FailIf(given == "" || r.Target(given) != want, r, "Content-Location: "+want, "%q", given)
		},
	},
	{
		ID: "path.accept", Title: "an Accept header that excludes JSON", Source: suite.OurResponses,
		Rule: "A request whose Accept header excludes JSON is 406.",
		Run: func(p *suite.Probe) {
			p.Status(p.List("", "Accept", "text/plain"), 406)
			p.Status(p.Get(p.Item(0), "Accept", "application/json;q=0, image/png"), 406)
		},
	},
	{
		ID: "path.accept-json", Title: "an Accept header that includes JSON", Source: suite.OurResponses,
		Rule: "A request whose Accept header includes JSON is answered.",
		Run: func(p *suite.Probe) {
			for _, accept := range []string{"application/json", "*/*", "application/*", "text/plain, application/json;q=0.1", suite.ContentType} {
				p.OK(p.Get(p.Item(0), "Accept", accept))
			}
		},
	},
}

// comparedHeaders are the headers that the convention defines. Others, such as Date, may differ.
var comparedHeaders = []string{"Content-Type", "Link", suite.TotalHeader, "Etag", "Content-Location", "Preference-Applied"}

var position = regexp.MustCompile(`\bsince=[^&>]*`)

// withoutPosition is a header without the position in the change log, which is another one
// after each write of anybody.
func withoutPosition(header string) string { return position.ReplaceAllString(header, "since=") }

var methodChecks = []suite.Check{
	{
		ID: "method.head", Title: "HEAD as GET", Source: suite.OurOperations,
		Rule: "HEAD has the status and the headers of GET, and no body.",
		Run: func(p *suite.Probe) {
			for _, path := range []string{p.Collection.Path() + "?limit=2", p.Collection.Path() + "?offset=1&limit=2", p.Item(0), p.UnknownID()} {
				get, head := p.Get(path), p.Send(http.MethodHead, path, "")
				p.FailIf(head.Status != get.Status || len(head.Body) > 0, head, fmt.Sprintf("status %d without a body", get.Status), "%s", head.Summary())
				for _, name := range comparedHeaders {
					got, want := head.Header.Get(name), get.Header.Get(name)
					p.FailIf(withoutPosition(got) != withoutPosition(want), head, name+" as GET has it: "+want, "%q", got)
				}
			}
		},
	},
	{
		ID: "method.options", Title: "OPTIONS", Source: suite.OurOperations,
		Rule: "OPTIONS is 204 with Allow, which lists the methods of the path.",
		Run: func(p *suite.Probe) {
			for _, path := range []string{p.Collection.Path(), p.Item(0)} {
				p.AllowsReads(p.Status(p.Send(http.MethodOptions, path, ""), 204))
			}
		},
	},
	{
		ID: "method.not-allowed", Title: "a method that a path does not know", Source: suite.OurPaths, Writes: true,
		Rule: "A known path with a wrong method is 405.",
		Run: func(p *suite.Probe) {
			for _, r := range p.WrongMethods() {
				p.Status(r, 405)
			}
		},
	},
	{
		ID: "method.allow", Title: "Allow beside 405", Source: suite.OurPaths, Writes: true,
		Rule: "A 405 has Allow, which lists the methods of the path.",
		Run: func(p *suite.Probe) {
			for _, r := range p.WrongMethods() {
				p.SkipIf(r.Status != 405, "a wrong method is not refused with 405 (see method.not-allowed)")
				p.AllowsReads(r)
			}
		},
	},
	{
		ID: "method.singular", Title: "methods of the singular", Source: suite.OurPaths, Writes: true,
		Rule: "Methods other than GET, HEAD and OPTIONS on the singular are 405.",
		Run: func(p *suite.Probe) {
			path, _ := p.Create()
			singular := strings.Replace(path, p.Collection.Path(), "/"+p.Collection.Singular, 1)
			p.Singular() // skips if it is not known
			p.Status(p.Patch(singular, "{}"), 405)
			p.Status(p.Delete(singular), 405)
		},
	},
}
