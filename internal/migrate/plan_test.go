package migrate

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/schema"
)

var updatePlans = flag.Bool("update-plans", false, "write the golden files anew")

func parseSchema(t *testing.T, yaml string) *model.Schema {
	t.Helper()
	file, err := schema.Parse([]byte(yaml))
	if err != nil {
		t.Fatal(err)
	}
	return (*model.Schema)(file.Schema)
}

// TestPlans compares plans with those in testdata/migrations: a schema, the one
// that it becomes, and the steps. With -update-plans they are written anew.
func TestPlans(t *testing.T) {
	files, err := filepath.Glob("testdata/migrations/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no plans found", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			golden, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			parts := strings.SplitN(string(golden), "----\n", 3)
			if len(parts) != 3 {
				t.Fatal("it must have three parts with lines of dashes between them")
			}
			var got strings.Builder
			for _, step := range newPlan(parseSchema(t, parts[0]), parseSchema(t, parts[1])).steps {
				fmt.Fprintf(&got, "%-9s  %s\n", step.Class, step.Text)
			}
			if *updatePlans {
				parts[2] = got.String()
				if err := os.WriteFile(file, []byte(strings.Join(parts, "----\n")), 0o644); err != nil {
					t.Fatal(err)
				}
			} else if got.String() != parts[2] {
				t.Errorf("got\n%s\nwant\n%s", got.String(), parts[2])
			}
		})
	}
}
