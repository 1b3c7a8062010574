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

// TestRun is what "make bench" does for long: the same servers, workloads and
// checks of every answer. How fast anything was does not matter.
func TestRun(t *testing.T) {
	plan := &Plan{Module: filepath.Join("..", ".."), Rows: 200, Rounds: 1, Duration: 20 * time.Millisecond, Connections: 8, Postgres: true, Dir: t.TempDir()}
	results, err := plan.Run(t.Context(), io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	servers := []string{Bare, HandSQLite, PluralSQLite, HandPostgres, PluralPostgres}
	if !slices.Equal(results.Servers, servers) {
		t.Errorf("got %q, want %q", results.Servers, servers)
	}
	for _, server := range servers {
		whats := []string{StartUp, IdleMemory}
		if server != Bare {
			whats = append(whats, Export, ExportMemory)
		}
		for _, workload := range Workloads() {
			if !workload.bytes {
				whats = append(whats, workload.Name)
			}
		}
		for _, what := range whats {
			figures := results.Figures[Key{what, server}]
			if len(figures) != 1 || figures[0] <= 0 && what != ExportMemory {
				t.Errorf("%s of %s: got %v, want one figure", what, server, figures)
			}
		}
	}
	left, err := os.ReadDir(plan.Dir)
	if err != nil || len(left) > 0 {
		t.Errorf("%v are left (%v)", left, err)
	}
}

func TestRefusedPlans(t *testing.T) {
	for want, plan := range map[string]*Plan{
		"at least 100 rows, one round and one connection are needed": {Rows: 99, Rounds: 1, Connections: 1},
		"there is no workload put: use get, list30, filter, offset-0, offset-0.5, offset-0.9, create-1, create-8, create-64, patch, mixed-90/10, export": {
			Rows: 100, Rounds: 1, Connections: 1, Only: []string{"get", "put"}},
	} {
		if _, err := plan.Run(t.Context(), io.Discard); err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
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
