package interfacetest

import (
	"slices"

	"pgregory.net/rapid"

	"github.com/plural-go/plural/internal/model"
)

// writeMany changes or deletes what a filter selects.
func (w *randomCase) writeMany() {
	editor := w.views[0]
	c := rapid.SampledFrom(editor.schema.Collections()).Draw(w.t, "collection")
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
	a := &c.Attributes[rapid.IntRange(0, len(c.Attributes)-1).Draw(w.t, "attribute")]
	value := "null"
	switch others := []*naiveRow(nil); {
	case a.References != nil:
		if others = editor.rows[editor.schema.Collection(a.References.Collection)]; len(others) > 0 && w.chance("some", 2) {
			value = quoted(rapid.SampledFrom(others).Draw(w.t, "other").id)
		}
	case a.Required || w.chance("some", 2):
		value = drawJSON(w.t, a)
	}
	before := map[*naiveRow]string{}
	for _, each := range selected {
		before[each], each.values[a.Name] = each.values[a.Name], value
	}
	status, want := 200, []string{}
	for _, each := range selected {
		if want = append(want, editor.represent(each, q)); w.conflicts(each) {
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
