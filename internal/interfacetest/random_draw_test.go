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
	c := rapid.SampledFrom(v.schema.Collections()).Draw(w.t, "collection")
	r := &draws{randomCase: w, naiveView: v}
	path, among := "/"+c.Name, v.visible(c)
	status := 200
	if !v.may(c, schema.MayList) {
		status = map[bool]int{true: 401, false: 403}[v.name == "public"]
	}
	for _, up := range v.relations(c) {
		if parents := v.rows[up.To]; c.Parent != nil && up.One && referringAttribute(up) == c.Parent.Attribute && len(parents) > 0 && w.chance("sub-collection", 2) {
			parent := rapid.SampledFrom(parents).Draw(w.t, "parent")
			path = "/" + up.To.Name + "/" + parent.id + path
			among = slices.DeleteFunc(slices.Clone(among), func(r *naiveRow) bool { return r.value(c.Parent.Attribute) != quoted(parent.id) })
			if !v.sees(parent) {
				w.expect(v, "GET", path, "", map[bool]int{true: 404, false: status}[v.may(c, schema.MayList)], "")
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
	if w.chance("include", 2) {
		q.includes = r.drawIncludes(c, "", rapid.IntRange(1, 3).Draw(w.t, "depth"), 1000)
	}
	if w.chance("range", 2) {
		q.limit = rapid.IntRange(-6, 6).Draw(w.t, "limit")
		r.give("limit", fmt.Sprint(q.limit))
		if q.offset = rapid.IntRange(-1, 6).Draw(w.t, "offset"); q.offset >= 0 {
			r.give("offset", fmt.Sprint(q.offset))
		} else if len(among) > 0 && w.chance("cursor", 2) {
			q.cursor = rapid.SampledFrom(among).Draw(w.t, "cursor")
			r.give("cursor", q.cursor.id)
		}
	}
	if q.fields = r.drawFields(c); q.fields != nil {
		r.give("fields", strings.Join(q.fields, ","))
	}
	w.compare(v, r, q, path, among, status)
	if len(among) > 0 && !r.refused && w.chance("one", 3) {
		one := rapid.SampledFrom(among).Draw(w.t, "one")
		r.parameters = slices.DeleteFunc(r.parameters, func(given string) bool {
			return !strings.HasPrefix(given, "include") && !strings.HasPrefix(given, "fields")
		})
		w.expect(v, "GET", r.path(path+"/"+one.id), "", 200, `{"data":`+v.represent(one, q)+`}`)
	}
}

// compare compares the answer to a list.
func (w *randomCase) compare(v *naiveView, r *draws, q *naiveQuery, path string, among []*naiveRow, status int) {
	switch {
	case status == 200 && r.refused:
		w.expect(v, "GET", r.path(path), "", 400, "")
	case status != 200:
		w.expect(v, "GET", r.path(path), "", status, "")
	default:
		all, some := v.selects(q, among)
		var want []string
		for _, each := range some {
			want = append(want, v.represent(each, q))
		}
		w.expect(v, "GET", r.path(path), "", 200, data(want...), len(all))
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
	for range rapid.IntRange(0, 2).Draw(w.t, "filters") {
		q.filters = append(q.filters, w.drawFilter(c, prefix))
	}
	if w.chance("any", 4) {
		for n := range rapid.IntRange(1, 3).Draw(w.t, "alternatives") {
			for range rapid.IntRange(1, 2).Draw(w.t, "filters") {
				q.any[n] = append(q.any[n], w.drawFilter(c, fmt.Sprintf("%s[any][%d]", prefix, n)))
			}
		}
	}
	for _, name := range rapid.SliceOfNDistinct(rapid.SampledFrom(append(w.scalars(c), "id")), 0, 2, rapid.ID).Draw(w.t, "sort") {
		q.sort = append(q.sort, naiveKey{name, c.Field(name).Kind, w.chance("descending", 2)})
	}
	if len(q.sort) > 0 {
		w.give(map[bool]string{true: "sort", false: of + "[sort]"}[path == ""], joinKeys(q.sort))
	}
	return q
}

func joinKeys(keys []naiveKey) string {
	var names []string
	for _, key := range keys {
		names = append(names, map[bool]string{true: "-"}[key.descending]+key.field)
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
	return rapid.SliceOfNDistinct(rapid.SampledFrom(known), 1, 3, rapid.ID).Draw(w.t, "fields")
}

// drawIncludes draws relations of a collection, with their parameters. The limits along a path multiply to
// at most the budget.
func (w *draws) drawIncludes(c *model.Collection, before string, depth, budget int) (includes []*naiveInclude) {
	for _, relation := range c.Relations() {
		if hidden := !slices.Contains(w.naiveView.relations(c), relation); hidden && w.included < 10 && w.chance("hidden", 10) {
			w.refused = true
			w.included++
			w.parameters = append(w.parameters, "include="+before+relation.Name)
		}
	}
	for _, relation := range w.naiveView.relations(c) {
		if w.chance("left out", 2) || w.included == 10 {
			continue
		}
		w.included++
		path := before + relation.Name
		w.parameters = append(w.parameters, "include="+path)
		include, size := &naiveInclude{Relation: relation, naiveQuery: naiveQuery{offset: -1, limit: 1}}, 1
		if !relation.One {
			include.naiveQuery = *w.drawQuery(relation.To, path)
			include.limit, size = 10, 10
			if w.chance("limited", 2) || budget < size {
				include.limit = rapid.SampledFrom([]int{0, 1, 2, 5, -1, -2, -4}).Draw(w.t, "limit")
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
			w.give("fields["+path+"]", strings.Join(include.fields, ","))
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
	f := &naiveFilter{}
	var names []string
	for range rapid.IntRange(0, 2).Draw(w.t, "steps") {
		if relations := w.naiveView.relations(c); len(relations) > 0 && (w.through < 10 || len(names) > 0) {
			step := rapid.SampledFrom(relations).Draw(w.t, "relation")
			f.steps, names, c = append(f.steps, step), append(names, step.Name), step.To
		}
	}
	if len(names) > 0 {
		w.through++
	}
	attribute := &model.Attribute{Name: "id", Type: model.String, Format: "uuid"}
	if !w.chance("id", 8) {
		attribute = &c.Attributes[rapid.IntRange(0, len(c.Attributes)-1).Draw(w.t, "attribute")]
	}
	if !w.knows(c, attribute.Name) {
		if !w.chance("hidden", 8) {
			return w.drawFilterOf(f, &model.Attribute{Name: "id", Type: model.String, Format: "uuid"}, names, prefix)
		}
		w.refused = true
	}
	return w.drawFilterOf(f, attribute, names, prefix)
}

func (w *draws) drawFilterOf(f *naiveFilter, a *model.Attribute, names []string, prefix string) *naiveFilter {
	f.path = []string{a.Name}
	for len(a.Properties) > 0 && !w.chance("object", 4) {
		a = &a.Properties[rapid.IntRange(0, len(a.Properties)-1).Draw(w.t, "property")]
		f.path = append(f.path, a.Name)
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
	name := prefix + "[" + strings.Join(append(names, f.path...), ".") + "]"
	if strings.HasSuffix(name, "[any]") && (len(names) == 0 && len(f.path) == 1) { // has to be written with an operator
		operators = slices.DeleteFunc(slices.Clone(operators), func(operator string) bool { return operator == "" || operator == "bare" })
	}
	f.operator = w.one("operator", operators...)
	if taken := name + "[" + strings.Replace(f.operator, "bare", "", 1) + "]"; slices.Contains(w.taken, taken) {
		return &naiveFilter{path: []string{"id"}, operator: "bare"} // which is always true
	} else {
		w.taken = append(w.taken, taken)
	}
	value := func() string { return w.drawValue(drawn) }
	switch f.operator {
	case "null":
		f.values = []string{w.one("null", "true", "false")}
		w.give(name+"[null]", f.values[0])
	case "bare":
		w.parameters = append(w.parameters, name)
		if f.kind == model.KindBoolean && a.Type == model.Array {
			f.kind = model.KindJSON
		}
	case "", "has":
		for range rapid.IntRange(1, 2).Draw(w.t, "values") {
			f.values = append(f.values, value())
			w.give(name+map[bool]string{true: "[has]"}[f.operator == "has"], plain(f.values[len(f.values)-1]))
		}
	case "in", "not_in", "has_all":
		var list []string
		for range rapid.IntRange(1, 3).Draw(w.t, "values") {
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

// drawValue draws a value to compare with, one that a resource has or may have.
func (w *draws) drawValue(a *model.Attribute) string {
	if a.References != nil || a.Name == "id" {
		return quoted(randomID(rapid.IntRange(0, 3).Draw(w.t, "collection"), rapid.IntRange(0, 9).Draw(w.t, "row")))
	}
	return drawJSON(w.t, a)
}
