package layers

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	inCode     = regexp.MustCompile("`[^`\n]+`")
	goName     = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9]+(\.[A-Za-z][A-Za-z0-9]+)*$`) // Store, store.Open, Tx.View
	sourceFile = regexp.MustCompile(`^[\w/-]+\.(go|ts)$`)
	identifier = regexp.MustCompile(`\w+`)
)

// TestDocumentsNameWhatExists: the names of Go and of source files in documents for contributors are those of the code. A
// rename changes the document in the same commit.
func TestDocumentsNameWhatExists(t *testing.T) {
	names, files := map[string]bool{}, ""
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // others may write and remove files while we look
		}
		if err != nil {
			return err
		}
		if entry.IsDir() && path != root && ignoredDir(entry.Name()) {
			return filepath.SkipDir
		}
		files += "/" + filepath.ToSlash(path) + "\n"
		if filepath.Ext(path) != ".go" {
			return nil
		}
		text, err := os.ReadFile(path)
		for _, name := range identifier.FindAllString(string(text), -1) {
			names[name] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, document := range []string{"docs/architecture.md", "CONTRIBUTING.md"} {
		text, err := os.ReadFile(filepath.Join(root, document))
		if err != nil {
			t.Fatal(err)
		}
		for _, quoted := range inCode.FindAllString(string(text), -1) {
			quoted = strings.Trim(quoted, "`")
			switch {
			case sourceFile.MatchString(quoted):
				if !strings.Contains(files, "/"+quoted+"\n") {
					t.Errorf("%s names the file %s, which does not exist", document, quoted)
				}
			case goName.MatchString(quoted):
				for _, name := range strings.Split(quoted, ".") {
					if !names[name] {
						t.Errorf("%s names %s, but no Go file has %s", document, quoted, name)
					}
				}
			}
		}
	}
}
