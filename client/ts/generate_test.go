package ts

import (
	"flag"
	"os"
	"testing"

	"github.com/plural-go/plural/schema"
)

var update = flag.Bool("update", false, "write the generated client anew")

// TestExampleClient holds the client that is kept, to be read, to its sources, the schema and
// the runtime: go test ./client/ts -update writes it anew. Those that the tests in
// TypeScript use are written when these run.
func TestExampleClient(t *testing.T) {
	const kept = "example/client.ts"
	want := Generate(schema.Example(), Options{})
	if *update {
		if err := os.WriteFile(kept, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(kept); err != nil || string(got) != want {
		t.Errorf("%s is not what its schema and the runtime make (%v): go test ./client/ts -update", kept, err)
	}
}
