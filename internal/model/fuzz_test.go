package model_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/internal/model"
)

// FuzzDecode makes sure that whatever a body is, it is either refused with a
// status of the client's, or strict JSON that is written as it was read.
func FuzzDecode(f *testing.F) {
	for _, seed := range []string{
		``, `{}`, `[]`, `[{},{}]`, `{"data":{"text":"a"}}`, `{"text":"a\u0041\ud834\udd1e\n","integer":1e3,"number":-0.0,"boolean":true}`,
		`{"uuid":"01936F2E-7d3c-7a4b-9c5d-0123456789ab","date":"2024-02-29","moment":"2026-11-14T10:30:00.5+01:00","email":"\"a b\"@[::1]","uri":"urn:a%20b"}`,
		`{"object":{"b":[1.0,1e400,"\u0000",{}],"a":null},"array":[[[[]]]]}`, `{"id":"01936f2e-7d3c-7a4b-9c5d-01-3456789ab","type":"things","created_at":"x"}`,
		`{"text":"\ud800"}`, `{"text":"a","text":"b"}`, `{"text":1} x`, "{\"text\":\"\xff\"}", "\ufeff{}", `{"moment":"2026-11-14T09:30:00,1234Z"}`, `{"integer":1e-99999999999}`,
		`{"object":{"":{"":[]}},"unknown":[[]]}`, strings.Repeat("[", 100), `null`, `"a"`, `{"array":[9007199254740993,12345678901234567890,0.1e-5]}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, mode := range []model.Mode{model.Create, model.Replace, model.Patch} {
			inputs, _, err := things.Decode(body, model.DecodeOptions{Mode: mode, MaxDepth: 8, MaxItems: 4})
			if err != nil {
				for _, problem := range fault.From(err) {
					if status := problem.Status(); status < 400 || status > 499 || !utf8.ValidString(problem.Detail+problem.Source.Pointer) {
						t.Errorf("%q gives %d %q", body, status, problem)
					}
				}
				continue
			}
			if err := strictJSON(body); err != nil {
				t.Errorf("%q is accepted: %v", body, err)
			}
			for _, in := range inputs {
				checkRewrite(t, in)
			}
		}
	})
}

// checkRewrite writes the record of an input and reads it back.
func checkRewrite(t *testing.T, in model.Input) {
	t.Helper()
	record := append(model.Record{}, in.Values...)
	for _, column := range []int{model.IDColumn, things.CreatedColumn(), things.UpdatedColumn()} {
		if record.Null(column) {
			record[column] = map[bool]model.Value{true: model.IDValue(model.ID{}), false: model.TimeValue("2026-11-14T09:30:00.123Z")}[column == model.IDColumn]
		}
	}
	text := things.Append(nil, record)
	if err := strictJSON(text); err != nil {
		t.Fatalf("it is written as %q: %v", text, err)
	}
	again, _, err := things.Decode(text, model.DecodeOptions{Mode: model.Replace, ID: record.ID(model.IDColumn), MaxDepth: 8})
	if err != nil {
		t.Fatalf("it is written as %q and refused: %v", text, err)
	}
	from, to := things.AttributeColumns()
	if got := again[0].Values[from:to]; !reflect.DeepEqual(got, record[from:to]) {
		t.Errorf("%q is read as %v, want %v", text, got, record[from:to])
	}
	if restored, err := things.Restore(text); err != nil || !reflect.DeepEqual(restored, record) {
		t.Errorf("%q is restored as %v (%v), want %v", text, restored, err, record)
	}
}

// strictJSON is a reference for what strict means: valid for encoding/json,
// UTF-8, no member twice in an object, no surrogate without its other half.
func strictJSON(text []byte) error {
	if !utf8.Valid(text) || !json.Valid(text) {
		return fmt.Errorf("not valid")
	}
	if err := pairedSurrogates(text); err != nil {
		return err
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	return uniqueMembers(decoder)
}

func uniqueMembers(decoder *json.Decoder) error {
	token, err := decoder.Token()
	if err != nil {
		return err
	}
	delim, _ := token.(json.Delim)
	if delim != '{' && delim != '[' {
		return nil
	}
	seen := map[string]bool{}
	for decoder.More() {
		if delim == '{' {
			name, err := decoder.Token()
			if err != nil {
				return err
			}
			if seen[name.(string)] {
				return fmt.Errorf("the member %q is there twice", name)
			}
			seen[name.(string)] = true
		}
		if err := uniqueMembers(decoder); err != nil {
			return err
		}
	}
	_, err = decoder.Token()
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return err
}

// pairedSurrogates looks at the escapes of a valid text.
func pairedSurrogates(text []byte) error {
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' {
			continue
		}
		i++ // at what is escaped
		half, ok := surrogate(text[i:])
		if !ok {
			continue
		}
		i += 4
		second, ok := surrogate(bytes.TrimPrefix(text[i+1:], []byte(`\`)))
		if half >= 0xdc00 || !ok || second < 0xdc00 || text[i+1] != '\\' {
			return fmt.Errorf("half of a pair at %d", i)
		}
		i += 6
	}
	return nil
}

func surrogate(escape []byte) (half int, ok bool) {
	if len(escape) < 5 || escape[0] != 'u' {
		return 0, false
	}
	if _, err := fmt.Sscanf(string(escape[1:5]), "%04x", &half); err != nil {
		return 0, false
	}
	return half, 0xd800 <= half && half <= 0xdfff
}

// FuzzFilterValue makes sure that a value of any kind that is accepted is
// accepted again, and is the same, as it is written.
func FuzzFilterValue(f *testing.F) {
	for _, seed := range []string{
		"", "true", "false", "True", "0", "-0", "1.0", "1e3", "1e-3", "1e400", "9223372036854775807", "9223372036854775808", "0x1p-2", "Inf", "+1", " 1", "1_0",
		"01936f2e-7d3c-7a4b-9c5d-0123456789ab", "01936F2E-7D3C-7A4B-9C5D-0123456789AB", "01936f2e-7d3c-7a4b-9c5d-01-3456789ab", "{01936f2e-7d3c-7a4b-9c5d-0123456789ab}",
		"2024-02-29", "2023-02-29", "2026-11-14T09:30:00Z", "2026-11-14T09:30:00.12+23:59", "2026-11-14T09:30:00,1234Z", "0000-01-01T00:00:00+00:01", "é", "\U0010ffff",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for kind := model.KindText; kind <= model.KindDateTime; kind++ {
			value, problem := kind.Parse(text)
			if problem != "" {
				if !value.IsNull() {
					t.Errorf("kind %d: %q is refused, but is %v", kind, text, value)
				}
				continue
			}
			written := text
			if kind != model.KindText {
				written = strings.Trim(string(kind.AppendValue(nil, model.Record{value}, 0)), `"`)
			}
			again, problem := kind.Parse(written)
			if problem != "" || again != value || model.Compare(again, value) != 0 {
				t.Errorf("kind %d: %q is %v, but its text %q is %v (%s)", kind, text, value, written, again, problem)
			}
		}
	})
}
