package schema_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/plural-go/plural/internal/compile"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/openapi"
	"github.com/plural-go/plural/schema"
)

// example is an attribute that has a keyword, and one that differs in the keyword only.
type example struct {
	keyword       model.Keyword
	before, after string // definitions in a schema file

	goType reflect.Type // of the field of a struct that declares the same as after
	tag    string
}

// exampleOf makes an example by the type of the keyword's field.
func exampleOf(t *testing.T, k model.Keyword) example {
	goTypes := map[model.Type]reflect.Type{
		model.String: reflect.TypeFor[string](), model.Number: reflect.TypeFor[float64](), model.Boolean: reflect.TypeFor[bool](),
		model.Array: reflect.TypeFor[[]string](), model.Object: reflect.TypeFor[struct {
			A string `json:"a"`
		}](),
	}
	ofType := model.String
	if len(k.Types) > 0 {
		ofType = k.Types[len(k.Types)-1]
	}
	before, tag := "type: "+string(ofType), ""
	with := func(value, word string) example {
		return example{k, "{" + before + "}", "{" + before + ", " + k.Name + ": " + value + "}", goTypes[ofType], tag + word}
	}
	switch k.Name {
	case "type":
		return example{k, "{type: integer}", "{type: string}", goTypes[model.String], "type=string"}
	case "scale":
		return example{k, "{type: string, format: decimal, scale: 1}", "{type: string, format: decimal, scale: 2}", goTypes[model.String], "format=decimal,scale=2"}
	case "contentMediaType":
		return with(model.Markdown, k.Name+"="+model.Markdown)
	case "as", "inverse":
		before, tag = "references: things", "references=things,"
		return with("abc", k.Name+"=abc")
	case "index":
		before = "type: array, items: {type: string}"
		return with("true", "index")
	case "transitions":
		before, tag = "type: string, enum: [abc, abd], default: abc", "enum=abc|abd,default=abc,"
		return with("{abc: [abd], abd: [abc]}", "transitions=abc>abd|abd>abc")
	case "initial":
		before, tag = "type: string, enum: [abc, abd], default: abc, transitions: {abc: [abd]}", "enum=abc|abd,default=abc,transitions=abc>abd,"
		return with("[abc, abd]", "initial=abc|abd")
	case "computed":
		ofType, before = model.String, "type: string"
		return with("auth.sub", k.Name+"=auth.sub")
	case "when":
		before, tag = "type: string, computed: auth.sub", "computed=auth.sub,"
		return with("create", "when=create")
	case "required":
		before = "type: object, properties: {a: {type: string}}"
		return with("[a]", "required")
	}
	switch k.Field(&model.Attribute{}).(type) {
	case *model.Format:
		return with("email", k.Name+"=email")
	case *string, *any:
		return with("abc", k.Name+"=abc")
	case *int, *json.Number:
		return with("2", k.Name+"=2")
	case *bool:
		if k.Negated {
			return with("false", "") // by the Go type
		}
		return with("true", k.Name)
	case *[]any:
		return with("[abc, abd]", k.Name+"=abc|abd")
	case **model.Attribute:
		return with("{type: string}", "")
	case *[]model.Attribute:
		return with("{a: {type: string}}", "")
	case **model.Reference:
		return with("things", k.Name+"=things")
	}
	t.Fatalf("%s: add an example of such a field", k.Name)
	return example{}
}

// parsed is the schema of a file with one attribute, x.
func parsed(t *testing.T, definition string) *model.Schema {
	t.Helper()
	file, err := schema.Parse([]byte("{version: 3, collections: {things: {timestamps: false, attributes: {x: " + definition + "}}}}"))
	if err != nil {
		t.Fatalf("%s: %v", definition, err)
	}
	return (*model.Schema)(file.Schema)
}

func attribute(s *model.Schema) *model.Attribute { return s.Collection("things").Declared("x") }

// valueOf is the value of a keyword as JSON, "" if an attribute does not have it.
func valueOf(k model.Keyword, a *model.Attribute) string {
	if k.Name == "required" {
		return fmt.Sprint(slices.ContainsFunc(a.Properties, func(p model.Attribute) bool { return p.Required }))
	}
	if !k.Given(a) {
		return ""
	}
	text, _ := json.Marshal(k.Value(a))
	return string(text)
}

// TestKeywords follows every keyword of an attribute from the table to all that reads the
// table, so that a new one needs no code there.
func TestKeywords(t *testing.T) {
	for _, k := range model.AttributeKeywords {
		t.Run(k.Name, func(t *testing.T) {
			e := exampleOf(t, k)
			before, after := parsed(t, e.before), parsed(t, e.after)
			want := valueOf(k, attribute(after))
			if want == "" || want == valueOf(k, attribute(before)) {
				t.Fatalf("%s is read as %q", e.after, want)
			}
			e.testStored(t, after, want)
			e.testCompared(t, before, after)
			e.testTag(t, want)
			e.testDefinition(t, after)
			e.testOpenAPI(t, before, after, want)
		})
	}
}

func (e example) testStored(t *testing.T, after *model.Schema, want string) {
	again, err := compile.Stored(after.Document())
	if err != nil {
		t.Fatal(err)
	}
	if e.keyword.Name == "renamed_from" { // about the way to a schema, and no part of it
		want = ""
	}
	if got := valueOf(e.keyword, attribute(again)); got != want {
		t.Errorf("stored as %q, want %q", got, want)
	}
}

func (e example) testCompared(t *testing.T, before, after *model.Schema) {
	// What is no part of a JSON Schema restricts no value.
	restricts := e.keyword.Member > 0 && !slices.Contains([]string{"description", "default", "contentMediaType"}, e.keyword.Name)
	tightened := attribute(after).Tightened(attribute(before))
	if slices.Contains(tightened, e.keyword.Name) != restricts {
		t.Errorf("a migration from %s to %s is restricted by %q", e.before, e.after, tightened)
	}
	// Some are reported with the codes of the values inside, or of the type.
	if restricts && e.keyword.Code == "" && !slices.Contains([]string{"items", "properties", "required", "additionalProperties", "scale"}, e.keyword.Name) {
		t.Error("a value is refused without an error code")
	}
	if tightened := attribute(after).Tightened(attribute(after)); len(tightened) > 0 {
		t.Errorf("a migration from %s to itself is restricted by %q", e.after, tightened)
	}
}

func (e example) testTag(t *testing.T, want string) {
	declared, err := schema.DeclareFields("things", reflect.StructOf([]reflect.StructField{{
		Name: "X", Type: e.goType, Tag: reflect.StructTag(fmt.Sprintf(`json:"x,omitempty" plural:%q`, e.tag)),
	}}))
	if err != nil {
		t.Fatalf("the tag %q: %v", e.tag, err)
	}
	got := valueOf(e.keyword, attribute(declared))
	if e.keyword.Name == "required" { // of the attribute itself
		got = fmt.Sprint(attribute(declared).Required)
	}
	if got != want {
		t.Errorf("the tag %q gives %q, want %q", e.tag, got, want)
	}
	if e.tag != "" && !regexp.MustCompile(`(?m)^// .*\b`+e.keyword.Name+`\b`).MatchString(read(t, "struct.go")) {
		t.Errorf("the comment of Of does not list %s among the words of a tag", e.keyword.Name)
	}
}

func (e example) testDefinition(t *testing.T, after *model.Schema) {
	var members map[string]any
	if err := json.Unmarshal(attribute(after).Definition(), &members); err != nil {
		t.Fatal(err)
	}
	if _, found := members[e.keyword.Name]; found != (e.keyword.Member > 0) {
		t.Errorf("the definition is %v", members)
	}
}

func (e example) testOpenAPI(t *testing.T, before, after *model.Schema, want string) {
	options := openapi.Options{DefaultLimit: 100, MaxItems: 1000, MaxBody: 1 << 20}
	text, textBefore := openapi.Document(after, options), openapi.Document(before, options)
	// Of a type and a format there is always an error: the ids have them, too.
	code, always := []byte(`"`+e.keyword.Code+`"`), e.keyword.Name == "type" || e.keyword.Name == "format"
	if e.keyword.Code != "" && !always && bytes.Count(text, code) <= bytes.Count(textBefore, code) {
		t.Errorf("no operation is refused with %s", code)
	}
	var document struct {
		Components struct {
			Schemas struct {
				ThingCreate struct {
					Properties struct{ X map[string]json.RawMessage }
				}
			}
		}
	}
	if err := json.Unmarshal(text, &document); err != nil {
		t.Fatal(err)
	}
	definition := document.Components.Schemas.ThingCreate.Properties.X
	got := string(definition[e.keyword.Name])
	switch e.keyword.Name {
	case "unique", "index", "as", "inverse", "renamed_from", // of no concern to clients
		"transitions", "initial", "computed", "when", "write_once", "until": // not in JSON Schema
		want = ""
	case "references":
		got, want = string(definition["description"]), `"The id of a resource of things."`
	case "scale":
		got, want = string(definition["description"]), `"A number as a string, with at most 18 digits, of which at most 2 are after the point."`
	case "type":
		want = `["string","null"]`
	case "enum":
		want = `["abc","abd",null]`
	case "items":
		want = `{"type":"string"}`
	case "properties":
		want = `{"a":{"type":"string"}}`
	case "required":
		want = `["a"]`
	}
	if got != want {
		t.Errorf("%s is %q in %s, want %q", e.keyword.Name, got, definition, want)
	}
}

// TestKeywordTable: the rows of the keywords in docs/schema.md are written by
// go test ./schema -run TestKeywordTable -update.
func TestKeywordTable(t *testing.T) {
	const file, head = "../docs/schema.md", "| Key | For | Meaning |\n|---|---|---|\n"
	text := read(t, file)
	start := strings.Index(text, head) + len(head)
	if start < len(head) {
		t.Fatalf("%s has no table of keywords", file)
	}
	end := start + strings.Index(text[start:], "\n\n") + 1
	var rows strings.Builder
	for _, k := range model.AttributeKeywords {
		fmt.Fprintf(&rows, "| `%s` | %s | %s |\n", k.Name, appliesTo(k), documented(k))
	}
	if *schema.Update {
		if err := os.WriteFile(file, []byte(text[:start]+rows.String()+text[end:]), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if got := text[start:end]; got != rows.String() {
		t.Errorf("the table of keywords in %s is\n%s\nwant\n%s\ngo test ./schema -run TestKeywordTable -update writes it", file, got, rows.String())
	}
}

func appliesTo(k model.Keyword) string {
	switch {
	case k.OnlyDecimals:
		return "decimal"
	case k.Types == nil:
		return "all"
	}
	names := strings.Trim(strings.ReplaceAll(fmt.Sprint(k.Types), " ", ", "), "[]")
	if k.Decimals {
		names += ", decimal"
	}
	return names
}

// documented is the description of a keyword, with the choices if there are some.
func documented(k model.Keyword) string {
	if choices, ok := k.JSONSchema["enum"]; ok {
		return "`" + strings.ReplaceAll(strings.Trim(fmt.Sprint(choices), "[]"), " ", "`, `") + "`. " + k.Description
	}
	return k.Description
}

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
