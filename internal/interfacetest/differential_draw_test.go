package interfacetest

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"pgregory.net/rapid"
)

// drawing draws the requests of one sequence.
type drawing struct {
	t     *rapid.T
	run   int // keeps the ids and keys of sequences apart, as the stores remember them
	sides []*side
	used  map[string][]string // values of attributes that were sent, as a filter has them
	odd   bool                // the request may be wrong
	first bool                // nothing is there yet that could be referred to, or be in the way
}

func (d *drawing) one(what string, of ...string) string { return rapid.SampledFrom(of).Draw(d.t, what) }

// either draws a value that is right, or now and then one that may not be.
func (d *drawing) either(what string, right, odd []string) string {
	if d.odd && d.chance("odd "+what, 3) {
		right = odd
	}
	return d.one(what, right...)
}

// chance is true once in so many times.
func (d *drawing) chance(what string, in int) bool {
	return rapid.IntRange(1, in).Draw(d.t, what) == in
}

// some joins a few of what is drawn.
func (d *drawing) some(what string, least, most int, separator string, draw func() string) string {
	var parts []string
	for range rapid.IntRange(least, most).Draw(d.t, what) {
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

// id draws an id, mostly of something that is or was in a collection.
func (d *drawing) id(collection string) string {
	seen := d.sides[0].seen[collection]
	if len(seen) == 0 || d.odd && d.chance("any id", 4) {
		return d.ownID()
	}
	return d.one("id", seen...)
}

func (d *drawing) ownID() string { return d.ownIDs(rapid.IntRange(0, 5).Draw(d.t, "own id")) }

func (d *drawing) ownIDs(n int) string { return fmt.Sprintf("%s%06d%06d", ownID, d.run, n) }

// text draws a string in which anything may be that Unicode has, or one that is
// likely to be part of another.
func (d *drawing) text() string {
	if d.chance("short", 2) {
		return d.one("letters", "a", "A", "aé", "Aé", "é", "𝄞", "𝄞a", "")
	}
	pieces := []string{"a", "b", "z", "Z", "é", "e\u0301", "ß", "ﬀ", "İ", "ı", "\u2028", "\u200f", "مرحبا", "𝄞", "\U0010ffff", "\ue000", "\uffff", "\ufeff",
		"\u0001", "\t", "\n", "'", `"`, `\`, "%", "_", "*", ",", "&", "\x7f", " ", "\u00a0", "日本", "🧑‍🚀", "null", "0"}
	return d.some("text", 0, 3, "", func() string { return d.one("piece", pieces...) })
}

// quoted writes a string as JSON, in one of the ways that there are.
func (d *drawing) quoted(text string) string {
	if d.chance("escaped", 3) {
		var b strings.Builder
		for _, unit := range text {
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

var (
	oddNumbers = strings.Fields("9223372036854775808 -9223372036854775809 1e19 123456789012345678901234567890 1.8e308 -1e400 1.5 5e-324 2e-324 01 1. .5 +1 1e")
	oddDays    = []string{"2023-02-29", "0000-01-01", "2026-1-2", "10000-01-01", ""}
	oddMoments = []string{"2026-01-02T03:04:05.1234Z", "2016-12-31T23:59:60Z", "0000-01-01T00:00:00+00:01", "9999-12-31T23:59:59-00:01", "2026-01-02", "2026-01-02 03:04:05Z"}
	oddValues  = []string{"null", "true", `"1"`, "1", "{}", "[]", `""`, `"\ud800"`, `"\udc00\ud800"`, `"\u0000"`, "\"\xff\"", `"\x"`, "nul", strings.Repeat("[", 70) + strings.Repeat("]", 70)}
)

func (d *drawing) integer() string {
	return d.either("integer", strings.Fields("0 1 2 -1 -0 7 42 1.0 1e3 10e-1 1E+2 100.00 9007199254740991 9007199254740992 9007199254740993 -9007199254740993 9223372036854775807 -9223372036854775808 1e18"), oddNumbers)
}

func (d *drawing) number() string {
	return d.either("number", strings.Fields("0 1 2 -1 -0 -0.0 1.5 -2.5 1e3 0.1 0.30000000000000004 100.00 9007199254740991 9007199254740993 9223372036854775807 9223372036854775808 123456789012345678901234567890"+
		" 1e21 1e-7 1e308 1.7976931348623157e308 5e-324 2.2250738585072011e-308 2.2250738585072014e-308 1e-400"), oddNumbers)
}

func (d *drawing) day() string {
	return d.either("day", []string{"2026-01-02", "2024-02-29", "0001-01-01", "9999-12-31"}, oddDays)
}

func (d *drawing) moment() string {
	return d.either("moment", []string{"2026-01-02T03:04:05Z", "2026-01-02T03:04:05.006Z", "2026-01-02T03:04:05.06+14:00", "2026-01-02t03:04:05.1z", "0000-01-01T00:00:00Z",
		"0001-01-01T00:00:00.001Z", "1969-12-31T23:59:59.999Z", "1999-12-31T23:59:59.999Z", "9999-12-31T23:59:59.999Z"}, oddMoments)
}

// value draws the JSON of an attribute.
func (d *drawing) value(attribute string) string {
	if d.odd && d.chance("odd value", 6) {
		return d.one("value", oddValues...)
	}
	switch attribute {
	case "count", "place":
		return d.integer()
	case "size":
		return d.number()
	case "weight":
		return d.either("weight", []string{"0", "1", "-999.5", "1e-7", "1e308", "null"}, []string{"-1000.0001", "-1e308", "-1000"})
	case "flag":
		return d.one("flag", "true", "false", "null")
	case "code":
		return d.either("code", []string{quoted(edgeIDs[0]), quoted(edgeIDs[1]), quoted(d.ownID()), quoted(strings.ToUpper(edgeIDs[1]))}, []string{`"not-a-uuid"`, `"{` + edgeIDs[0] + `}"`})
	case "day":
		return quoted(d.day())
	case "moment":
		return quoted(d.moment())
	case "box":
		return d.either("box", []string{"{}", `{"b":1,"a":{"c":[null,1.50,"x"]}}`, `{"é":"\u2028\u00e9","":0}`, `{"n":[9007199254740993,-0,1.0,1E5,0.10]}`, `{"s":"\ud834\udd1e \/"}`,
			` { "spaces" : [ 1 , 2 ] } `, `{"x":` + d.quoted(d.text()) + `}`, "null"}, []string{`{"a":1,"a":2}`, `{"n":1e400}`, `{"n":"\ud800"}`})
	case "list":
		return d.either("list", []string{"[]", "[1]", `["a",{"b":[]},null,true]`, "[" + d.number() + "]", "null"}, []string{"[1,2,3,4,5]", "[1,]"})
	case "spot":
		return d.one("spot", "null", "{}", `{"city":`+d.quoted(d.text())+`,"floor":`+d.integer()+`}`, `{"size":`+d.number()+`,"fee":"1.5"}`, `{"fee":"-0.05","since":"2026-01-02T03:04:05+01:00","x":1}`)
	case "tags":
		return d.one("tags", "null", "[]", "["+d.quoted(d.text())+"]", `["a",`+d.quoted(d.text())+`,"a"]`)
	case "codes":
		return d.one("codes", "null", "[]", "["+d.number()+","+d.number()+"]")
	case "state":
		return d.either("state", []string{`"new"`, `"old"`}, []string{`"middle"`, "null"})
	case "next", "keeper", "thing_id":
		return d.one("reference", "null", quoted(d.id("things")))
	}
	return d.quoted(d.text())
}

var differentialAttributes = map[string][]string{
	"things": {"name", "label", "count", "size", "flag", "code", "day", "moment", "box", "list", "spot", "tags", "codes", "state", "next"},
	"parts":  {"text", "weight", "keeper", "place", "thing_id"},
}

// relative attributes are valid or not by what else there is.
var relative = []string{"label", "place", "next", "keeper", "thing_id"}

// object draws a body for a resource, with an id or without.
func (d *drawing) object(collection, id string) string {
	members := []string{}
	member := func(name, value string) { members = append(members, d.quoted(name)+":"+value) }
	if id != "" {
		member("id", quoted(id))
	}
	for _, name := range differentialAttributes[collection] {
		if rapid.Bool().Draw(d.t, name) && !(d.first && slices.Contains(relative, name)) {
			value := d.value(name)
			member(name, value)
			d.remember(name, value)
		}
	}
	if d.odd && d.chance("strange member", 4) {
		member(d.one("member", "nope", "Name", "created_at", "updated_at", "type", "id", "data", "n\u0301", ""), d.one("its value", "null", `"things"`, "{}", `"2026-01-02T03:04:05.006Z"`))
	}
	return "{" + strings.Join(members, ",") + "}"
}

func (d *drawing) remember(attribute, value string) {
	text := value
	if strings.HasPrefix(value, `"`) && json.Unmarshal([]byte(value), &text) != nil {
		return
	}
	if !slices.Contains(d.used[attribute], text) {
		d.used[attribute] = append(d.used[attribute], text)
	}
}

// newObject draws a body that creates a resource, whose id is minted or not.
func (d *drawing) newObject(collection string) string {
	id := ""
	if d.chance("own id", 2) {
		id = d.ownID()
	}
	return d.object(collection, id)
}

// seeding creates a few resources at once.
func (d *drawing) seeding(collection string) differentialRequest {
	d.first = true
	defer func() { d.first = false }()
	var seeds []string
	for i := range rapid.IntRange(1, 6).Draw(d.t, collection) {
		seeds = append(seeds, d.object(collection, d.one("seed", d.ownIDs(i), "")))
	}
	return differentialRequest{"POST", "/" + collection, "[" + strings.Join(seeds, ",") + "]", nil}
}

// request draws one of all kinds of requests.
func (d *drawing) request() differentialRequest {
	d.odd = d.chance("odd request", 3)
	collection := d.one("collection", "things", "parts")
	path := "/" + collection
	item := path + "/" + d.id(collection)
	if collection == "parts" && d.chance("sub-collection", 2) {
		path = "/things/" + d.id("things") + "/parts"
		if d.chance("in it", 3) {
			item = path + "/" + d.id(collection)
		}
	}
	if d.odd && d.chance("odd path", 4) {
		item = d.one("path", strings.ToUpper(path+"/"+d.ownID()), path+"/", path+"/x", "/thing/"+d.id("things"), "/part/"+d.id("parts"), "/things/"+strings.ToUpper(d.ownID()))
	}
	var r differentialRequest
	switch kind := d.one("kind", "list", "read", "patch", "create", "list", "delete", "replace", "array", "range", "upsert", "transaction", "groups"); kind {
	case "groups":
		r = differentialRequest{"GET", "/-/groups/" + collection + d.groups(collection), "", nil}
		if d.chance("exact", 3) {
			r.headers = []string{"Prefer", "count=exact"}
		}
		return r
	case "list":
		r = differentialRequest{"GET", path + d.parameters(collection), "", nil}
		if d.chance("exact", 3) {
			r.headers = []string{"Prefer", "count=exact"}
		}
		return r
	case "read":
		r = differentialRequest{"GET", item, "", nil}
		if len(d.sides[0].tags) > 0 && d.chance("condition", 2) {
			r.headers = []string{"If-None-Match", d.tags()}
		}
		return r
	case "create":
		r = differentialRequest{"POST", path, d.newObject(collection), nil}
	case "array":
		r = differentialRequest{"POST", path, "[" + d.some("items", 0, 4, ",", func() string { return d.newObject(collection) }) + "]", nil}
	case "replace":
		r = differentialRequest{"PUT", item, d.object(collection, ""), nil}
	case "patch":
		r = differentialRequest{"PATCH", item, d.object(collection, ""), nil}
	case "delete":
		r = differentialRequest{"DELETE", item, "", nil}
	case "range":
		r = d.rangeRequest(collection, path)
	case "upsert":
		r = d.upsertRequest(collection, path)
	case "transaction":
		r = d.transactionRequest()
	}
	if d.chance("dry run", 6) {
		r.path += map[bool]string{true: "&", false: "?"}[strings.Contains(r.path, "?")] + "dry_run=" + d.either("dry run", []string{"true"}, []string{"false", "1", ""})
		return r
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
	if seen := len(d.sides[0].tags); seen > 0 && !(d.odd && d.chance("any tag", 3)) {
		return fmt.Sprintf("{tag%d}", rapid.IntRange(0, seen-1).Draw(d.t, "tag"))
	}
	return d.either("any tag", []string{"*", `"x"`, `W/"zzzzzz.1"`, `"a", "b"`}, []string{"broken", `"open`})
}

// parameters draws a query string: a range, a sort and filters.
func (d *drawing) parameters(collection string) string {
	var given []string
	give := func(name, value string) { given = append(given, name+"="+url.QueryEscape(value)) }
	field := func(known ...string) string {
		return d.either("field", known, []string{"nope", "", "Name", "_revision", "box"})
	}
	fields := slices.Concat(differentialAttributes[collection], []string{"id", "type"})
	if collection == "things" { // parts have no timestamps
		fields = append(fields, "created_at")
	}
	sortable := slices.DeleteFunc(slices.Clone(fields), func(name string) bool { return slices.Contains(unsortable, name) })
	integer := func(what, odd string) string {
		return d.either(what, []string{"0", "1", "2", "3", "5", "100", "99999999999999999999"}, []string{odd, "x", "1.0", "+1", "", "-0", "007"})
	}
	cursor := d.chance("cursor", 4)
	if d.chance("offset", 3) && (d.odd || !cursor) {
		give(d.one("long", "offset", "o"), integer("offset", "-1"))
	}
	if d.chance("limit", 2) {
		give(d.one("long", "limit", "l"), d.one("direction", "", "-")+integer("limit", "--1"))
	}
	if cursor {
		given = append(given, "cursor="+d.either("cursor", []string{d.id(collection)}, []string{strings.ToUpper(d.ownID()), d.ownID(), "x", "", "{id0}x"}))
	}
	if d.chance("sort", 3) {
		given = append(given, "sort="+d.some("keys", 1, 3, "%2C", func() string {
			key := field(sortable...)
			if !d.odd {
				sortable = slices.DeleteFunc(sortable, func(name string) bool { return name == key })
			}
			return d.one("direction", "", "-") + key
		}))
	}
	if d.chance("search", 4) {
		words := d.some("words", 1, 3, " ", func() string {
			return d.one("word", append(strings.Fields(d.text()), "a", "e", "ss", "1", "日", "null")...)
		})
		give("search", d.either("search", []string{words}, []string{"", "!", strings.Repeat("a ", 17), strings.Repeat("a", 257)}))
	}
	if d.chance("include", 4) {
		given = append(given, d.included(collection)...)
	}
	if d.chance("fields", 5) {
		give("fields", field(fields...))
	}
	for range d.one("further filters", "", "", "1", "12") {
		given = append(given, d.furtherFilter(collection))
	}
	for range d.one("filters", "1", "", "12") {
		field := field(append(fields, fields[0], fields[0])...)
		name := "filter[" + field + "]"
		form := d.one("form", "operator", "operator", "equal", "list", "bare")
		if !d.odd && len(operatorsOf(field)) == 1 {
			form = "operator"
		}
		switch form {
		case "equal":
			give(name, d.plain(field))
		case "bare":
			given = append(given, name)
		case "operator":
			operator := d.either("operator", operatorsOf(field), []string{"like", "contains", "starts_with", "lt", "null", ""})
			value := d.plain(field)
			if operator == "null" {
				value = d.either("null", []string{"true", "false"}, []string{"1", ""})
			}
			give(name+"["+operator+"]", value)
		case "list":
			give(name+"["+d.one("operator", "in", "not_in")+"]", d.some("values", 1, 3, ",", func() string {
				return strings.NewReplacer(`\`, `\\`, ",", `\,`).Replace(d.plain(field))
			}))
		}
	}
	if d.odd && d.chance("broken", 6) {
		given = append(given, d.one("parameter", "page=1", "%zz", "limit=%ff", "a;b", "sort=%00", "limit=1", "filter", "filter[name", "filter[][eq]=1"))
	}
	if len(given) == 0 {
		return ""
	}
	return "?" + strings.Join(given, "&")
}

// included draws related resources, and options for them.
func (d *drawing) included(collection string) []string {
	paths := map[string][]string{"things": {"parts", "parts.thing", "parts.thing.parts"}, "parts": {"thing", "thing.parts", "thing.parts.thing"}}[collection]
	path := d.either("path", paths, []string{"nope", "", "parts.nope", "thing.parts.thing.parts"})
	many := "parts"
	if collection == "parts" {
		many = "thing.parts"
	}
	given := []string{"include=" + path}
	if !d.odd && path != many && !strings.HasPrefix(path, many+".") {
		return given
	}
	for _, option := range []string{
		"[limit]=" + d.either("limit", []string{"0", "1", "2", "-1", "-3", "100"}, []string{"1001", "x"}), "[sort]=" + d.either("sort", []string{"-weight", "text,-place", "id"}, []string{"nope", ""}),
		"[filter][place][gte]=" + d.either("least", []string{"0", "2"}, []string{"x"}), "[total]=true", "[offset]=1",
	} {
		if d.chance("option", 3) && (d.odd || option != "[offset]=1") {
			given = append(given, "include["+many+"]"+option)
		}
	}
	if d.chance("fields of parts", 4) {
		given = append(given, "fields["+many+"]="+d.either("of parts", []string{"text", "weight", "id"}, []string{"name"}))
	}
	return given
}

// unsortable fields have no order, or one that depends on how fast a side is.
var unsortable = []string{"box", "list", "spot", "tags", "codes", "created_at"}

// operatorsOf lists those that a field has.
func operatorsOf(field string) []string {
	switch field {
	case "box", "list", "spot", "tags", "codes":
		return []string{"null"}
	case "name", "label", "text", "state", "type":
		return []string{"contains", "lt", "starts_with", "gt", "eq", "ne", "lte", "gte", "null"}
	}
	return []string{"eq", "ne", "lt", "lte", "gt", "gte", "null"}
}

// plain draws a value of a field as a parameter has it.
func (d *drawing) plain(field string) string {
	if d.odd && d.chance("odd value", 4) {
		return d.one("value", "", "null", "true", "1", "x", "\x00", "\xff", "NaN", "Infinity", "0x10", " 1")
	}
	if used := d.used[field]; len(used) > 0 && rapid.Bool().Draw(d.t, "used") {
		return d.one("used value", used...)
	}
	switch field {
	case "id", "next", "keeper", "thing_id":
		return d.one("id", d.ownID(), strings.ToUpper(d.ownID()), edgeIDs[0], edgeIDs[1])
	case "type":
		return d.one("type", "things", "parts")
	case "created_at": // what it is on either side is not known
		return d.either("created", []string{"2000-01-01T00:00:00Z", "9999-12-31T23:59:59.999Z"}, oddMoments)
	case "count", "place":
		return d.integer()
	case "size", "weight":
		return d.number()
	case "flag":
		return d.one("flag", "true", "false")
	case "code":
		return d.one("code", edgeIDs[0], edgeIDs[1], d.ownID())
	case "day":
		return d.day()
	case "moment":
		return d.moment()
	}
	return d.text()
}
