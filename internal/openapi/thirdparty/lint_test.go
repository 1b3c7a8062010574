package thirdparty

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/plural-go/plural"
	"github.com/plural-go/plural/agents"
	"github.com/plural-go/plural/schema"
)

// TestDocumentsAreClean: neither linter has anything to say, by all recommended rules but the one that .spectral.yaml turns off.
func TestDocumentsAreClean(t *testing.T) {
	directory := t.TempDir()
	info := schema.Info{Contact: schema.Contact{Email: "api@example.com"}, License: schema.License{Name: "Apache 2.0", Identifier: "Apache-2.0"}}
	write := func(name string, config plural.Config, role string) {
		config.Info = info
		for format, options := range map[string][]plural.OpenAPIOption{"": nil, "-3.2": {plural.InOpenAPI32}} {
			document, err := plural.OpenAPI(config, role, options...)
			if err == nil {
				err = os.WriteFile(filepath.Join(directory, name+format+".json"), document, 0o600)
			}
			if err != nil {
				t.Fatal(name, err)
			}
		}
	}
	write("example", plural.Config{Agents: agents.Handler}, "")
	rich := parse(t, "rich.yaml")
	write("rich", plural.Config{
		Schema: rich.Schema, Access: rich.Access, Prefix: "/api/v1", MaxLimit: 1000, RateLimit: schema.Rate{Requests: 600, Per: time.Minute},
		AllowedOrigins: []string{"*"}, Agents: agents.Handler, Hooks: []plural.Hook{{}},
	}, "author")
	all, err := filepath.Glob(filepath.Join(directory, "*.json"))
	if err != nil || len(all) != 4 {
		t.Fatal(all, err)
	}
	t.Run("the schema of OpenAPI 3.2", func(t *testing.T) {
		official := officialSchema(t)
		for _, path := range all {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			document, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
			if err != nil {
				t.Fatal(err)
			}
			err = official.Validate(document)
			if is32 := strings.HasSuffix(path, "-3.2.json"); (err == nil) != is32 {
				t.Errorf("%s: %v", filepath.Base(path), err)
			}
		}
	})
	t.Run("redocly", func(t *testing.T) {
		npm(t, ".", "redocly", append([]string{"lint", "--config", "redocly.yaml", "--format", "stylish", "--max-problems", "20"}, all...)...)
	})
	t.Run("spectral", func(t *testing.T) {
		npm(t, ".", "spectral", append([]string{"lint", "--ruleset", ".spectral.yaml", "--fail-severity", "hint"}, all...)...)
	})
}

// officialSchema is the JSON Schema of OpenAPI 3.2 by its authors, which Spectral has. It also checks the schemas in a document.
func officialSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	compiler := jsonschema.NewCompiler()
	for _, name := range []string{"index", "dialect.schema", "meta.schema"} {
		file, err := os.Open(filepath.Join("node_modules/@stoplight/spectral-rulesets/dist/oas/schemas/oas/v3.2", name+".json"))
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		text, err := jsonschema.UnmarshalJSON(file)
		if err == nil {
			err = compiler.AddResource(text.(map[string]any)["$id"].(string), text)
		}
		if err != nil {
			t.Fatal(name, err)
		}
	}
	official, err := compiler.Compile("https://spec.openapis.org/oas/3.2/schema/2025-11-23")
	if err != nil {
		t.Fatal(err)
	}
	return official
}

func parse(t *testing.T, name string) *schema.File {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	file, err := schema.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return file
}
