package schema

import (
	"reflect"
	"slices"
	"strings"
	"testing"
)

func TestExample(t *testing.T) {
	want, err := New(
		Collection{Name: "users", Description: "People who write.", Attributes: []Attribute{
			{Name: "name", Type: String, Required: true},
			{Name: "email", Type: String, Format: Email, Required: true},
			{Name: "active", Type: Boolean, Default: true},
		}},
		Collection{Name: "posts", Description: "What they have written.", Parent: &Parent{Collection: "users", OnDelete: SetNull}, Attributes: []Attribute{
			{Name: "title", Type: String},
			{Name: "body", Type: String},
			{Name: "published_at", Type: String, Format: DateTime},
			{Name: "user_id", References: &Reference{Collection: "users", OnDelete: SetNull}},
		}},
	)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := declarations(Example()), declarations(want); !reflect.DeepEqual(got, want) {
		t.Errorf("got\n%+v\nwant\n%+v", got, want)
	}
}

func TestStarter(t *testing.T) {
	file, err := Parse([]byte(Starter))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := declarations(file.Schema), declarations(Example()); !reflect.DeepEqual(got, want) {
		t.Errorf("got\n%+v\nwant\n%+v", got, want)
	}
	if len(file.Settings) > 0 {
		t.Errorf("got settings %+v", file.Settings)
	}
}

// TestStarterUncommented: what the comments show is right too, all of it at once.
func TestStarterUncommented(t *testing.T) {
	file, err := Parse([]byte(uncommentedStarter()))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, c := range file.Schema.Collections() {
		for _, a := range c.Attributes {
			names = append(names, c.Name+"."+a.Name)
		}
	}
	want := "users.name users.email users.active users.age users.rating users.role users.phone users.address users.tags posts.title posts.body posts.published_at posts.editor_id posts.user_id"
	if got := strings.Join(names, " "); got != want {
		t.Errorf("got attributes %s, want %s", got, want)
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
	lines := strings.SplitAfter(Starter, "\n")
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
		if _, err := Parse([]byte(strings.Join(changed, ""))); err != nil {
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
	for line := range strings.Lines(Starter) {
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
