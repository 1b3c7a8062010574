package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/plural-go/plural/conform"
)

// With --async what is written is written asynchronously, and the rest left out.
func TestCheckAsynchronously(t *testing.T) {
	p := serveIn(t, t.TempDir())
	passed, skipped := 0, 1 // there is no integer for body.integers
	for _, c := range conform.Checks() {
		switch {
		case c.Synchronous != "", strings.HasPrefix(c.ID, "rules."): // users have no rules
			skipped++
		case c.Writes && c.ID != "body.integers":
			passed++
		}
	}
	status, out, log := run(t, "check", p.base, "--async")
	want := fmt.Sprintf("%s, collection users: %d passed, 0 failed, %d skipped", p.base, passed, skipped)
	if status != 0 || lastLine(out) != want || log != "" {
		t.Errorf("got %d %s\n%s\nwant %s", status, out, log, want)
	}
	status, out, log = run(t, "check", p.base, "--async", "--read-only")
	if status != 2 || out != "" || log != "plural: a read-only run has nothing to do asynchronously\n" {
		t.Errorf("got %d %s\n%s", status, out, log)
	}
}
