package interfacetest

import (
	"slices"
	"strings"

	"github.com/plural-go/plural/internal/model"
)

// writeMany changes or deletes what a filter selects.
func (w *randomCase) writeMany() {
	editor := w.views[0]
	c := pick(w.t, "collection", editor.schema.Collections())
	r := &draws{randomCase: w, naiveView: editor}
	q := &naiveQuery{offset: -1, limit: 1000, filters: []*naiveFilter{r.drawFilter(c, "filter")}}
	_, selected := editor.selects(q, editor.rows[c])
	if w.chance("delete", 2) {
		var want []string
		for _, each := range selected {
			want = append(want, editor.represent(each, q))
		}
		if w.remove(selected) {
			w.expect(editor, "DELETE", r.path("/"+c.Name), "", 200, data(want...))
		} else {
			w.expect(editor, "DELETE", r.path("/"+c.Name), "", 409, "")
		}
		return
	}
	a := &c.Attributes[w.number("attribute", 0, len(c.Attributes)-1)]
	value := w.drawStored(a)
	before := map[*naiveRow]string{}
	for _, each := range selected {
		before[each], each.values[a.Name] = each.values[a.Name], value
	}
	status, want := 200, []string{}
	for _, each := range selected {
		if want = append(want, editor.represent(each, q)); w.owner(each) != nil {
			status = 409
		}
	}
	body := "{" + quoted(a.Name) + ":" + value + "}"
	if status == 200 {
		w.expect(editor, "PATCH", r.path("/"+c.Name), body, 200, data(want...))
	} else {
		w.expect(editor, "PATCH", r.path("/"+c.Name), body, 409, "")
		for each, value := range before {
			each.values[a.Name] = value
		}
	}
	w.changed()
}

// drawStored draws a value of an attribute that can be stored.
func (w *randomCase) drawStored(a *model.Attribute) string {
	if !a.Required && w.chance("null", 4) {
		return "null"
	}
	if a.References == nil {
		return drawJSON(w.t, a)
	}
	others := w.views[0].rows[w.views[0].schema.Collection(a.References.Collection)]
	if len(others) == 0 {
		return "null"
	}
	return quoted(pick(w.t, "other", others).id)
}

// upsert creates a resource, or changes the one that has the same unique values.
func (w *randomCase) upsert(n int) {
	editor := w.views[0]
	c := pick(w.t, "collection", editor.schema.Collections())
	if len(c.Unique) == 0 {
		return
	}
	r := &naiveRow{id: randomID(8, n), kind: c, values: map[string]string{}}
	var members []string
	for i := range c.Attributes {
		a := &c.Attributes[i]
		r.values[a.Name] = w.drawStored(a)
		members = append(members, quoted(a.Name)+":"+r.values[a.Name])
	}
	path := "/" + c.Name + "?on_conflict=" + strings.Join(c.Unique[0], ",")
	send := func(status int, want string) {
		w.expect(editor, "POST", path, "{"+strings.Join(members, ",")+"}", status, want)
	}
	if slices.ContainsFunc(c.Unique[0], func(name string) bool { return r.value(name) == "null" }) {
		send(422, "")
		return
	}
	status := 200
	if owner := w.owner(r); owner != nil {
		owner.values = r.values
		r = owner
	} else {
		status, members = 201, append(members, `"id":`+quoted(r.id))
		editor.rows[c] = append(editor.rows[c], r)
		slices.SortFunc(editor.rows[c], func(a, b *naiveRow) int { return strings.Compare(a.id, b.id) })
	}
	send(status, `{"data":`+editor.represent(r, &naiveQuery{})+`}`)
	w.changed()
}

// owner is another resource that has the values which must be unique.
func (w *randomCase) owner(r *naiveRow) *naiveRow {
	for _, group := range r.kind.Unique {
		for _, other := range w.views[0].rows[r.kind] {
			if other != r && !slices.ContainsFunc(group, func(name string) bool { return r.value(name) == "null" || r.value(name) != other.value(name) }) {
				return other
			}
		}
	}
	return nil
}

// remove deletes resources, and does to what refers to them what the schema says. It does nothing and
// returns false if others that stay refer to them.
func (w *randomCase) remove(rows []*naiveRow) bool {
	m := w.views[0].naive
	gone, ids := map[*naiveRow]bool{}, map[string]bool{}
	for _, r := range rows {
		gone[r], ids[quoted(r.id)] = true, true
	}
	// referring calls a function for each reference to what goes, from what stays. All ids are different.
	referring := func(found func(r *naiveRow, a *model.Attribute)) {
		for c, others := range m.rows {
			for i := range c.Attributes {
				a := &c.Attributes[i]
				for _, other := range others {
					if a.References != nil && !gone[other] && ids[other.value(a.Name)] {
						found(other, a)
					}
				}
			}
		}
	}
	for size := -1; size != len(gone); {
		size = len(gone)
		referring(func(r *naiveRow, a *model.Attribute) {
			if a.References.OnDelete == model.Cascade {
				gone[r], ids[quoted(r.id)] = true, true
			}
		})
	}
	restricted := false
	referring(func(r *naiveRow, a *model.Attribute) {
		restricted = restricted || a.References.OnDelete == model.Restrict
	})
	if restricted {
		return false
	}
	referring(func(r *naiveRow, a *model.Attribute) { r.values[a.Name] = "null" })
	for c := range m.rows {
		m.rows[c] = slices.DeleteFunc(m.rows[c], func(r *naiveRow) bool { return gone[r] })
	}
	w.changed()
	return true
}
