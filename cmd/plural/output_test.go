//go:build unix

package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestOutputKeepsModeLinkAndPipe: a file that is written again keeps its mode, a link stays a link,
// and a pipe is written to.
func TestOutputKeepsModeLinkAndPipe(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	read := func(name string) string {
		t.Helper()
		text, err := os.ReadFile(at(name))
		check(err)
		return string(text)
	}
	mode := func(name string) os.FileMode {
		t.Helper()
		info, err := os.Lstat(at(name))
		check(err)
		return info.Mode()
	}
	export := func(name, want string) {
		t.Helper()
		if out, _ := exits(t, dir, "", nil, "export", "users", "--output", name); out != want {
			t.Errorf("%s: got %s", name, out)
		}
	}
	if out, status := exits(t, dir, `{"name":"Ada","email":"ada@example.com"}`, nil, "import", "users"); status != 0 {
		t.Fatal(out)
	}
	check(os.WriteFile(at("secret.ndjson"), []byte("old"), 0o600))
	check(os.Symlink("secret.ndjson", at("link.ndjson")))
	check(os.Symlink("new.ndjson", at("dangling.ndjson")))
	export("link.ndjson", "Exported 1 row.\n")
	export("dangling.ndjson", "Exported 1 row.\n")
	text := read("secret.ndjson")
	if !strings.Contains(text, `"name":"Ada"`) || read("new.ndjson") != text {
		t.Errorf("got %s", text)
	}
	if mode("secret.ndjson") != 0o600 || mode("link.ndjson")&os.ModeSymlink == 0 || mode("dangling.ndjson")&os.ModeSymlink == 0 {
		t.Errorf("the modes are %v, %v, %v", mode("secret.ndjson"), mode("link.ndjson"), mode("dangling.ndjson"))
	}
	check(syscall.Mkfifo(at("pipe.ndjson"), 0o600))
	piped := make(chan string)
	go func() {
		text, _ := os.ReadFile(at("pipe.ndjson"))
		piped <- string(text)
	}()
	export("pipe.ndjson", "Exported 1 row.\n")
	if got := <-piped; got != text || mode("pipe.ndjson")&os.ModeNamedPipe == 0 {
		t.Errorf("got %s and %v", got, mode("pipe.ndjson"))
	}
	export("nowhere/x.csv", "plural: nowhere/x.csv: no such file or directory\n")
	export("/dev/full", "plural: the format of /dev/full is not clear from its name: give --format ndjson, json or csv\n")
	if out, _ := exits(t, dir, "", nil, "export", "users", "--output=/dev/full", "--format=csv"); out != "plural: /dev/full: no space left on device\n" {
		t.Errorf("got %s", out)
	}
	if got := files(t, dir); got != "dangling.ndjson link.ndjson new.ndjson pipe.ndjson plural-example.db secret.ndjson" {
		t.Errorf("there are now %s", got)
	}
}
