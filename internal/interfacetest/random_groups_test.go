package interfacetest

import (
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"time"

	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/schema"
)

var groupFunctions = []string{"sum", "avg", "min", "max", "distinct"}

// naiveGroup is a group of resources.
type naiveGroup struct {
	by      []string // as JSON
	members []*naiveRow
}

// groupKey is what resources are grouped by, with the unit that values are truncated to, if any.
type groupKey struct {
	*naiveValue
	unit string
}

func (k groupKey) written() string { return strings.TrimSuffix(k.name+":"+k.unit, ":") }

// groupValue is a value that is computed of each group.
type groupValue struct {
	function, name string
	kind           model.Kind // of the field
}

func (v groupValue) member() string { return v.function + "." + v.name }

// resultKind is the kind of the value itself.
func (v groupValue) resultKind() model.Kind {
	switch v.function {
	case "avg":
		return model.KindNumber
	case "distinct":
		return model.KindInteger
	}
	return v.kind
}

// naiveGroups is groups that a request wants.
type naiveGroupQuery struct {
	by     []groupKey
	values []groupValue
	sort   []naiveKey // by the name alone
	having []naiveHaving
}

// naiveHaving is a condition on a group.
type naiveHaving struct {
	name string
	naiveFilter
}

var (
	dateUnits     = []string{"year", "quarter", "month", "week"}
	dateTimeUnits = append(slices.Clone(dateUnits), "day", "hour")
)

// drawGroups draws what is asked of groups, their range aside.
func (w *draws) drawGroups(c *model.Collection) (q naiveGroupQuery) {
	scalars := append(w.scalars(c), "id")
	var keys []groupKey
	for _, name := range scalars {
		value := &naiveValue{name: name, path: []string{name}, kind: c.Field(name).Kind}
		keys = append(keys, groupKey{value, ""})
		for _, unit := range map[model.Kind][]string{model.KindDate: dateUnits, model.KindDateTime: dateTimeUnits}[value.kind] {
			keys = append(keys, groupKey{value, unit})
		}
	}
	q.by = pickSome(w.t, "by", keys, 0, 2)
	var names []string
	for _, key := range q.by {
		names = append(names, key.written())
	}
	if len(names) > 0 {
		w.give("by", strings.Join(names, ","))
	}
	for _, function := range groupFunctions {
		apt := slices.DeleteFunc(slices.Clone(scalars), func(name string) bool {
			kind := c.Field(name).Kind
			return function != "distinct" && !isNumeric(kind) && (function == "sum" || function == "avg" || kind == model.KindUUID || kind == model.KindBoolean)
		})
		if len(apt) == 0 {
			continue
		}
		some := pickSome(w.t, function, apt, 0, 2)
		if len(some) > 0 {
			w.give(function, strings.Join(some, ","))
		}
		for _, name := range some {
			q.values = append(q.values, groupValue{function, name, c.Field(name).Kind})
		}
	}
	ranked := []string{"count"}
	for _, value := range q.values {
		ranked = append(ranked, value.member())
	}
	isKey := func(name string) bool { return slices.Contains(names, name) }
	for _, name := range pickSome(w.t, "sort", append(slices.Clone(names), slices.DeleteFunc(slices.Clone(ranked), isKey)...), 0, 2) {
		if name != "count" || !isKey(name) { // which the number would have
			q.sort = append(q.sort, naiveKey{&naiveValue{name: name}, w.chance("descending", 2)})
		}
	}
	if len(q.sort) > 0 {
		w.give("sort", joinKeys(q.sort))
	}
	for _, name := range pickSome(w.t, "having", ranked, 0, 2) {
		if !w.chance("having", 3) {
			continue
		}
		h := naiveHaving{name, naiveFilter{kind: model.KindInteger, operator: w.one("operator", "", "eq", "ne", "lt", "lte", "gt", "gte"), values: []string{fmt.Sprint(w.number("number", 0, 3))}}}
		for _, value := range q.values {
			if value.member() != name {
				continue
			}
			if h.kind = value.resultKind(); value.function == "avg" {
				h.values = []string{w.one("average", "0", "0.5", "2", "-1")}
			} else if value.function != "distinct" {
				h.values = []string{drawJSON(w.t, c.Declared(value.name))}
			}
		}
		q.having = append(q.having, h)
		w.give("having["+name+"]"+map[bool]string{true: "", false: "[" + h.operator + "]"}[h.operator == ""], plain(h.values[0]))
	}
	return q
}

// group compares the groups of a collection.
func (w *randomCase) group(v *naiveView) {
	c := pick(w.t, "collection", v.schema.Collections())
	if !v.may(c, schema.MayList) {
		return
	}
	r := &draws{randomCase: w, naiveView: v, unsorted: true}
	selection := r.drawQuery(c, "")
	q := r.drawGroups(c)
	offset, limit := -1, 100
	if w.chance("range", 2) {
		limit = w.number("limit", -3, 3)
		r.give("limit", fmt.Sprint(limit))
		if offset = w.number("offset", -1, 3); offset >= 0 {
			r.give("offset", fmt.Sprint(offset))
		}
	}
	path := r.path("/-/groups/" + c.Name)
	if r.refused {
		w.expect(v, get(path), 400, "")
		return
	}
	all, _ := v.selects(selection, v.visible(c))
	groups, fits := v.group(&q, all)
	if !fits {
		w.expect(v, get(path), 400, "")
		return
	}
	from, to := naiveRange(offset, limit, len(groups))
	var want []string
	for _, g := range groups[from:to] {
		text, fits := g.represent(c, &q)
		if !fits {
			w.expect(v, get(path), 400, "")
			return
		}
		want = append(want, text)
	}
	w.expect(v, get(path), 200, data(want...), "X-Total-Count", fmt.Sprint(len(groups)))
}

// group is the groups of resources that are kept, in their order. False: a value that they are sorted or kept by does not fit.
func (v *naiveView) group(q *naiveGroupQuery, rows []*naiveRow) (groups []*naiveGroup, fits bool) {
	groups, fits = v.groupsOf(q.by, rows), true
	valueOf := func(g *naiveGroup, name string) string {
		for _, value := range q.values {
			if value.member() == name {
				text, ok := g.compute(value)
				fits = fits && ok
				return text
			}
		}
		return fmt.Sprint(len(g.members))
	}
	kinds := map[string]model.Kind{"count": model.KindInteger}
	for _, value := range q.values {
		kinds[value.member()] = value.resultKind()
	}
	ranks := map[*naiveGroup][]string{}
	for _, g := range groups {
		for _, key := range q.sort {
			if at := slices.IndexFunc(q.by, func(by groupKey) bool { return by.written() == key.name }); at >= 0 {
				ranks[g], kinds[key.name] = append(ranks[g], g.by[at]), q.by[at].kind
			} else {
				ranks[g] = append(ranks[g], valueOf(g, key.name))
			}
		}
	}
	groups = slices.DeleteFunc(groups, func(g *naiveGroup) bool {
		keep := true
		for _, h := range q.having {
			if value := valueOf(g, h.name); fits {
				keep = keep && h.matches(value)
			}
		}
		return !keep
	})
	if !fits {
		return nil, false
	}
	slices.SortFunc(groups, func(a, b *naiveGroup) int {
		for i, key := range q.sort {
			order := compareJSON(kinds[key.name], ranks[a][i], ranks[b][i])
			if key.descending {
				order = -order
			}
			if order != 0 {
				return order
			}
		}
		for i, key := range q.by {
			if order := compareJSON(key.kind, a.by[i], b.by[i]); order != 0 {
				return order
			}
		}
		return 0
	})
	return groups, true
}

// groupsOf is resources by the values of keys.
func (v *naiveView) groupsOf(by []groupKey, rows []*naiveRow) (groups []*naiveGroup) {
	if len(by) == 0 {
		return []*naiveGroup{{members: rows}}
	}
	for _, r := range rows {
		var values []string
		for _, key := range by {
			values = append(values, truncated(v.valueOf(key.naiveValue, r), key.unit))
		}
		at := slices.IndexFunc(groups, func(g *naiveGroup) bool { return slices.Equal(g.by, values) })
		if at < 0 {
			at = len(groups)
			groups = append(groups, &naiveGroup{by: values})
		}
		groups[at].members = append(groups[at].members, r)
	}
	return groups
}

// truncated is the first moment of the unit that a date or date-time is in.
func truncated(value, unit string) string {
	if unit == "" || value == "null" {
		return value
	}
	text := plain(value)
	at, err := time.Parse("2006-01-02", text[:10])
	if err != nil {
		panic(err)
	}
	length := len("2006-01-02")
	switch unit {
	case "year":
		length = len("2006")
	case "quarter":
		at, length = at.AddDate(0, -(int(at.Month())-1)%3, 0), len("2006-01")
	case "month":
		length = len("2006-01")
	case "week":
		at = at.AddDate(0, 0, -(int(at.Weekday())+6)%7)
	case "hour":
		length = len("2006-01-02T15")
	}
	whole := at.Format("2006-01-02") + text[10:]
	return quoted((whole[:length] + "0000-01-01T00:00:00.000Z"[length:])[:len(text)])
}

// represent is a group as JSON, false if a sum of it does not fit.
func (g *naiveGroup) represent(c *model.Collection, q *naiveGroupQuery) (text string, fits bool) {
	var keys []string
	for i, key := range q.by {
		keys = append(keys, quoted(key.written())+":"+g.by[i])
	}
	rest := ""
	for _, function := range groupFunctions {
		var members []string
		for _, value := range q.values {
			if value.function != function {
				continue
			}
			text, fits := g.compute(value)
			if !fits {
				return "", false
			}
			members = append(members, quoted(value.name)+":"+text)
		}
		if len(members) > 0 {
			rest += "," + quoted(function) + ":{" + strings.Join(members, ",") + "}"
		}
	}
	return group(c.Name, "{"+strings.Join(keys, ",")+"}", len(g.members), rest), true
}

func (g *naiveGroup) compute(value groupValue) (text string, fits bool) {
	function, name, kind := value.function, value.name, value.kind
	different := map[string]bool{}
	sum, least, most, count := new(big.Rat), "null", "null", int64(0)
	for _, r := range g.members {
		value := r.value(name)
		if value == "null" {
			continue
		}
		different[value] = true
		if isNumeric(kind) {
			sum.Add(sum, rational(value))
		}
		if count++; count == 1 || compareJSON(kind, value, least) < 0 {
			least = value
		}
		if count == 1 || compareJSON(kind, value, most) > 0 {
			most = value
		}
	}
	switch {
	case function == "distinct":
		return fmt.Sprint(len(different)), true
	case function == "min":
		return least, true
	case function == "max":
		return most, true
	case function == "avg" && count == 0:
		return "null", true
	case function == "avg" || kind == model.KindNumber:
		if function == "avg" {
			sum.Quo(sum, big.NewRat(count, 1))
		}
		number, _ := sum.Float64()
		printed, err := json.Marshal(number)
		return string(printed), err == nil
	case kind == model.KindInteger:
		return sum.Num().String(), sum.Num().IsInt64()
	}
	text = sum.FloatString(kind.Scale())
	return quoted(text), len(strings.Trim(strings.Replace(text, ".", "", 1), "-")) <= 18
}
