package interfacetest

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"pgregory.net/rapid"

	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/schema"
)

// draws is a request that is being drawn: its parameters, and whether it must be refused.
type draws struct {
	*randomCase
	*naiveView
	parameters []string
	refused    bool
	unsorted   bool     // it has no sort of resources
	included   int      // relations, of which a request can have 10
	through    int      // filters through relations, likewise
	taken      []string // names of filters
}

func (w *draws) give(name, value string) {
	w.parameters = append(w.parameters, name+"="+url.QueryEscape(value))
}

func (w *draws) path(path string) string { return path + "?" + strings.Join(w.parameters, "&") }

// list compares a list of a collection, or of a sub-collection, and one of its resources.
func (w *randomCase) list(v *naiveView) {
	c := pick(w.t, "collection", v.collections())
	r := &draws{randomCase: w, naiveView: v}
	path, among := "/"+v.collection(c), v.visible(c)
	status := 200
	if !v.may(c, schema.MayList) {
		status = map[bool]int{true: 401, false: 403}[v.name == "public"]
	}
	for _, up := range v.relations(c) {
		if parents := v.rows[up.To]; c.Parent != nil && up.One && referringAttribute(up) == c.Parent.Attribute && len(parents) > 0 && w.chance("sub-collection", 2) {
			parent := pick(w.t, "parent", parents)
			path = "/" + v.collection(up.To) + "/" + parent.id + path
			among = slices.DeleteFunc(slices.Clone(among), func(r *naiveRow) bool { return r.value(c.Parent.Attribute) != quoted(parent.id) })
			if !v.sees(parent) {
				w.expect(v, get(path), map[bool]int{true: 404, false: status}[v.may(c, schema.MayList)], "")
				return
			}
		}
	}
	q := r.drawQuery(c, "")
	q.limit = 100
	if searched := v.searched(c); w.chance("search", 4) && (len(searched) > 0 || w.chance("refused", 4)) {
		r.refused = r.refused || len(searched) == 0
		search := w.one("search", sortedKeys(modelSearches)...)
		q.search = modelSearches[search]
		r.give("search", search)
	}
	if !w.chance("no include", 3) {
		q.includes = r.drawIncludes(c, "", w.number("depth", 1, 3), 1000)
	}
	if w.chance("range", 3) {
		q.limit = w.number("limit", -6, 6)
		r.give("limit", fmt.Sprint(q.limit))
		if q.offset = w.number("offset", -1, 6); q.offset >= 0 {
			r.give("offset", fmt.Sprint(q.offset))
		} else if len(among) > 0 && w.chance("cursor", 2) {
			q.cursor = pick(w.t, "cursor", among)
			r.give("cursor", q.cursor.id)
		}
	}
	if q.fields = r.drawFields(c); q.fields != nil {
		r.give("fields", strings.Join(v.members(c, q.fields), ","))
	}
	w.compare(v, r, q, path, among, status)
	if len(among) > 0 && !r.refused && w.chance("one", 3) {
		one := pick(w.t, "one", among)
		r.parameters = slices.DeleteFunc(r.parameters, func(given string) bool {
			return !strings.HasPrefix(given, "include") && !strings.HasPrefix(given, "fields")
		})
		w.expect(v, get(r.path(path+"/"+one.id)), 200, `{"data":`+v.represent(one, q)+`}`)
	}
}

// compare compares the answer to a list.
func (w *randomCase) compare(v *naiveView, r *draws, q *naiveQuery, path string, among []*naiveRow, status int) {
	switch {
	case status == 200 && r.refused:
		w.expect(v, get(r.path(path)), 400, "")
	case status != 200:
		w.expect(v, get(r.path(path)), status, "")
	default:
		all, some := v.selects(q, among)
		var want []string
		for _, each := range some {
			want = append(want, v.represent(each, q))
		}
		w.expect(v, get(r.path(path)), 200, data(want...), "X-Total-Count", fmt.Sprint(len(all)))
	}
}

// drawQuery draws what selects resources, without a range, and what is included. The prefix is that of the
// parameters of a relation.
func (w *draws) drawQuery(c *model.Collection, path string) *naiveQuery {
	q := &naiveQuery{offset: -1, any: map[int][]*naiveFilter{}}
	prefix, of := "filter", ""
	if path != "" {
		prefix, of = "include["+path+"][filter]", "include["+path+"]"
	}
	for range pick(w.t, "filters", []int{0, 0, 0, 1, 1, 2}) {
		q.filters = append(q.filters, w.drawFilter(c, prefix))
	}
	if w.chance("any", 6) {
		for n := range w.number("alternatives", 1, 3) {
			for range w.number("filters", 1, 2) {
				q.any[n] = append(q.any[n], w.drawFilter(c, fmt.Sprintf("%s[any][%d]", prefix, n)))
			}
		}
	}
	if w.chance("some", 4) {
		w.drawSome(q, c, prefix)
	}
	if !w.unsorted {
		q.sort = w.drawKeys(c)
	}
	if len(q.sort) > 0 {
		w.give(map[bool]string{true: "sort", false: of + "[sort]"}[path == ""], joinKeys(q.sort))
	}
	return q
}

func joinKeys(keys []naiveKey) string {
	var names []string
	for _, key := range keys {
		names = append(names, map[bool]string{true: "-"}[key.descending]+key.name)
	}
	return strings.Join(names, ",")
}

// scalars lists the attributes that the caller sees and that have an order.
func (w *draws) scalars(c *model.Collection) (names []string) {
	for i := range c.Attributes {
		if a := &c.Attributes[i]; a.Scalar() && w.knows(c, a.Name) {
			names = append(names, a.Name)
		}
	}
	return names
}

func (w *draws) drawFields(c *model.Collection) (names []string) {
	if !w.chance("fields", 3) {
		return nil
	}
	known := []string{"id"}
	for _, a := range c.Attributes {
		if w.knows(c, a.Name) {
			known = append(known, a.Name)
		}
	}
	if !c.NoTimestamps {
		known = append(known, "updated_at")
	}
	return pickSome(w.t, "fields", known, 1, 3)
}

// drawIncludes draws relations of a collection, with their parameters. The limits along a path multiply to
// at most the budget.
func (w *draws) drawIncludes(c *model.Collection, before string, depth, budget int) (includes []*naiveInclude) {
	for _, relation := range c.Relations() {
		if hidden := !slices.Contains(w.naiveView.relations(c), relation); hidden && w.included < 10 && w.chance("hidden", 10) {
			w.refused = true
			w.included++
			w.parameters = append(w.parameters, "include="+before+w.member(c, relation.Name))
		}
	}
	for _, relation := range w.naiveView.relations(c) {
		if w.chance("left out", 3) || w.included == 10 {
			continue
		}
		w.included++
		path := before + w.member(c, relation.Name)
		w.parameters = append(w.parameters, "include="+path)
		include, size := &naiveInclude{Relation: relation, naiveQuery: naiveQuery{offset: -1, limit: 1}}, 1
		if !relation.One {
			include.naiveQuery = *w.drawQuery(relation.To, path)
			include.limit, size = 10, 10
			if w.chance("limited", 2) || budget < size {
				include.limit = pick(w.t, "limit", []int{0, 1, 2, 5, -1, -2, -4})
				if size = max(include.limit, -include.limit, 1); size > budget {
					include.limit, size = 1, 1
				}
				w.give("include["+path+"][limit]", fmt.Sprint(include.limit))
			}
			if include.total = w.chance("total", 3); include.total {
				w.give("include["+path+"][total]", "true")
			}
		}
		if include.fields = w.drawFields(relation.To); include.fields != nil {
			w.give("fields["+path+"]", strings.Join(w.members(relation.To, include.fields), ","))
		}
		if depth > 1 {
			include.includes = w.drawIncludes(relation.To, path+".", depth-1, budget/size)
		}
		includes = append(includes, include)
	}
	return includes
}

// drawFilter draws a condition, through relations and inside objects, and gives it as a parameter.
func (w *draws) drawFilter(c *model.Collection, prefix string) *naiveFilter {
	counted := w.countable(c)
	if counted == nil || !w.chance("count", 6) {
		return w.drawFilterBehind(nil, c, prefix)
	}
	f := &naiveFilter{count: counted, kind: model.KindInteger, operator: w.one("operator", "eq", "ne", "lt", "lte", "gt", "gte")}
	f.values = []string{fmt.Sprint(w.number("number", 0, 3))}
	name := prefix + "[count." + w.member(c, counted.Name) + "][" + f.operator + "]"
	if !w.take(name) {
		return alwaysTrue()
	}
	w.give(name, f.values[0])
	return f
}

// drawSome draws conditions on one related resource. Those with the same number are about the same one.
func (w *draws) drawSome(q *naiveQuery, c *model.Collection, prefix string) {
	many := slices.DeleteFunc(w.naiveView.relations(c), func(r *model.Relation) bool { return r.One })
	for n := range w.number("numbers", 1, 2) {
		if len(many) == 0 || w.through > 7 {
			return
		}
		s := &naiveSome{relation: pick(w.t, "relation", many), none: w.chance("none", 3)}
		group := map[bool]string{true: "none", false: "some"}[s.none]
		for range w.number("conditions", 1, 2) {
			s.filters = append(s.filters, w.drawFilterBehind([]string{w.member(c, s.relation.Name)}, s.relation.To, fmt.Sprintf("%s[%s][%d]", prefix, group, n)))
		}
		q.some = append(q.some, s)
	}
}

// drawFilterBehind draws a condition on resources behind a relation, of which before is the name, or on the resources themselves.
func (w *draws) drawFilterBehind(before []string, c *model.Collection, prefix string) *naiveFilter {
	f, names := &naiveFilter{}, slices.Clone(before)
	for range w.number("steps", 0, 2-len(before)) {
		if relations := w.naiveView.relations(c); len(relations) > 0 && (w.through < 10 || len(names) > 0) {
			step := pick(w.t, "relation", relations)
			f.steps, names, c = append(f.steps, step), append(names, w.member(c, step.Name)), step.To
		}
	}
	if len(names) > 0 {
		w.through++
	}
	if name := prefix + "[" + strings.Join(names, ".") + "][exists]"; len(f.steps) > 0 && len(before) == 0 && w.chance("exists", 4) && w.take(name) {
		f.operator, f.values = "exists", []string{w.one("exists", "true", "false")}
		w.give(name, f.values[0])
		return f
	}
	attribute := &model.Attribute{Name: "id", Type: model.String, Format: "uuid"}
	if !w.chance("id", 8) {
		attribute = &c.Attributes[w.number("attribute", 0, len(c.Attributes)-1)]
	}
	if !w.knows(c, attribute.Name) {
		if !w.chance("hidden", 8) {
			return w.drawFilterOf(f, c, &model.Attribute{Name: "id", Type: model.String, Format: "uuid"}, names, prefix, len(before) > 0)
		}
		w.refused = true
	}
	return w.drawFilterOf(f, c, attribute, names, prefix, len(before) > 0)
}

// take reports whether the name of a filter is not taken, and takes it.
func (w *draws) take(name string) bool {
	if slices.Contains(w.taken, name) {
		return false
	}
	w.taken = append(w.taken, name)
	return true
}

// drawFilterOf draws an operator and its values. One is whether the condition is on one related resource.
func (w *draws) drawFilterOf(f *naiveFilter, c *model.Collection, a *model.Attribute, names []string, prefix string, one bool) *naiveFilter {
	f.path, names = []string{a.Name}, append(names, w.member(c, a.Name))
	for len(a.Properties) > 0 && !w.chance("object", 4) {
		a = &a.Properties[w.number("property", 0, len(a.Properties)-1)]
		f.path, names = append(f.path, a.Name), append(names, a.Name)
	}
	drawn := a
	f.kind = a.Kind()
	operators := []string{"null", "bare", "", "eq", "ne", "lt", "lte", "gt", "gte", "in", "not_in"}
	switch {
	case a.ScalarItems() != nil:
		operators, drawn = []string{"null", "bare", "has", "has_all", "has", "has_all"}, a.Items
		f.kind = drawn.Kind()
	case f.kind == model.KindJSON:
		operators = []string{"null", "bare"}
	case f.kind == model.KindText:
		operators = append(operators, "contains", "starts_with")
	}
	if searched := slices.Contains(append(slices.Clone(c.Search), c.Label), a.Name) && len(f.path) == 1; searched && a.Name != "" {
		operators = append(operators, "search", "search")
	}
	name := prefix + "[" + strings.Join(names, ".") + "]"
	if group := slices.Contains([]string{"any", "some", "none"}, strings.Join(names, ".")); group { // has to be written with an operator
		operators = slices.DeleteFunc(slices.Clone(operators), func(operator string) bool { return operator == "" || operator == "bare" })
	}
	f.operator = w.one("operator", operators...)
	if !w.take(name + "[" + strings.Replace(f.operator, "bare", "", 1) + "]") {
		return alwaysTrue()
	}
	value := func() string { return w.drawValue(drawn) }
	switch f.operator {
	case "null":
		f.values = []string{w.one("null", "true", "false")}
		if slices.ContainsFunc(f.steps, func(step *model.Relation) bool { return !step.One }) { // null has no clear meaning there
			f.values[0] = "false"
		}
		w.give(name+"[null]", f.values[0])
		toMany := slices.ContainsFunc(f.steps, func(step *model.Relation) bool { return !step.One })
		w.refused = w.refused || toMany && !one && f.values[0] == "true"
	case "search":
		search := w.one("search", sortedKeys(modelSearches)...)
		f.values = modelSearches[search]
		w.give(name+"[search]", search)
	case "bare":
		w.parameters = append(w.parameters, name)
		if f.kind == model.KindBoolean && a.Type == model.Array {
			f.kind = model.KindJSON
		}
	case "", "has":
		for range w.number("values", 1, 2) {
			f.values = append(f.values, value())
			w.give(name+map[bool]string{true: "[has]"}[f.operator == "has"], plain(f.values[len(f.values)-1]))
		}
	case "in", "not_in", "has_all":
		var list []string
		for range w.number("values", 1, 3) {
			f.values = append(f.values, value())
			list = append(list, strings.NewReplacer(`\`, `\\`, ",", `\,`).Replace(plain(f.values[len(f.values)-1])))
		}
		w.give(name+"["+f.operator+"]", strings.Join(list, ","))
	default:
		f.values = []string{value()}
		if strings.Contains("contains starts_with", f.operator) {
			f.values[0] = string(model.AppendQuoted(nil, w.one("part", "", "a", "A", "ß", "%", "_", `\`, "'", "n", "東", ",")))
		}
		w.give(name+"["+f.operator+"]", plain(f.values[0]))
	}
	return f
}

// alwaysTrue stands for a filter whose name is taken.
func alwaysTrue() *naiveFilter { return &naiveFilter{path: []string{"id"}, operator: "bare"} }

// drawValue draws a value to compare with, one that a resource has or may have.
func (w *draws) drawValue(a *model.Attribute) string {
	if a.References != nil || a.Name == "id" {
		return quoted(randomID(w.number("collection", 0, 3), w.number("row", 0, 9)))
	}
	return drawJSON(w.t, a)
}

// dice draws evenly. Rapid prefers the first of what it samples, so that few resources would be related.
type dice struct{ t *rapid.T }

var evenly = rapid.Custom(func(t *rapid.T) (n int) {
	for range 10 {
		n *= 2
		if rapid.Bool().Draw(t, "bit") {
			n++
		}
	}
	return n
})

func (d *dice) number(what string, least, most int) int {
	return least + evenly.Draw(d.t, what)%(most-least+1)
}

// chance is true once in so many times.
func (d *dice) chance(what string, in int) bool { return d.number(what, 1, in) == in }

func (d *dice) one(what string, of ...string) string { return pick(d.t, what, of) }

// some joins a few of what is drawn.
func (d *dice) some(what string, least, most int, separator string, draw func() string) string {
	var parts []string
	for range d.number(what, least, most) {
		parts = append(parts, draw())
	}
	return strings.Join(parts, separator)
}

func pick[V any](t *rapid.T, what string, of []V) V {
	return of[(&dice{t}).number(what, 0, len(of)-1)]
}

// pickSome draws different ones of a list.
func pickSome[V any](t *rapid.T, what string, of []V, least, most int) (some []V) {
	of = slices.Clone(of)
	for range (&dice{t}).number(what, min(least, len(of)), min(most, len(of))) {
		at := (&dice{t}).number(what, 0, len(of)-1)
		some, of = append(some, of[at]), slices.Delete(of, at, at+1)
	}
	return some
}
