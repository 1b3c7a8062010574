package conform

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
)

const contentType = "application/json;charset=utf-8"

var readChecks = []Check{
	{
		ID: "read.collection", Title: "GET of a collection", Source: seedOperations,
		Rule: "GET /<collection> answers 200.",
		run:  func(p *probe) { p.status(p.list(""), 200) },
	},
	{
		ID: "read.item", Title: "GET of one resource", Source: seedOperations,
		Rule: "GET /<collection>/<id> answers 200 with the resource that has this id.",
		run: func(p *probe) {
			path := p.item(0)
			r := p.status(p.get(path), 200)
			if got, want := r.resource().id(), p.reference[0].id(); uuidForm.MatchString(got) && got != want {
				p.fail(r, "the resource "+want, "%s", got)
			}
		},
	},
	{
		ID: "read.same-everywhere", Title: "one representation in lists and by itself", Source: ourResources,
		Rule: "A resource has the same representation in a collection and by itself.",
		run: func(p *probe) {
			r := p.ok(p.get(p.item(0)))
			if alone, listed := r.resource(), p.reference[0]; !equalMembers(alone, listed) {
				p.fail(r, "as in the collection: "+encodeJSON(listed.members), "%s", encodeJSON(alone.members))
			}
		},
	},
	{
		ID: "read.order", Title: "order of a collection", Source: ourResources,
		Rule: "A collection is ordered by id.",
		run: func(p *probe) {
			p.need(2)
			for i := 1; i < len(p.reference); i++ {
				if before, after := p.reference[i-1].id(), p.reference[i].id(); before >= after {
					p.fail(p.list(""), "ascending ids", "%s at position %d, then %s", before, i-1, after)
				}
			}
		},
	},
}

// equalMembers compares representations. It ignores the case of ids, and members that are null in
// one and missing in the other: other checks look at these.
func equalMembers(a, b resource) bool {
	for _, name := range slices.Concat(a.order, b.order) {
		if name != "id" && !equalJSON(a.members[name], b.members[name]) {
			return false
		}
	}
	return true
}

var envelopeChecks = []Check{
	{
		ID: "envelope.data", Title: "bodies are enveloped", Source: seedEnvelope + ", 1 and 2",
		Rule: "Every response body is a JSON object, and resources are under its member data.",
		run: func(p *probe) {
			for _, r := range []*reply{p.list("limit=2"), p.get(p.item(0))} {
				if _, has := p.ok(r).members()["data"]; !has {
					p.fail(r, "a JSON object with the member data", "%s", r.summary())
				}
			}
		},
	},
	{
		ID: "envelope.object", Title: "data of one resource", Source: seedEnvelope + ", 3",
		Rule: "When an operation concerns a single resource, data is an object.",
		run:  func(p *probe) { p.dataIs(p.get(p.item(0)), '{', "an object") },
	},
	{
		ID: "envelope.array", Title: "data of a collection", Source: seedEnvelope + ", 4",
		Rule: "When an operation concerns a collection, data is an array.",
		run:  func(p *probe) { p.need(2); p.dataIs(p.list("limit=2"), '[', "an array") },
	},
	{
		ID: "envelope.array-of-one", Title: "data of a collection with one element", Source: seedEnvelope + ", 4",
		Rule: "data of a collection is an array even when it holds exactly one element.",
		run:  func(p *probe) { p.need(1); p.dataIs(p.list("limit=1"), '[', "an array of one element") },
	},
	{
		ID: "envelope.content-type", Title: "content type of answers", Source: seedEnvelope + ", 5",
		Rule: "The content type of responses is exactly " + contentType + ".",
		run: func(p *probe) {
			for _, r := range []*reply{p.list("limit=2"), p.get(p.item(0))} {
				p.contentType(p.ok(r))
			}
		},
	},
	{
		ID: "envelope.only-data", Title: "nothing beside data", Source: ourResponses,
		Rule: "The body of a success has the single member data.",
		run: func(p *probe) {
			for _, r := range []*reply{p.list("limit=2"), p.get(p.item(0))} {
				p.onlyMember(p.ok(r), "data")
			}
		},
	},
	{
		ID: "envelope.strict-json", Title: "valid JSON in answers", Source: ourBodies,
		Rule: "A response body is one JSON value in which no object has duplicate members.",
		run: func(p *probe) {
			replies := []*reply{p.list("limit=2"), p.get(p.item(0)), p.get(p.unknownID())}
			if len(p.catalog) > 0 {
				replies = append(replies, p.get("/", "Accept", "application/json"))
			}
			for _, r := range replies {
				if !json.Valid(r.body) {
					p.fail(r, "a JSON value", "%s", r.summary())
				}
				if name := duplicateMember(r.body); name != "" {
					p.fail(r, "no member twice in one object", "the member %q twice", name)
				}
			}
		},
	},
	{
		ID: "envelope.errors", Title: "envelope of errors", Source: ourResponses,
		Rule: "The body of a failure is a JSON object with the single member errors, a non-empty array.",
		run: func(p *probe) {
			r := p.get(p.unknownID())
			if r.succeeded() {
				p.skip("an unknown id is no failure (see path.unknown-id)")
			}
			var errors []json.RawMessage
			if members := r.members(); len(members) != 1 || json.Unmarshal(members["errors"], &errors) != nil || len(errors) == 0 {
				p.fail(r, `{"errors":[…]}`, "%s", r.summary())
			}
		},
	},
	{
		ID: "envelope.content-type-of-errors", Title: "content type of errors", Source: ourResponses,
		Rule: "The content type of errors is exactly " + contentType + ", also for unknown paths.",
		run: func(p *probe) {
			p.contentType(p.get(p.unknownID()))
			p.contentType(p.get("/" + p.collection.Name + "-" + newTag()))
		},
	},
	{
		ID: "envelope.request-id", Title: "X-Request-Id", Source: ourResponses,
		Rule: "Every response has an X-Request-Id.",
		run: func(p *probe) {
			for _, r := range []*reply{p.list("limit=1"), p.get(p.item(0)), p.get(p.unknownID()), p.send(http.MethodOptions, p.collection.path(), "")} {
				if r.header.Get("X-Request-Id") == "" {
					p.fail(r, "the header X-Request-Id", "none")
				}
			}
		},
	},
}

var writtenEnvelopeChecks = []Check{
	{
		ID: "envelope.content-type-of-writes", Title: "content type of answers to writes", Source: seedEnvelope + ", 5", Writes: true, Synchronous: "the header of the response",
		Rule: "The content type of the responses to POST, PATCH and PUT is exactly " + contentType + ".",
		run: func(p *probe) {
			for _, r := range p.writes() {
				p.contentType(r)
			}
		},
	},
	{
		ID: "envelope.writes", Title: "envelope of answers to writes", Source: seedEnvelope + ", 1 to 3", Writes: true, Synchronous: "the body of the response",
		Rule: "The responses to POST, PATCH and PUT have the resource under data, as an object.",
		run: func(p *probe) {
			for _, r := range p.writes() {
				if data := r.members()["data"]; len(data) == 0 || data[0] != '{' {
					p.fail(r, "a JSON object with an object under data", "%s", r.summary())
				}
			}
		},
	},
	{
		ID: "envelope.only-data-of-writes", Title: "nothing beside data after writes", Source: ourResponses, Writes: true, Synchronous: "the body of the response",
		Rule: "The body of the responses to POST, PATCH and PUT has the single member data.",
		run: func(p *probe) {
			for _, r := range p.writes() {
				p.onlyMember(r, "data")
			}
		},
	},
}

// writes creates a resource, changes it and replaces it.
func (p *probe) writes() []*reply {
	created := p.synchronous(p.post(p.body(nil)))
	path := p.collection.path() + "/" + created.createdID()
	replaced := p.synchronous(p.send(http.MethodPut, path, p.body(nil)))
	answers := []*reply{created, replaced}
	if name, value, found := p.maybeChange(replaced.resource()); found {
		answers = append(answers, p.synchronous(p.send(http.MethodPatch, path, one(name, value))))
	}
	return answers
}

func (p *probe) contentType(r *reply) {
	if got := strings.Join(r.header.Values("Content-Type"), ", "); got != contentType {
		p.fail(r, "Content-Type: "+contentType, "%q", got)
	}
}

// onlyMember fails if the body has members besides one. Other checks fail if it lacks that one.
func (p *probe) onlyMember(r *reply, name string) {
	members := r.members()
	if _, has := members[name]; !has {
		p.skip("the body has no member %s (see envelope.data)", name)
	}
	for other := range members {
		if other != name {
			p.fail(r, "the member "+name+" alone", "also the member %q", other)
		}
	}
}

// dataIs looks at the first character of data.
func (p *probe) dataIs(r *reply, first byte, what string) {
	data, has := p.ok(r).members()["data"]
	if !has {
		p.skip("the body has no member data (see envelope.data)")
	}
	if data[0] != first {
		p.fail(r, "data is "+what, "%s", r.summary())
	}
}
