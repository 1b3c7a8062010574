package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestArchivesCarryNotices: the archive of every platform has the licences of all that is in its
// binary and that others wrote.
func TestArchivesCarryNotices(t *testing.T) {
	t.Chdir(root)
	binary := filepath.Join(t.TempDir(), "plural")
	if err := os.WriteFile(binary, []byte("program"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, platform := range platforms {
		files, err := contents(platform, "base", binary)
		if err != nil {
			t.Fatal(platform, err)
		}
		archive, err := tarred(files, time.Unix(0, 0))
		if err != nil {
			t.Fatal(platform, err)
		}
		unpacked, err := untarred(archive)
		if err != nil {
			t.Fatal(platform, err)
		}
		var names []string
		var text string
		for _, file := range unpacked {
			name, _, _ := strings.Cut(file, " ")
			if names = append(names, name); name == "base/"+noticesName {
				text = file
			}
		}
		want := "base/plural base/" + noticesName + " base/LICENSE base/README.md base/CHANGELOG.md"
		if strings.HasPrefix(platform, "linux/") {
			want += " base/plural.service"
		}
		if got := strings.Join(names, " "); got != want {
			t.Errorf("%s: got %s, want %s", platform, got, want)
		}
		modules, err := modulesOf(platform)
		if err != nil || len(modules) < 30 {
			t.Fatalf("%s: %d modules, %v", platform, len(modules), err)
		}
		for _, module := range modules {
			_, after, found := strings.Cut(text, separator+module.name+"\n\n--- ")
			if body, _, _ := strings.Cut(after, separator); !found || len(body) < 200 {
				t.Errorf("%s: there is no licence of %s", platform, module.name)
			}
		}
		for _, part := range []string{"Go standard library and runtime\n", "\nsvelte ", "\nclsx ", "--- LICENSE-SQLITE\n", "github.com/prometheus/client_golang v"} {
			if !strings.Contains(text, part) {
				t.Errorf("%s: there is no %q", platform, part)
			}
		}
		if windows := strings.Contains(text, "github.com/inconshreveable/mousetrap "); windows != strings.HasPrefix(platform, "windows/") {
			t.Errorf("%s: mousetrap, which is for Windows: %t", platform, windows)
		}
		for _, trace := range []string{mustGetwd(t), os.Getenv("HOME") + "/", "/pkg/mod/"} {
			if strings.Contains(text, trace) {
				t.Errorf("%s: the notices name %s, which is of this machine", platform, trace)
			}
		}
	}
}

// TestModulesWithoutALicence: a dependency that may not be copied stops a release.
func TestModulesWithoutALicence(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "license.go"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := appendNotices(nil, part{name: "example.com/x v1.0.0", root: dir, dirs: []string{dir}}); err == nil || err.Error() != "example.com/x v1.0.0 has no licence file" {
		t.Errorf("got %v", err)
	}
}

func mustGetwd(t *testing.T) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}
