package model

import (
	"bytes"
	"encoding/json"
	"math"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestAppendFloat compares with encoding/json, which has the same conventions
// but for -0.
func TestAppendFloat(t *testing.T) {
	check := func(t interface{ Fatalf(string, ...any) }, f float64) {
		got := string(appendFloat([]byte("x"), f))[1:]
		want, err := json.Marshal(f + 0)
		if err != nil || got != string(want) {
			t.Fatalf("%v: got %s, want %s (%v)", f, got, want, err)
		}
		if back, err := strconv.ParseFloat(got, 64); err != nil || back != f {
			t.Fatalf("%v is written %s and read as %v (%v)", f, got, back, err)
		}
	}
	for _, f := range []float64{0, math.Copysign(0, -1), 1, -1, 0.1, 1e-6, 9.999999e-7, 1e-7, 1.5e-10, 1e20, 1e21, 1.5e21, 1e100, -1e-9, math.MaxFloat64, math.SmallestNonzeroFloat64, 1 << 53, 123456789012345680000} {
		check(t, f)
	}
	rapid.Check(t, func(t *rapid.T) {
		bits := rapid.Uint64().Draw(t, "bits")
		if f := math.Float64frombits(bits); !math.IsNaN(f) && !math.IsInf(f, 0) {
			check(t, f)
		}
		check(t, float64(rapid.Int64().Draw(t, "mantissa"))*math.Pow10(rapid.IntRange(-30, 5).Draw(t, "exponent")))
	})
}

// TestQuoteTail compares with encoding/json, which for the sake of JavaScript
// escapes two characters more.
func TestQuoteTail(t *testing.T) {
	line := strings.NewReplacer(`\u2028`, "\u2028", `\u2029`, "\u2029")
	rapid.Check(t, func(t *rapid.T) {
		awkward := rapid.SampledFrom([]string{`"`, `\`, "/", "\x00", "\n", "\r", "\t", "\b", "\f", "\x1f", "\x7f", "<", "&", "\u2028", "\u2029", "é", "\ufffd", "\U0001d11e", "a"})
		text := rapid.String().Draw(t, "any") + strings.Join(rapid.SliceOf(awkward).Draw(t, "awkward"), "")
		before := rapid.SampledFrom([]string{"", "x", `{"a":`}).Draw(t, "before")
		var want bytes.Buffer
		encoder := json.NewEncoder(&want)
		encoder.SetEscapeHTML(false)
		if err := encoder.Encode(strings.ReplaceAll(text, `\u202`, "")); err != nil {
			t.Fatal(err)
		}
		text = strings.ReplaceAll(text, `\u202`, "") // not to be taken for the escapes
		got := quoteTail([]byte(before+text), len(before))
		if string(got) != before+line.Replace(strings.TrimSpace(want.String())) {
			t.Fatalf("got  %s\nwant %s%s", got, before, want.String())
		}
	})
}

func TestAppend(t *testing.T) {
	id, _ := ParseID("01936f2e-7d3c-7a4b-9c5d-0123456789ab")
	when := TimeValue("2026-11-14T09:30:00.123Z")
	tests := []struct {
		name   string
		record Record
		want   string
	}{
		{"values", Record{IDValue(id), TextValue("a \"b\"\n<é>"), IntValue(math.MinInt64), FloatValue(1e-7), BoolValue(false), IDValue(ID{}), TextValue("2026-11-14"), when,
			TextValue("a@b"), TextValue("a:b"), TextValue(`{"b":1,"a":[]}`), TextValue("[1]"), when, when, IntValue(7)},
			`{"id":"01936f2e-7d3c-7a4b-9c5d-0123456789ab","type":"things","text":"a \"b\"\n<é>","integer":-9223372036854775808,"number":1e-7,"boolean":false,` +
				`"uuid":"00000000-0000-0000-0000-000000000000","date":"2026-11-14","moment":"2026-11-14T09:30:00.123Z","email":"a@b","uri":"a:b","object":{"b":1,"a":[]},"array":[1],` +
				`"created_at":"2026-11-14T09:30:00.123Z","updated_at":"2026-11-14T09:30:00.123Z"}`},
		{"nulls", Record{IDValue(id), Null, Null, Null, Null, Null, Null, Null, Null, Null, Null, Null, when, when, IntValue(7)},
			`{"id":"01936f2e-7d3c-7a4b-9c5d-0123456789ab","type":"things","text":null,"integer":null,"number":null,"boolean":null,` +
				`"uuid":null,"date":null,"moment":null,"email":null,"uri":null,"object":null,"array":null,` +
				`"created_at":"2026-11-14T09:30:00.123Z","updated_at":"2026-11-14T09:30:00.123Z"}`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := string(things.Append([]byte("["), test.record)); got != "["+test.want {
				t.Errorf("got  %s\nwant [%s", got, test.want)
			}
			if got := things.Scan(test.record); !reflect.DeepEqual(got, test.record) {
				t.Errorf("scanned, it is %v", got)
			}
		})
	}
}

func TestAppendWithoutTimestamps(t *testing.T) {
	c := mustNew(Collection{Name: "tags", NoTimestamps: true, Attributes: []Attribute{{Name: "label", Type: String}}})
	got := string(c.Append(nil, Record{IDValue(ID{}), TextValue("x"), IntValue(1)}))
	if want := `{"id":"00000000-0000-0000-0000-000000000000","type":"tags","label":"x"}`; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
