//go:build linux

package soak

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"github.com/jackc/pgx/v5"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/plural-go/plural/tools/soak/ledger"
)

// FeedReset is what happens to the change log of a database, so that subscribers may have to begin again with a
// snapshot: retention, a migration, a restore.
type FeedReset struct {
	Name  string
	flags []string      // of the server
	away  time.Duration // how long subscribers stay away, at most
	// cause is called while nobody writes.
	cause func(ctx context.Context, r *Run, s resettable) error
	// over reports whether enough has happened to the subscribers.
	over func(r *Run) bool
}

// resettable is a system that a reset can happen to.
type resettable interface {
	System
	schema() string
	command(ctx context.Context, arguments ...string) error
	setFlags(flags ...string)
	// restore makes the database what it was when save was called.
	save(ctx context.Context, r *Run) error
	restore(ctx context.Context, r *Run) error
}

// FeedResets lists them.
func FeedResets() []FeedReset {
	return []FeedReset{
		// Subscribers are away for longer and for shorter than changes are kept, so that retention races with them.
		{Name: "retention", flags: []string{"--change-retention=1s"}, away: 3 * time.Second, cause: keepOn, over: (*Run).someResumed},
		{Name: "migration", cause: migrate, over: (*Run).allBegan},
		{Name: "restore", cause: restore, over: (*Run).allBegan},
	}
}

// Run lets it happen to a new database of a kind.
func (u FeedReset) Run(ctx context.Context, s resettable, writers int, seed uint64) (r *Run, err error) {
	defer func() { err = errors.Join(err, s.Close()) }()
	r = NewRun(s, writers, seed)
	defer r.unsubscribe()
	return r, u.run(ctx, r, s)
}

func (u FeedReset) run(ctx context.Context, r *Run, s resettable) error {
	s.setFlags(u.flags...)
	r.mayReset, r.absence = true, u.away
	c, err := r.begin(ctx)
	if err != nil || c == nil {
		return err
	}
	if ok, err := r.quiet(ctx); !ok || err != nil {
		return err
	}
	r.Crashes = append(r.Crashes, u.Name)
	if err := u.cause(ctx, r, s); err != nil {
		return fmt.Errorf("%s: %w", u.Name, err)
	}
	for deadline := time.Now().Add(maxSettle); !u.over(r) && len(r.Findings) == 0; {
		if time.Now().After(deadline) {
			r.find(ledger.Violation{Fault: ledger.Wrong, Text: fmt.Sprintf("%s: subscribers have not noticed it in %v", u.Name, maxSettle)})
			return nil
		}
		// A stream that is open notices it with the next change, if not before.
		if err := r.writeSome(ctx, r.clients[0]); err != nil {
			return err
		}
		if err := sleep(ctx, 100*time.Millisecond); err != nil {
			return err
		}
	}
	if ok, err := r.quiet(ctx); !ok || err != nil {
		return err
	}
	return r.Finish(ctx)
}

// quiet waits until nothing is unfinished, and checks everything.
func (r *Run) quiet(ctx context.Context) (bool, error) {
	for _, w := range r.writers {
		w.meet(r.clients)
		w.ending = ctx
		if err := w.catchUpAtLast(ctx); err != nil {
			return false, r.recordFault(err)
		}
	}
	return r.verify(ctx, r.clients[0])
}

// someResumed: some streams went on although retention was at work, and some had to begin again.
func (r *Run) someResumed() bool {
	resumed, began := false, false
	for _, s := range r.subscribers {
		resumed, began = resumed || s.resumed.Load() > 0, began || s.began.Load() > 0
	}
	return resumed && began
}

// allBegan: every subscriber had to begin again.
func (r *Run) allBegan() bool {
	for _, s := range r.subscribers {
		if s.began.Load() == 0 {
			return false
		}
	}
	return true
}

// keepOn: the flags do it.
func keepOn(context.Context, *Run, resettable) error { return nil }

// migrate adds an attribute to every collection while the servers run, and starts them again with the new schema.
func migrate(ctx context.Context, r *Run, s resettable) error {
	changed := bytes.ReplaceAll(schemaFile, []byte("      token: {type: string}\n"), []byte("      token: {type: string}\n      "+ledger.Added+": {type: string}\n"))
	if err := os.WriteFile(s.schema(), changed, 0o644); err != nil {
		return err
	}
	if err := s.command(ctx, "migrate"); err != nil {
		return err
	}
	return r.again(ctx)
}

// again stops the servers and starts them again. ETags may be others than before. It writes something before subscribers
// find the servers, so that one that ignores the reset misses it.
func (r *Run) again(ctx context.Context) error {
	if err := r.system.Stop(); err != nil {
		return err
	}
	c, err := r.startAlone(ctx)
	if err == nil && c == nil {
		err = errors.New("the server does not start")
	}
	if err != nil {
		return err
	}
	r.abandonAll()
	if err := r.writeSome(ctx, c); err != nil {
		return err
	}
	r.subscribe(ctx)
	return nil
}

// abandonAll lets all writers leave their resources alone, as they do not know their ETags.
func (r *Run) abandonAll() {
	for _, w := range r.writers {
		w.accounts, w.answered = nil, nil
	}
}

// restore makes the database what it was before some writes. Nobody is to hear of those any more.
func restore(ctx context.Context, r *Run, s resettable) error {
	if err := s.save(ctx, r); err != nil {
		return err
	}
	if err := r.writeUnrecorded(ctx); err != nil {
		return err
	}
	err := s.restore(ctx, r)
	r.abandonAll()
	return err
}

// writeUnrecorded writes what the ledger does not know of.
func (r *Run) writeUnrecorded(ctx context.Context) error {
	c := r.clients[0]
	for i := range 50 {
		members := attributes(fmt.Sprint("writeUnrecorded-", i))
		m := message{method: "POST", path: "/accounts", body: encode(members)}
		if i%2 == 0 {
			counter := r.counters[i/2%len(r.counters)]
			m = message{method: "PATCH", path: "/counters/" + counter.ID, body: encode(members)}
		}
		answer, _, err := c.exchange(ctx, m)
		if err == nil && answer.Status != http.StatusOK && answer.Status != http.StatusCreated {
			err = fmt.Errorf("%v: %d %s", m, answer.Status, answer.Body)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *SQLite) backup() string { return filepath.Join(s.home, "backup.db") }

// save makes a backup while the server runs.
func (s *SQLite) save(ctx context.Context, _ *Run) error {
	return s.command(ctx, "backup", s.backup())
}

// restore restores it while the server runs.
func (s *SQLite) restore(ctx context.Context, _ *Run) error {
	return s.command(ctx, "restore", "--force", s.backup())
}

// save copies the database, which only the copy may use meanwhile.
func (s *Nodes) save(ctx context.Context, r *Run) error {
	if err := s.Stop(); err != nil {
		return err
	}
	if err := s.primary().administer(ctx, "CREATE DATABASE saved TEMPLATE postgres"); err != nil {
		return err
	}
	_, err := r.start(ctx)
	return err
}

// restore replaces the database by its copy, as pg_restore would.
func (s *Nodes) restore(ctx context.Context, r *Run) error {
	if err := s.Stop(); err != nil {
		return err
	}
	if err := s.primary().administer(ctx, "DROP DATABASE postgres", "CREATE DATABASE postgres TEMPLATE saved"); err != nil {
		return err
	}
	if err := s.command(ctx, "history", "renew"); err != nil {
		return err
	}
	_, err := r.start(ctx)
	return err
}

// administer runs statements from another database than the one that is used.
func (c *cluster) administer(ctx context.Context, statements ...string) error {
	conn, err := pgx.Connect(ctx, strings.Replace(hosts(c), "/postgres?", "/template1?", 1))
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	for _, statement := range statements {
		if _, err := conn.Exec(ctx, statement); err != nil {
			return fmt.Errorf("%s: %w", statement, err)
		}
	}
	return nil
}
