package interfacetest

import (
	"maps"
	"slices"
	"strings"

	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/schema"
)

// naiveWrite is a write of one resource, by itself or as a step of a transaction.
type naiveWrite struct {
	method   string
	kind     *model.Collection
	parent   string            // the id in the path of a sub-collection, or empty
	id       string            // in the path, or in the body of a POST
	values   map[string]string // attributes in the body, as JSON
	conflict []string          // unique attributes of an upsert, or nil
	match    *naiveTag         // nil: the write has no condition
}

// naiveTag is the ETag that a resource had when it had a revision.
type naiveTag struct {
	name     string // stands for the ETag, which each server has its own of
	revision int
}

// write writes a resource. If it returns faults, each as "code place", the resources have to be taken from a copy.
func (v *naiveView) write(w *naiveWrite) (status int, faults []string, r *naiveRow) {
	m := v.naive
	clear(v.seen)
	if w.parent != "" && m.find(m.schema.Collection(w.kind.Parent.Collection), w.parent) == nil {
		return 404, []string{"not_found"}, nil
	}
	before := m.target(w)
	if w.method != "POST" {
		if before == nil || !v.sees(before) {
			return 404, []string{"not_found"}, nil
		}
		if !v.mayUpdate(before) {
			return 403, []string{"forbidden"}, nil
		}
		if w.match != nil && w.match.revision != before.revision {
			return 412, []string{"precondition_failed If-Match"}, nil
		}
	}
	if w.method == "DELETE" {
		last := *before
		last.values = maps.Clone(before.values)
		if faults := v.remove([]*naiveRow{before}); len(faults) > 0 {
			return 409, faults, nil
		}
		return 200, nil, &last
	}
	after, invalid, dangling := v.after(w, before)
	switch {
	case len(invalid) > 0:
		return 422, append(invalid, dangling...), nil
	case len(dangling) > 0:
		return 422, dangling, nil
	case before != nil && !v.mayBecome(before, after):
		return 403, []string{"forbidden"}, nil
	}
	if before == nil && m.find(w.kind, after.id) != nil {
		faults = append(faults, "id_exists /id")
	}
	for _, group := range w.kind.Unique {
		if other := m.owner(after, group); other != nil && other != before {
			place := " /" + v.member(w.kind, group[0])
			if slices.ContainsFunc(group, func(name string) bool { return !v.knows(w.kind, name) }) {
				place = ""
			}
			faults = append(faults, "not_unique"+place)
		}
	}
	switch {
	case len(faults) > 0:
		return 409, faults, nil
	case before == nil:
		m.touch(after)
		m.rows[w.kind] = append(m.rows[w.kind], after)
		slices.SortFunc(m.rows[w.kind], func(a, b *naiveRow) int { return strings.Compare(a.id, b.id) })
		return 201, nil, after
	}
	for name, value := range after.values {
		m.set(before, name, value)
	}
	return 200, nil, before
}

// mayUpdate evaluates the rule of updates.
func (v *naiveView) mayUpdate(r *naiveRow) bool {
	rule := v.grant(r.kind).Rules[schema.MayUpdate].Text
	return rule == "" || v.allows(r, rule)
}

// mayBecome reports whether a resource may be given these values. If it refers to itself, the rule has to hold with what it
// was, so that it does not allow itself, and with what it will be.
func (v *naiveView) mayBecome(before, after *naiveRow) bool {
	was := before.values
	defer func() { before.values = was }()
	asBefore := v.mayUpdate(after)
	before.values = after.values
	return asBefore && v.mayUpdate(after)
}

// target is the resource that a write changes or deletes, nil if there is none on its path.
func (m *naive) target(w *naiveWrite) (r *naiveRow) {
	switch {
	case w.method != "POST" || slices.Equal(w.conflict, []string{"id"}):
		r = m.find(w.kind, w.id)
	case w.conflict != nil:
		key := &naiveRow{kind: w.kind, values: maps.Clone(w.values)}
		if w.parent != "" {
			key.values[w.kind.Parent.Attribute] = quoted(w.parent)
		}
		r = m.owner(key, w.conflict)
	}
	if r != nil && w.parent != "" && r.value(w.kind.Parent.Attribute) != quoted(w.parent) {
		return nil
	}
	return r
}

// after is what a resource would be after a write, and what is wrong with the values and the references in the body. There may
// be none before.
func (v *naiveView) after(w *naiveWrite, before *naiveRow) (after *naiveRow, faults, dangling []string) {
	after = &naiveRow{id: w.id, kind: w.kind, values: map[string]string{}}
	if before != nil {
		if after.id = before.id; w.method == "POST" && w.id != "" && w.id != before.id {
			faults = append(faults, "read_only /id")
		}
	}
	isKey := func(name string) bool { return slices.Contains(w.conflict, name) }
	ofPath := func(name string) bool {
		return w.parent != "" && w.method != "PATCH" && name == w.kind.Parent.Attribute
	}
	// Without the values that tell whether a resource exists, only the body itself is checked.
	unknown := slices.ContainsFunc(w.conflict, func(name string) bool {
		return name != "id" && !ofPath(name) && (w.values[name] == "" || w.values[name] == "null")
	})
	for i := range w.kind.Attributes {
		a := &w.kind.Attributes[i]
		value, given := w.values[a.Name]
		switch {
		case given && ofPath(a.Name) && value != quoted(w.parent) && value != wrongJSON(a):
			faults = append(faults, "parent_mismatch /"+v.member(w.kind, a.Name))
			continue
		case given:
		case ofPath(a.Name):
			value = quoted(w.parent)
		case unknown && !isKey(a.Name):
			continue
		case unknown:
			value = "null"
		case before != nil && (w.method != "PUT" || !v.knows(w.kind, a.Name)):
			value = before.value(a.Name)
		default:
			value = v.defaultOf(w.kind, a)
		}
		after.values[a.Name] = value
		switch {
		case value == wrongJSON(a):
			faults = append(faults, "type /"+v.member(w.kind, a.Name))
		case value == "null" && (a.Required || isKey(a.Name)):
			faults = append(faults, "required /"+v.member(w.kind, a.Name))
		case v.refused(w.kind, a)[value] != "" && (before == nil || value != before.value(a.Name)):
			faults = append(faults, v.refused(w.kind, a)[value]+" /"+v.member(w.kind, a.Name))
		case a.References != nil && value != "null" && value != quoted(after.id) && value != before.value(a.Name):
			if other := v.find(v.schema.Collection(a.References.Collection), plain(value)); other == nil || !v.sees(other) {
				dangling = append(dangling, "unknown_reference /"+v.member(w.kind, a.Name))
			}
		}
	}
	return after, faults, dangling
}

// wrongJSON is a value that an attribute cannot have.
func wrongJSON(a *model.Attribute) string {
	if a.Type == model.Boolean {
		return "1"
	}
	return "true"
}

// defaultOf is the value of an attribute that a body leaves out.
func (m *naive) defaultOf(c *model.Collection, a *model.Attribute) string {
	if value, declared := m.defaults[c.Name+"."+a.Name]; declared {
		return value
	}
	return "null"
}

func (m *naive) find(c *model.Collection, id string) *naiveRow {
	for _, r := range m.rows[c] {
		if r.id == id {
			return r
		}
	}
	return nil
}

// latest is the resource that was written last, nil if there is none.
func (m *naive) latest() (latest *naiveRow) {
	for _, c := range m.schema.Collections() {
		for _, r := range m.rows[c] {
			if latest == nil || r.revision > latest.revision {
				latest = r
			}
		}
	}
	return latest
}

// owner is another stored resource that has the same values of a unique group. The new one of a create can have its id. Null equals nothing.
func (m *naive) owner(r *naiveRow, group []string) *naiveRow {
	for _, other := range m.rows[r.kind] {
		if other != r && !slices.ContainsFunc(group, func(name string) bool {
			return r.value(name) == "" || r.value(name) == "null" || r.value(name) != other.value(name)
		}) {
			return other
		}
	}
	return nil
}

// touch gives a resource its next revision.
func (m *naive) touch(r *naiveRow) {
	m.revision++
	r.revision = m.revision
}

// set sets an attribute. An equal value changes nothing.
func (m *naive) set(r *naiveRow, name, value string) {
	if r.values[name] != value {
		r.values[name] = value
		m.touch(r)
	}
}

// copyRows copies all resources, to compare with or to return to.
func (m *naive) copyRows() map[*model.Collection][]*naiveRow {
	rows := map[*model.Collection][]*naiveRow{}
	for c, all := range m.rows {
		for _, r := range all {
			copied := *r
			copied.values = maps.Clone(r.values)
			rows[c] = append(rows[c], &copied)
		}
	}
	return rows
}

// remove deletes resources, and does to what refers to them what the schema says. It does nothing and
// returns faults if others that stay refer to them: one for each resource and attribute that the caller sees, and one for all others.
func (v *naiveView) remove(rows []*naiveRow) (faults []string) {
	m := v.naive
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
	restricting := map[string]bool{}
	referring(func(r *naiveRow, a *model.Attribute) {
		by := r.kind.Name + a.Name + r.value(a.Name)
		if !v.knows(r.kind, a.Name) {
			by = "unseen"
		}
		if a.References.OnDelete == model.Restrict && !restricting[by] {
			restricting[by] = true
			faults = append(faults, "referenced")
		}
	})
	if len(faults) > 0 {
		return faults
	}
	referring(func(r *naiveRow, a *model.Attribute) { m.set(r, a.Name, "null") })
	for _, r := range rows {
		m.gone[r.kind] = r.id
	}
	for c := range m.rows {
		m.rows[c] = slices.DeleteFunc(m.rows[c], func(r *naiveRow) bool { return gone[r] })
	}
	return nil
}
