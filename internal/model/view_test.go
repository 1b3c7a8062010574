package model_test

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/plural-go/plural/internal/compile"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/problem"
)

// An evolution is the schema of a version, the stored schema that was made of it, and what belongs together.
type evolution struct {
	version, stored *model.Schema
	view            *model.Schema
	renamed         map[string]string            // collections of the version, as they are stored
	attributes      map[string]map[string]string // attributes, by the collection and the name of the version
}

// names for collections and attributes: few, so that those of earlier schemas are used again.
var (
	collectionNames = []string{"users", "teams", "posts", "notes", "lists"}
	attributeNames  = []string{"a", "b", "c", "d", "user", "user_id", "team_id", "posts", "count", "notes_total"}
)

// drawVersion draws the declarations of a version.
func drawVersion(t *rapid.T) []model.Collection {
	names := rapid.SliceOfNDistinct(rapid.SampledFrom(collectionNames), 1, 4, rapid.ID).Draw(t, "collections")
	var declared []model.Collection
	for _, name := range names {
		c := model.Collection{Name: name, NoTimestamps: rapid.Bool().Draw(t, "timestamps"), Description: "About " + name}
		for _, name := range rapid.SliceOfNDistinct(rapid.SampledFrom(attributeNames), 0, 5, rapid.ID).Draw(t, "attributes") {
			c.Attributes = append(c.Attributes, drawSimple(t, name, names))
		}
		texts := namesWhere(c.Attributes, func(a model.Attribute) bool { return a.Type == model.String && a.Format == "" })
		if len(texts) > 0 {
			c.Label = rapid.SampledFrom(append(texts, "")).Draw(t, "label")
			c.Search = rapid.SliceOfNDistinct(rapid.SampledFrom(texts), 0, 2, rapid.ID).Draw(t, "search")
			c.Unique = drawGroups(t, "unique", texts)
			c.Index = drawGroups(t, "index", texts)
			for i := range c.Index {
				if rapid.Bool().Draw(t, "descending") {
					c.Index[i][0] = "-" + c.Index[i][0]
				}
			}
			c.Checks = []model.Check{{Rule: model.Rule{Text: "true"}, Message: "no", Attribute: texts[0]}}
		}
		if object := c.Declared("d"); object != nil && object.Type == model.Object {
			c.Index = append(c.Index, []string{"d.size"})
		}
		if rapid.Bool().Draw(t, "child") {
			c.Parent = &model.Parent{Collection: rapid.SampledFrom(names).Draw(t, "parent")}
		}
		declared = append(declared, c)
	}
	return declared
}

func drawGroups(t *rapid.T, what string, names []string) [][]string {
	if !rapid.Bool().Draw(t, what) {
		return nil
	}
	return [][]string{rapid.SliceOfNDistinct(rapid.SampledFrom(names), 1, 2, rapid.ID).Draw(t, what)}
}

func namesWhere(attributes []model.Attribute, is func(model.Attribute) bool) (names []string) {
	for _, a := range attributes {
		if is(a) {
			names = append(names, a.Name)
		}
	}
	return names
}

// drawSimple draws an attribute: text, a number, an object or a reference.
func drawSimple(t *rapid.T, name string, collections []string) model.Attribute {
	a := model.Attribute{Name: name, Description: "The " + name}
	switch rapid.IntRange(0, 5).Draw(t, "kind") {
	case 0:
		a.Type = model.Integer
	case 1:
		a.Type, a.Properties = model.Object, []model.Attribute{{Name: "size", Type: model.Integer}}
	case 2, 3:
		a.References = &model.Reference{Collection: rapid.SampledFrom(collections).Draw(t, "to")}
		a.As = rapid.SampledFrom([]string{"", "", "boss"}).Draw(t, "as")
		a.Inverse = rapid.SampledFrom([]string{"", "items", "parts"}).Draw(t, "inverse")
	default:
		a.Type, a.MaxLength = model.String, 40
	}
	return a
}

// evolve draws what becomes of the declarations: other names, another order, more attributes and collections, until.
func evolve(t *rapid.T) (e evolution, ok bool) {
	version, err := compile.Versioned(model.Versions{Newest: 1}, drawVersion(t)...)
	if err != nil {
		return e, false // for example a relation with the name of an attribute
	}
	declared, _, err := model.ReadDocument(version.Document())
	if err != nil {
		t.Fatal(err)
	}
	e = evolution{version: version, renamed: map[string]string{}, attributes: map[string]map[string]string{}}
	names := rapid.Permutation(append(slices.Clone(collectionNames), "cars", "roads")).Draw(t, "new names")
	for i, c := range declared {
		e.renamed[c.Name] = names[i]
	}
	var collections []model.Collection
	for _, c := range declared {
		collections = append(collections, e.evolved(t, c))
	}
	used := slices.Sorted(maps.Values(e.renamed))
	if free := names[len(declared)]; rapid.Bool().Draw(t, "another collection") {
		added := model.Collection{Name: free, Parent: &model.Parent{Collection: rapid.SampledFrom(used).Draw(t, "parent")}}
		collections = append(collections, added)
	}
	stored, err := compile.Versioned(model.Versions{Newest: 2}, rapid.Permutation(collections).Draw(t, "order")...)
	if err != nil {
		return e, false
	}
	e.stored = stored
	paired := map[string]*model.Collection{}
	for _, c := range version.Collections() {
		paired[e.renamed[c.Name]] = c
	}
	e.view = stored.View(version.Versions(), func(c *model.Collection) model.Shown {
		shown := model.Shown{Collection: paired[c.Name], Attributes: make([]*model.Attribute, len(c.Attributes))}
		if shown.Collection == nil {
			return shown
		}
		for i := range c.Attributes {
			for name, now := range e.attributes[shown.Collection.Name] {
				if now == c.Attributes[i].Name {
					shown.Attributes[i] = shown.Collection.Declared(name)
				}
			}
		}
		return shown
	})
	return e, true
}

// evolved is a collection in the stored schema.
func (e *evolution) evolved(t *rapid.T, c model.Collection) model.Collection {
	names := rapid.Permutation(append(slices.Clone(attributeNames), "x", "y", "z")).Draw(t, "new names of attributes")
	now := map[string]string{}
	for i := range c.Attributes {
		a := &c.Attributes[i]
		now[a.Name] = a.Name
		if rapid.Bool().Draw(t, "rename") && !slices.ContainsFunc(c.Attributes, func(b model.Attribute) bool { return b.Name == names[i] }) && !slices.Contains(slices.Collect(maps.Values(now)), names[i]) {
			now[a.Name] = names[i]
		}
	}
	if first := c.AttributeNames(); len(first) > 1 && rapid.Bool().Draw(t, "swap") {
		now[first[0]], now[first[1]] = now[first[1]], now[first[0]]
	}
	e.attributes[c.Name] = now
	c.Name, c.Singular, c.Description = e.renamed[c.Name], "", "Other"
	c.NoTimestamps = c.NoTimestamps && rapid.Bool().Draw(t, "no timestamps")
	renamed := func(names []string) {
		for i, name := range names {
			plain, path, _ := strings.Cut(strings.TrimPrefix(name, "-"), ".")
			names[i] = strings.TrimSuffix(now[plain]+"."+path, ".")
			if strings.HasPrefix(name, "-") {
				names[i] = "-" + names[i]
			}
		}
	}
	for i := range c.Attributes {
		a := &c.Attributes[i]
		a.Name, a.Description = now[a.Name], ""
		if a.References != nil {
			a.References.Collection = e.renamed[a.References.Collection]
			if rapid.Bool().Draw(t, "other relations") {
				a.As, a.Inverse = rapid.SampledFrom([]string{"", "chief"}).Draw(t, "as"), rapid.SampledFrom([]string{"", "members"}).Draw(t, "inverse")
			}
		}
		a.MaxLength *= rapid.IntRange(1, 2).Draw(t, "longer")
	}
	if c.Parent != nil {
		c.Parent.Collection, c.Parent.Attribute = e.renamed[c.Parent.Collection], now[c.Parent.Attribute]
	}
	for _, group := range append(c.Unique, c.Index...) {
		renamed(group)
	}
	renamed(c.Search)
	c.Label, c.Checks = now[c.Label], nil
	for _, name := range names[:rapid.IntRange(0, 3).Draw(t, "more attributes")] {
		if c.Declared(name) == nil {
			a := drawSimple(t, name, slices.Sorted(maps.Values(e.renamed)))
			if a.Type == model.String && rapid.Bool().Draw(t, "searched") {
				c.Search = append(c.Search, name)
			}
			c.Attributes = append(c.Attributes, a)
		}
	}
	for i := range c.Attributes {
		a := &c.Attributes[i]
		if a.Name != c.Label && (c.Parent == nil || c.Parent.Attribute != a.Name) && rapid.IntRange(0, 3).Draw(t, "until") == 0 {
			a.Until = 1
		}
	}
	return c
}

// TestViews draws an earlier and a stored schema: the view shows what the earlier one has, under its names, and nothing else.
func TestViews(t *testing.T) {
	compared, relations := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		e, ok := evolve(t)
		if !ok {
			return
		}
		compared++
		for i, stored := range e.stored.Collections() {
			c := e.view.Collections()[i]
			e.compareColumns(t, stored, c)
			if c.IsAbsent() {
				if e.view.Collection(stored.Name) == c || e.view.Singular(stored.Singular) == c || e.view.Collection(c.Name) != nil ||
					c.ParentLink() != nil && c.ParentLink().To.Child(c.Name) != nil {
					t.Fatalf("%s is found by its name", stored.Name)
				}
			}
		}
		if got, want := len(slices.DeleteFunc(slices.Clone(e.view.Collections()), (*model.Collection).IsAbsent)), len(e.version.Collections()); got != want {
			t.Fatalf("the view has %d collections, want %d", got, want)
		}
		for _, declared := range e.version.Collections() {
			c := e.view.Collection(declared.Name)
			if c == nil || e.view.Singular(declared.Singular) != c || c.Base() != e.stored.Collection(e.renamed[declared.Name]) {
				t.Fatalf("%s is not found", declared.Name)
			}
			e.compare(t, declared, c)
			relations += len(declared.Relations())
		}
		if e.view.Collection("operations") != e.stored.Operations() || e.view.Operations() != e.stored.Operations() || e.view.Of(e.stored.Operations()) != e.stored.Operations() {
			t.Fatal("the operations are others")
		}
	})
	if compared < 40 || relations < 20 {
		t.Errorf("%d schemas and %d relations were compared", compared, relations)
	}
}

// compareColumns compares a collection of a view with the stored one.
func (e evolution) compareColumns(t *rapid.T, stored, c *model.Collection) {
	if c.Base() != stored || stored.Base() != stored || e.view.Of(stored) != c || e.stored.Of(c) != stored || e.view.Of(c) != c || e.stored.Of(stored) != stored || e.view.Base() != e.stored {
		t.Fatalf("%s and %s are not paired", c.Name, stored.Name)
	}
	type column struct {
		Kind    model.Kind
		NotNull bool
	}
	columns := func(c *model.Collection) (all []column) {
		for i, each := range c.Columns() {
			all = append(all, column{each.Kind, each.NotNull})
			if field := c.Field(each.Name); field != nil && (field.Name != each.Name || field.Column != i || field.Kind != each.Kind) {
				t.Fatalf("the field %s of %s is %v", each.Name, c.Name, field)
			}
		}
		return all
	}
	if got, want := columns(c), columns(stored); !slices.Equal(got, want) {
		t.Fatalf("the columns of %s are %v, want %v", stored.Name, got, want)
	}
	for what, of := range map[string]func(*model.Collection) any{
		"unique":   func(c *model.Collection) any { return c.UniqueGroups() },
		"index":    func(c *model.Collection) any { return c.IndexGroups() },
		"searched": func(c *model.Collection) any { return c.SearchColumns() },
		"created":  func(c *model.Collection) any { return c.CreatedColumn() },
		"updated":  func(c *model.Collection) any { return c.UpdatedColumn() },
		"links":    func(c *model.Collection) any { return linksOf(c.Links()) },
		"referrers": func(c *model.Collection) any {
			return linksOf(c.Referrers())
		},
	} {
		if got, want := of(c), of(stored); !reflect.DeepEqual(got, want) {
			t.Fatalf("%s of %s is %v, want %v", what, stored.Name, got, want)
		}
	}
	if got := c.Writable(); !slices.Equal(got, c.Shows()) {
		t.Fatalf("writable of %s is %v, want what it shows, %v", stored.Name, got, c.Shows())
	}
	for i, link := range c.Links() {
		if link.From != c || e.view.Of(link.To) != link.To || link.To.Base() != stored.Links()[i].To {
			t.Fatalf("the link %d of %s leads elsewhere", i, c.Name)
		}
	}
	if parent := c.ParentLink(); parent != nil && (parent.From != c || parent.To.Base() != stored.ParentLink().To || c.Parent.Collection != parent.To.Name || c.Parent.Attribute != c.Columns()[parent.Column].Name) {
		t.Fatalf("the parent of %s is %v", c.Name, c.Parent)
	}
}

func linksOf(links []model.Link) (list []string) {
	for _, link := range links {
		list = append(list, fmt.Sprintf("%s %d %s %s", link.From.Base().Name, link.Column, link.To.Base().Name, link.OnDelete))
	}
	return list
}

// compare compares a collection of a view with that of its version.
func (e evolution) compare(t *rapid.T, declared, c *model.Collection) {
	shows := c.Shows()
	hidden := func(column int) bool { return !shows.Has(column) }
	now := e.attributes[declared.Name]
	if c.Description != declared.Description {
		t.Fatalf("%s is described as %q", c.Name, c.Description)
	}

	var fields []string
	for _, name := range c.FieldNames() {
		if field := c.Field(name); !hidden(field.Column) {
			fields = append(fields, name)
			if field.Kind != declared.Field(name).Kind {
				t.Fatalf("%s of %s is of the kind %s", name, c.Name, field.Kind)
			}
		} else if !strings.HasPrefix(name, "~") && name != "created_at" && name != "updated_at" {
			t.Fatalf("%s has the hidden name %s", c.Name, name)
		}
	}
	if want := declared.FieldNames(); !slices.Equal(fields, want) {
		t.Fatalf("%s has the fields %q, want %q", c.Name, fields, want)
	}
	for name, stored := range now {
		if got, want := c.Field(name).Column, c.Base().Field(stored).Column; got != want {
			t.Fatalf("%s of %s is column %d, want %d", name, c.Name, got, want)
		}
	}

	var relations []string
	for _, r := range c.Relations() {
		relations = append(relations, relation(r))
		if c.Relation(r.Name) != r || e.view.Of(r.From) != r.From || e.view.Of(r.To) != r.To {
			t.Fatalf("the relation %s of %s leads elsewhere", r.Name, c.Name)
		}
	}
	var want []string
	for _, r := range declared.Relations() {
		want = append(want, relation(r))
	}
	if slices.Sort(relations); !slices.Equal(relations, slices.Sorted(slices.Values(want))) {
		t.Fatalf("%s has the relations %q, want %q", c.Name, relations, want)
	}
	for _, child := range e.version.Collections() {
		if got := c.Child(child.Name); (got != nil) != (declared.Child(child.Name) != nil) || got != nil && got != e.view.Collection(child.Name) {
			t.Fatalf("the child %s of %s is %v", child.Name, c.Name, got)
		}
	}
	e.compareNames(t, declared, c)
	e.compareResources(t, declared, c)
}

func relation(r *model.Relation) string {
	return fmt.Sprintf("%s: %s by %s of %s, one %t, total %s", r.Name, r.To.Name, r.Referring().Columns()[r.Column].Name, r.Referring().Name, r.One, r.TotalName())
}

// compareNames compares what lists attributes by their names.
func (e evolution) compareNames(t *rapid.T, declared, c *model.Collection) {
	was := map[string]string{}
	for name, now := range e.attributes[declared.Name] {
		was[now] = name
	}
	translated := func(names []string) (list []string) {
		for _, name := range names {
			plain, path, inside := strings.Cut(name, ".")
			plain, descending := strings.CutPrefix(plain, "-")
			name = cmp.Or(was[plain], "~"+plain)
			if descending {
				name = "-" + name
			}
			if inside {
				name += "." + path
			}
			list = append(list, name)
		}
		return list
	}
	for i := range c.Base().Unique {
		if got, want := c.Unique[i], translated(c.Base().Unique[i]); !slices.Equal(got, want) {
			t.Fatalf("unique of %s is %q, want %q", c.Name, got, want)
		}
	}
	for i := range c.Base().Index {
		if got, want := c.Index[i], translated(c.Base().Index[i]); !slices.Equal(got, want) {
			t.Fatalf("index of %s is %q, want %q", c.Name, got, want)
		}
	}
	if got, want := c.Search, translated(c.Base().Search); !slices.Equal(got, want) {
		t.Fatalf("search of %s is %q, want %q", c.Name, got, want)
	}
	for _, name := range c.SearchNames(c.Shows()) {
		if declared.Declared(name) == nil {
			t.Fatalf("%s is searched, which %s does not have", name, c.Name)
		}
	}
	if c.Label != declared.Label {
		t.Fatalf("the label of %s is %q, want %q", c.Name, c.Label, declared.Label)
	}
	all := func(model.Rule) bool { return true }
	if got, want := byName(t, c.Describe(c.Shows(), all)), byName(t, declared.Describe(nil, all)); !reflect.DeepEqual(got, want) {
		t.Fatalf("%s is described as\n%v, want\n%v", c.Name, got, want)
	}
}

func byName(t *rapid.T, list []byte) map[string]any {
	var attributes []map[string]any
	if err := json.Unmarshal(list, &attributes); err != nil {
		t.Fatal(err)
	}
	all := map[string]any{}
	for _, each := range attributes {
		all[each["name"].(string)] = each
	}
	return all
}

// compareResources writes a resource in the words of the version, and reads it again.
func (e evolution) compareResources(t *rapid.T, declared, c *model.Collection) {
	values := map[string]any{}
	for i := range declared.Attributes {
		switch a := &declared.Attributes[i]; {
		case a.References != nil:
			values[a.Name] = "01936f2e-7d3c-7a4b-9c5d-0123456789ab"
		case a.Type == model.Integer:
			values[a.Name] = i
		case a.Type == model.Object:
			values[a.Name] = map[string]any{"size": i}
		default:
			values[a.Name] = fmt.Sprint("t", i)
		}
	}
	body, _ := json.Marshal(values)
	options := model.DecodeOptions{Mode: model.Create, MaxDepth: 9, Visible: c.Shows(), Writable: c.Shows()}
	inputs, _, err := c.Decode(body, options)
	if err != nil {
		t.Fatalf("%s of %s: %v", body, c.Name, err)
	}
	record := inputs[0].Values
	record[model.IDColumn] = model.IDValue(model.ID{1})
	for column := range c.Columns() {
		if column == c.CreatedColumn() || column == c.UpdatedColumn() {
			record[column] = model.TimeValue("2026-11-14T09:30:00.000Z")
		} else if attribute := c.Columns()[column].Attribute; attribute != nil && !c.Shows().Has(column) && !record[column].IsNull() {
			t.Fatalf("%s sets %s", body, c.Base().Columns()[column].Name)
		}
	}
	inputs, _, err = declared.Decode(body, model.DecodeOptions{Mode: model.Create, MaxDepth: 9})
	if err != nil {
		t.Fatalf("%s of %s: %v", body, declared.Name, err)
	}
	want := inputs[0].Values
	want[model.IDColumn] = model.IDValue(model.ID{1})
	if !declared.NoTimestamps {
		want[declared.CreatedColumn()], want[declared.UpdatedColumn()] = model.TimeValue("2026-11-14T09:30:00.000Z"), model.TimeValue("2026-11-14T09:30:00.000Z")
	}
	got := c.AppendSome(nil, record, c.Shows())
	if want := declared.Represent(want); !reflect.DeepEqual(members(t, got), members(t, want)) {
		t.Fatalf("%s is shown as %s, want %s", body, got, want)
	}
	again, err := c.Restore(got)
	for column := range c.Columns() {
		if err != nil || c.Shows().Has(column) && column < c.RevisionColumn() && again[column] != record[column] {
			t.Fatalf("%s is read as %v, want %v (%v)", got, again, record, err)
		}
	}
	for _, name := range append(slices.Concat(c.Base().AttributeNames(), c.AttributeNames()), "created_at") {
		if declared.Declared(name) != nil || name == "created_at" && !declared.NoTimestamps {
			continue
		}
		_, _, err := c.Decode([]byte(`{"`+name+`": null}`), options)
		var faults problem.Errors
		if !errors.As(err, &faults) || faults[0].Code != problem.CodeUnknownAttribute && faults[0].Code != problem.CodeReadOnly || faults[0].Code == problem.CodeReadOnly && declared.Relation(name) == nil && declared.Relation(strings.TrimSuffix(name, "_total")) == nil {
			t.Fatalf("%s has %s, which the version does not have: %v", c.Name, name, err)
		}
	}
}

func members(t *rapid.T, object []byte) (members map[string]any) {
	if err := json.Unmarshal(object, &members); err != nil {
		t.Fatal(err)
	}
	return members
}
