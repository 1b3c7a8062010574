package pgserver

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestServer: a server answers, runs again with the same data and other settings, and leaves nothing behind.
func TestServer(t *testing.T) {
	if os.Getenv("PLURAL_TEST_POSTGRES") != "" {
		t.Skip("PLURAL_TEST_POSTGRES is set: the programs to start another server need not be here")
	}
	s, err := New()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	threads := 0
	s.OnThread = func() error { threads++; return nil }
	if err := s.Init(); err != nil {
		t.Fatal(err)
	}
	if err := s.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := s.Query(t.Context(), nil, "CREATE TABLE kept ()"); err != nil {
		t.Fatal(err)
	}
	if err := s.Stop(); err != nil || s.Running() {
		t.Fatalf("running %t, %v", s.Running(), err)
	}
	if err := s.Start(t.Context(), "max_connections=17"); err != nil {
		t.Fatal(err)
	}
	if err := s.Await(t.Context(), "SELECT current_setting('max_connections') = '17' AND to_regclass('kept') IS NOT NULL"); err != nil {
		t.Fatal(err)
	}
	if threads != 2 {
		t.Errorf("OnThread ran %d times for two starts", threads)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := s.Query(t.Context(), nil, "SELECT 1"); err == nil {
		t.Error("the server still answers")
	}
	if _, err := os.Stat(s.dir); !os.IsNotExist(err) {
		t.Errorf("%s is still there (%v)", s.dir, err)
	}
}

// TestServersOfATemplate: the first server makes the template, also if several are the first, and all start with a copy of it.
func TestServersOfATemplate(t *testing.T) {
	if os.Getenv("PLURAL_TEST_POSTGRES") != "" {
		t.Skip("PLURAL_TEST_POSTGRES is set: the programs to start another server need not be here")
	}
	directory, err := os.MkdirTemp(parent(os.TempDir()), "plural-template-") // t.TempDir is closed to the user of PostgreSQL
	if err == nil {
		err = os.Chmod(directory, 0o777) // #nosec G302 -- for that user
	}
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(directory)
	template := filepath.Join(directory, "data")
	t.Setenv("PLURAL_PG_TEMPLATE", template)
	servers := make([]*Server, 3)
	for i := range servers {
		if servers[i], err = New(); err != nil {
			t.Fatal(err)
		}
		defer servers[i].Close()
	}
	both := make(chan error)
	for _, s := range servers[:2] {
		go func() { both <- s.Init() }()
	}
	if err := errors.Join(<-both, <-both); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(template, "mark"), nil, 0o644); err != nil { // #nosec G306 -- for the user of PostgreSQL
		t.Fatal(err)
	}
	if err := servers[2].Init(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(servers[2].Data(), "mark")); err != nil {
		t.Error("not a copy of the template:", err)
	}
	for i, s := range servers {
		if err := s.Start(t.Context()); err != nil {
			t.Fatal(i, err)
		}
	}
	if left, err := os.ReadDir(directory); err != nil || len(left) != 1 {
		t.Errorf("%v is left, %v", left, err)
	}
}

// TestServerThatDoesNotStart: the error says why.
func TestServerThatDoesNotStart(t *testing.T) {
	if os.Getenv("PLURAL_TEST_POSTGRES") != "" {
		t.Skip("PLURAL_TEST_POSTGRES is set: the programs to start another server need not be here")
	}
	s, err := New()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.Start(t.Context()); err == nil || !strings.Contains(err.Error(), s.Data()) {
		t.Errorf("without data: %v", err)
	}
}

func TestFindPrograms(t *testing.T) {
	root := t.TempDir()
	for _, version := range []string{"9.6", "10", "17", "15"} {
		install(t, filepath.Join(root, version, "bin"))
	}
	// The newest of all is not whole: a package with the client only.
	if err := os.MkdirAll(filepath.Join(root, "18", "bin"), 0o755); err != nil {
		t.Fatal(err)
	}
	pattern := filepath.Join(root, "*", "bin")
	inPath, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	install(t, inPath)
	links := t.TempDir()
	if err := os.Symlink(filepath.Join(inPath, "postgres"), filepath.Join(links, "postgres")); err != nil {
		t.Fatal(err)
	}

	for _, c := range []struct {
		name, env, path, pattern string
		want, wantErr            string
	}{
		{name: "the environment first", env: filepath.Join(root, "10", "bin"), path: inPath, pattern: pattern, want: filepath.Join(root, "10", "bin")},
		{name: "a wrong environment is not passed over", env: root, path: inPath, pattern: pattern, wantErr: "PLURAL_PG_BIN=" + root},
		{name: "then PATH", path: inPath, pattern: pattern, want: inPath},
		{name: "a link in PATH leads to the programs", path: links, pattern: pattern, want: inPath},
		{name: "then the newest", path: root, pattern: pattern, want: filepath.Join(root, "17", "bin")},
		{name: "none", path: root, pattern: filepath.Join(root, "none"), wantErr: "apt-get install postgresql"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Setenv("PLURAL_PG_BIN", c.env)
			t.Setenv("PATH", c.path)
			got, err := findPrograms(c.pattern)
			if got != c.want {
				t.Errorf("got %q, want %q (%v)", got, c.want, err)
			}
			if (err == nil) != (c.wantErr == "") || err != nil && !strings.Contains(err.Error(), c.wantErr) {
				t.Errorf("error %v, want %q", err, c.wantErr)
			}
		})
	}
}

func install(t *testing.T, dir string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"initdb", "postgres"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o755); err != nil {
			t.Fatal(err)
		}
	}
}

// TestParent: a directory that is too long for a socket, closed to others or missing is not used.
func TestParent(t *testing.T) {
	dir, err := os.MkdirTemp("/tmp", "parent-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	long := filepath.Join(dir, strings.Repeat("x", 60))
	for _, path := range []string{dir, long} {
		if err := errors.Join(os.MkdirAll(path, 0o755), os.Chmod(path, 0o755)); err != nil { // #nosec G302 -- empty
			t.Fatal(err)
		}
	}
	for path, want := range map[string]string{dir: dir, long: "/tmp", filepath.Join(dir, "missing"): "/tmp"} {
		if got := parent(path); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if got := parent(dir); got != "/tmp" {
		t.Errorf("closed: %s", got)
	}
}
