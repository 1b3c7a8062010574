package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/plural-go/plural/internal/pgtest"
)

// TestReactAdmin compiles the data provider for react-admin against the types of react-admin, and lets Node run its
// tests against real servers.
func TestReactAdmin(t *testing.T) {
	project, err := filepath.Abs("../../client/ra-data-plural")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "package.json"), []byte(`{"type":"module"}`), 0o644); err != nil {
		t.Fatal(err)
	}
	compiler := exec.Command("node", "node_modules/typescript/bin/tsc", "--project", "tsconfig.test.json", "--outDir", dir)
	compiler.Dir = project
	if out, err := compiler.CombinedOutput(); err != nil {
		t.Fatalf("%v: is it there? make setup installs it\n%s", err, out)
	}
	file := filepath.Join(project, "test/shop.yaml")
	for name, database := range pgtest.Databases() {
		t.Run(name, func(t *testing.T) {
			url := database(t)
			server := serveIn(t, t.TempDir(), "--schema", file, "--database", url)
			key, err := program(t, server.Dir, "keys", "create", "--schema", file, "--database", url, "--name", "clerk", "--role", "clerk").Output()
			if err != nil {
				t.Fatal(err)
			}
			runNodeTests(t, []string{filepath.Join(dir, "test/provider.test.js")}, "SHOP="+server.base, "CLERK="+strings.TrimSpace(string(key)))
		})
	}
}
