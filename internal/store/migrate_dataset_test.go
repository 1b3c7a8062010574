package store

import (
	"fmt"
	"slices"

	"pgregory.net/rapid"

	"github.com/plural-go/plural/internal/compile"
	"github.com/plural-go/plural/internal/model"
)

// dataset is a schema, another one that it was changed into, and how.
type dataset struct {
	old, now *model.Schema
	// source leads from a collection, or "collection.attribute", of now to the
	// name that it had; nothing for what is new.
	source map[string]string
	calm   bool // only what leaves stored values as they are has changed
}

// templates are definitions whose values are often, but not always, valid by
// others. Each has values to draw from, the first being its default.
var templates = []struct {
	definition model.Attribute
	values     []string // JSON
}{
	{model.Attribute{Type: model.String}, []string{`"1"`, `"2"`, `"x"`, `"true"`, `"2026-01-02"`, `"{\"a\":1}"`, `"[]"`, `"01936f2e-7d3c-7a4b-9c5d-0123456789ab"`, `"01936F2E-7D3C-7A4B-9C5D-0123456789AB"`, `"ünï"`,
		`"1.0"`, `"1e0"`, `""`, `"X"`, `"2026-01-02T00:00:00Z"`, `"2026-01-02T01:00:00+01:00"`, `"00000000-0000-7000-8000-000000000001"`, `"00000000-0000-7000-8000-000000000002"`}},
	{model.Attribute{Type: model.String, MaxLength: 1}, []string{`"1"`, `"2"`, `"x"`}},
	{model.Attribute{Type: model.String, Enum: []any{"1", "x"}}, []string{`"x"`, `"1"`}},
	{model.Attribute{Type: model.String, Format: model.Date}, []string{`"2026-01-02"`, `"0001-01-01"`}},
	{model.Attribute{Type: model.String, Format: model.DateTime}, []string{`"2026-01-02T00:00:00Z"`, `"2026-01-02T03:04:05.006Z"`}},
	{model.Attribute{Type: model.String, Format: model.UUID}, []string{`"01936f2e-7d3c-7a4b-9c5d-0123456789ab"`, `"00000000-0000-0000-0000-000000000000"`, `"00000000-0000-7000-8000-000000000001"`}},
	{model.Attribute{Type: model.Integer}, []string{`1`, `2`, `-3`, `9007199254740993`}},
	{model.Attribute{Type: model.Integer, Maximum: "1"}, []string{`1`, `-3`}},
	{model.Attribute{Type: model.Number}, []string{`1`, `2`, `1.5`, `1e300`}},
	{model.Attribute{Type: model.Boolean}, []string{`true`, `false`}},
	{model.Attribute{Type: model.Object}, []string{`{"a":1}`, `{}`, `{"b":[1,{"c":null}],"a":"x"}`}},
	{model.Attribute{Type: model.Object, Closed: true, Properties: []model.Attribute{{Name: "a", Type: model.Integer}}}, []string{`{"a":1}`, `{}`}},
	{model.Attribute{Type: model.Array}, []string{`[]`, `[1,"x"]`}},
}

func templateValues(a *model.Attribute) []string {
	for _, template := range templates {
		d := template.definition
		if d.Type == a.Type && d.Format == a.Format && d.Maximum == a.Maximum && d.Closed == a.Closed && len(d.Enum) == len(a.Enum) && (d.MaxLength == 1) == (a.MaxLength == 1) {
			return template.values
		}
	}
	panic("no template for " + a.Name)
}

func sometimes(t *rapid.T, what string, in int) bool {
	return rapid.IntRange(1, in).Draw(t, what) == in
}

func drawAttribute(t *rapid.T, name string) model.Attribute {
	template := rapid.SampledFrom(templates).Draw(t, name)
	a := template.definition
	a.Name = name
	a.Required = sometimes(t, "required", 4)
	if sometimes(t, "default", 3) {
		a.Default = rawJSON(template.values[0])
	}
	if a.Type != model.Object && a.Type != model.Array {
		a.Unique, a.Index = sometimes(t, "unique", 6), sometimes(t, "index", 4)
		if (a.Unique || a.Index) && a.Type == model.String && a.MaxLength == 0 {
			a.MaxLength = 60
		}
	}
	return a
}

// drawDataset draws a schema and changes it.
func drawDataset(t *rapid.T) *dataset {
	w := &dataset{source: map[string]string{}, calm: sometimes(t, "calm", 3)}
	var old, now []model.Collection
	for _, name := range []string{"users", "posts", "tags"} {
		if name != "users" && sometimes(t, "no "+name, 4) {
			continue
		}
		c := model.Collection{Name: name, NoTimestamps: sometimes(t, "no timestamps", 4)}
		for _, attribute := range []string{"a", "b", "c"} {
			c.Attributes = append(c.Attributes, drawAttribute(t, attribute))
		}
		if sometimes(t, "group", 5) && c.Attributes[0].Type == model.Integer && c.Attributes[1].Type == model.Integer {
			c.Unique = [][]string{{"a", "b"}}
		}
		drawLinks(t, &c, "users")
		old = append(old, c)
	}
	renamed := map[string]string{}
	for _, c := range old {
		if c.Name != "users" && !w.calm && sometimes(t, "remove collection", 6) {
			continue
		}
		if w.calm {
			now = append(now, w.extended(t, c))
		} else {
			now = append(now, w.changed(t, c, renamed))
		}
	}
	if sometimes(t, "add collection", 3) {
		now = append(now, model.Collection{Name: "extras", Attributes: []model.Attribute{drawAttribute(t, "x")}})
	}
	for i := range now {
		c := &now[i]
		if c.Parent != nil {
			c.Parent.Collection = newName(renamed, c.Parent.Collection)
		}
		for j := range c.Attributes {
			if link := c.Attributes[j].References; link != nil {
				link.Collection = newName(renamed, link.Collection)
			}
		}
	}
	if rapid.Bool().Draw(t, "order") {
		slices.Reverse(now)
	}
	var err1, err2 error
	w.old, err1 = compile.Schema(old...)
	w.now, err2 = compile.Schema(now...)
	if err1 != nil || err2 != nil {
		return nil // for example a unique group of a boolean that was an integer
	}
	w.followParents()
	return w
}

func newName(renamed map[string]string, name string) string {
	if to, ok := renamed[name]; ok {
		return to
	}
	return name
}

func drawLinks(t *rapid.T, c *model.Collection, to string) {
	if sometimes(t, "reference", 3) {
		c.Attributes = append(c.Attributes, model.Attribute{Name: "ref_id", References: &model.Reference{Collection: to}})
	}
	if c.Name != to && rapid.Bool().Draw(t, "parent") {
		c.Parent = &model.Parent{Collection: to, Attribute: rapid.SampledFrom([]string{"", "owner_id"}).Draw(t, "attribute")}
	}
}

// extended draws what becomes of a collection when nothing is taken from it.
func (w *dataset) extended(t *rapid.T, old model.Collection) model.Collection {
	now := old
	now.Attributes = slices.Clone(old.Attributes)
	w.source[now.Name] = old.Name
	for i := range now.Attributes {
		a := &now.Attributes[i]
		w.source[now.Name+"."+a.Name] = a.Name
		if a.References != nil {
			continue
		}
		if a.Required = a.Required && !sometimes(t, "loosen", 3); sometimes(t, "index", 3) && a.Type == model.Integer {
			a.Index = !a.Index
		}
	}
	if rapid.Bool().Draw(t, "new attribute") {
		a := drawAttribute(t, "added")
		a.Required, a.Unique = a.Default != nil, false
		now.Attributes = slices.Insert(now.Attributes, 1, a)
	}
	if old.Parent == nil && old.Name != "users" && rapid.Bool().Draw(t, "new parent") {
		now.Parent = &model.Parent{Collection: "users", Attribute: "boss_id"}
	}
	return now
}

// changed draws what becomes of a collection.
func (w *dataset) changed(t *rapid.T, old model.Collection, renamed map[string]string) model.Collection {
	now := model.Collection{Name: old.Name, NoTimestamps: old.NoTimestamps, Unique: old.Unique}
	if sometimes(t, "rename collection", 4) {
		now.Name = map[string]string{"users": "people", "posts": "articles", "tags": "labels"}[old.Name]
		now.RenamedFrom = old.Name
		renamed[old.Name] = now.Name
	}
	w.source[now.Name] = old.Name
	if sometimes(t, "timestamps", 5) {
		now.NoTimestamps = !now.NoTimestamps
	}
	for _, a := range old.Attributes {
		if a.References != nil {
			if sometimes(t, "remove reference", 5) {
				continue
			}
			if a = (model.Attribute{Name: a.Name, References: &model.Reference{Collection: a.References.Collection}}); sometimes(t, "loosen reference", 4) {
				a = model.Attribute{Name: a.Name, Type: model.String, Format: model.UUID}
			}
			now.Attributes = append(now.Attributes, a)
			w.source[now.Name+"."+a.Name] = a.Name
			continue
		}
		before := a.Name
		switch rapid.IntRange(0, 8).Draw(t, "change "+a.Name) {
		case 0:
			if now.Unique == nil {
				continue
			}
		case 1, 2:
			a = drawAttribute(t, a.Name)
		case 3:
			if now.Unique == nil {
				a = drawAttribute(t, "new_"+a.Name)
				a.RenamedFrom = before
			}
		case 4:
			a.Required = !a.Required
		case 5:
			a = model.Attribute{Name: a.Name, References: &model.Reference{Collection: "users"}, Required: a.Required}
		case 6:
			if a.Type != model.Object && a.Type != model.Array && a.Type != model.Boolean && (a.Type != model.String || a.Format != "" || a.MaxLength > 0) {
				a.Unique = true
			}
		}
		now.Attributes = append(now.Attributes, a)
		w.source[now.Name+"."+a.Name] = before
	}
	if sometimes(t, "reverse", 4) {
		slices.Reverse(now.Attributes)
	}
	if sometimes(t, "group gone", 2) {
		now.Unique = nil
	}
	if sometimes(t, "new attribute", 2) {
		now.Attributes = append(now.Attributes, drawAttribute(t, "added"))
	}
	if old.Parent != nil && !sometimes(t, "no parent", 4) {
		now.Parent = &model.Parent{Collection: old.Parent.Collection, Attribute: old.Parent.Attribute}
	} else if old.Name != "users" && sometimes(t, "new parent", 3) {
		now.Parent = &model.Parent{Collection: "users", Attribute: "boss_id"}
	}
	return now
}

// followParents: the attribute of a parent is the same whatever its name.
func (w *dataset) followParents() {
	for _, c := range w.now.Collections() {
		before := w.old.Collection(w.source[c.Name])
		if before == nil || before.Parent == nil || c.Parent == nil {
			continue
		}
		if attribute := c.Parent.Attribute; c.Field(before.Parent.Attribute) == nil || before.Parent.Attribute == attribute {
			w.source[c.Name+"."+attribute] = before.Parent.Attribute
		}
	}
}

// drawRows draws the resources of the old schema, in an order in which each
// refers to earlier ones only.
func (w *dataset) drawRows(t *rapid.T) map[string][]model.Record {
	rows := map[string][]model.Record{}
	serial := 0
	for _, c := range w.old.Collections() {
		for range rapid.IntRange(0, 5).Draw(t, c.Name) {
			serial++
			record := make(model.Record, len(c.Columns()))
			id, _ := model.ParseID(fmt.Sprintf("00000000-0000-7000-8000-%012x", serial))
			record[model.IDColumn] = model.IDValue(id)
			for i, column := range c.Columns() {
				if a := column.Attribute; a != nil {
					record[i] = w.drawValue(t, a, rows)
				} else if column.Kind == model.KindDateTime {
					record[i] = model.TimeValue(fmt.Sprintf("2026-01-02T03:04:05.%03dZ", serial))
				}
			}
			if !conflicting(c, rows[c.Name], record) {
				rows[c.Name] = append(rows[c.Name], record)
			}
		}
	}
	return rows
}

func (w *dataset) drawValue(t *rapid.T, a *model.Attribute, rows map[string][]model.Record) model.Value {
	if a.References != nil {
		if there := rows[a.References.Collection]; len(there) > 0 && !sometimes(t, "null", 3) {
			return rapid.SampledFrom(there).Draw(t, "target")[model.IDColumn]
		}
		return model.Null
	}
	if !a.Required && sometimes(t, "null", 4) {
		return model.Null
	}
	value, err := a.DecodeJSON([]byte(rapid.SampledFrom(templateValues(a)).Draw(t, a.Name)))
	if err != nil {
		panic(err)
	}
	return value
}

func conflicting(c *model.Collection, rows []model.Record, record model.Record) bool {
	for _, group := range c.UniqueGroups() {
		for _, other := range rows {
			same := true
			for _, column := range group {
				same = same && !record[column].IsNull() && record[column] == other[column]
			}
			if same {
				return true
			}
		}
	}
	return false
}
