//go:build linux

package soak

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/plural-go/plural/tools/soak/disk"
	"github.com/plural-go/plural/tools/soak/ledger"
)

// onePlace is a server on a disk, and one client that writes to it in a fixed order, so that a
// fault strikes at a known place.
type onePlace struct {
	t      *testing.T
	disk   *disk.Disk
	client *client
	system *SQLite
}

func newPlace(t *testing.T) *onePlace {
	t.Helper()
	d := disk.New(testSeed)
	s, err := NewSQLiteOn(d, server(t, Linked{}))
	if err != nil {
		t.Fatal(err)
	}
	closed(t, s)
	if err := s.Launch(); err != nil {
		t.Fatal(err)
	}
	bases, err := s.Ready(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return &onePlace{t, d, newClient(bases[0], 8), s}
}

func (p *onePlace) send(m message) ledger.Answer {
	p.t.Helper()
	answer, _, err := p.client.exchange(p.t.Context(), m)
	if err != nil {
		p.t.Fatal(err)
	}
	return answer
}

func (p *onePlace) create(text string) int {
	p.t.Helper()
	return p.send(message{method: "POST", path: "/accounts", body: encode(attributes(text))}).Status
}

func (p *onePlace) health() int {
	p.t.Helper()
	return p.send(message{method: "GET", path: "/-/health"}).Status
}

// script sends writes of every kind: alone, in arrays, with a key, asynchronous, changes, several at
// once of which some are refused and undone, an array that does not fit into SQLite's memory, so that
// it is written to the log before the commit, and a deletion with a cascade. It ends when the fault has struck.
func (p *onePlace) script(op disk.Op) {
	p.t.Helper()
	path := ""
	write := func(m message) {
		p.t.Helper()
		struck := p.disk.Failed(op) > 0
		answer := p.send(m)
		if !struck && answer.Status >= 300 && answer.Status != http.StatusServiceUnavailable {
			p.t.Errorf("%v: %d %s", m, answer.Status, answer.Body)
		}
		if struck && answer.Status < 300 {
			p.t.Errorf("%v: %d after the disk had failed", m, answer.Status)
		}
		if m.method == "POST" && answer.Status == http.StatusCreated && path == "" {
			path = answer.Location
		}
	}
	account := func(text string) string { return encode(attributes(text)) }
	write(message{method: "POST", path: "/accounts", body: account("one")})
	write(message{method: "POST", path: "/accounts", body: "[" + account("two") + "," + account("three") + "]"})
	write(message{method: "POST", path: "/accounts", body: account("key"), header: map[string]string{"Idempotency-Key": "a"}})
	write(message{method: "POST", path: "/accounts", body: account("later"), header: map[string]string{"Prefer": "respond-async"}})
	write(message{method: "PATCH", path: path, body: account("changed")})
	write(message{method: "POST", path: path + "/orders", body: account("order")})
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			body := strings.TrimSuffix(account("same"), "}") + `,"code":"same"}`
			_, _, _ = p.client.exchange(p.t.Context(), message{method: "POST", path: "/accounts", body: body})
		})
	}
	all.Wait()
	var large []string
	for i := 0; len(large) < 500; i++ {
		if token := fmt.Sprint("large ", i); len(ledger.Text(token)) > 4000 {
			large = append(large, encode(map[string]any{"token": token, "text": ledger.Text(token)}))
		}
	}
	write(message{method: "POST", path: "/accounts", body: "[" + strings.Join(large, ",") + "]"})
	write(message{method: "DELETE", path: path})
}

// TestEveryErrorStopsTheWriter lets one write, or one sync, fail at many different places of what a
// server writes. Wherever it is, the server must have noticed: it acknowledges nothing any more,
// and says so.
func TestEveryErrorStopsTheWriter(t *testing.T) {
	for _, c := range []struct {
		op     disk.Op
		suffix string
		passes []int
		struck int // at least so many of them
	}{
		{disk.Write, databaseFile + "-wal", []int{0, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 233, 377, 610, 987, 1597}, 15},
		{disk.Sync, databaseFile + "-wal", []int{0, 1, 2, 3, 5}, 4},
		{disk.Write, databaseFile, []int{0, 1, 100}, 3},
		{disk.Sync, databaseFile, []int{0}, 1},
	} {
		t.Run(fmt.Sprintf("%s of %s", c.op, c.suffix), func(t *testing.T) {
			t.Parallel()
			struck := 0
			for _, passes := range c.passes {
				p := newPlace(t)
				p.disk.FailAfter(c.op, c.suffix, passes, 1)
				p.script(c.op)
				// The log is moved into the database behind an answer, and not while somebody reads what is older.
				for i := 0; i < 100 && p.disk.Failed(c.op) == 0; i++ {
					p.create("more")
				}
				if p.disk.Failed(c.op) == 0 {
					continue // there were not so many
				}
				struck++
				// The writer does one thing after the other: it has had its error before it comes to this.
				if status := p.create("afterwards"); status != http.StatusServiceUnavailable {
					t.Errorf("%d passed: a write is answered with %d", passes, status)
				}
				if status := p.health(); status != http.StatusServiceUnavailable {
					t.Errorf("%d passed: /-/health is answered with %d", passes, status)
				}
				if status := p.send(message{method: "GET", path: "/accounts?limit=1"}).Status; status != http.StatusOK {
					t.Errorf("%d passed: a read is answered with %d", passes, status)
				}
				p.system.process.Kill()
			}
			if struck < c.struck {
				t.Errorf("only %d of %d faults struck", struck, len(c.passes))
			}
		})
	}
}

// TestShortWritesAreCompleted: a disk that writes only a part of what it is given, and says how much, has
// not failed. SQLite writes the rest, and there is nothing to tell anybody.
func TestShortWritesAreCompleted(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	for _, file := range []string{databaseFile + "-wal", databaseFile} {
		p.disk.Fail(disk.Short, file, -1)
		p.script(disk.Write)
		if p.disk.Failed(disk.Short) == 0 {
			t.Errorf("no write to %s was short", file)
		}
		if status := p.create("afterwards"); status != http.StatusCreated {
			t.Errorf("a write is answered with %d", status)
		}
		if status := p.health(); status != http.StatusOK {
			t.Errorf("/-/health is answered with %d", status)
		}
	}
	p.system.process.Kill()
	contents, err := p.system.AtRest()
	if err != nil {
		t.Fatal(err)
	}
	if len(contents.Problems) > 0 {
		t.Error(contents.Problems)
	}
}

// TestErrorBehindAShortWrite: what SQLite writes to complete a short write fails, and that is an error.
func TestErrorBehindAShortWrite(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.disk.Fail(disk.Short, databaseFile+"-wal", 1)
	p.disk.Fail(disk.Write, databaseFile+"-wal", 1)
	if status := p.create("one"); status != http.StatusServiceUnavailable {
		t.Errorf("the write is answered with %d", status)
	}
	if p.disk.Failed(disk.Short) != 1 || p.disk.Failed(disk.Write) != 1 {
		t.Errorf("%d writes were short, and %d failed", p.disk.Failed(disk.Short), p.disk.Failed(disk.Write))
	}
	if status := p.create("two"); status != http.StatusServiceUnavailable {
		t.Errorf("the next write is answered with %d", status)
	}
	if status := p.health(); status != http.StatusServiceUnavailable {
		t.Errorf("/-/health is answered with %d", status)
	}
}
