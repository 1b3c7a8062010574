package model

import (
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"
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
		inputs, _, err := things.Decode([]byte(`{"object":`+test.given+`}`), options(Patch))
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
	c := mustNew(Collection{Name: "trips", Attributes: []Attribute{{Name: "stops", Type: Array, Items: &Attribute{Type: Object, Properties: []Attribute{
		{Name: "at", Type: String, Format: DateTime}, {Name: "place", Type: String, Format: UUID}, {Name: "count", Type: Integer}, {Name: "km", Type: Number}, {Name: "note", Type: String},
	}}}}})
	given := `{"stops":[{"km":10e2,"at":"2026-11-14T10:30:00+01:00","place":"` + strings.ToUpper(noteID) + `","count":1e1,"note":"\u0041","more":1.0}]}`
	want := `[{"km":1000,"at":"2026-11-14T09:30:00.000Z","place":"` + noteID + `","count":10,"note":"A","more":1}]`
	inputs, _, err := c.Decode([]byte(given), options(Create))
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
		inputs, _, err := things.Decode(text, DecodeOptions{Mode: Replace, ID: record.ID(IDColumn), MaxDepth: 64})
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
func drawRecord(t *rapid.T, c *Collection) Record {
	record := make(Record, len(c.Columns()))
	for i, column := range c.Columns() {
		if column.Name != RevisionName && (column.NotNull || rapid.IntRange(0, 5).Draw(t, "null") > 0) {
			record[i] = drawValue(t, column)
		}
	}
	return record
}

func drawValue(t *rapid.T, column Column) Value {
	text := rapid.Map(rapid.String(), func(s string) string { return strings.ReplaceAll(s, "\x00", "") })
	switch column.Kind {
	case KindBoolean:
		return BoolValue(rapid.Bool().Draw(t, column.Name))
	case KindInteger:
		return IntValue(rapid.Int64().Draw(t, column.Name))
	case KindNumber:
		return FloatValue(rapid.Float64().Draw(t, column.Name))
	case KindUUID:
		return IDValue(ID(rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, column.Name)))
	case KindDate:
		return TextValue(drawTime(t)[:10])
	case KindDateTime:
		return TimeValue(drawTime(t))
	case KindJSON:
		// The store holds canonical text: what the decoder makes of a value.
		d := newDecoder([]byte(drawJSON(column.Attribute.Type, 3).Draw(t, column.Name)), 64)
		value, err := d.attribute(column.Attribute)
		if err != nil || len(d.faults) > 0 {
			t.Fatal(err, d.faults)
		}
		return value
	}
	switch column.Attribute.Format {
	case Email:
		return TextValue(rapid.StringMatching(`[a-z0-9!#$%&'*+/=?^_{|}~-]{1,9}(\.[a-z]{1,3})?@[a-z]{1,9}(\.[a-z0-9]{1,9}){0,2}`).Draw(t, column.Name))
	case URI:
		return TextValue(rapid.StringMatching(`[a-z][a-z0-9+.-]{0,5}:(//[a-z]{1,5}(:[0-9]{1,4})?)?/[a-z%20]?(\?[a-z=&]{0,5})?(#[a-z]{0,3})?`).
			Filter(isURI).Draw(t, column.Name))
	}
	return TextValue(text.Draw(t, column.Name))
}
