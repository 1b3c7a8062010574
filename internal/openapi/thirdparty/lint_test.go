package thirdparty

import (
	"os"
	"path/filepath"
	"testing"
	"time"

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
		document, err := plural.OpenAPI(config, role)
		if err == nil {
			err = os.WriteFile(filepath.Join(directory, name+".json"), document, 0o600)
		}
		if err != nil {
			t.Fatal(name, err)
		}
	}
	write("example", plural.Config{Agents: agents.Handler}, "")
	rich := parse(t, "rich.yaml")
	write("rich", plural.Config{
		Schema: rich.Schema, Access: rich.Access, Prefix: "/api/v1", MaxLimit: 1000, RateLimit: schema.Rate{Requests: 600, Per: time.Minute},
		AllowedOrigins: []string{"*"}, Agents: agents.Handler, Hooks: []plural.Hook{{}},
	}, "author")
	all, err := filepath.Glob(filepath.Join(directory, "*.json"))
	if err != nil || len(all) != 2 {
		t.Fatal(all, err)
	}
	t.Run("redocly", func(t *testing.T) {
		npm(t, ".", "redocly", append([]string{"lint", "--config", "redocly.yaml", "--format", "stylish", "--max-problems", "20"}, all...)...)
	})
	t.Run("spectral", func(t *testing.T) {
		npm(t, ".", "spectral", append([]string{"lint", "--ruleset", ".spectral.yaml", "--fail-severity", "hint"}, all...)...)
	})
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
