package conform

import (
	"net/http"
	"regexp"
	"slices"
	"strings"
)

var pathChecks = []Check{
	{
		ID: "path.root", Title: "GET / lists the collections", Source: ourOperations,
		Rule: "GET / lists the collections as resources of type collections, each with name, singular, total and attributes.",
		run: func(p *probe) {
			r := p.ok(p.get("/", "Accept", "application/json"))
			all := r.resources()
			if !slices.ContainsFunc(all, func(each resource) bool { return each.text("name") == p.collection.Name }) {
				p.fail(r, "the collection "+p.collection.Name+" among the resources", "%s", r.summary())
			}
			for _, each := range all {
				for _, name := range []string{"id", "name", "singular", "total", "attributes"} {
					if !each.has(name) {
						p.fail(r, "the member "+name, "%s", shorten(encodeJSON(each.members)))
					}
				}
				if each.text("type") != "collections" {
					p.fail(r, `"type":"collections"`, "%q", each.text("type"))
				}
			}
		},
	},
	{
		ID: "path.unknown-id", Title: "an id that nothing has", Source: ourPaths,
		Rule: "GET with an unknown id is 404.",
		run:  func(p *probe) { p.status(p.get(p.unknownID()), 404) },
	},
	{
		ID: "path.not-a-uuid", Title: "an id that is no UUID", Source: ourPaths,
		Rule: "An id that is not a UUID in canonical form is 404.",
		run: func(p *probe) {
			id := p.reference0()
			for _, form := range []string{"1", "conform", "%7B" + id + "%7D", "urn:uuid:" + id, strings.ReplaceAll(id, "-", "")} {
				p.status(p.get(p.collection.path()+"/"+form), 404)
			}
		},
	},
	{
		ID: "path.upper-case-id", Title: "an id in upper case", Source: ourResources,
		Rule: "An id in upper case is accepted in a path.",
		run: func(p *probe) {
			r := p.ok(p.get(p.collection.path() + "/" + strings.ToUpper(p.reference0())))
			if got := r.resource().id(); uuidForm.MatchString(got) && got != p.reference0() {
				p.fail(r, "the resource "+p.reference0(), "%s", got)
			}
		},
	},
	{
		ID: "path.unknown", Title: "a path that nobody knows", Source: ourPaths,
		Rule: "An unknown path is 404.",
		run: func(p *probe) {
			p.status(p.get("/"+p.collection.Name+"-"+newTag()), 404)
			p.status(p.get(p.item(0)+"/conform_unknown"), 404)
		},
	},
	{
		ID: "path.trailing-slash", Title: "a slash at the end", Source: ourPaths,
		Rule: "A trailing slash is 308 to the path without it, with the same query.",
		run: func(p *probe) {
			for _, path := range []string{p.collection.path(), p.item(0)} {
				r := p.status(p.get(path+"/?limit=1"), 308)
				if got, want := r.target(r.header.Get("Location")), p.base+path+"?limit=1"; got != want {
					p.fail(r, "Location: "+want, "%s", got)
				}
			}
		},
	},
	{
		ID: "path.singular", Title: "the singular", Source: ourPaths,
		Rule: "GET on the singular, such as /user/<id>, answers as /users/<id> does.",
		run: func(p *probe) {
			r, want := p.ok(p.get(p.singular())), p.ok(p.get(p.item(0)))
			if !equalMembers(r.resource(), want.resource()) {
				p.fail(r, want.summary(), "%s", r.summary())
			}
		},
	},
	{
		ID: "path.singular-location", Title: "Content-Location of the singular", Source: ourPaths,
		Rule: "A response under the singular has Content-Location, the path in the collection.",
		run: func(p *probe) {
			r := p.get(p.singular())
			if !r.succeeded() {
				p.skip("the singular cannot be read (see path.singular)")
			}
			given := r.header.Get("Content-Location")
			if got, want := r.target(given), p.base+p.item(0); given == "" || got != want {
				p.fail(r, "Content-Location: "+want, "%q", given)
			}
		},
	},
	{
		ID: "path.accept", Title: "an Accept header that excludes JSON", Source: ourResponses,
		Rule: "A request whose Accept header excludes JSON is 406.",
		run: func(p *probe) {
			p.status(p.list("", "Accept", "text/plain"), 406)
			p.status(p.get(p.item(0), "Accept", "application/json;q=0, image/png"), 406)
		},
	},
	{
		ID: "path.accept-json", Title: "an Accept header that includes JSON", Source: ourResponses,
		Rule: "A request whose Accept header includes JSON is answered.",
		run: func(p *probe) {
			for _, accept := range []string{"application/json", "*/*", "application/*", "text/plain, application/json;q=0.1", contentType} {
				p.ok(p.get(p.item(0), "Accept", accept))
			}
		},
	},
}

func (p *probe) reference0() string {
	p.need(1)
	return p.reference[0].id()
}

// singular is the path of the first resource under the singular.
func (p *probe) singular() string {
	if p.collection.Singular == "" {
		p.skip("the singular is not known, as the server does not describe the collection at GET /")
	}
	return "/" + p.collection.Singular + "/" + p.reference0()
}

// comparedHeaders are the headers that the convention defines. Others, such as Date, may differ.
var comparedHeaders = []string{"Content-Type", "Link", totalHeader, "Etag", "Content-Location", "Preference-Applied"}

var position = regexp.MustCompile(`\bsince=[^&>]*`)

// withoutPosition is a header without the position in the change log, which is another one
// after each write of anybody.
func withoutPosition(header string) string { return position.ReplaceAllString(header, "since=") }

var methodChecks = []Check{
	{
		ID: "method.head", Title: "HEAD as GET", Source: ourOperations,
		Rule: "HEAD has the status and the headers of GET, and no body.",
		run: func(p *probe) {
			for _, path := range []string{p.collection.path() + "?limit=2", p.collection.path() + "?offset=1&limit=2", p.item(0), p.unknownID()} {
				get, head := p.get(path), p.send(http.MethodHead, path, "")
				if head.status != get.status || len(head.body) > 0 {
					p.fail(head, "status "+joinInts([]int{get.status}, "")+" without a body", "%s", head.summary())
				}
				for _, name := range comparedHeaders {
					if got, want := head.header.Get(name), get.header.Get(name); withoutPosition(got) != withoutPosition(want) {
						p.fail(head, name+" as GET has it: "+want, "%q", got)
					}
				}
			}
		},
	},
	{
		ID: "method.options", Title: "OPTIONS", Source: ourOperations,
		Rule: "OPTIONS is 204 with Allow, which lists the methods of the path.",
		run: func(p *probe) {
			for path, methods := range map[string][]string{p.collection.path(): {"GET", "HEAD"}, p.item(0): {"GET", "HEAD"}} {
				p.allows(p.status(p.send(http.MethodOptions, path, ""), 204), methods)
			}
		},
	},
	{
		ID: "method.not-allowed", Title: "a method that a path does not know", Source: ourPaths, Writes: true,
		Rule: "A known path with a wrong method is 405.",
		run: func(p *probe) {
			for _, r := range p.wrongMethods() {
				p.status(r, 405)
			}
		},
	},
	{
		ID: "method.allow", Title: "Allow beside 405", Source: ourPaths, Writes: true,
		Rule: "A 405 has Allow, which lists the methods of the path.",
		run: func(p *probe) {
			for _, r := range p.wrongMethods() {
				if r.status != 405 {
					p.skip("a wrong method is not refused with 405 (see method.not-allowed)")
				}
				p.allows(r, []string{"GET", "HEAD"})
			}
		},
	},
	{
		ID: "method.singular", Title: "methods of the singular", Source: ourPaths, Writes: true,
		Rule: "Methods other than GET, HEAD and OPTIONS on the singular are 405.",
		run: func(p *probe) {
			path, _ := p.create()
			singular := strings.Replace(path, p.collection.path(), "/"+p.collection.Singular, 1)
			p.singular() // skips if it is not known
			p.status(p.send(http.MethodPatch, singular, "{}"), 405)
			p.status(p.send(http.MethodDelete, singular, ""), 405)
		},
	},
}

// wrongMethods are requests with methods that the paths do not have. They must be harmless on every
// server, so there is no DELETE or PUT on a collection.
func (p *probe) wrongMethods() []*reply {
	path, _ := p.create()
	return []*reply{
		p.send(http.MethodPost, path, "{}"),
		p.send("CONFORM", p.collection.path(), ""),
	}
}

func (p *probe) allows(r *reply, methods []string) {
	var allowed []string
	for _, line := range r.header.Values("Allow") {
		for method := range strings.SplitSeq(line, ",") {
			allowed = append(allowed, strings.TrimSpace(method))
		}
	}
	for _, method := range methods {
		if !slices.Contains(allowed, method) {
			p.fail(r, "Allow with "+strings.Join(methods, ", "), "%q", strings.Join(allowed, ", "))
		}
	}
}
