package pgserver

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
)

// Debian keeps the programs out of PATH, in a directory for each major version.
const debianPrograms = "/usr/lib/postgresql/*/bin"

// findPrograms finds the directory that holds initdb and postgres: the one that PLURAL_PG_BIN names, one in PATH,
// or the one of the newest version among those that match the pattern.
func findPrograms(pattern string) (string, error) {
	if dir := os.Getenv("PLURAL_PG_BIN"); dir != "" {
		if !hasPrograms(dir) {
			return "", fmt.Errorf("PLURAL_PG_BIN=%s has no initdb and postgres", dir)
		}
		return dir, nil
	}
	if path, err := exec.LookPath("postgres"); err == nil {
		// Where the program itself is, so are the others. PATH may have links to some of them only.
		if path, err = filepath.EvalSymlinks(path); err == nil && hasPrograms(filepath.Dir(path)) {
			return filepath.Dir(path), nil
		}
	}
	dirs, _ := filepath.Glob(pattern)
	slices.SortFunc(dirs, func(a, b string) int { return cmp.Compare(major(b), major(a)) })
	for _, dir := range dirs {
		if hasPrograms(dir) {
			return dir, nil
		}
	}
	return "", errors.New("the PostgreSQL server programs (initdb, postgres) are needed, and they are not here:\n" +
		"run `make setup`, or install them (Debian, Ubuntu: apt-get install postgresql; macOS: brew install postgresql),\n" +
		"or set PLURAL_PG_BIN to their directory, or, for tests, PLURAL_TEST_POSTGRES to the URL of a running server")
}

// major is the version in VERSION/bin; a number, since 9.6 is older than 10.
func major(bin string) float64 {
	v, _ := strconv.ParseFloat(filepath.Base(filepath.Dir(bin)), 64)
	return v
}

func hasPrograms(dir string) bool {
	for _, name := range []string{"initdb", "postgres"} {
		if _, err := exec.LookPath(filepath.Join(dir, name)); err != nil {
			return false
		}
	}
	return true
}
