package postgres

import (
	"slices"
	"testing"
)

// TestCoroutines: a coroutine runs one function after the other. One that is ended while its function has stopped lets that
// function return, and runs no other.
func TestCoroutines(t *testing.T) {
	var all coroutines
	var did []string
	var c *coroutine
	run := func(name string) func() {
		return func() {
			did = append(did, name)
			if !c.yield(true) {
				did = append(did, name+" must return")
				return
			}
			did = append(did, name+" went on")
		}
	}
	for _, name := range []string{"a", "b"} {
		before := c
		if c = all.take(run(name)); before != nil && c != before {
			t.Error("the coroutine of a function that has returned was not used again")
		}
		for i, want := range []bool{true, false} {
			if stopped, unfinished := c.next(); stopped != want || !unfinished {
				t.Fatalf("%s, call %d: got %t, %t", name, i, stopped, unfinished)
			}
		}
		all.keep(c)
	}
	kept := c
	if c = all.take(run("c")); c != kept || len(all.idle) > 0 {
		t.Error("the coroutine is still in use")
	}
	c.next()
	c.end()
	if want := []string{"a", "a went on", "b", "b went on", "c", "c must return"}; !slices.Equal(did, want) {
		t.Errorf("got %q, want %q", did, want)
	}
	c = all.take(func() {})
	if c == kept {
		t.Fatal("a coroutine that was ended is used again")
	}
	c.next()
	all.keep(c)
	all.end()
	if _, unfinished := c.next(); unfinished || len(all.idle) > 0 {
		t.Error("a coroutine is left")
	}
}
