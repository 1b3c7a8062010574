//go:build linux

package bench

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

func serveAsTold() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	if err := Serve(ctx, os.Args[2:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// small is a plan that measures everything, and how fast anything is does not matter.
func small(t *testing.T) *Plan {
	return &Plan{Module: filepath.Join("..", ".."), Users: 200, Rows: 200, Children: 20, Rounds: 1, Duration: 20 * time.Millisecond, Connections: 8,
		Postgres: true, Dir: t.TempDir()}
}

// nothingLeft fails if a run has left files.
func nothingLeft(t *testing.T, p *Plan) {
	t.Helper()
	left, err := os.ReadDir(p.Dir)
	if err != nil || len(left) > 0 {
		t.Errorf("%v are left (%v)", left, err)
	}
}

// TestRun is what "make bench" does for long: the same servers, measurements and
// checks of every answer.
func TestRun(t *testing.T) {
	plan := small(t)
	results, err := plan.Run(t.Context(), io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	servers := []string{Bare, HandSQLite, PluralSQLite, HandPostgres, PluralPostgres}
	if !slices.Equal(results.Servers, servers) {
		t.Errorf("got %q, want %q", results.Servers, servers)
	}
	want := 0
	for _, m := range Measurements() {
		for _, s := range plan.servers {
			if m.on != nil && !m.on(s) {
				continue
			}
			for _, line := range m.Lines {
				want++
				figures := results.Figures[Key{line.Name, s.name}]
				if len(figures) != 1 || figures[0] <= 0 && line.Name != "cascade-memory" {
					t.Errorf("%s of %s: got %v, want one figure", line.Name, s.name, figures)
				}
			}
		}
	}
	if len(results.Figures) != want {
		t.Errorf("got %d figures, want %d", len(results.Figures), want)
	}
	nothingLeft(t, plan)
}

// TestGrowthRun measures at two sizes.
func TestGrowthRun(t *testing.T) {
	plan := small(t)
	plan.Only = []string{"get", "filter-offset", create64}
	growth, err := plan.Growth(t.Context(), []int{100, 300}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range growth.curves() {
		got = append(got, c.Line.Name+" of "+c.Server)
		if len(c.Costs) != 2 || c.Costs[0] <= 0 || c.Costs[1] <= 0 {
			t.Errorf("%s of %s: got %v, want two costs", c.Line.Name, c.Server, c.Costs)
		}
	}
	want := []string{"get of Plural, SQLite", "get of Plural, PostgreSQL", "create-64 of Plural, SQLite", "create-64 of Plural, PostgreSQL",
		"filter-offset of Plural, SQLite", "filter-offset of Plural, PostgreSQL"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	nothingLeft(t, plan)
}

// TestCheckRun compares a build with itself.
func TestCheckRun(t *testing.T) {
	plan := small(t)
	program := filepath.Join(t.TempDir(), "plural")
	if err := build(t.Context(), plan.Module, program); err != nil {
		t.Fatal(err)
	}
	plan.Only = []string{"get", "sort-offset"}
	c, err := plan.Check(t.Context(), Base{Program: program}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	for _, server := range []string{BaseSQLite, BasePostgres, PluralSQLite, PluralPostgres} {
		for _, line := range plan.Only {
			if got := c.first.Figures[Key{line, server}]; len(got) != 1 || got[0] <= 0 {
				t.Errorf("%s of %s: got %v, want one figure", line, server, got)
			}
		}
	}
	nothingLeft(t, plan)
}

func TestUnpack(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "base")
	module, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	name, err := Base{Commit: "HEAD"}.unpack(t.Context(), module, dir)
	if err != nil || name != "HEAD" {
		t.Fatalf("got %s and %v, want HEAD", name, err)
	}
	show := exec.Command("git", "show", "HEAD:cmd/plural/main.go")
	show.Dir = module
	want, err := show.Output()
	if err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(filepath.Join(dir, "cmd", "plural", "main.go")); err != nil || string(got) != string(want) {
		t.Errorf("got %s (%v), want %s", got, err, want)
	}
	_, err = Base{Commit: "no-such-commit"}.unpack(t.Context(), module, dir)
	if err == nil || err.Error() != "this repository has no commit no-such-commit: name another one, for example make bench-check BASE=HEAD~20, or fetch its history" {
		t.Errorf("got %v", err)
	}
}

func TestRefusedPlans(t *testing.T) {
	const names = "get, list30, filter, offset-0, offset-0.9, create-1, create-64, patch, mixed, filter-sort, filter-offset, sort-offset, export, cascade, import, start, memory"
	for _, c := range []struct {
		want string
		run  func(*Plan) error
	}{
		{"at least 100 users and rows, one child, one round and one connection are needed", func(p *Plan) error {
			p.Users = 99
			_, err := p.Run(t.Context(), io.Discard)
			return err
		}},
		{"there is no measurement put: use " + names, func(p *Plan) error {
			p.Only = []string{"get", "put"}
			_, err := p.Run(t.Context(), io.Discard)
			return err
		}},
		{"the sizes must be different and in ascending order, for example 10000,100000", func(p *Plan) error {
			_, err := p.Growth(t.Context(), []int{1000, 1000}, io.Discard)
			return err
		}},
		{"cascade does not measure what a request costs: leave it out", func(p *Plan) error {
			p.Only = []string{"get", "cascade"}
			_, err := p.Check(t.Context(), Base{}, io.Discard)
			return err
		}},
	} {
		plan := small(t)
		if err := c.run(plan); err == nil || err.Error() != c.want {
			t.Errorf("got %v, want %s", err, c.want)
		}
		nothingLeft(t, plan)
	}
}

// A program that is started on a core stays there, and what starts it does not.
func TestLaunchPinsTheProcess(t *testing.T) {
	on, _, err := cores()
	if err != nil {
		t.Fatal(err)
	}
	p, err := launch(filepath.Join(t.TempDir(), "log"), on, exec.Command("sleep", "60"))
	if err != nil {
		t.Fatal(err)
	}
	defer p.Kill()
	if got, want := allowed(t, p.Pid()), fmt.Sprint(on); on != anyCore && got != want {
		t.Errorf("the program may use %s, want %s", got, want)
	}
	if again, _, err := cores(); err != nil || again != on {
		t.Errorf("then %v may be used (%v), want %v", again, err, on)
	}
}

func allowed(t *testing.T, pid int) string {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	_, behind, _ := strings.Cut(string(status), "\nCpus_allowed_list:\t")
	list, _, _ := strings.Cut(behind, "\n")
	return list
}
