package interfacetest

import (
	"encoding/json"
	"fmt"
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
		d := &document{root: root}
		most := func(pointer string) int {
			n, ok := d.at(pointer)["maxItems"].(float64)
			if !ok {
				t.Fatalf("there is no maxItems at %s", pointer)
			}
			return int(n)
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
		for pointer, ask := range map[string]func(count int) answer{
			"/components/parameters/things.filter.n0/schema":        repeated("filter[n0]", number),
			"/components/parameters/things.filter.n0.in/schema":     repeated("filter[n0][in]", number),
			"/components/parameters/things.filter.n0.not_in/schema": repeated("filter[n0][not_in]", number),
			"/components/parameters/filter.id/schema":               repeated("filter[id]", id),
			"/components/parameters/things.sort/schema":             repeated("sort", func(i int) string { return fmt.Sprintf("n%d", i) }),
		} {
			limit := most(pointer)
			if a := ask(limit); a.status != 200 {
				t.Errorf("%s: %d items get %d %.300s", pointer, limit, a.status, a.body)
			}
			ask(limit+1).expectErrors(t, 400, "too_many_values "+parameterOf(d, pointer))
		}
		for _, op := range []string{"contains", "starts_with"} {
			longest := int(d.at("/components/parameters/things.filter.text." + op + "/schema")["maxLength"].(float64))
			path := "/things?filter[text][" + op + "]="
			if a := s.get(path + strings.Repeat("a", longest)); a.status != 200 {
				t.Errorf("%s with %d characters gets %d %.300s", op, longest, a.status, a.body)
			}
			s.get(path+strings.Repeat("a", longest+1)).expectErrors(t, 400, "invalid_parameter filter[text]["+op+"]")
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

// parameterOf is the name of the parameter whose schema is at a pointer.
func parameterOf(d *document, pointer string) string {
	return d.at(strings.TrimSuffix(pointer, "/schema"))["name"].(string)
}
