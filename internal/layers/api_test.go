package layers

import (
	"bytes"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files of the public API anew")

// public lists the packages that users import.
var public = []string{".", "admin", "agents", "client", "conform", "otel", "params", "problem", "schema"}

// TestPublicAPI compares the public packages with golden files, so that a change to what
// users import is a decision: go test ./internal/layers -run TestPublicAPI -update.
func TestPublicAPI(t *testing.T) {
	for _, name := range public {
		command := exec.Command("go", "doc", "-all", "./"+name)
		command.Dir = root
		var stderr bytes.Buffer
		command.Stderr = &stderr
		got, err := command.Output()
		if err != nil {
			t.Fatalf("go doc %s: %v\n%s", name, err, stderr.Bytes())
		}
		if strings.Contains(string(got), module+"/internal/") {
			t.Errorf("%s shows an internal package", name)
		}
		golden := filepath.Join("testdata", "api", strings.Replace(name, ".", "plural", 1)+".txt")
		if *update {
			if err := os.WriteFile(golden, got, 0o600); err != nil {
				t.Fatal(err)
			}
			continue
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("the public API of %s has changed: %s\nIf it is meant to: go test ./internal/layers -run TestPublicAPI -update", name, firstDifference(string(got), string(want)))
		}
	}
}

func firstDifference(got, want string) string {
	gotLines, wantLines := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range max(len(gotLines), len(wantLines)) {
		var now, before string
		if i < len(gotLines) {
			now = gotLines[i]
		}
		if i < len(wantLines) {
			before = wantLines[i]
		}
		if now != before {
			return "\ngot  " + now + "\nwant " + before
		}
	}
	return ""
}
