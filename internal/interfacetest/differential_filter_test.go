package interfacetest

import (
	"net/url"
	"slices"
)

// furtherFields lists fields inside objects and of related resources, each with a field whose values and
// operators it has.
var furtherFields = map[string]map[string]string{
	"things": {
		"spot.city": "name", "spot.floor": "count", "spot.size": "size", "spot.since": "moment", "parts.text": "name", "parts.place": "count",
		"parts.thing.name": "name", "parts.weight": "size", "parts.id": "id", "parts.type": "type",
	},
	"parts": {
		"thing.name": "name", "thing.count": "count", "thing.spot.city": "name", "thing.spot.floor": "count", "thing.flag": "flag",
		"thing.parts.text": "name", "thing.type": "type", "thing.moment": "moment", "thing.id": "id",
	},
}

// furtherFilter draws a filter inside an object or an array, through relations, or in a group.
func (d *drawing) furtherFilter(collection string) string {
	group := d.one("group", "", "any][0][", "any][0][", "any][1][")
	if d.chance("array", 4) {
		field, value := "tags", d.text()
		if d.chance("numbers", 3) {
			field, value = "codes", d.number()
		}
		if collection == "parts" {
			field = "thing." + field
		}
		return "filter[" + group + field + "][" + d.one("operator", "has", "has_all") + "]=" + url.QueryEscape(value)
	}
	like := furtherFields[collection]
	var names []string
	for name := range like {
		names = append(names, name)
	}
	slices.Sort(names)
	name := d.either("further field", names, []string{"spot", "spot.nope", "thing", "parts", "nope.name", "parts.thing.parts.text", "tags"})
	operator, value := d.one("operator", operatorsOf(like[name])...), d.plain(like[name])
	if operator == "null" {
		value = d.one("null", "true", "false")
	}
	return "filter[" + group + name + "][" + operator + "]=" + url.QueryEscape(value)
}
