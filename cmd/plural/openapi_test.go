package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/plural-go/plural"
	"github.com/plural-go/plural/agents"
	"github.com/plural-go/plural/schema"
)

func TestOpenAPI(t *testing.T) {
	dir := t.TempDir()
	compact := func(text string) string {
		var b bytes.Buffer
		if err := json.Compact(&b, []byte(text)); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	example, err := plural.OpenAPI(plural.Config{Agents: agents.Handler}, "")
	if err != nil {
		t.Fatal(err)
	}
	printed := output(t, dir, "openapi")
	if compact(printed) != string(example) || !strings.HasPrefix(printed, "{\n  \"openapi\": \"3.1.0\",\n") || !strings.HasSuffix(printed, "\n}\n") {
		t.Errorf("without a schema file it is not that of the example, or not indented: %.100s", printed)
	}
	runs(t, dir, "", true, "plural: there is no role \"author\": the schema file has no access\n", "openapi", "--role", "author")

	plain, err := plural.OpenAPI(plural.Config{Agents: agents.Handler}, "", plural.WithoutIncludes)
	if err != nil {
		t.Fatal(err)
	}
	if printed := compact(output(t, dir, "openapi", "--include", "none")); printed != string(plain) || printed == string(example) {
		t.Errorf("without related resources it is %.100s", printed)
	}
	latest, err := plural.OpenAPI(plural.Config{Agents: agents.Handler}, "", plural.InOpenAPI32)
	if err != nil {
		t.Fatal(err)
	}
	if printed := compact(output(t, dir, "openapi", "--openapi", "3.2")); printed != string(latest) || printed == string(example) {
		t.Errorf("in OpenAPI 3.2 it is %.100s", printed)
	}
	runs(t, dir, "", true, "plural: --openapi \"3\": it can be 3.1 or 3.2\n", "openapi", "--openapi", "3")
	runs(t, dir, "", true, "plural: --include \"posts\": it can only be none\n", "openapi", "--include", "posts")

	if err := os.WriteFile(filepath.Join(dir, "api.yaml"), []byte(withAccess), 0o600); err != nil {
		t.Fatal(err)
	}
	file, err := schema.Parse([]byte(withAccess))
	if err != nil {
		t.Fatal(err)
	}
	for _, role := range []string{"", "author", "public"} {
		want, err := plural.OpenAPI(plural.Config{Schema: file.Schema, Access: file.Access, Agents: agents.Handler}, role)
		if err != nil {
			t.Fatal(err)
		}
		printed := compact(output(t, dir, "openapi", "--schema", "api.yaml", "--role", role))
		if printed != string(want) {
			t.Errorf("that of %q is %.100s", role, printed)
		}
		if got, may := strings.Contains(printed, `"createThing"`), role == ""; got != may {
			t.Errorf("that of %q has the operation createThing: %t", role, got)
		}
		if got, may := strings.Contains(printed, `"updateThing"`), role != "public"; got != may {
			t.Errorf("that of %q has the operation updateThing: %t", role, got)
		}
	}
	runs(t, dir, "", true, "plural: there is no role \"editor\"\n", "openapi", "--schema", "api.yaml", "--role", "editor")
}
