package checks

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/plural-go/plural/conform/internal/suite"
)

var bodyChecks = []suite.Check{
	{
		ID: "body.content-type", Title: "bodies of other content types", Source: suite.OurBodies, Writes: true,
		Rule: "A body that is not application/json, or has no content type, is 415.",
		Run: func(p *suite.Probe) {
			for _, given := range []string{"text/plain", "application/x-www-form-urlencoded", "application/json;charset=latin1", ""} {
				p.Status(p.Send(http.MethodPost, p.Collection.Path(), p.Body(nil), "Content-Type", given), 415)
			}
		},
	},
	{
		ID: "body.content-type-accept", Title: "Accept beside 415", Source: suite.OurResponses, Writes: true,
		Rule: "A 415 has Accept, and on PATCH Accept-Patch.",
		Run: func(p *suite.Probe) {
			path, _ := p.Create()
			for method, names := range map[string][]string{http.MethodPost: {"Accept"}, http.MethodPatch: {"Accept", "Accept-Patch"}} {
				target := map[string]string{http.MethodPost: p.Collection.Path(), http.MethodPatch: path}[method]
				r := p.Send(method, target, p.Body(nil), "Content-Type", "text/plain")
				p.SkipIf(r.Status != 415, "other content types are not refused with 415 (see body.content-type)")
				for _, name := range names {
					p.FailIf(!strings.Contains(r.Header.Get(name), "application/json"), r, name+": application/json", "%q", r.Header.Get(name))
				}
			}
		},
	},
	{
		ID: "body.charset", Title: "a charset beside application/json", Source: suite.OurBodies, Writes: true,
		Rule: "application/json with a charset of utf-8 is accepted.",
		Run: func(p *suite.Probe) {
			for _, given := range []string{"application/json;charset=utf-8", "application/json; charset=UTF-8", `application/json; charset="utf-8"`} {
				p.OK(p.Send(http.MethodPost, p.Collection.Path(), p.Body(nil), "Content-Type", given))
			}
		},
	},
	{
		ID: "body.malformed", Title: "a body that is no JSON", Source: suite.OurBodies, Writes: true,
		Rule: "A body that is not JSON is 400.",
		Run: func(p *suite.Probe) {
			for _, body := range []string{"{", "conform", "{'a':1}", strings.TrimSuffix(p.Body(nil), "}") + ",}", " "} {
				p.Status(p.Post(body), 400)
			}
		},
	},
	{
		ID: "body.duplicate-member", Title: "a member twice", Source: suite.OurBodies, Writes: true,
		Rule: "A duplicate member in an object is 400, also if the values are equal.",
		Run: func(p *suite.Probe) {
			members := p.NewMembers(nil)
			name := p.AnyName(members)
			p.Status(p.Post(strings.TrimSuffix(suite.EncodeJSON(members), "}")+","+suite.EncodeJSON(name)+":"+suite.EncodeJSON(members[name])+"}"), 400)
		},
	},
	{
		ID: "body.trailing-data", Title: "something behind the value", Source: suite.OurBodies, Writes: true,
		Rule: "Anything but white space after the value is 400.",
		Run: func(p *suite.Probe) {
			p.Status(p.Post(p.Body(nil)+"{}"), 400)
			p.Status(p.Post(p.Body(nil)+" x"), 400)
		},
	},
	{
		ID: "body.lone-surrogate", Title: "half a surrogate pair", Source: suite.OurBodies, Writes: true,
		Rule: "An escaped lone surrogate is 400.",
		Run: func(p *suite.Probe) {
			p.Status(p.Post(p.MalformedText(`conform \ud800 end`)), 400)
		},
	},
	{
		ID: "body.invalid-utf8", Title: "a body that is not UTF-8", Source: suite.OurBodies, Writes: true,
		Rule: "A body that is not valid UTF-8 is 400.",
		Run:  func(p *suite.Probe) { p.Status(p.Post(p.MalformedText("conform \xff end")), 400) },
	},
	{
		ID: "body.byte-order-mark", Title: "a byte order mark", Source: suite.OurBodies, Writes: true,
		Rule: "A byte order mark before the value is 400.",
		Run:  func(p *suite.Probe) { p.Status(p.Post("\ufeff"+p.Body(nil)), 400) },
	},
	{
		ID: "body.null-character", Title: "U+0000 in a string", Source: suite.OurBodies, Writes: true,
		Rule: "U+0000 in a string is 422.",
		Run:  func(p *suite.Probe) { p.Status(p.Post(p.WithText(p.TextAttribute(), `conform \u0000 end`)), 422) },
	},
	{
		ID: "body.unicode", Title: "any other Unicode is kept", Source: suite.OurBodies, Writes: true,
		Rule: "Strings can contain any Unicode but U+0000, and are stored as sent, without normalisation.",
		Run: func(p *suite.Probe) {
			a := p.TextAttribute()
			want := "e\u0301\u00e9\U0001F642\u2028\u0001\ufeff<&>" + p.Tag
			created := p.Post(p.Body(map[string]any{a.Name: want}))
			p.SkipIf(created.Status == 422 && !p.Collection.Described, "%s refuses the text, maybe for a reason that is not known here", a.Name)
			r := p.OK(p.Get(p.Collection.PathOf(p.OK(created).CreatedID())))
			got := r.Resource().Text(a.Name)
			p.FailIf(got != want, r, fmt.Sprintf("%+q", want), "%+q", got)
		},
	},
	{
		ID: "body.not-an-object", Title: "a body that is no object", Source: suite.OurBodies, Writes: true,
		Rule: "A body that is not an object (or array, on POST) is 422.",
		Run: func(p *suite.Probe) {
			path, _ := p.Create()
			for _, body := range []string{`"conform"`, "1", "null", "true", "[1]"} {
				p.Status(p.Post(body), 422)
			}
			p.Status(p.Patch(path, "[]"), 422)
			p.Status(p.Put(path, "["+p.Body(nil)+"]"), 422)
		},
	},
	{
		ID: "body.wrapped", Title: "a body wrapped in data", Source: suite.OurBodies, Writes: true,
		Rule: "A body wrapped in data is 422: bodies are not wrapped.",
		Run: func(p *suite.Probe) {
			_, has := p.Collection.Find(func(a suite.Attribute) bool { return a.Name == "data" })
			p.SkipIf(has, "the collection has an attribute data")
			path, _ := p.Create()
			p.Status(p.Post(`{"data":`+p.Body(nil)+`}`), 422)
			p.Status(p.Patch(path, `{"data":{}}`), 422)
		},
	},
	{
		ID: "body.unknown-attribute", Title: "an attribute that nobody knows", Source: suite.OurBodies, Writes: true,
		Rule: "An unknown attribute is 422, in POST, PUT and PATCH.",
		Run: func(p *suite.Probe) {
			path, _ := p.Create()
			body := p.Body(map[string]any{"conform_unknown": 1})
			p.Status(p.Post(body), 422)
			p.Status(p.Put(path, body), 422)
			p.Status(p.Patch(path, `{"conform_unknown":1}`), 422)
		},
	},
	{
		ID: "body.exact-names", Title: "names in another case", Source: suite.OurBodies, Writes: true,
		Rule: "Member names match exactly: a name in another case is an unknown attribute, 422.",
		Run: func(p *suite.Probe) {
			path, before := p.Create()
			name, value := p.Change(before)
			p.Status(p.Patch(path, suite.One(strings.ToUpper(name), value)), 422)
			p.Unchanged(path, before)
		},
	},
	{
		ID: "body.types", Title: "values of the wrong type", Source: suite.OurBodies, Writes: true,
		Rule: "Types are those of JSON, and nothing is converted: a wrong type is 422.",
		Run: func(p *suite.Probe) {
			path, before := p.Create()
			wrong := map[string][]string{
				"string": {"1", "true", "{}", "[]"}, "integer": {`"1"`, "1.5", "true"}, "number": {`"1"`, "true"},
				"boolean": {"0", `"true"`}, "object": {"[]", `"{}"`}, "array": {"{}", `"[]"`},
			}
			tried := false
			for _, a := range p.Collection.Attributes {
				for _, value := range wrong[a.Type] {
					tried = true
					p.Status(p.Patch(path, "{"+suite.EncodeJSON(a.Name)+":"+value+"}"), 422)
				}
			}
			p.SkipIf(!tried, "the collection has no attributes")
			p.Unchanged(path, before)
		},
	},
	{
		ID: "body.integers", Title: "integers are exact", Source: suite.OurBodies, Writes: true,
		Rule: "Integers have 64 bits and are exact, 1.0 is an integer, and larger ones are 422.",
		Run: func(p *suite.Probe) {
			a := p.Attribute("integer attribute without bounds", func(a suite.Attribute) bool {
				return p.Collection.Described && a.Type == "integer" && len(a.Enum) == 0 && a.MultipleOf == "" &&
					a.Minimum+a.Maximum+a.ExclusiveMinimum+a.ExclusiveMaximum == ""
			})
			path, _ := p.Create()
			for sent, want := range map[string]string{"9007199254740993": "9007199254740993", "-9223372036854775808": "-9223372036854775808", "7.0": "7"} {
				r := p.OK(p.Patch(path, "{"+suite.EncodeJSON(a.Name)+":"+sent+"}"))
				got := suite.EncodeJSON(r.Resource().Members[a.Name])
				p.FailIf(got != want, r, want, "%s", got)
			}
			p.Status(p.Patch(path, "{"+suite.EncodeJSON(a.Name)+":9223372036854775808}"), 422)
		},
	},
	{
		ID: "body.all-violations", Title: "all violations together", Source: suite.OurBodies, Writes: true,
		Rule: "All violations of a body are reported together.",
		Run: func(p *suite.Probe) {
			r := p.Post(p.Body(map[string]any{"conform_unknown": 1, "conform_other": 1}))
			p.SkipIf(r.Status != 422, "unknown attributes are not refused with 422 (see body.unknown-attribute)")
			found := len(p.Errors(r))
			p.FailIf(found < 2, r, "two errors", "%d: %s", found, r.Summary())
		},
	},
}
