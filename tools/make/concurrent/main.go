// Command concurrent finds the tests in which several things happen at once, by what they do and not
// by their names. For each directory of a package that has any, it prints the directory and a regular expression
// for go test -run.
//
// With -race it finds those for the race detector, and prints one expression for all directories, and in the lines below it the
// directories with tests of these names. go test -skip of the expression in all directories, and go test -run of it in those
// printed, run every test once, also if a name stands for tests of several packages of which not all are concurrent.
//
// A test counts if its code, or code that it reaches in the files of its package, starts a goroutine, or a process without
// waiting for its end; or if it reaches code of the test files that uses a channel, or runs another server on the same database.
// With -race, processes do not count: what a server does at once is tested in its packages, and there in the process of the test.
package main

import (
	"errors"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

func main() {
	race := flag.Bool("race", false, "print one expression for all directories, and the directories, of the tests for the race detector")
	flag.Parse()
	found, err := find(flag.Args(), !*race)
	if err != nil {
		fmt.Fprintln(os.Stderr, "concurrent:", err)
		os.Exit(1)
	}
	if *race {
		found.printTogether(os.Stdout)
	} else {
		found.print(os.Stdout)
	}
}

// tests is the tests of some directories.
type tests struct {
	directories     []string
	all, concurrent map[string][]string // names, by directory
}

func find(directories []string, processes bool) (tests, error) {
	found := tests{directories: directories, all: map[string][]string{}, concurrent: map[string][]string{}}
	for _, dir := range directories {
		all, concurrent, err := testsOf(dir, processes)
		if err != nil {
			return tests{}, err
		}
		found.all[dir], found.concurrent[dir] = all, concurrent
	}
	return found, nil
}

func (f tests) print(w io.Writer) {
	for _, dir := range f.directories {
		if names := f.concurrent[dir]; len(names) > 0 {
			fmt.Fprintln(w, dir, expression(names))
		}
	}
}

func (f tests) printTogether(w io.Writer) {
	names := slices.Concat(slices.Collect(maps.Values(f.concurrent))...)
	slices.Sort(names)
	names = slices.Compact(names)
	fmt.Fprintln(w, expression(names))
	for _, dir := range f.directories {
		if slices.ContainsFunc(f.all[dir], func(name string) bool { return slices.Contains(names, name) }) {
			fmt.Fprintln(w, dir)
		}
	}
}

// expression matches nothing if there are no names.
func expression(names []string) string { return "^(" + strings.Join(names, "|") + ")$" }

// testsOf lists the tests of a directory, and those in which several things happen at once, sorted. Processes that a test starts
// count on request.
func testsOf(dir string, processes bool) (all, concurrent []string, err error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return nil, nil, err
	}
	set := token.NewFileSet()
	packages := map[string][]*ast.File{} // the package itself, and that of tests from outside
	for _, path := range paths {
		file, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, nil, err
		}
		packages[file.Name.Name] = append(packages[file.Name.Name], file)
	}
	for _, files := range packages {
		g := &graph{set: set, functions: map[types.Object]*function{}, processes: processes}
		g.info.Defs, g.info.Uses = map[*ast.Ident]types.Object{}, map[*ast.Ident]types.Object{}
		// Imports are not looked at, and what depends on them is not resolved. What is left
		// suffices: calls of functions and methods of the same package.
		config := types.Config{Importer: none{}, Error: func(error) {}}
		_, _ = config.Check(dir, set, files, &g.info)
		each, several := g.tests(files)
		all, concurrent = append(all, each...), append(concurrent, several...)
	}
	slices.Sort(all)
	slices.Sort(concurrent)
	return all, concurrent, nil
}

type none struct{}

func (none) Import(string) (*types.Package, error) { return nil, errors.New("not looked at") }

// graph is the functions of a package, and which of them mention which.
type graph struct {
	set       *token.FileSet
	info      types.Info
	functions map[types.Object]*function
	processes bool // they count
}

type function struct {
	concurrent bool
	// A command that is started goes on meanwhile. One that Run or Output waits for is alone.
	command, starts bool
	mentions        []types.Object
}

// spread marks the functions that mention, directly or through others, one that is marked.
func (g *graph) spread(mark func(*function) *bool) {
	for spreads := true; spreads; {
		spreads = false
		for _, f := range g.functions {
			if !*mark(f) && slices.ContainsFunc(f.mentions, func(o types.Object) bool { return g.functions[o] != nil && *mark(g.functions[o]) }) {
				*mark(f), spreads = true, true
			}
		}
	}
}

// tests lists all tests, and the concurrent ones.
func (g *graph) tests(files []*ast.File) (all, concurrent []string) {
	for _, file := range files {
		for _, each := range file.Decls {
			declared, ok := each.(*ast.FuncDecl)
			if !ok || declared.Body == nil {
				continue
			}
			if object := g.info.Defs[declared.Name]; object != nil { // nil: the method is declared twice, for two platforms
				g.functions[object] = g.read(declared.Body)
			}
		}
	}
	g.spread(func(f *function) *bool { return &f.command })
	for _, f := range g.functions {
		f.concurrent = f.concurrent || g.processes && f.command && f.starts
	}
	g.spread(func(f *function) *bool { return &f.concurrent })
	for object, f := range g.functions {
		if !strings.HasPrefix(object.Name(), "Test") || object.Name() == "TestMain" || !g.isTest(object.Pos()) {
			continue
		}
		all = append(all, object.Name())
		if f.concurrent {
			concurrent = append(concurrent, object.Name())
		}
	}
	return all, concurrent
}

func (g *graph) isTest(at token.Pos) bool {
	return strings.HasSuffix(g.set.Position(at).Filename, "_test.go")
}

// read finds what a function does, and which others it mentions.
func (g *graph) read(body *ast.BlockStmt) *function {
	f := &function{}
	test := g.isTest(body.Pos())
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			f.concurrent = true
		case *ast.ChanType, *ast.SendStmt, *ast.SelectStmt:
			f.concurrent = f.concurrent || test
		case *ast.SelectorExpr:
			switch n.Sel.Name {
			case "Go": // of sync.WaitGroup
				f.concurrent = true
			case "another": // of the servers of interfacetest
				f.concurrent = f.concurrent || test
			case "Command", "CommandContext": // of os/exec
				f.command = true
			case "StartProcess": // of os
				f.command, f.starts = true, true
			case "Start":
				f.starts = true
			}
		case *ast.Ident:
			if object := g.info.Uses[n]; object != nil {
				f.mentions = append(f.mentions, object)
			}
		}
		return true
	})
	return f
}
