package ts

import (
	"flag"
	"os"
	"slices"
	"testing"

	"github.com/plural-go/plural/schema"
)

var update = flag.Bool("update", false, "write the generated clients anew")

// generated are the clients that are kept: one to read, and those that the tests
// in TypeScript use.
var generated = []struct {
	file, schema string
	options      Options
	role         string
}{
	{"example/client.ts", "../../schema/example.yaml", Options{}, ""},
	{"test/shop.ts", "test/shop.yaml", Options{}, ""},
	{"test/kiosk.ts", "test/shop.yaml", Options{}, "kiosk"},
	{"test/awkward.ts", "test/awkward.yaml", Options{BigInt: true}, ""},
}

// TestGeneratedClients holds the clients to their sources, the schema and the
// runtime: go test ./client/ts -update writes them anew.
func TestGeneratedClients(t *testing.T) {
	for _, c := range generated {
		t.Run(c.file, func(t *testing.T) {
			text, err := os.ReadFile(c.schema)
			if err != nil {
				t.Fatal(err)
			}
			file, err := schema.Parse(text)
			if err != nil {
				t.Fatal(err)
			}
			if c.role != "" {
				at := slices.IndexFunc(file.Access.Roles, func(r schema.Role) bool { return r.Name == c.role })
				c.options.Role = &file.Access.Roles[at]
			}
			want := Generate(file.Schema, c.options)
			if *update {
				if err := os.WriteFile(c.file, []byte(want), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if got, err := os.ReadFile(c.file); err != nil || string(got) != want {
				t.Errorf("%s is not what its schema and the runtime make (%v): go test ./client/ts -update", c.file, err)
			}
		})
	}
}
