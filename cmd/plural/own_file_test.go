package main

import (
	"os"
	"path/filepath"
	"testing"
)

// An import does not read the database itself, and an export does not replace it.
func TestImportAndExportRefuseTheDatabaseFile(t *testing.T) {
	dir := t.TempDir()
	if out, status := exits(t, dir, `{"name":"Ada","email":"ada@example.com"}`, nil, "import", "users"); status != 0 {
		t.Fatal(out)
	}
	if err := os.Symlink("plural-example.db", filepath.Join(dir, "link.csv")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("plural-example.db", filepath.Join(dir, "other.db")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(".", filepath.Join(dir, "here")); err != nil {
		t.Fatal(err)
	}
	// SQLite follows links, and has its other files beside the file that they lead to.
	for database, output := range map[string]string{"other.db": "plural-example.db-wal", "here/plural-example.db": "plural-example.db-journal", "plural-example.db": "here/plural-example.db-shm"} {
		out, status := exits(t, dir, "", nil, "export", "users", "--database=sqlite:"+database, "--output="+output, "--format=csv")
		if want := "plural: " + output + " is a file of the database " + database + " itself: give another one\n"; out != want || status != 1 {
			t.Errorf("%s to %s: %d\ngot  %swant %s", database, output, status, out, want)
		}
	}
	for _, test := range []struct{ file, command string }{
		{"plural-example.db", "export"},
		{"link.csv", "export"},
		{"./plural-example.db-wal", "export"},
		{filepath.Join(dir, "plural-example.db-journal"), "export"},
		{"plural-example.db", "import"},
		{"link.csv", "import"},
	} {
		args := []string{"import", "users", test.file, "--format=csv"}
		if test.command == "export" {
			args = []string{"export", "users", "--output=" + test.file, "--format=csv"}
		}
		out, status := exits(t, dir, "", nil, args...)
		if want := "plural: " + test.file + " is a file of the database plural-example.db itself: give another one\n"; out != want || status != 1 {
			t.Errorf("%v: %d\ngot  %swant %s", args, status, out, want)
		}
	}
	if out, status := exits(t, dir, "", nil, "export", "users", "--output=plural.csv"); status != 0 {
		t.Error(out)
	}
	if got := files(t, dir); got != "here link.csv other.db plural-example.db plural.csv" {
		t.Errorf("there are %s", got)
	}
}
