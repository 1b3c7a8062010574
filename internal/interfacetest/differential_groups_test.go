package interfacetest

import (
	"slices"
	"strings"
)

// groups draws the query string of groups: keys, values, and what lists have too. Sums of doubles are
// left out, as their last digits may differ between databases.
func (d *drawing) groups(collection string) string {
	keys := slices.DeleteFunc(slices.Clone(differentialAttributes[collection]), func(name string) bool { return slices.Contains(unsortable, name) })
	keys = append(keys, "id")
	integers, texts := []string{"count"}, []string{"name", "label", "state"}
	if collection == "things" {
		keys = append(keys, "day:year", "day:quarter", "day:month", "day:week", "moment:year", "moment:quarter", "moment:week", "moment:month", "moment:day", "moment:hour", "created_at:year")
	} else {
		integers, texts = []string{"place"}, []string{"text"}
	}
	var given []string
	give := func(name string, least, most int, known ...string) (names []string) {
		for range d.some(name, least, most, "", func() string { return "." }) {
			key := d.either(name, known, []string{"nope", "", "type", "list", "flag", "day:hour", "name:year"})
			if d.odd || !slices.Contains(names, key) {
				names = append(names, key)
			}
		}
		if len(names) > 0 {
			given = append(given, name+"="+strings.Join(names, "%2C"))
		}
		return names
	}
	by := give("by", 0, 3, keys...)
	computed := []string{"count"}
	compute := func(function string, most int, known ...string) {
		for _, name := range give(function, 0, most, known...) {
			computed = append(computed, function+"."+name)
		}
	}
	compute("sum", 1, integers...)
	compute("avg", 1, integers...)
	compute("min", 2, append(texts, integers...)...)
	compute("max", 2, append(texts, integers...)...)
	compute("distinct", 1, keys[:len(keys)-1]...)
	if d.chance("sort", 2) {
		given = append(given, "sort="+d.one("direction", "", "-")+d.one("key", append(by, computed...)...))
	}
	if d.chance("having", 3) {
		given = append(given, "having["+d.one("value", computed...)+"]["+d.one("operator", "eq", "ne", "lt", "lte", "gt", "gte", "in")+"]="+d.one("bound", "0", "1", "2", "a"))
	}
	if d.chance("range", 2) {
		given = append(given, d.one("range", "limit=1", "limit=-2", "offset=1&limit=2", "o=2&l=-2", "offset=100", "limit=0"))
	}
	if d.chance("filter", 2) {
		given = append(given, "filter["+d.one("field", differentialAttributes[collection]...)+"][null]="+d.one("null", "true", "false"))
	}
	return "?" + strings.Join(given, "&")
}
