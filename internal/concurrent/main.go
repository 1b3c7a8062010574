// Command concurrent finds the tests in which several things happen at once, by what they do and not
// by their names. For each directory of a package it prints the directory and a regular expression
// for go test -run. With -run it prints the expression of one directory only.
//
// A test counts if its code, or code that it reaches in the files of its package, starts a process; or if it reaches code of
// the test files that starts a goroutine, uses a channel, or runs another server on the same database.
package main

import (
	"errors"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

func main() {
	only := flag.Bool("run", false, "print the expression of one directory only")
	flag.Parse()
	for _, dir := range flag.Args() {
		names, err := concurrentTests(dir)
		if err != nil {
			fmt.Fprintln(os.Stderr, "concurrent:", err)
			os.Exit(1)
		}
		expression := "^(" + strings.Join(names, "|") + ")$"
		switch {
		case *only:
			fmt.Println(expression)
		case len(names) > 0:
			fmt.Println(dir, expression)
		}
	}
}

// concurrentTests lists the tests of a directory in which several things happen at once, sorted.
func concurrentTests(dir string) (names []string, err error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return nil, err
	}
	set := token.NewFileSet()
	packages := map[string][]*ast.File{} // the package itself, and that of tests from outside
	for _, path := range paths {
		file, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		packages[file.Name.Name] = append(packages[file.Name.Name], file)
	}
	for _, files := range packages {
		g := &graph{set: set, functions: map[types.Object]*function{}}
		g.info.Defs, g.info.Uses = map[*ast.Ident]types.Object{}, map[*ast.Ident]types.Object{}
		// Imports are not looked at, and what depends on them is not resolved. What is left
		// suffices: calls of functions and methods of the same package.
		config := types.Config{Importer: none{}, Error: func(error) {}}
		_, _ = config.Check(dir, set, files, &g.info)
		names = append(names, g.tests(files)...)
	}
	slices.Sort(names)
	return names, nil
}

type none struct{}

func (none) Import(string) (*types.Package, error) { return nil, errors.New("not looked at") }

// graph is the functions of a package, and which of them mention which.
type graph struct {
	set       *token.FileSet
	info      types.Info
	functions map[types.Object]*function
}

type function struct {
	concurrent bool
	mentions   []types.Object
}

func (g *graph) tests(files []*ast.File) (names []string) {
	for _, file := range files {
		for _, each := range file.Decls {
			if declared, ok := each.(*ast.FuncDecl); ok && declared.Body != nil {
				g.functions[g.info.Defs[declared.Name]] = g.read(declared.Body)
			}
		}
	}
	for spreads := true; spreads; {
		spreads = false
		for _, f := range g.functions {
			if !f.concurrent && slices.ContainsFunc(f.mentions, func(o types.Object) bool { return g.functions[o] != nil && g.functions[o].concurrent }) {
				f.concurrent, spreads = true, true
			}
		}
	}
	for object, f := range g.functions {
		if f.concurrent && strings.HasPrefix(object.Name(), "Test") && object.Name() != "TestMain" && g.isTest(object.Pos()) {
			names = append(names, object.Name())
		}
	}
	return names
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
		case *ast.GoStmt, *ast.ChanType, *ast.SendStmt, *ast.SelectStmt:
			f.concurrent = f.concurrent || test
		case *ast.SelectorExpr:
			switch n.Sel.Name {
			case "Command", "CommandContext", "StartProcess": // of os/exec and os
				f.concurrent = true
			case "Go", "another": // of sync.WaitGroup; of the servers of interfacetest
				f.concurrent = f.concurrent || test
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
