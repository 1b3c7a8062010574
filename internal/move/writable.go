package move

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/plural-go/plural/client"
)

// Writable returns the attributes that a row may have: those that the caller can read, and those that
// the caller can only write, which come from the server's OpenAPI document. A server without such a
// document has no write-only attributes.
func Writable(ctx context.Context, c *client.Client, collection client.Description) ([]client.Attribute, error) {
	answer, err := c.Do(ctx, client.Request{Method: http.MethodGet, Path: "/-/openapi.json"})
	if refused := (*client.Error)(nil); errors.As(err, &refused) && refused.Status < 500 {
		return collection.Attributes, nil
	}
	if err != nil {
		return nil, err
	}
	document := &openAPI{follow: 1000}
	if err := json.Unmarshal(answer.Body, &document.root); err != nil {
		return nil, fmt.Errorf("the OpenAPI document of the server: %w", err)
	}
	definition := document.createSchema(collection.Name)
	properties, _ := definition["properties"].(map[string]any)
	required, _ := definition["required"].([]any)
	all := slices.Clone(collection.Attributes)
	for name, definition := range properties {
		known := func(a client.Attribute) bool { return a.Name == name }
		if name == "id" || name == "type" || slices.ContainsFunc(collection.Attributes, known) {
			continue
		}
		members, _ := definition.(map[string]any)
		format, _ := members["format"].(string)
		all = append(all, client.Attribute{Name: name, Type: typeOf(members["type"]), Format: format, Required: slices.Contains(required, any(name))})
	}
	slices.SortFunc(all[len(collection.Attributes):], func(a, b client.Attribute) int { return strings.Compare(a.Name, b.Name) })
	return all, nil
}

// openAPI is a document in which references are resolved, up to a total number, because references may
// be circular.
type openAPI struct {
	root   any
	follow int
}

// createSchema finds the schema of one resource in the request body that creates it.
func (d *openAPI) createSchema(collection string) map[string]any {
	body := d.at(d.root, "paths", "/"+collection, "post", "requestBody", "content", "application/json", "schema")
	schemas := []any{body}
	for _, either := range []string{"oneOf", "anyOf"} {
		more, _ := d.at(body, either).([]any)
		schemas = append(schemas, more...)
	}
	for _, each := range schemas {
		if definition, ok := d.at(each).(map[string]any); ok && definition["properties"] != nil {
			return definition
		}
	}
	return nil
}

// at descends from a value by names of members. It returns nil if there is no such member.
func (d *openAPI) at(value any, names ...string) any {
	members, _ := value.(map[string]any)
	if reference, ok := members["$ref"].(string); ok {
		path, local := strings.CutPrefix(reference, "#/")
		if d.follow--; !local || d.follow < 0 {
			return nil
		}
		way := strings.Split(path, "/")
		for i := range way {
			way[i] = strings.ReplaceAll(strings.ReplaceAll(way[i], "~1", "/"), "~0", "~")
		}
		return d.at(d.at(d.root, way...), names...)
	}
	if len(names) == 0 {
		return value
	}
	return d.at(members[names[0]], names[1:]...)
}

// typeOf returns a JSON Schema type, which may be listed together with null.
func typeOf(value any) string {
	several, ok := value.([]any)
	if !ok {
		several = []any{value}
	}
	for _, each := range several {
		if name, ok := each.(string); ok && name != "null" {
			return name
		}
	}
	return ""
}
