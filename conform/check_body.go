package conform

import (
	"fmt"
	"net/http"
	"strings"
)

var bodyChecks = []Check{
	{
		ID: "body.content-type", Title: "bodies of other content types", Source: ourBodies, Writes: true,
		Rule: "A body that is not application/json, or has no content type, is 415.",
		run: func(p *probe) {
			for _, given := range []string{"text/plain", "application/x-www-form-urlencoded", "application/json;charset=latin1", ""} {
				p.status(p.send(http.MethodPost, p.collection.path(), p.body(nil), "Content-Type", given), 415)
			}
		},
	},
	{
		ID: "body.content-type-accept", Title: "Accept beside 415", Source: ourResponses, Writes: true,
		Rule: "A 415 has Accept, and on PATCH Accept-Patch.",
		run: func(p *probe) {
			path, _ := p.create()
			for method, names := range map[string][]string{http.MethodPost: {"Accept"}, http.MethodPatch: {"Accept", "Accept-Patch"}} {
				target := map[string]string{http.MethodPost: p.collection.path(), http.MethodPatch: path}[method]
				r := p.send(method, target, p.body(nil), "Content-Type", "text/plain")
				if r.status != 415 {
					p.skip("other content types are not refused with 415 (see body.content-type)")
				}
				for _, name := range names {
					if !strings.Contains(r.header.Get(name), "application/json") {
						p.fail(r, name+": application/json", "%q", r.header.Get(name))
					}
				}
			}
		},
	},
	{
		ID: "body.charset", Title: "a charset beside application/json", Source: ourBodies, Writes: true,
		Rule: "application/json with a charset of utf-8 is accepted.",
		run: func(p *probe) {
			for _, given := range []string{"application/json;charset=utf-8", "application/json; charset=UTF-8", `application/json; charset="utf-8"`} {
				p.ok(p.send(http.MethodPost, p.collection.path(), p.body(nil), "Content-Type", given))
			}
		},
	},
	{
		ID: "body.malformed", Title: "a body that is no JSON", Source: ourBodies, Writes: true,
		Rule: "A body that is not JSON is 400.",
		run: func(p *probe) {
			for _, body := range []string{"{", "conform", "{'a':1}", strings.TrimSuffix(p.body(nil), "}") + ",}", " "} {
				p.status(p.post(body), 400)
			}
		},
	},
	{
		ID: "body.duplicate-member", Title: "a member twice", Source: ourBodies, Writes: true,
		Rule: "A duplicate member in an object is 400, also if the values are equal.",
		run: func(p *probe) {
			members := p.newMembers(nil)
			name := p.anyName(members)
			p.status(p.post(strings.TrimSuffix(encodeJSON(members), "}")+","+encodeJSON(name)+":"+encodeJSON(members[name])+"}"), 400)
		},
	},
	{
		ID: "body.trailing-data", Title: "something behind the value", Source: ourBodies, Writes: true,
		Rule: "Anything but white space after the value is 400.",
		run: func(p *probe) {
			p.status(p.post(p.body(nil)+"{}"), 400)
			p.status(p.post(p.body(nil)+" x"), 400)
		},
	},
	{
		ID: "body.lone-surrogate", Title: "half a surrogate pair", Source: ourBodies, Writes: true,
		Rule: "An escaped lone surrogate is 400.",
		run: func(p *probe) {
			p.status(p.post(p.malformedText(`conform \ud800 end`)), 400)
		},
	},
	{
		ID: "body.invalid-utf8", Title: "a body that is not UTF-8", Source: ourBodies, Writes: true,
		Rule: "A body that is not valid UTF-8 is 400.",
		run:  func(p *probe) { p.status(p.post(p.malformedText("conform \xff end")), 400) },
	},
	{
		ID: "body.byte-order-mark", Title: "a byte order mark", Source: ourBodies, Writes: true,
		Rule: "A byte order mark before the value is 400.",
		run:  func(p *probe) { p.status(p.post("\ufeff"+p.body(nil)), 400) },
	},
	{
		ID: "body.null-character", Title: "U+0000 in a string", Source: ourBodies, Writes: true,
		Rule: "U+0000 in a string is 422.",
		run:  func(p *probe) { p.status(p.post(p.withText(p.textAttribute(), `conform \u0000 end`)), 422) },
	},
	{
		ID: "body.unicode", Title: "any other Unicode is kept", Source: ourBodies, Writes: true,
		Rule: "Strings can contain any Unicode but U+0000, and are stored as sent, without normalisation.",
		run: func(p *probe) {
			a := p.textAttribute()
			want := "e\u0301\u00e9\U0001F642\u2028\u0001\ufeff<&>" + p.tag
			created := p.post(p.body(map[string]any{a.Name: want}))
			if created.status == 422 && !p.collection.described {
				p.skip("%s refuses the text, maybe for a reason that is not known here", a.Name)
			}
			r := p.ok(p.get(p.collection.path() + "/" + p.ok(created).createdID()))
			if got := r.resource().text(a.Name); got != want {
				p.fail(r, fmt.Sprintf("%+q", want), "%+q", got)
			}
		},
	},
	{
		ID: "body.not-an-object", Title: "a body that is no object", Source: ourBodies, Writes: true,
		Rule: "A body that is not an object (or array, on POST) is 422.",
		run: func(p *probe) {
			path, _ := p.create()
			for _, body := range []string{`"conform"`, "1", "null", "true", "[1]"} {
				p.status(p.post(body), 422)
			}
			p.status(p.send(http.MethodPatch, path, "[]"), 422)
			p.status(p.send(http.MethodPut, path, "["+p.body(nil)+"]"), 422)
		},
	},
	{
		ID: "body.wrapped", Title: "a body wrapped in data", Source: ourBodies, Writes: true,
		Rule: "A body wrapped in data is 422: bodies are not wrapped.",
		run: func(p *probe) {
			if _, has := p.collection.find(func(a attribute) bool { return a.Name == "data" }); has {
				p.skip("the collection has an attribute data")
			}
			path, _ := p.create()
			p.status(p.post(`{"data":`+p.body(nil)+`}`), 422)
			p.status(p.send(http.MethodPatch, path, `{"data":{}}`), 422)
		},
	},
	{
		ID: "body.unknown-attribute", Title: "an attribute that nobody knows", Source: ourBodies, Writes: true,
		Rule: "An unknown attribute is 422, in POST, PUT and PATCH.",
		run: func(p *probe) {
			path, _ := p.create()
			body := p.body(map[string]any{"conform_unknown": 1})
			p.status(p.post(body), 422)
			p.status(p.send(http.MethodPut, path, body), 422)
			p.status(p.send(http.MethodPatch, path, `{"conform_unknown":1}`), 422)
		},
	},
	{
		ID: "body.exact-names", Title: "names in another case", Source: ourBodies, Writes: true,
		Rule: "Member names match exactly: a name in another case is an unknown attribute, 422.",
		run: func(p *probe) {
			path, before := p.create()
			name, value := p.change(before)
			p.status(p.send(http.MethodPatch, path, one(strings.ToUpper(name), value)), 422)
			p.unchanged(path, before)
		},
	},
	{
		ID: "body.types", Title: "values of the wrong type", Source: ourBodies, Writes: true,
		Rule: "Types are those of JSON, and nothing is converted: a wrong type is 422.",
		run: func(p *probe) {
			path, before := p.create()
			wrong := map[string][]string{
				"string": {"1", "true", "{}", "[]"}, "integer": {`"1"`, "1.5", "true"}, "number": {`"1"`, "true"},
				"boolean": {"0", `"true"`}, "object": {"[]", `"{}"`}, "array": {"{}", `"[]"`},
			}
			tried := false
			for _, a := range p.collection.Attributes {
				for _, value := range wrong[a.Type] {
					tried = true
					p.status(p.send(http.MethodPatch, path, "{"+encodeJSON(a.Name)+":"+value+"}"), 422)
				}
			}
			if !tried {
				p.skip("the collection has no attributes")
			}
			p.unchanged(path, before)
		},
	},
	{
		ID: "body.integers", Title: "integers are exact", Source: ourBodies, Writes: true,
		Rule: "Integers have 64 bits and are exact, 1.0 is an integer, and larger ones are 422.",
		run: func(p *probe) {
			a := p.attribute("integer attribute without bounds", func(a attribute) bool {
				return p.collection.described && a.Type == "integer" && len(a.Enum) == 0 && a.MultipleOf == "" &&
					a.Minimum+a.Maximum+a.ExclusiveMinimum+a.ExclusiveMaximum == ""
			})
			path, _ := p.create()
			for sent, want := range map[string]string{"9007199254740993": "9007199254740993", "-9223372036854775808": "-9223372036854775808", "7.0": "7"} {
				r := p.ok(p.send(http.MethodPatch, path, "{"+encodeJSON(a.Name)+":"+sent+"}"))
				if got := encodeJSON(r.resource().members[a.Name]); got != want {
					p.fail(r, want, "%s", got)
				}
			}
			p.status(p.send(http.MethodPatch, path, "{"+encodeJSON(a.Name)+":9223372036854775808}"), 422)
		},
	},
	{
		ID: "body.all-violations", Title: "all violations together", Source: ourBodies, Writes: true,
		Rule: "All violations of a body are reported together.",
		run: func(p *probe) {
			r := p.post(p.body(map[string]any{"conform_unknown": 1, "conform_other": 1}))
			if r.status != 422 {
				p.skip("unknown attributes are not refused with 422 (see body.unknown-attribute)")
			}
			if found := len(p.errors(r)); found < 2 {
				p.fail(r, "two errors", "%d: %s", found, r.summary())
			}
		},
	},
}

// anyName is the name of some member.
func (p *probe) anyName(members map[string]any) string {
	for _, a := range p.collection.Attributes {
		if _, has := members[a.Name]; has {
			return a.Name
		}
	}
	// A body without attributes can still have an id.
	members["id"] = newUUID()
	return "id"
}

// textAttribute is an attribute that accepts any text.
func (p *probe) textAttribute() attribute {
	return p.attribute("string attribute for any text", func(a attribute) bool {
		return a.plain() && !p.constant[place{p.collection.Name, a.Name}] && a.MinLength <= 10 && (a.MaxLength == 0 || a.MaxLength >= 20)
	})
}

// malformedText is a body with a text inside a string, unescaped. The server must report that the
// body is malformed before it checks constraints of the string.
func (p *probe) malformedText(text string) string {
	return p.withText(p.attribute("string attribute", func(a attribute) bool { return a.Type == "string" }), text)
}

func (p *probe) withText(a attribute, text string) string {
	return strings.Replace(p.body(map[string]any{a.Name: "conform-placeholder"}), "conform-placeholder", text, 1)
}
