package interfacetest

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/schema"
)

// send sends a write of a caller as a request of its own.
func (w *randomCase) send(v *naiveView, write *naiveWrite) {
	before := v.copyRows()
	status, faults, written := v.write(write)
	want := joinSorted(faults)
	if written != nil {
		want = `{"data":` + v.represent(written, &naiveQuery{}) + `}`
	}
	request := randomRequest{method: write.method, path: write.path(v), body: write.body(v)}
	if write.match != nil {
		request.match = quoted(write.match.name)
	}
	w.confirm(v, request, before, status, want, write.kind)
}

// transact writes several resources in one transaction. Each step knows what those before it have done.
func (w *randomCase) transact(v *naiveView) {
	before := v.copyRows()
	status := 200
	var steps, want []string
	var collections []*model.Collection
	for i := range w.number("steps", 1, 6) {
		write := w.drawWrite(v)
		text := fmt.Sprintf(`{"method":"%s","path":"%s"`, write.method, write.path(v))
		if body := write.body(v); body != "" {
			text += `,"body":` + body
		}
		if write.match != nil {
			text += `,"if_match":"\"` + write.match.name + `\""`
		}
		steps, collections = append(steps, text+"}"), append(collections, write.kind)
		if status != 200 {
			continue // what follows a refusal is not executed
		}
		done, faults, written := v.write(write)
		if written != nil {
			want = append(want, v.represent(written, &naiveQuery{}))
			continue
		}
		status, want = done, nil
		for _, each := range faults {
			code, place, _ := strings.Cut(each, " ")
			switch place {
			case "":
				place = "/path"
			case "If-Match":
				place = "/if_match"
			default:
				place = "/body" + place
			}
			want = append(want, fmt.Sprintf("%s /%d%s", code, i, place))
		}
	}
	text := data(want...)
	if status != 200 {
		text = joinSorted(want)
	}
	w.confirm(v, randomRequest{method: "POST", path: "/-/transaction", body: "[" + strings.Join(steps, ",") + "]"}, before, status, text, collections...)
}

// writeMany changes or deletes what a filter selects.
func (w *randomCase) writeMany(v *naiveView) {
	before := v.copyRows()
	c := pick(w.t, "collection", v.collections())
	r := &draws{randomCase: w, naiveView: v}
	q := &naiveQuery{offset: -1, limit: 1000, filters: []*naiveFilter{r.drawFilter(c, "filter")}}
	_, selected := v.selects(q, v.rows[c])
	request := randomRequest{method: "DELETE", path: r.path("/" + v.collection(c))}
	if r.refused {
		w.expect(v, request, 400, "")
		return
	}
	status := 200
	var want []string
	represent := func() {
		for _, each := range selected {
			want = append(want, v.represent(each, q))
		}
	}
	text := ""
	if w.chance("delete", 3) {
		represent()
		if faults := v.remove(selected); len(faults) > 0 {
			status, text = 409, joinSorted(faults)
		}
	} else {
		a := pick(w.t, "attribute", v.attributes(c))
		value := w.drawStored(v, c, a)
		request.method, request.body = "PATCH", "{"+quoted(v.member(c, a.Name))+":"+value+"}"
		for _, each := range selected {
			v.set(each, a.Name, value)
		}
		represent()
		for _, each := range selected {
			if slices.ContainsFunc(c.Unique, func(group []string) bool { return v.owner(each, group) != nil }) {
				status = 409
			}
		}
	}
	if status == 200 {
		text = data(want...)
	}
	w.confirm(v, request, before, status, text, c)
}

// confirm sends a write that the model has executed, perhaps as a dry run first. Before is the resources before it: if it is
// refused, they stay. The collections are those that it names.
func (w *randomCase) confirm(v *naiveView, request randomRequest, before map[*model.Collection][]*naiveRow, status int, want string, collections ...*model.Collection) {
	if v.name == "editor" && w.chance("dry run", 3) {
		dry := request
		dry.path += map[bool]string{true: "&", false: "?"}[strings.Contains(dry.path, "?")] + "dry_run=true"
		var headers []string
		if status < 300 {
			affected, deleted := w.affected(before, collections)
			headers = []string{"X-Affected", affected, "X-Deleted", deleted}
		}
		w.expect(v, dry, status, want, headers...)
	}
	w.expect(v, request, status, want)
	if status >= 400 {
		v.rows = before
	}
	w.changed()
}

// compareAll compares all resources, for a caller who sees them.
func (w *randomCase) compareAll(v *naiveView) {
	for _, c := range v.collections() {
		var all []string
		for _, r := range v.rows[c] {
			all = append(all, v.represent(r, &naiveQuery{}))
		}
		w.expect(v, get("/"+v.collection(c)+"?limit=1000"), 200, data(all...), "X-Total-Count", fmt.Sprint(len(all)))
	}
}

// affected is the numbers of resources that a dry run says it would change and delete.
func (w *randomCase) affected(before map[*model.Collection][]*naiveRow, collections []*model.Collection) (affected, deleted string) {
	editor := w.views[0]
	count := map[*model.Collection]int{}
	var deletions []string
	for _, c := range editor.schema.Collections() {
		gone := 0
		for _, r := range before[c] {
			if now := editor.find(c, r.id); now == nil {
				gone++
			} else if now.revision != r.revision {
				count[c]++
			}
		}
		for _, r := range editor.rows[c] {
			if !slices.ContainsFunc(before[c], func(other *naiveRow) bool { return other.id == r.id }) {
				count[c]++
			}
		}
		if count[c] += gone; gone > 0 {
			deletions = append(deletions, fmt.Sprintf("%s=%d", c.Name, gone))
		}
	}
	var counts []string
	show := func(c *model.Collection, zero bool) {
		if text := fmt.Sprintf("%s=%d", c.Name, count[c]); count[c] > 0 != zero && !slices.Contains(counts, text) {
			counts = append(counts, text)
		}
	}
	for _, c := range editor.schema.Collections() {
		show(c, false)
	}
	for _, c := range collections {
		show(c, true)
	}
	return strings.Join(counts, ", "), strings.Join(deletions, ", ")
}

func (w *naiveWrite) path(v *naiveView) string {
	path := "/" + v.collection(w.kind)
	if w.parent != "" {
		path = "/" + v.collection(w.kind.ParentLink().To) + "/" + w.parent + path
	}
	switch {
	case w.conflict != nil:
		return path + "?on_conflict=" + strings.Join(v.members(w.kind, w.conflict), ",")
	case w.method != "POST":
		return path + "/" + w.id
	}
	return path
}

func (w *naiveWrite) body(v *naiveView) string {
	if w.method == "DELETE" {
		return ""
	}
	var members []string
	if w.id != "" {
		members = append(members, `"id":`+quoted(w.id))
	}
	for _, a := range w.kind.Attributes {
		if value, given := w.values[a.Name]; given {
			members = append(members, quoted(v.member(w.kind, a.Name))+":"+value)
		}
	}
	return "{" + strings.Join(members, ",") + "}"
}

// drawWrite draws a write of one resource for a caller who may do everything with it, which may be refused.
func (w *randomCase) drawWrite(v *naiveView) *naiveWrite {
	m := v.naive
	c := pick(w.t, "collection", v.collections())
	methods := []string{"POST", "POST", "PUT", "PUT", "PATCH", "DELETE"}
	var row *naiveRow // nil: the resource that is changed does not exist
	switch rows, latest := m.rows[c], m.latest(); {
	case latest != nil && v.grant(latest.kind) != nil && w.chance("the same again", 3):
		c, row, methods = latest.kind, latest, []string{"PUT", "PATCH", "DELETE"}
	case w.chance("nowhere", 20):
	case len(rows) == 0:
		methods = []string{"POST"}
	default:
		row = pick(w.t, "row", rows)
	}
	write := &naiveWrite{kind: c, method: w.one("method", methods...), id: w.nowhere(c), values: map[string]string{}}
	if row != nil {
		write.id = row.id
	}
	if write.method == "POST" {
		write.id = randomID(slices.Index(m.schema.Collections(), c), 10+w.number("row", 0, 40)) // it may exist
		if gone := m.gone[c]; gone != "" && w.chance("gone", 3) {
			write.id = gone
		}
		if w.chance("upsert", 2) {
			write.conflict = pick(w.t, "on conflict", append(slices.Clone(c.Unique), []string{"id"}))
		}
	} else if row != nil && w.chance("if match", 2) {
		write.match = w.tags[row.id]
	}
	w.drawBody(v, write, row)
	if write.conflict != nil && row != nil && w.chance("conflict", 2) {
		for _, name := range write.conflict {
			if write.values[name] = row.value(name); name == "id" {
				write.id = row.id
			}
		}
	}
	if c.Parent != nil && w.chance("sub-collection", 3) {
		write.parent = w.nowhere(m.schema.Collection(c.Parent.Collection))
		if own := row.value(c.Parent.Attribute); own != "null" && !w.chance("other parent", 6) {
			write.parent = plain(own)
		} else if parents := m.rows[m.schema.Collection(c.Parent.Collection)]; len(parents) > 0 {
			write.parent = pick(w.t, "parent", parents).id
		}
		if !w.chance("parent in the body", 6) {
			delete(write.values, c.Parent.Attribute)
		}
	}
	// An upsert that finds a resource cannot give it an id, and one that creates a resource gives it one that is known.
	if write.conflict != nil && m.target(write) != nil && !slices.Contains(write.conflict, "id") && !w.chance("another id", 8) {
		write.id = ""
	}
	return write
}

// nowhere is the id of no resource, if possible of one that an earlier step has deleted, and perhaps another created again.
func (w *randomCase) nowhere(c *model.Collection) string {
	if gone := w.views[0].gone[c]; gone != "" {
		return gone
	}
	return randomID(9, slices.Index(w.views[0].schema.Collections(), c))
}

// update changes or replaces a resource for a caller who may not see all resources and attributes, if there is one that may.
func (w *randomCase) update(v *naiveView) {
	collections := slices.DeleteFunc(slices.Clone(v.schema.Collections()), func(c *model.Collection) bool { return len(v.rows[c]) == 0 || !v.may(c, schema.MayUpdate) })
	if len(collections) == 0 {
		return
	}
	row := pick(w.t, "row", v.rows[pick(w.t, "collection", collections)])
	write := &naiveWrite{kind: row.kind, method: w.one("method", "PUT", "PATCH"), id: row.id, values: map[string]string{}}
	w.drawBody(v, write, row)
	w.send(v, write)
}

// drawBody draws the attributes of a body, of those that a caller knows. Row is the resource that is written, if there is one.
func (w *randomCase) drawBody(v *naiveView, write *naiveWrite, row *naiveRow) {
	m := v.naive
	if write.method == "PUT" && row != nil && w.chance("as read", 2) {
		write.values = maps.Clone(row.values)
	}
	left := 1 // of three attributes, this many are left out
	if write.method == "PATCH" {
		left = 2
	}
	for i := range write.kind.Attributes {
		a := &write.kind.Attributes[i]
		if !v.knows(write.kind, a.Name) {
			delete(write.values, a.Name)
			continue
		}
		_, given := write.values[a.Name]
		var to *model.Collection
		dangling := 30 // one in so many references is to nothing
		if a.References != nil {
			if to = m.schema.Collection(a.References.Collection); m.gone[to] != "" {
				dangling = 4
			}
		}
		switch {
		case w.chance("wrong", 60):
			write.values[a.Name] = wrongJSON(a)
		case to != nil && w.chance("nowhere", dangling):
			write.values[a.Name] = quoted(w.nowhere(to))
		case len(v.refused(write.kind, a)) > 0 && w.chance("refused by the version", 10):
			write.values[a.Name] = w.one("refused", sortedKeys(v.refused(write.kind, a))...)
		case v.requires(write.kind, a) && w.chance("null", 30):
			write.values[a.Name] = "null"
		case given && !w.chance("changed", 4):
		case w.number("left out", 1, 3) <= left && (!v.requires(write.kind, a) || w.chance("required", 3)):
			delete(write.values, a.Name)
		default:
			write.values[a.Name] = w.drawStored(v, write.kind, a)
		}
	}
}

// drawStored draws a value of an attribute that can be stored.
func (w *randomCase) drawStored(v *naiveView, c *model.Collection, a *model.Attribute) string {
	if !v.requires(c, a) && w.chance("null", 4) {
		return "null"
	}
	if values := v.allowed(c, a); values != nil {
		return w.one(a.Name, values...)
	}
	if a.References == nil {
		return drawJSON(w.t, a)
	}
	others := v.rows[v.schema.Collection(a.References.Collection)]
	if len(others) == 0 {
		return "null"
	}
	return quoted(pick(w.t, "other", others).id)
}

// remember asks for the ETags of a few resources that a caller sees, for later conditions.
func (w *randomCase) remember(v *naiveView) {
	for _, c := range v.collections() {
		for _, r := range pickSome(w.t, "remembered", v.rows[c], 0, 3) {
			tag := &naiveTag{fmt.Sprintf("(%s@%d%s)", r.id, r.revision, v.version.header()), r.revision} // no name is part of another
			w.tags[r.id] = tag
			for _, h := range w.servers {
				w.etags[h][tag.name] = strings.Trim(h.as(v.name, "GET", "/"+v.collection(c)+"/"+r.id, "", "API-Version", v.version.header()).header.Get("ETag"), `"`)
			}
		}
	}
}
