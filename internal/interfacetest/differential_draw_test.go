package interfacetest

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"

	"pgregory.net/rapid"
)

// drawing draws the requests of one sequence.
type drawing struct {
	t     *rapid.T
	run   int // keeps the ids and keys of sequences apart, as the stores remember them
	sides []*side
}

func (d *drawing) one(what string, of ...string) string { return rapid.SampledFrom(of).Draw(d.t, what) }

// chance is true once in so many times.
func (d *drawing) chance(what string, in int) bool {
	return rapid.IntRange(1, in).Draw(d.t, what) == in
}

// some joins a few of what is drawn.
func (d *drawing) some(what string, most int, separator string, draw func() string) string {
	var parts []string
	for range rapid.IntRange(0, most).Draw(d.t, what) {
		parts = append(parts, draw())
	}
	return strings.Join(parts, separator)
}

// ownIDs are those that clients bring; the first and the last are at the ends of
// the order.
const ownID = "0d1ff000-0000-4000-8000-"

var edgeIDs = []string{"00000000-0000-0000-0000-000000000000", "ffffffff-ffff-ffff-ffff-ffffffffffff"}

func isOwnID(id string) bool {
	return strings.HasPrefix(id, ownID) || id == edgeIDs[0] || id == edgeIDs[1]
}

// id draws an id that may or may not exist.
func (d *drawing) id() string {
	if seen := len(d.sides[0].ids); seen > 0 && d.chance("minted", 2) {
		return fmt.Sprintf("{id%d}", rapid.IntRange(0, seen-1).Draw(d.t, "minted id"))
	}
	return d.newID()
}

func (d *drawing) newID() string {
	return fmt.Sprintf("%s%06d%06d", ownID, d.run, rapid.IntRange(0, 7).Draw(d.t, "own id"))
}

// text draws a string in which anything may be that Unicode has.
func (d *drawing) text() string {
	return d.some("text", 3, "", func() string {
		return d.one("piece", "a", "A", "b", "z", "Z", "é", "e\u0301", "ß", "ﬀ", "İ", "ı", "\u2028", "\u200f", "مرحبا", "𝄞", "\U0010ffff", "\ue000", "\uffff", "\ufeff",
			"\u0001", "\t", "\n", "'", `"`, `\`, "%", "_", "*", ",", "&", "\x7f", " ", "\u00a0", "日本", "🧑‍🚀", "null", "0")
	})
}

// quoted writes a string as JSON, in one of the ways that there are.
func (d *drawing) quoted(text string) string {
	if d.chance("escaped", 3) {
		var b strings.Builder
		for _, unit := range []rune(text) {
			if unit > 0xffff {
				unit -= 0x10000
				fmt.Fprintf(&b, `\u%04x\u%04X`, 0xd800+unit>>10, 0xdc00+unit&0x3ff)
				continue
			}
			fmt.Fprintf(&b, `\u%04x`, unit)
		}
		return `"` + b.String() + `"`
	}
	quoted, err := json.Marshal(text)
	if err != nil {
		d.t.Fatal(err)
	}
	return string(quoted)
}

func (d *drawing) number() string {
	return d.one("number", "0", "-0", "-0.0", "1", "-1", "7", "42", "1.0", "1.5", "-2.5", "1e3", "1E+2", "10e-1", "0.1", "0.30000000000000004", "100.00",
		"9007199254740991", "9007199254740992", "9007199254740993", "-9007199254740993", "9223372036854775807", "9223372036854775808", "-9223372036854775808", "-9223372036854775809",
		"1e18", "1e19", "123456789012345678901234567890", "1e21", "1e-7", "1e308", "1.7976931348623157e308", "1.8e308", "-1e400", "5e-324", "-5e-324", "2e-324", "2.2250738585072011e-308", "1e-400")
}

func (d *drawing) day() string {
	return d.one("day", "2026-01-02", "2024-02-29", "2023-02-29", "0001-01-01", "0000-01-01", "9999-12-31", "2026-1-2", "10000-01-01")
}

func (d *drawing) moment() string {
	return d.one("moment", "2026-01-02T03:04:05Z", "2026-01-02T03:04:05.006Z", "2026-01-02T03:04:05.06+14:00", "2026-01-02t03:04:05.1z", "2026-01-02T03:04:05.1234Z", "0000-01-01T00:00:00Z",
		"0001-01-01T00:00:00.001Z", "0000-01-01T00:00:00+00:01", "1969-12-31T23:59:59.999Z", "1999-12-31T23:59:59.999Z", "2016-12-31T23:59:60Z", "9999-12-31T23:59:59.999Z", "9999-12-31T23:59:59-00:01", "2026-01-02")
}

// value draws the JSON of an attribute, which is now and then not valid.
func (d *drawing) value(attribute string) string {
	if d.chance("odd", 12) {
		return d.one("odd value", "null", "true", `"1"`, "1", "{}", "[]", `""`, `"\ud800"`, `"\udc00\ud800"`, `"\u0000"`, "\"\xff\"", `"\x"`, "nul", "01", "1.", strings.Repeat("[", 70)+strings.Repeat("]", 70))
	}
	switch attribute {
	case "count", "size", "weight", "place":
		return d.one("small or any", "0", "1", "2", "-1", d.number(), d.number(), "null")
	case "flag":
		return d.one("flag", "true", "false", "null")
	case "code":
		return d.one("code", quoted(edgeIDs[0]), quoted(edgeIDs[1]), quoted(d.newID()), `"not-a-uuid"`, quoted(strings.ToUpper(edgeIDs[1])))
	case "day":
		return quoted(d.day())
	case "moment":
		return quoted(d.moment())
	case "box":
		return d.one("box", "{}", `{"b":1,"a":{"c":[null,1.50,"x"]}}`, `{"a":1,"a":2}`, `{"é":"\u2028\u00e9","":0}`, `{"n":1e400}`, `{"n":[9007199254740993,-0,1.0,1E5,0.10]}`, `{"s":"\ud834\udd1e \/"}`,
			` { "spaces" : [ 1 , 2 ] } `, `{"x":`+d.quoted(d.text())+`}`, "null")
	case "list":
		return d.one("list", "[]", "[1]", `["a",{"b":[]},null,true]`, "[1,2,3,4,5]", "["+d.number()+"]", "null")
	case "state":
		return d.one("state", `"new"`, `"old"`, `"middle"`)
	case "next", "keeper", "thing_id":
		return d.one("reference", quoted(d.id()), quoted(d.id()), "null")
	}
	return d.quoted(d.text())
}

var differentialAttributes = map[string][]string{
	"things": {"name", "label", "count", "size", "flag", "code", "day", "moment", "box", "list", "state", "next"},
	"parts":  {"text", "weight", "keeper", "place", "thing_id"},
}

// object draws a body for a resource, with an id of its own or without.
func (d *drawing) object(collection string, withID bool) string {
	members := []string{}
	member := func(name, value string) { members = append(members, d.quoted(name)+":"+value) }
	if withID && d.chance("own id", 2) {
		member("id", quoted(d.newID()))
	}
	for _, name := range differentialAttributes[collection] {
		if d.chance(name, 3) {
			member(name, d.value(name))
		}
	}
	if d.chance("strange member", 25) {
		member(d.one("member", "nope", "Name", "created_at", "updated_at", "type", "id", "data", "n\u0301", ""), d.one("its value", "null", `"things"`, "{}", `"2026-01-02T03:04:05.006Z"`))
	}
	return "{" + strings.Join(members, ",") + "}"
}

// seeding creates a few things at once.
func (d *drawing) seeding() differentialRequest {
	return differentialRequest{"POST", "/things", "[" + d.some("seeds", 6, ",", func() string { return d.object("things", true) }) + "]", nil}
}

// request draws one of all kinds of requests.
func (d *drawing) request() differentialRequest {
	collection := d.one("collection", "things", "things", "parts")
	path := "/" + collection
	if collection == "parts" && d.chance("sub-collection", 2) {
		path = "/things/" + d.id() + "/parts"
	}
	item := path + "/" + d.id()
	if d.chance("odd path", 25) {
		item = d.one("path", strings.ToUpper(path+"/"+d.newID()), path+"/", path+"/x", "/thing/"+d.id(), "/part/"+d.id(), "/things/"+strings.ToUpper(d.newID()))
	}
	var r differentialRequest
	switch kind := d.one("kind", "list", "list", "list", "read", "create", "create", "array", "replace", "patch", "patch", "delete"); kind {
	case "list":
		r = differentialRequest{"GET", path + d.parameters(collection), "", nil}
		if d.chance("exact", 3) {
			r.headers = []string{"Prefer", "count=exact"}
		}
		return r
	case "read":
		r = differentialRequest{"GET", item, "", nil}
		if d.chance("condition", 2) {
			r.headers = []string{"If-None-Match", d.tags()}
		}
		return r
	case "create":
		r = differentialRequest{"POST", path, d.object(collection, true), nil}
	case "array":
		r = differentialRequest{"POST", path, "[" + d.some("items", 4, ",", func() string { return d.object(collection, true) }) + "]", nil}
	case "replace":
		r = differentialRequest{"PUT", item, d.object(collection, false), nil}
	case "patch":
		r = differentialRequest{"PATCH", item, d.object(collection, false), nil}
	case "delete":
		r = differentialRequest{"DELETE", item, "", nil}
	}
	if d.chance("key", 4) {
		r.headers = append(r.headers, "Idempotency-Key", fmt.Sprintf("%d-%d", d.run, rapid.IntRange(1, 2).Draw(d.t, "key")))
	}
	if r.method != "POST" && d.chance("condition", 4) {
		r.headers = append(r.headers, "If-Match", d.tags())
	}
	return r
}

func (d *drawing) tags() string {
	if seen := len(d.sides[0].tags); seen > 0 && d.chance("a tag", 2) {
		return fmt.Sprintf("{tag%d}", rapid.IntRange(0, seen-1).Draw(d.t, "tag"))
	}
	return d.one("any tag", "*", `"x"`, `W/"1.1"`, "broken", `"a", "b"`)
}

// parameters draws a query string: a range, a sort and filters.
func (d *drawing) parameters(collection string) string {
	var given []string
	give := func(name, value string) { given = append(given, name+"="+url.QueryEscape(value)) }
	fields := append([]string{"id", "type", "nope"}, differentialAttributes[collection]...)
	integer := func(what string) string {
		return d.one(what, "0", "1", "2", "3", "5", "-1", "-2", "-4", "100", "99999999999999999999", "-99999999999999999999", "x", "1.0", "+1", "", "-0", "007")
	}
	if d.chance("offset", 3) {
		give(d.one("long", "offset", "o"), integer("offset"))
	}
	if d.chance("limit", 2) {
		give(d.one("long", "limit", "l"), integer("limit"))
	}
	if d.chance("cursor", 4) {
		given = append(given, "cursor="+d.one("cursor", d.id(), d.id(), d.id(), strings.ToUpper(d.newID()), "x", ""))
	}
	if d.chance("sort", 3) {
		give("sort", d.some("keys", 3, ",", func() string { return d.one("direction", "", "-") + d.one("key", fields...) }))
	}
	for range rapid.IntRange(0, 2).Draw(d.t, "filters") {
		field := d.one("field", append(fields, "created_at")...)
		name := "filter[" + field + "]"
		switch d.one("form", "equal", "bare", "operator", "operator", "list") {
		case "equal":
			give(name, d.plain(field))
		case "bare":
			given = append(given, name)
		case "operator":
			operator := d.one("operator", "eq", "ne", "lt", "lte", "gt", "gte", "contains", "starts_with", "null", "like")
			value := d.plain(field)
			if operator == "null" {
				value = d.one("null", "true", "false", "1", "")
			}
			give(name+"["+operator+"]", value)
		case "list":
			give(name+"["+d.one("operator", "in", "not_in")+"]", d.some("values", 3, ",", func() string {
				return strings.NewReplacer(`\`, `\\`, ",", `\,`).Replace(d.plain(field))
			}))
		}
	}
	if d.chance("broken", 30) {
		given = append(given, d.one("parameter", "page=1", "%zz", "limit=%ff", "a;b", "sort=%00", "limit=1", "filter", "filter[name", "filter[][eq]=1"))
	}
	if len(given) == 0 {
		return ""
	}
	return "?" + strings.Join(given, "&")
}

// plain draws a value of a field as a parameter has it.
func (d *drawing) plain(field string) string {
	if d.chance("odd", 10) {
		return d.one("odd value", "", "null", "true", "1", "x", "\x00", "\xff", "NaN", "Infinity", "0x10", " 1")
	}
	switch field {
	case "id", "next", "keeper", "thing_id":
		return d.one("id", d.newID(), strings.ToUpper(d.newID()), edgeIDs[0], edgeIDs[1])
	case "type":
		return d.one("type", "things", "parts")
	case "created_at": // what it is on either side is not known
		return d.one("created", "2000-01-01T00:00:00Z", "9999-12-31T23:59:59.999Z", "2000-01-01")
	case "count", "size", "weight", "place":
		return d.one("small or any", "0", "1", d.number())
	case "flag":
		return d.one("flag", "true", "false")
	case "code":
		return d.one("code", edgeIDs[0], edgeIDs[1], d.newID())
	case "day":
		return d.day()
	case "moment":
		return d.moment()
	}
	return d.text()
}
