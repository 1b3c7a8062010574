package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const (
	module = "github.com/plural-go/plural"
	root   = "../../.."
)

// TestCompilesOnOtherPlatforms checks the types of all of our code as the compiler
// does for Windows and macOS. Of what others wrote only the declarations are looked
// at, so that it takes seconds and needs nothing from a cache.
func TestCompilesOnOtherPlatforms(t *testing.T) {
	for _, platform := range []string{"windows/amd64", "darwin/arm64"} {
		t.Run(platform, func(t *testing.T) {
			system, machine, _ := strings.Cut(platform, "/")
			seen := map[string]*types.Package{"unsafe": types.Unsafe}
			ours := 0
			for _, p := range dependencies(t, system, machine) {
				if p.ImportPath == "unsafe" {
					continue
				}
				own := strings.HasPrefix(p.ImportPath, module)
				if own {
					ours++
				}
				var problems []error
				config := types.Config{
					Importer:         importer{seen, p.ImportMap},
					IgnoreFuncBodies: !own,
					Sizes:            types.SizesFor("gc", machine),
					Error:            func(err error) { problems = append(problems, err) },
				}
				files := token.NewFileSet()
				seen[p.ImportPath], _ = config.Check(p.ImportPath, files, parsed(t, files, p), nil)
				for _, problem := range problems {
					t.Error(problem)
				}
			}
			if ours < 5 {
				t.Errorf("only %d packages of ours: has the module another name now?", ours)
			}
		})
	}
}

// listed is what we read of the output of go list.
type listed struct {
	ImportPath, Dir string
	GoFiles         []string
	ImportMap       map[string]string
}

// dependencies are the packages of the program, each behind those that it imports.
func dependencies(t *testing.T, system, machine string) []listed {
	t.Helper()
	command := exec.Command("go", "list", "-deps", "-json=ImportPath,Dir,GoFiles,ImportMap", "./cmd/plural")
	command.Dir = root
	command.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+system, "GOARCH="+machine)
	out, err := command.Output()
	if err != nil {
		t.Fatal(err)
	}
	var packages []listed
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			return packages
		} else if err != nil {
			t.Fatal(err)
		}
		packages = append(packages, p)
	}
}

func parsed(t *testing.T, files *token.FileSet, p listed) []*ast.File {
	t.Helper()
	var trees []*ast.File
	for _, name := range p.GoFiles {
		tree, err := parser.ParseFile(files, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		trees = append(trees, tree)
	}
	return trees
}

// importer finds packages among those that were checked before.
type importer struct {
	seen   map[string]*types.Package
	mapped map[string]string
}

func (i importer) Import(path string) (*types.Package, error) {
	if other, ok := i.mapped[path]; ok {
		path = other
	}
	if p := i.seen[path]; p != nil {
		return p, nil
	}
	return nil, errors.New("not among the dependencies: " + path)
}
