package checks

import (
	"encoding/json"
	"net/http"

	"github.com/plural-go/plural/conform/internal/suite"
)

var readChecks = []suite.Check{
	{
		ID: "read.collection", Title: "GET of a collection", Source: suite.ConventionOperations,
		Rule: "GET /<collection> answers 200.",
		Run:  func(p *suite.Probe) { p.Status(p.List(""), 200) },
	},
	{
		ID: "read.item", Title: "GET of one resource", Source: suite.ConventionOperations,
		Rule: "GET /<collection>/<id> answers 200 with the resource that has this id.",
		Run: func(p *suite.Probe) {
			path := p.Item(0)
			r := p.Status(p.Get(path), 200)
			got, want := r.Resource().ID(), p.Reference[0].ID()
			p.FailIf(suite.UUIDForm.MatchString(got) && got != want, r, "the resource "+want, "%s", got)
		},
	},
	{
		ID: "read.same-everywhere", Title: "one representation in lists and by itself", Source: suite.OurResources,
		Rule: "A resource has the same representation in a collection and by itself.",
		Run: func(p *suite.Probe) {
			r := p.OK(p.Get(p.Item(0)))
			alone, listed := r.Resource(), p.Reference[0]
			p.FailIf(!suite.EqualMembers(alone, listed), r, "as in the collection: "+suite.EncodeJSON(listed.Members), "%s", suite.EncodeJSON(alone.Members))
		},
	},
	{
		ID: "read.order", Title: "order of a collection", Source: suite.OurResources, Needs: 2,
		Rule: "A collection is ordered by id.",
		Run: func(p *suite.Probe) {
			for i := 1; i < len(p.Reference); i++ {
				if before, after := p.Reference[i-1].ID(), p.Reference[i].ID(); before >= after {
					p.Fail(p.List(""), "ascending ids", "%s at position %d, then %s", before, i-1, after)
				}
			}
		},
	},
}

var envelopeChecks = []suite.Check{
	{
		ID: "envelope.data", Title: "bodies are enveloped", Source: suite.ConventionEnvelope + ", 1 and 2",
		Rule: "Every response body is a JSON object, and resources are under its member data.",
		Run: func(p *suite.Probe) {
			for _, r := range []*suite.Reply{p.List("limit=2"), p.Get(p.Item(0))} {
				_, has := p.OK(r).Members()["data"]
				p.FailIf(!has, r, "a JSON object with the member data", "%s", r.Summary())
			}
		},
	},
	{
		ID: "envelope.object", Title: "data of one resource", Source: suite.ConventionEnvelope + ", 3",
		Rule: "When an operation concerns a single resource, data is an object.",
		Run:  func(p *suite.Probe) { p.DataIs(p.Get(p.Item(0)), '{', "an object") },
	},
	{
		ID: "envelope.array", Title: "data of a collection", Source: suite.ConventionEnvelope + ", 4", Needs: 2,
		Rule: "When an operation concerns a collection, data is an array.",
		Run:  func(p *suite.Probe) { p.DataIs(p.List("limit=2"), '[', "an array") },
	},
	{
		ID: "envelope.array-of-one", Title: "data of a collection with one element", Source: suite.ConventionEnvelope + ", 4", Needs: 1,
		Rule: "data of a collection is an array even when it holds exactly one element.",
		Run:  func(p *suite.Probe) { p.DataIs(p.List("limit=1"), '[', "an array of one element") },
	},
	{
		ID: "envelope.content-type", Title: "content type of answers", Source: suite.ConventionEnvelope + ", 5",
		Rule: "The content type of responses is exactly " + suite.ContentType + ".",
		Run: func(p *suite.Probe) {
			for _, r := range []*suite.Reply{p.List("limit=2"), p.Get(p.Item(0))} {
				p.ContentType(p.OK(r))
			}
		},
	},
	{
		ID: "envelope.only-data", Title: "nothing beside data", Source: suite.OurResponses,
		Rule: "The body of a success has the single member data.",
		Run: func(p *suite.Probe) {
			for _, r := range []*suite.Reply{p.List("limit=2"), p.Get(p.Item(0))} {
				p.OnlyMember(p.OK(r), "data")
			}
		},
	},
	{
		ID: "envelope.strict-json", Title: "valid JSON in answers", Source: suite.OurBodies,
		Rule: "A response body is one JSON value in which no object has duplicate members.",
		Run: func(p *suite.Probe) {
			replies := []*suite.Reply{p.List("limit=2"), p.Get(p.Item(0)), p.Get(p.UnknownID())}
			if len(p.Catalog) > 0 {
				replies = append(replies, p.Get("/", "Accept", "application/json"))
			}
			for _, r := range replies {
				p.FailIf(!json.Valid(r.Body), r, "a JSON value", "%s", r.Summary())
				name := suite.DuplicateMember(r.Body)
				p.FailIf(name != "", r, "no member twice in one object", "the member %q twice", name)
			}
		},
	},
	{
		ID: "envelope.errors", Title: "envelope of errors", Source: suite.OurResponses,
		Rule: "The body of a failure is a JSON object with the single member errors, a non-empty array.",
		Run: func(p *suite.Probe) {
			r := p.Get(p.UnknownID())
			p.SkipIf(r.Succeeded(), "an unknown id is no failure (see path.unknown-id)")
			var errors []json.RawMessage
			members := r.Members()
			p.FailIf(len(members) != 1 || json.Unmarshal(members["errors"], &errors) != nil || len(errors) == 0, r, `{"errors":[…]}`, "%s", r.Summary())
		},
	},
	{
		ID: "envelope.content-type-of-errors", Title: "content type of errors", Source: suite.OurResponses,
		Rule: "The content type of errors is exactly " + suite.ContentType + ", also for unknown paths.",
		Run: func(p *suite.Probe) {
			p.ContentType(p.Get(p.UnknownID()))
			p.ContentType(p.Get("/" + p.Collection.Name + "-" + suite.NewTag()))
		},
	},
	{
		ID: "envelope.request-id", Title: "X-Request-Id", Source: suite.OurResponses,
		Rule: "Every response has an X-Request-Id.",
		Run: func(p *suite.Probe) {
			for _, r := range []*suite.Reply{p.List("limit=1"), p.Get(p.Item(0)), p.Get(p.UnknownID()), p.Send(http.MethodOptions, p.Collection.Path(), "")} {
				p.FailIf(r.Header.Get("X-Request-Id") == "", r, "the header X-Request-Id", "none")
			}
		},
	},
}

var writtenEnvelopeChecks = []suite.Check{
	{
		ID: "envelope.content-type-of-writes", Title: "content type of answers to writes", Source: suite.ConventionEnvelope + ", 5", Writes: true, Synchronous: "the header of the response",
		Rule: "The content type of the responses to POST, PATCH and PUT is exactly " + suite.ContentType + ".",
		Run: func(p *suite.Probe) {
			for _, r := range p.Writes() {
				p.ContentType(r)
			}
		},
	},
	{
		ID: "envelope.writes", Title: "envelope of answers to writes", Source: suite.ConventionEnvelope + ", 1 to 3", Writes: true, Synchronous: "the body of the response",
		Rule: "The responses to POST, PATCH and PUT have the resource under data, as an object.",
		Run: func(p *suite.Probe) {
			for _, r := range p.Writes() {
				data := r.Members()["data"]
				p.FailIf(len(data) == 0 || data[0] != '{', r, "a JSON object with an object under data", "%s", r.Summary())
			}
		},
	},
	{
		ID: "envelope.only-data-of-writes", Title: "nothing beside data after writes", Source: suite.OurResponses, Writes: true, Synchronous: "the body of the response",
		Rule: "The body of the responses to POST, PATCH and PUT has the single member data.",
		Run: func(p *suite.Probe) {
			for _, r := range p.Writes() {
				p.OnlyMember(r, "data")
			}
		},
	},
}
