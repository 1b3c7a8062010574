package interfacetest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/plural-go/plural/internal/model"
)

// naiveValue is what a sort or a group looks at: a field, a value inside an object, either of them of a resource that is referred
// to, or the number of related resources.
type naiveValue struct {
	name  string // as it is written
	steps []*model.Relation
	path  []string
	count *model.Relation // nil: the value at the path
	kind  model.Kind
}

// valueOf is the value for a resource, as JSON.
func (v *naiveView) valueOf(o *naiveValue, r *naiveRow) string {
	if o.count != nil {
		return fmt.Sprint(len(v.related(r, o.count)))
	}
	for _, step := range o.steps {
		found := v.related(r, step)
		if r = nil; len(found) > 0 {
			r = found[0]
		}
	}
	return r.value(o.path...)
}

// drawKeys draws keys of a sort, all different.
func (w *draws) drawKeys(c *model.Collection) (keys []naiveKey) {
	for range w.number("sort", 0, 2) {
		key := naiveKey{w.drawValueOf(c), w.chance("descending", 2)}
		if !slices.ContainsFunc(keys, func(other naiveKey) bool { return other.name == key.name }) {
			keys = append(keys, key)
		}
	}
	return keys
}

// drawValueOf draws what resources are sorted by.
func (w *draws) drawValueOf(c *model.Collection) *naiveValue {
	if counted := w.countable(c); counted != nil && w.chance("count", 4) {
		return &naiveValue{name: "count." + w.member(c, counted.Name), count: counted, kind: model.KindInteger}
	}
	o := &naiveValue{}
	var names []string
	for range pick(w.t, "steps", []int{0, 0, 0, 1, 2}) {
		references := slices.DeleteFunc(w.naiveView.relations(c), func(r *model.Relation) bool { return !r.One })
		if len(references) > 0 && (w.through < 10 || len(names) > 0) {
			step := pick(w.t, "reference", references)
			o.steps, names, c = append(o.steps, step), append(names, w.member(c, step.Name)), step.To
		}
	}
	if len(names) > 0 {
		w.through++
	}
	o.path, o.kind = w.drawScalar(c)
	o.name = strings.Join(append(append(names, w.member(c, o.path[0])), o.path[1:]...), ".")
	return o
}

// countable draws a relation whose resources can be counted, nil if there is none. A field named count is what count.x leads into.
func (w *draws) countable(c *model.Collection) *model.Relation {
	many := slices.DeleteFunc(w.naiveView.relations(c), func(r *model.Relation) bool { return r.One })
	isField := c.Field("count") != nil && w.knows(c, "count")
	if len(many) == 0 || isField || w.through == 10 {
		return nil
	}
	w.through++
	return pick(w.t, "counted", many)
}

// drawScalar draws a field that has an order, perhaps one inside an object, and perhaps one that the caller does not see.
func (w *draws) drawScalar(c *model.Collection) (path []string, kind model.Kind) {
	known := append(w.scalars(c), "id")
	for i := range c.Attributes {
		if a := &c.Attributes[i]; len(a.Properties) > 0 && w.knows(c, a.Name) || !w.knows(c, a.Name) && w.chance("hidden", 20) {
			known = append(known, a.Name)
		}
	}
	name := pick(w.t, "field", known)
	w.refused = w.refused || !w.knows(c, name)
	path, kind = []string{name}, c.Field(name).Kind
	for a := c.Declared(name); a != nil && len(a.Properties) > 0; {
		a = &a.Properties[w.number("property", 0, len(a.Properties)-1)]
		path, kind = append(path, a.Name), a.Kind()
		w.refused = w.refused || kind == model.KindJSON && len(a.Properties) == 0
	}
	return path, kind
}
