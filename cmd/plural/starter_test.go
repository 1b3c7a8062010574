package main

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"

	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/schema"
)

func TestStarter(t *testing.T) {
	file, err := schema.Parse([]byte(starter))
	if err != nil {
		t.Fatal(err)
	}
	got, want := (*model.Schema)(file.Schema).Document(), (*model.Schema)(schema.Example()).Document()
	if !bytes.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if len(file.Settings) > 0 {
		t.Errorf("got settings %+v", file.Settings)
	}
}

// TestStarterUncommented: what the comments show is right too, all of it at once.
func TestStarterUncommented(t *testing.T) {
	file, err := schema.Parse([]byte(uncommentedStarter()))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	checks := 0
	for _, c := range (*model.Schema)(file.Schema).Collections() {
		checks += len(c.Checks)
		for _, a := range c.Attributes {
			names = append(names, c.Name+"."+a.Name)
		}
	}
	want := "users.name users.email users.active users.age users.rating users.role users.phone users.address users.tags posts.title posts.body posts.published_at posts.state posts.created_by posts.slug posts.editor_id posts.user_id"
	if got := strings.Join(names, " "); got != want {
		t.Errorf("got attributes %s, want %s", got, want)
	}
	if posts := (*model.Schema)(file.Schema).Collection("posts"); checks != 1 || !posts.Declared("state").HasLifecycle() || !posts.Declared("created_by").IsComputed() {
		t.Errorf("there must be a check, a lifecycle and a computed attribute")
	}
	if got := file.Access; got == nil || len(got.Roles) != 3 || !slices.Equal(got.Metrics, []string{"editor"}) {
		t.Errorf("got access %+v", got)
	}
	if len(file.Settings) != 2 {
		t.Errorf("got settings %+v", file.Settings)
	}
}

// TestStarterUncommentedOneByOne: each comment that is YAML is right by itself, with the lines
// that belong to it.
func TestStarterUncommentedOneByOne(t *testing.T) {
	lines := strings.SplitAfter(starter, "\n")
	isYAML := map[string]bool{}
	for line := range strings.Lines(uncommentedStarter()) {
		isYAML[line] = true
	}
	tried := 0
	for first, line := range lines {
		indentation, comment, found := strings.Cut(line, "# ")
		if !found || strings.TrimSpace(indentation) != "" || comment[0] == ' ' || !isYAML[indentation+comment] {
			continue
		}
		changed := slices.Clone(lines)
		changed[first] = indentation + comment
		for i := first + 1; i < len(lines) && strings.HasPrefix(lines[i], indentation+"#  "); i++ {
			changed[i] = strings.Replace(lines[i], "# ", "", 1)
		}
		tried++
		if _, err := schema.Parse([]byte(strings.Join(changed, ""))); err != nil {
			t.Errorf("%s: %v", strings.TrimSpace(comment), err)
		}
	}
	if tried < 10 {
		t.Errorf("only %d comments were found", tried)
	}
}

// uncommentedStarter takes the # from every comment that is YAML. Prose begins
// with a capital letter, or goes on from a line that does.
func uncommentedStarter() string {
	var lines []string
	prose := false
	for line := range strings.Lines(starter) {
		indentation, comment, found := strings.Cut(line, "# ")
		if !found || strings.TrimSpace(indentation) != "" {
			prose = false
			lines = append(lines, line)
			continue
		}
		prose = prose || comment[0] >= 'A' && comment[0] <= 'Z'
		if prose {
			prose = !strings.HasSuffix(strings.TrimSpace(comment), ".")
			continue
		}
		lines = append(lines, indentation+comment)
	}
	return strings.Join(lines, "")
}

// TestStarterFitsItsJSONSchema: an editor finds nothing wrong in what plural init writes,
// with and without the comments.
func TestStarterFitsItsJSONSchema(t *testing.T) {
	out, err := program(t, t.TempDir(), "schema").Output()
	if err != nil {
		t.Fatal(err)
	}
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(out))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("file.json", document); err != nil {
		t.Fatal(err)
	}
	compiled, err := compiler.Compile("file.json")
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"starter": starter, "uncommented": uncommentedStarter()} {
		var value any
		if err := yaml.Unmarshal([]byte(text), &value); err != nil {
			t.Fatal(err)
		}
		plain, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		if value, err = jsonschema.UnmarshalJSON(bytes.NewReader(plain)); err != nil {
			t.Fatal(err)
		}
		if err := compiled.Validate(value); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
