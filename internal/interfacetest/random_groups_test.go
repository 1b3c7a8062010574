package interfacetest

import (
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/schema"
)

var groupFunctions = []string{"sum", "avg", "min", "max"}

// naiveGroup is a group of resources.
type naiveGroup struct {
	by      []string // as JSON
	members []*naiveRow
}

// group compares the groups of a collection.
func (w *randomCase) group(v *naiveView) {
	c := pick(w.t, "collection", v.schema.Collections())
	if !v.may(c, schema.MayList) {
		return
	}
	r := &draws{randomCase: w, naiveView: v}
	q := r.drawQuery(c, "")
	r.parameters = slices.DeleteFunc(r.parameters, func(given string) bool { return strings.HasPrefix(given, "sort=") })
	scalars := append(r.scalars(c), "id")
	var keys []string
	for _, name := range scalars {
		keys = append(keys, name)
		for _, unit := range map[model.Kind][]string{model.KindDate: {"year", "month"}, model.KindDateTime: {"year", "month", "day", "hour"}}[c.Field(name).Kind] {
			keys = append(keys, name+":"+unit)
		}
	}
	by := pickSome(w.t, "by", keys, 0, 2)
	if len(by) > 0 {
		r.give("by", strings.Join(by, ","))
	}
	values := map[string][]string{}
	for _, function := range groupFunctions {
		apt := slices.DeleteFunc(slices.Clone(scalars), func(name string) bool {
			kind := c.Field(name).Kind
			return !isNumeric(kind) && (function == "sum" || function == "avg" || kind == model.KindUUID || kind == model.KindBoolean)
		})
		if len(apt) > 0 {
			if values[function] = pickSome(w.t, function, apt, 0, 2); len(values[function]) > 0 {
				r.give(function, strings.Join(values[function], ","))
			}
		}
	}
	var sort []naiveKey
	for _, name := range pickSome(w.t, "sort", append(slices.Clone(by), "count"), 0, 2) {
		if !slices.Contains(by, "count") || name != "count" {
			sort = append(sort, naiveKey{field: name, descending: w.chance("descending", 2)})
		}
	}
	if len(sort) > 0 {
		r.give("sort", joinKeys(sort))
	}
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
	all, _ := v.selects(q, v.visible(c))
	groups := naiveGroups(c, all, by)
	slices.SortFunc(groups, func(a, b *naiveGroup) int {
		for _, key := range sort {
			order := len(a.members) - len(b.members)
			if at := slices.Index(by, key.field); at >= 0 {
				order = compareJSON(keyKind(c, key.field), a.by[at], b.by[at])
			}
			if key.descending {
				order = -order
			}
			if order != 0 {
				return order
			}
		}
		for i, key := range by {
			if order := compareJSON(keyKind(c, key), a.by[i], b.by[i]); order != 0 {
				return order
			}
		}
		return 0
	})
	from, to := naiveRange(offset, limit, len(groups))
	var want []string
	for _, g := range groups[from:to] {
		text, fits := g.represent(c, by, values)
		if !fits {
			w.expect(v, get(path), 400, "")
			return
		}
		want = append(want, text)
	}
	w.expect(v, get(path), 200, data(want...), "X-Total-Count", fmt.Sprint(len(groups)))
}

// keyKind is the kind of the field of a key.
func keyKind(c *model.Collection, key string) model.Kind {
	name, _, _ := strings.Cut(key, ":")
	return c.Field(name).Kind
}

func naiveGroups(c *model.Collection, rows []*naiveRow, by []string) (groups []*naiveGroup) {
	if len(by) == 0 {
		return []*naiveGroup{{members: rows}}
	}
	for _, r := range rows {
		var values []string
		for _, key := range by {
			name, unit, _ := strings.Cut(key, ":")
			value := r.value(name)
			if length := map[string]int{"year": 4, "month": 7, "day": 10, "hour": 13}[unit]; length > 0 && value != "null" {
				value = quoted((plain(value)[:length] + "0000-01-01T00:00:00.000Z"[length:])[:len(plain(value))])
			}
			values = append(values, value)
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

// represent is a group as JSON, false if a sum of it does not fit.
func (g *naiveGroup) represent(c *model.Collection, by []string, values map[string][]string) (text string, fits bool) {
	var keys []string
	for i, key := range by {
		keys = append(keys, quoted(key)+":"+g.by[i])
	}
	rest := ""
	for _, function := range groupFunctions {
		var members []string
		for _, name := range values[function] {
			value, fits := g.compute(function, name, c.Field(name).Kind)
			if !fits {
				return "", false
			}
			members = append(members, quoted(name)+":"+value)
		}
		if len(members) > 0 {
			rest += "," + quoted(function) + ":{" + strings.Join(members, ",") + "}"
		}
	}
	return group(c.Name, "{"+strings.Join(keys, ",")+"}", len(g.members), rest), true
}

func (g *naiveGroup) compute(function string, name string, kind model.Kind) (text string, fits bool) {
	sum, least, most, count := new(big.Rat), "null", "null", int64(0)
	for _, r := range g.members {
		value := r.value(name)
		if value == "null" {
			continue
		}
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
