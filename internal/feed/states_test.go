package feed

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"net/url"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/plural-go/plural/internal/auth"
	"github.com/plural-go/plural/internal/changelog"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/pgtest"
	"github.com/plural-go/plural/internal/query"
	"github.com/plural-go/plural/internal/reads"
	"github.com/plural-go/plural/internal/resource"
	"github.com/plural-go/plural/internal/statement"
	"github.com/plural-go/plural/internal/store"
	"github.com/plural-go/plural/schema"
)

const kindsFile = `
collections:
  things:
    attributes:
      text: {type: string}
      whole: {type: integer}
      number: {type: number}
      price: {type: string, format: decimal, scale: 2}
      flag: {type: boolean}
      ref: {type: string, format: uuid}
      day: {type: string, format: date}
      at: {type: string, format: date-time}
      extra: {type: object}
access:
  roles:
    a: {things: {list: true, read: "%s"}}
`

// thingValues are few, so that filters match some of them; thingRules are rules over them.
var (
	thingValues = map[string][]any{
		"text": {nil, "", "a", "A", "ab", "a,b", `\`, `"q"`, "é", "\ue000", "\U0001d11e", "%"}, "whole": {nil, 0, -1, json.Number("9223372036854775807"), 2},
		"number": {nil, 0, -0.5, 1e300, 0.1, json.Number("-0"), 2}, "price": {nil, "0", "-0.05", "1.5", "-9999999999999999.99"}, "flag": {nil, true, false},
		"ref": {nil, "00000000-0000-0000-0000-000000000000", "ff000000-0000-0000-0000-000000000000"}, "day": {nil, "2024-02-29", "0001-01-01"},
		"at": {nil, "2026-11-14T09:30:00.123Z", "1969-12-31T23:59:59.999Z", "2026-11-14T10:30:00.123+01:00"}, "extra": {nil, map[string]any{"a": 1}},
	}
	thingRules = []string{"resource.text == auth.sub", "resource.whole > 0 || resource.flag", "!(resource.number < 0.2)", "resource.at >= timestamp('2026-01-01T00:00:00Z')",
		"resource.ref == null && resource.text != 'a'", "resource.text in ['a', 'ab', '']", "resource.text.startsWith('a') ? resource.flag : resource.day == '2024-02-29'"}
)

// TestStatesOfTheLogMatchAsRowsDo: filters and rules select the states that the change log tells of
// just as the SQL selects the rows, on both databases.
func TestStatesOfTheLogMatchAsRowsDo(t *testing.T) {
	policies := map[string]*auth.Policy{}
	var s *model.Schema
	for _, rule := range thingRules {
		file, err := schema.Parse(fmt.Appendf(nil, kindsFile, rule))
		if err != nil {
			t.Fatal(err)
		}
		if s == nil {
			s = (*model.Schema)(file.Schema)
		}
		if policies[rule], err = auth.Compile(s, file.Access); err != nil {
			t.Fatal(err)
		}
	}
	for name, database := range pgtest.Databases() {
		t.Run(name, func(t *testing.T) {
			st, err := store.Open(context.Background(), database(t), s)
			if err != nil {
				t.Fatal(err)
			}
			defer st.Close()
			w := &things{store: st, resources: resource.New(st), c: s.Collection("things"), after: map[model.ID]model.Record{}}
			rapid.Check(t, func(rt *rapid.T) {
				w.write(rt)
				w.read(rt)
				for range 4 {
					filter := w.drawFilter(rt)
					if rapid.Bool().Draw(rt, "ruled") {
						caller := auth.Caller{ID: "x", Role: "a", Subject: rapid.SampledFrom([]string{"a", "ab"}).Draw(rt, "sub")}
						filter = query.Both(filter, policies[rapid.SampledFrom(thingRules).Draw(rt, "rule")].Permit(caller).Scope(w.c))
					}
					w.compare(rt, filter)
				}
			})
		})
	}
}

// things is a collection, and the last states that the log has told.
type things struct {
	store     *store.Store
	resources *resource.Resources
	c         *model.Collection
	after     map[model.ID]model.Record
	last      int64
}

// write changes some resources.
func (w *things) write(t *rapid.T) {
	for range rapid.IntRange(1, 3).Draw(t, "writes") {
		id := model.ID{15: byte(rapid.IntRange(1, 9).Draw(t, "id"))}
		body := map[string]any{"id": id.String()}
		for _, attribute := range w.c.Attributes {
			if rapid.Bool().Draw(t, attribute.Name) {
				body[attribute.Name] = rapid.SampledFrom(thingValues[attribute.Name]).Draw(t, "value")
			}
		}
		text, err := json.Marshal(body)
		if err != nil {
			t.Fatal(err)
		}
		method := rapid.SampledFrom([]string{"PUT", "PATCH", "PATCH", "DELETE"}).Draw(t, "method")
		if w.after[id] == nil {
			method = "POST"
		}
		step := resource.Step{Method: method, Path: reads.Path{Collection: w.c}, ID: id, Body: text, BodyLimits: resource.BodyLimits{Depth: 10, Items: 10}}
		if method == "DELETE" {
			step.Body = nil
		}
		if err := w.resources.Execute(context.Background(), resource.Request{Steps: []resource.Step{step}}).Err; err != nil {
			t.Fatalf("%s %s: %v", method, text, err)
		}
		w.read(t)
	}
}

// read reads the log. Each state before a change is the one after the change before.
func (w *things) read(t *rapid.T) {
	if _, err := w.store.AssignNumbers(context.Background()); err != nil {
		t.Fatal(err)
	}
	tx, err := w.store.Read(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Close()
	for more := true; more; {
		var entries []changelog.Entry
		if entries, w.last, more, err = tx.Log(changelog.Query{After: w.last, Most: 100}); err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			shown := w.c.RevisionColumn()
			if before := w.after[e.ID]; (before == nil) != (e.Before == nil) || before != nil && !slices.Equal(before[:shown], e.Before[:shown]) {
				t.Fatalf("%s of %s: before is %v, and was %v", e.Kind, e.ID, e.Before, before)
			}
			if w.after[e.ID] = e.After; e.After == nil {
				delete(w.after, e.ID)
			}
		}
	}
}

func (w *things) drawFilter(t *rapid.T) query.Filter {
	names := w.c.FieldNames()
	field := w.c.Field(rapid.SampledFrom(names).Draw(t, "field"))
	name, ops := "filter["+field.Name+"]", []string{"", "[null]=true", "[null]=false"}
	if values := thingValues[field.Name]; values != nil && field.Kind != model.KindJSON {
		value := func() string { return url.QueryEscape(fmt.Sprint(rapid.SampledFrom(values[1:]).Draw(t, "value"))) }
		for _, op := range []string{"eq", "ne", "lt", "lte", "gt", "gte"} {
			ops = append(ops, "["+op+"]="+value())
		}
		if field.Kind == model.KindText {
			ops = append(ops, "[contains]="+value(), "[starts_with]="+value())
		}
	}
	q, err := query.Parse(query.OfList, w.c, name+rapid.SampledFrom(ops).Draw(t, "op"), query.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return q.Filter
}

// compare compares what a filter selects of the states and of the rows.
func (w *things) compare(t *rapid.T, filter query.Filter) {
	matched := []string{}
	for id, record := range w.after {
		if filter == nil || filter.Match(record) {
			matched = append(matched, id.String())
		}
	}
	slices.Sort(matched)
	tx, err := w.store.Read(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Close()
	rows, err := tx.Select(w.c, statement.Selection{Plan: statement.Plan{Filter: filter}, Order: statement.NewOrder(nil), Take: math.MaxInt64})
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	selected := []string{}
	for {
		more, err := rows.Next()
		if err != nil {
			t.Fatal(err)
		}
		if !more {
			break
		}
		selected = append(selected, rows.ID(model.IDColumn).String())
	}
	if !slices.Equal(matched, selected) {
		t.Fatalf("%+v\nmatches %v\nselects %v", filter, matched, selected)
	}
}
