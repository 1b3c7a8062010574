package model_test

import (
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/plural-go/plural/internal/model"
)

// TestCanonicalJSON is about nested values: compact, numbers in their shortest
// form, strings with the fewest escapes, members in the order in which they came.
func TestCanonicalJSON(t *testing.T) {
	tests := []struct{ given, want string }{
		{` { "b" : 1 , "a" : [ ] } `, `{"b":1,"a":[]}`},
		{`{"a":[1.0,-0,-0.0,1e3,100e-2,0.10,1.5E+3,1e21,12345678901234567,9223372036854775807,1e-7]}`, `{"a":[1,0,0,1000,1,0.1,1500,1e+21,12345678901234567,9223372036854775807,1e-7]}`},
		{`{"a":"\u0041\/\u00e9\ud834\udd1e\u0000"}`, ""},
		{`{"a":"\u0041\/\u00e9\ud834\udd1e\n\u000A\u001f\u2028<"}`, `{"a":"A/é𝄞\n\n\u001f` + "\u2028" + `<"}`},
		{`{"\u0061\"":null,"":true,"c":false}`, `{"a\"":null,"":true,"c":false}`},
		{`{"a":1e400}`, ""},
		{`{"a":[-1e400]}`, ""},
		{`{"\u0000":1}`, ""},
	}
	for _, test := range tests {
		inputs, _, err := things.Decode([]byte(`{"object":`+test.given+`}`), options(model.Patch))
		if test.want == "" {
			if err == nil {
				t.Errorf("%s is accepted as %s", test.given, inputs[0].Values[things.Field("object").Column].Text())
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", test.given, err)
			continue
		}
		if got := inputs[0].Values[things.Field("object").Column].Text(); got != test.want {
			t.Errorf("got  %s\nwant %s", got, test.want)
		}
	}
}

// TestNestedValuesAreCanonicalByTheirDefinition: what has a definition is
// written as an attribute of that type would be.
func TestNestedValuesAreCanonicalByTheirDefinition(t *testing.T) {
	c := mustNew(model.Collection{Name: "trips", Attributes: []model.Attribute{{Name: "stops", Type: model.Array, Items: &model.Attribute{Type: model.Object, Properties: []model.Attribute{
		{Name: "at", Type: model.String, Format: model.DateTime}, {Name: "place", Type: model.String, Format: model.UUID}, {Name: "count", Type: model.Integer}, {Name: "km", Type: model.Number}, {Name: "note", Type: model.String},
	}}}}})
	given := `{"stops":[{"km":10e2,"at":"2026-11-14T10:30:00+01:00","place":"` + strings.ToUpper(noteID) + `","count":1e1,"note":"\u0041","more":1.0}]}`
	want := `[{"km":1000,"at":"2026-11-14T09:30:00.000Z","place":"` + noteID + `","count":10,"note":"A","more":1}]`
	inputs, _, err := c.Decode([]byte(given), options(model.Create))
	if err != nil {
		t.Fatal(err)
	}
	if got := inputs[0].Values[1].Text(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// TestRecordRoundTrip writes random resources and reads them back: as a PUT of
// what was read, and out of the change log.
func TestRecordRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		record := drawRecord(t, things)
		text := things.Append(nil, record)
		restored, err := things.Restore(text)
		if err != nil || !reflect.DeepEqual(restored, record) {
			t.Fatalf("%s is restored as\n%v, %v, want\n%v", text, restored, err, record)
		}
		inputs, _, err := things.Decode(text, model.DecodeOptions{Mode: model.Replace, ID: record.ID(model.IDColumn), MaxDepth: 64})
		if err != nil {
			t.Fatalf("%s is refused: %v", text, err)
		}
		from, to := things.AttributeColumns()
		if got := inputs[0].Values[from:to]; !reflect.DeepEqual(got, record[from:to]) {
			t.Fatalf("%s is read as\n%v, want\n%v", text, got, record[from:to])
		}
	})
}

// drawRecord draws a valid resource without a revision.
func drawRecord(t *rapid.T, c *model.Collection) model.Record {
	record := make(model.Record, len(c.Columns()))
	for i, column := range c.Columns() {
		if column.Name != model.RevisionName && (column.NotNull || rapid.IntRange(0, 5).Draw(t, "null") > 0) {
			record[i] = drawValue(t, column)
		}
	}
	return record
}

func drawValue(t *rapid.T, column model.Column) model.Value {
	text := rapid.Map(rapid.String(), func(s string) string { return strings.ReplaceAll(s, "\x00", "") })
	switch column.Kind {
	case model.KindBoolean:
		return model.BoolValue(rapid.Bool().Draw(t, column.Name))
	case model.KindInteger:
		return model.IntValue(rapid.Int64().Draw(t, column.Name))
	case model.KindNumber:
		return model.FloatValue(rapid.Float64().Draw(t, column.Name))
	case model.KindUUID:
		return model.IDValue(model.ID(rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, column.Name)))
	case model.KindDate:
		return model.TextValue(drawTime(t)[:10])
	case model.KindDateTime:
		return model.TimeValue(drawTime(t))
	case model.KindJSON:
		// The store holds canonical text: what the decoder makes of a value.
		value, err := column.Attribute.DecodeJSON([]byte(drawJSON(column.Attribute.Type, 3).Draw(t, column.Name)))
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
	switch column.Attribute.Format {
	case model.Email:
		return model.TextValue(rapid.StringMatching(`[a-z0-9!#$%&'*+/=?^_{|}~-]{1,9}(\.[a-z]{1,3})?@[a-z]{1,9}(\.[a-z0-9]{1,9}){0,2}`).Draw(t, column.Name))
	case model.URI:
		return model.TextValue(rapid.StringMatching(`[a-z][a-z0-9+.-]{0,5}:(//[a-z]{1,5}(:[0-9]{1,4})?)?/[a-z%20]?(\?[a-z=&]{0,5})?(#[a-z]{0,3})?`).
			Filter(func(text string) bool { _, err := column.Attribute.DecodeJSON([]byte(quote(text))); return err == nil }).Draw(t, column.Name))
	}
	return model.TextValue(text.Draw(t, column.Name))
}
