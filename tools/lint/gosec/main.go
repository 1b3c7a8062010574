// Command gosec looks for insecure code in the library, the binary and the examples. It runs
// gosec's analysis without gosec's own command, because that depends on the clients of three
// services (see docs/decisions/0002-dependencies.md).
//
//	go run -C tools/lint ./gosec ../..
//
// A false positive is marked at its line: // #nosec G304 -- the reason.
package main

import (
	"cmp"
	"fmt"
	"io"
	"log"
	"os"
	"os/exec"
	"slices"
	"strings"

	"github.com/securego/gosec/v2"
	"github.com/securego/gosec/v2/analyzers"
	"github.com/securego/gosec/v2/issue"
	"github.com/securego/gosec/v2/rules"
	"golang.org/x/tools/go/packages"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: gosec DIRECTORY")
		os.Exit(2)
	}
	found, err := look(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, "gosec:", err)
		os.Exit(2)
	}
	for _, each := range found {
		fmt.Printf("%s:%s:%s: %s (%s)\n", each.File, each.Line, each.Col, each.What, each.RuleID)
	}
	if len(found) > 0 {
		os.Exit(1)
	}
}

// look is what gosec finds in the packages that a module ships.
func look(module string) ([]*issue.Issue, error) {
	if err := os.Chdir(module); err != nil {
		return nil, err
	}
	names, err := shipped()
	if err != nil {
		return nil, err
	}
	// All at once: gosec would ask the go command for each by itself.
	loaded, err := packages.Load(&packages.Config{Mode: gosec.LoadMode}, names...)
	if err != nil {
		return nil, err
	}
	if len(loaded) == 0 {
		return nil, fmt.Errorf("there is nothing to look at in %q", names)
	}
	// Otherwise gosec runs the go command to ask for it, once for every operator & in the code.
	if err := os.Setenv("GOSECGOVERSION", loaded[0].Module.GoVersion); err != nil {
		return nil, err
	}
	results := make(chan result)
	for _, each := range loaded {
		go func() { results <- check(each) }()
	}
	var found []*issue.Issue
	for range loaded {
		result := <-results
		if result.err != nil {
			return nil, result.err
		}
		found = append(found, result.found...)
	}
	slices.SortFunc(found, func(a, b *issue.Issue) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(len(a.Line), len(b.Line)), cmp.Compare(a.Line, b.Line))
	})
	return found, nil
}

type result struct {
	found []*issue.Issue
	err   error
}

// check is what gosec finds in a package.
func check(p *packages.Package) result {
	if len(p.Errors) > 0 {
		return result{err: p.Errors[0]}
	}
	const tests, generated, suppressed, workers = false, false, false, 1
	analyzer := gosec.NewAnalyzer(gosec.NewConfig(), tests, generated, suppressed, workers, log.New(io.Discard, "", 0))
	analyzer.LoadRules(rules.Generate(suppressed).RulesInfo())
	analyzer.LoadAnalyzers(analyzers.Generate(suppressed).AnalyzersInfo())
	analyzer.CheckRules(p)
	analyzer.CheckAnalyzers(p)
	found, looked, failed := analyzer.Report()
	if len(failed) > 0 || looked.NumFiles == 0 {
		return result{err: fmt.Errorf("%s: %d files were analysed, and these not: %v", p.PkgPath, looked.NumFiles, failed)}
	}
	return result{found: found}
}

// shipped lists this module's packages that end up with users. The harnesses beside
// them run programs and write files on the machine of whoever develops.
func shipped() ([]string, error) {
	list := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{if .Main}}{{$.ImportPath}}{{end}}{{end}}", "./cmd/...", "./examples/...", ".")
	list.Stderr = os.Stderr
	out, err := list.Output()
	return strings.Fields(string(out)), err
}
