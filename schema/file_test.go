package schema

import (
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/plural-go/plural/internal/model"
)

var update = flag.Bool("update", false, "write what is found into the golden files in testdata")

// TestParseProblems goes through testdata/problems: a file, a line of dashes,
// and all that is wrong with it.
func TestParseProblems(t *testing.T) {
	files, err := filepath.Glob("testdata/problems/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no golden files", err)
	}
	for _, name := range files {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txt"), func(t *testing.T) {
			golden, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			input, want, found := strings.Cut(string(golden), "----\n")
			if !found {
				t.Fatal("no line of dashes")
			}
			file, err := Parse([]byte(input))
			var problems Problems
			if !errors.As(err, &problems) || file != nil && file.Schema != nil {
				t.Fatalf("got %v and %v, want only problems", file, err)
			}
			got := problems.Error() + "\n"
			if *update {
				if err := os.WriteFile(name, []byte(input+"----\n"+got), 0o644); err != nil {
					t.Fatal(err)
				}
			} else if got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

// TestParse compares a file that uses everything with the same schema in Go.
func TestParse(t *testing.T) {
	const text = `
server:
  addr: 127.0.0.1:8080
  max_body: 1000
  pretty: true
collections:
  users:
    description: "People"
    attributes:
      name: &name {type: string, minLength: 1, maxLength: 200, pattern: "^[A-Z]", description: A name}
      nickname: *name
      email: {type: string, format: email, maxLength: 254, unique: true}
      role: {type: string, enum: [reader, "yes"], default: reader, index: true}
      born: {type: string, format: date, default: 2000-01-01}
      age: {type: integer, minimum: 0, exclusiveMaximum: 150}
      score: {type: number, exclusiveMinimum: -0.50, maximum: 12345678901234567890.125, multipleOf: 0.125, default: 1.50}
      active: {type: boolean, default: true, unique: false}
      address:
        type: object
        properties:
          Street: {type: string}
          country: {type: string}
        required: [country]
        additionalProperties: false
        default: {country: nl, Street: x}
      tags: {type: array, items: {type: string, enum: [a, b]}, minItems: 1, maxItems: 3, default: [b, a]}
      boss: {references: {collection: users, on_delete: set_null}}
      team: {references: teams, until: 2}
    required: [name, email]
    unique: [nickname, [name, age]]
    index: age
    singular: person
    timestamps: false
  teams:
  badges:
    parent: {collection: users, attribute: owner_id, on_delete: cascade}
    required: [owner_id]
  medals:
    parent: users
version: 3
deprecated: {2: 2027-01-01, "1": "2026-06-30"}
`
	file, err := Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	name := Attribute{Type: String, MinLength: 1, MaxLength: 200, Pattern: "^[A-Z]", Description: "A name"}
	called := func(a Attribute, name string, required bool) Attribute {
		a.Name, a.Required = name, required
		return a
	}
	want, err := Versioned(Versions{Newest: 3, Deprecated: map[int]string{1: "2026-06-30", 2: "2027-01-01"}},
		Collection{
			Name: "users", Singular: "person", Description: "People", NoTimestamps: true,
			Unique: [][]string{{"nickname"}, {"name", "age"}},
			Index:  [][]string{{"age"}},
			Attributes: []Attribute{
				called(name, "name", true),
				called(name, "nickname", false),
				{Name: "email", Type: String, Format: Email, MaxLength: 254, Unique: true, Required: true},
				{Name: "role", Type: String, Enum: []any{"reader", "yes"}, Default: "reader", Index: true},
				{Name: "born", Type: String, Format: Date, Default: "2000-01-01"},
				{Name: "age", Type: Integer, Minimum: "0", ExclusiveMaximum: "150"},
				{Name: "score", Type: Number, ExclusiveMinimum: "-0.50", Maximum: "12345678901234567890.125", MultipleOf: "0.125", Default: json.Number("1.50")},
				{Name: "active", Type: Boolean, Default: true},
				{Name: "address", Type: Object, Closed: true, Default: json.RawMessage(`{"country":"nl","Street":"x"}`), Properties: []Attribute{
					{Name: "Street", Type: String}, {Name: "country", Type: String, Required: true},
				}},
				{Name: "tags", Type: Array, MinItems: 1, MaxItems: 3, Default: json.RawMessage(`["b","a"]`), Items: &Attribute{Type: String, Enum: []any{"a", "b"}}},
				{Name: "boss", References: &Reference{"users", SetNull}},
				{Name: "team", References: &Reference{Collection: "teams"}, Until: 2},
			},
		},
		Collection{Name: "teams"},
		Collection{Name: "badges", Parent: &Parent{Collection: "users", Attribute: "owner_id", OnDelete: Cascade}, Attributes: []Attribute{{Name: "owner_id", Required: true}}},
		Collection{Name: "medals", Parent: &Parent{Collection: "users"}},
	)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := declarations(file.Schema), declarations(want); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	settings := []Setting{{"addr", "127.0.0.1:8080", 3, 9, 3, 3}, {"max_body", "1000", 4, 13, 4, 3}, {"pretty", "true", 5, 11, 5, 3}}
	if !reflect.DeepEqual(file.Settings, settings) {
		t.Errorf("got %+v, want %+v", file.Settings, settings)
	}
}

// TestParseBytes is about files that a golden file cannot hold.
func TestParseBytes(t *testing.T) {
	tests := []struct{ name, input, want string }{
		{"not UTF-8", "collections:\n  \u00fcs\xffers:\n", "2:5: the file must be text in UTF-8"},
		{"control character", "collections:\n  users: \"\x01\"\n", "2:3: this is not YAML (control characters are not allowed)"},
		{"byte order mark", "\ufeffcollections: {users: {}}\n", ""},
		{"attribute that is a collection", "collections:\n  users: {}\n  posts:\n    attributes:\n      user: users\n",
			`5:13: user must be a mapping such as {type: string}, but is the text "users": to refer to a collection of this name, write {references: users}`},
		{"carriage returns", "collections:\r\n  users:\r\n    attributes: []\r\n", "3:5: attributes must be a mapping (lines of key: value, indented), but is a list"},
		{"many lists", strings.Repeat("[", 20_000), "1:1: this is not YAML (exceeded max depth of 10000)"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := ""
			if _, err := Parse([]byte(test.input)); err != nil {
				got = err.Error()
			}
			if got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// FuzzParse: whatever the bytes, there is a schema or a list of problems with
// lines and columns in the file, in order.
func FuzzParse(f *testing.F) {
	files, err := filepath.Glob("testdata/problems/*.txt")
	if err != nil {
		f.Fatal(err)
	}
	for _, name := range files {
		golden, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		input, _, _ := strings.Cut(string(golden), "----\n")
		f.Add([]byte(input))
	}
	f.Add(exampleFile)
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := Parse(data)
		if err == nil {
			if file.Schema == nil || len((*model.Schema)(file.Schema).Collections()) == 0 {
				t.Fatal("no error, and no schema")
			}
			return
		}
		var problems Problems
		if !errors.As(err, &problems) || len(problems) == 0 || file != nil && file.Schema != nil {
			t.Fatalf("not a list of problems: %v", err)
		}
		before := Problem{Line: 1, Column: 1}
		for _, p := range problems {
			if p.Line < before.Line || p.Line == before.Line && p.Column < before.Column || p.Message == "" {
				t.Fatalf("%v comes after %v", p, before)
			}
			before = p
		}
	})
}
