package interfacetest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/plural-go/plural"
	"github.com/plural-go/plural/schema"
)

// TestDocumentBounds: the server takes as many items as the document says, and no more.
func TestDocumentBounds(t *testing.T) {
	c := schema.Collection{Name: "things"}
	for i := range 20 {
		c.Attributes = append(c.Attributes, schema.Attribute{Name: fmt.Sprintf("n%d", i), Type: schema.Integer})
	}
	c.Attributes = append(c.Attributes, schema.Attribute{Name: "text", Type: schema.String})
	declared, err := schema.New(c)
	if err != nil {
		t.Fatal(err)
	}
	eachStore(t, declared, func(t *testing.T, s *server) {
		text, err := plural.OpenAPI(s.config, "")
		if err != nil {
			t.Fatal(err)
		}
		var root map[string]any
		if err := json.Unmarshal(text, &root); err != nil {
			t.Fatal(err)
		}
		d := newDocument(root, documentKind{})
		listed := d.operation("/things", "get").parameters
		schemaOf := func(name string) map[string]any {
			at := slices.IndexFunc(listed, func(p describedParameter) bool { return p.name == name })
			if at < 0 {
				t.Fatalf("the list has no parameter %s", name)
			}
			return d.at(listed[at].schema)
		}
		repeated := func(parameter string, value func(i int) string) func(count int) answer {
			return func(count int) answer {
				parts := make([]string, count)
				for i := range parts {
					parts[i] = parameter + "=" + value(i)
				}
				return s.get("/things?" + strings.Join(parts, "&"))
			}
		}
		number := func(i int) string { return fmt.Sprint(i) }
		for name, value := range map[string]func(i int) string{
			"filter[n0]": number, "filter[n0][in]": number, "filter[n0][not_in]": number, "filter[id]": id,
			"sort": func(i int) string { return fmt.Sprintf("n%d", i) },
		} {
			ask, limit := repeated(name, value), int(schemaOf(name)["maxItems"].(float64))
			if a := ask(limit); a.status != 200 {
				t.Errorf("%s: %d items get %d %.300s", name, limit, a.status, a.body)
			}
			ask(limit+1).expectErrors(t, 400, "too_many_values "+name)
		}
		for _, op := range []string{"contains", "starts_with"} {
			name := "filter[text][" + op + "]"
			longest := int(schemaOf(name)["maxLength"].(float64))
			path := "/things?" + name + "="
			if a := s.get(path + strings.Repeat("a", longest)); a.status != 200 {
				t.Errorf("%s with %d characters gets %d %.300s", op, longest, a.status, a.body)
			}
			s.get(path+strings.Repeat("a", longest+1)).expectErrors(t, 400, "invalid_parameter "+name)
		}
		one := d.at("/components/schemas/ThingCreateInput")["oneOf"].([]any)[1].(map[string]any)
		limit := int(one["maxItems"].(float64))
		bodies := func(count int) string { return "[" + strings.TrimSuffix(strings.Repeat("{},", count), ",") + "]" }
		if a := s.do("POST", "/things", bodies(limit)); a.status != 201 {
			t.Errorf("%d items get %d %.300s", limit, a.status, a.body)
		}
		s.do("POST", "/things", bodies(limit+1)).expectErrors(t, 413, "too_many_items")
	}, func(config *plural.Config) { config.MaxItems = 7 })
}
