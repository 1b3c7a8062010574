package operation

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/pgtest"
	"github.com/plural-go/plural/internal/reads"
	"github.com/plural-go/plural/internal/resource"
	"github.com/plural-go/plural/internal/store"
	"github.com/plural-go/plural/problem"
	"github.com/plural-go/plural/schema"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Run(m)) }

// hung is how long a test waits for what must happen: long enough for any machine.
const hung = 5 * time.Minute

// dataset is a store of users with operations, and a hook for their creation and change.
type dataset struct {
	t         *testing.T
	schema    *model.Schema
	store     *store.Store
	resources *resource.Resources
	*Operations

	mutex    sync.Mutex
	failures []error // that were told
	effects  int
}

// eachDataset runs a test on each database. Nothing is worked on until run.
func eachDataset(t *testing.T, config Config, hook resource.Hook, test func(*testing.T, *dataset)) {
	t.Helper()
	for name, url := range pgtest.Databases() {
		t.Run(name, func(t *testing.T) {
			test(t, newDataset(t, url(t), config, hook))
		})
	}
}

// newDataset makes one in an empty database.
func newDataset(t *testing.T, url string, config Config, hook resource.Hook) *dataset {
	t.Helper()
	sch := (*model.Schema)(schema.Example())
	st, err := store.Open(context.Background(), url, sch)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { st.Close() })
	w := &dataset{t: t, schema: sch, store: st, resources: resource.New(st)}
	w.resources.BodyLimits = resource.BodyLimits{Depth: 64, Items: 1000}
	w.resources.Backlog, config.Workers = 100, 2
	config.Failed = func(_ store.Job, err error) {
		w.mutex.Lock()
		defer w.mutex.Unlock()
		w.failures = append(w.failures, err)
	}
	w.Operations = New(config, st, w.resources)
	hook.Timeout = time.Minute
	hook.After = func(context.Context, *resource.Change) {
		w.mutex.Lock()
		defer w.mutex.Unlock()
		w.effects++
	}
	for _, verb := range []resource.Verb{resource.Create, resource.Update} {
		w.resources.AddHook(w.users(), verb, hook)
	}
	return w
}

func (w *dataset) users() *model.Collection { return w.schema.Collection("users") }

// run works until the end of the test.
func (w *dataset) run() {
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		w.Run(ctx, ctx)
		close(ended)
	}()
	w.t.Cleanup(func() {
		stop()
		<-ended
	})
}

var user = model.ID{15: 1}

// accepted is a step of a user that was accepted.
type accepted struct {
	step resource.Step
	resource.Outcome
}

// accept has a step of a user accepted.
func (w *dataset) accept(method, body string) accepted {
	w.t.Helper()
	step := resource.Step{Method: method, Path: reads.Path{Collection: w.users()}, ID: user, Body: []byte(body)}
	outcome := w.resources.Execute(context.Background(), resource.Request{Steps: []resource.Step{step}, Later: true})
	if outcome.Err != nil {
		w.t.Fatal(outcome.Err)
	}
	w.Wake()
	return accepted{step, outcome}
}

const newUser = `{"id":"00000000-0000-0000-0000-000000000001","name":"Ada","email":"ada@example.com"}`

// expect waits for an operation, and compares its status, attempts and errors,
// and those of its outcome.
func (w *dataset) expect(accepted accepted, want string) {
	w.t.Helper()
	outcome, ok := w.Wait(context.Background(), accepted.step, accepted.Outcome, hung)
	if !ok {
		w.t.Fatal("the operation is not finished")
	}
	tx, err := w.store.Read(context.Background())
	if err != nil {
		w.t.Fatal(err)
	}
	defer tx.Close()
	c := w.schema.Operations()
	record, err := tx.Get(c, nil, accepted.Operation)
	if err != nil {
		w.t.Fatal(err)
	}
	got := fmt.Sprintf("%s %d", record[c.Field("status").Column].Text(), record.Int(c.Field("attempts").Column))
	if outcome.Err != nil {
		got += " " + string(fault.JSON(fault.From(outcome.Err)))
		if kept := record[c.Field("errors").Column].Text(); kept != string(fault.JSON(fault.From(outcome.Err))) {
			w.t.Errorf("the errors are %s, and the outcome is %s", kept, outcome.Err)
		}
	}
	if got != want {
		w.t.Errorf("got  %s\nwant %s", got, want)
	}
}

// told counts the failures and effects so far.
func (w *dataset) told() (failures, effects int) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	return len(w.failures), w.effects
}

// TestAttemptsAreLimited: ten attempts are enough, and those behind go on.
func TestAttemptsAreLimited(t *testing.T) {
	unavailable := fault.New(problem.CodeUnavailable, "Not now.")
	var checked bool
	hooks := map[string]resource.Hook{
		"before": {Before: func(_ context.Context, change *resource.Change) error {
			if change.Verb == resource.Create {
				return unavailable
			}
			return nil
		}},
		"within": {Within: func(_ context.Context, _ *resource.Handle, change *resource.Change) error {
			if checked && change.Verb == resource.Create {
				return unavailable
			}
			return nil
		}},
	}
	for name, hook := range hooks {
		t.Run(name, func(t *testing.T) {
			checked = false
			noPause := func(int64) time.Duration { return 0 }
			eachDataset(t, Config{Pause: noPause}, hook, func(t *testing.T, w *dataset) {
				checked = false
				first, second := w.accept("POST", newUser), w.accept("PATCH", `{"name":"Bob"}`)
				checked = true
				w.run()
				w.expect(first, `failed 10 [{"status":503,"code":"unavailable","title":"Not available at the moment","detail":"Not now."}]`)
				w.expect(second, `failed 1 [{"status":404,"code":"not_found","title":"Not found","detail":"There is no resource `+user.String()+` here in users."}]`)
				if failures, effects := w.told(); failures != 10 || effects != 0 {
					t.Errorf("%d failures were told, and there were %d effects", failures, effects)
				}
			})
		})
	}
}

// TestOperationsThatTakeTooLong are given up at the first attempt: another one would keep other writes waiting again.
func TestOperationsThatTakeTooLong(t *testing.T) {
	eachDataset(t, Config{}, resource.Hook{}, func(t *testing.T, w *dataset) {
		accepted := w.accept("POST", newUser)
		w.resources.WriteTime = 1
		w.run()
		w.expect(accepted, `failed 1 [{"status":503,"code":"too_expensive","title":"The query takes too long","detail":"The database takes too long for this write. Nothing was changed. Change fewer resources at once."}]`)
	})
}

// TestFailedOperationIsRequeuedAfterADatabaseError: an operation that failed does not wait for the end of its lease
// because the database could not be written for a moment.
func TestFailedOperationIsRequeuedAfterADatabaseError(t *testing.T) {
	url, attempts := pgtest.URL(t), 0
	w := newDataset(t, url, Config{Pause: func(int64) time.Duration { return 0 }}, resource.Hook{Before: func(_ context.Context, change *resource.Change) error {
		if attempts++; attempts > 1 {
			return nil
		}
		db, err := pgx.Connect(context.Background(), url)
		if err != nil {
			return err
		}
		defer db.Close(context.Background())
		// A sequence goes on although the transaction is undone, so that the second try succeeds.
		_, err = db.Exec(context.Background(), `CREATE SEQUENCE tries;
			CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
				IF nextval('tries') = 1 THEN RAISE EXCEPTION 'not now' USING ERRCODE = '53000'; END IF; RETURN NEW; END $$;
			CREATE TRIGGER refusing BEFORE UPDATE ON _plural_queue FOR EACH ROW EXECUTE FUNCTION refuse()`)
		return errors.Join(err, fault.New(problem.CodeUnavailable, "Not now."))
	}})
	accepted := w.accept("POST", newUser)
	w.run()
	w.expect(accepted, "succeeded 2")
	if failures, effects := w.told(); failures != 1 || effects != 1 {
		t.Errorf("%d failures were told, and there were %d effects", failures, effects)
	}
}

// TestPausesGrow up to half a minute.
func TestPausesGrow(t *testing.T) {
	var got []time.Duration
	for attempt := range int64(10) {
		got = append(got, growingPause(attempt+1))
	}
	want := "[200ms 400ms 800ms 1.6s 3.2s 6.4s 12.8s 25.6s 30s 30s]"
	if fmt.Sprint(got) != want {
		t.Errorf("got  %v\nwant %s", got, want)
	}
}

// TestLostLease: who has lost an operation to another leaves it, whether they
// learn of it while they work, or only when they come to the transaction.
func TestLostLease(t *testing.T) {
	for name, learns := range map[string]bool{"while it works": true, "at its end": false} {
		t.Run(name, func(t *testing.T) {
			working := make(chan *dataset, 1)
			hook := resource.Hook{Before: func(ctx context.Context, change *resource.Change) error {
				select {
				case w := <-working: // the first attempt
					if got := w.takeOver(); got.Attempt != 2 {
						w.t.Errorf("it was claimed as attempt %d", got.Attempt)
					}
					if learns {
						<-ctx.Done()
					}
				default:
				}
				return nil
			}}
			eachDataset(t, Config{Lease: hung}, hook, func(t *testing.T, w *dataset) {
				w.renewal = time.Millisecond
				working <- w
				accepted := w.accept("POST", newUser)
				w.run()
				// The other one says nothing more, and so it comes back.
				w.expect(accepted, "succeeded 3")
				if failures, effects := w.told(); failures != 0 || effects != 1 {
					t.Errorf("%d failures were told, and there were %d effects", failures, effects)
				}
			})
		})
	}
}

// takeOver claims the operation that somebody is working on, with a lease that is over at once.
func (w *dataset) takeOver() (taken store.Job) {
	w.t.Helper()
	err := w.store.Write(context.Background(), func(tx *store.Tx) error {
		unfinished, err := tx.Unfinished(w.users(), user)
		if err != nil {
			return err
		}
		if _, err := tx.Renew(unfinished[0], -time.Second); err != nil {
			return err
		}
		jobs, err := tx.Claim(1, 0)
		if err == nil && len(jobs) == 1 {
			taken = jobs[0]
		}
		return err
	})
	if err != nil {
		w.t.Error(err)
	}
	return taken
}

// TestLeaseIsRenewed: a lease is renewed for as long as the work takes, so that nobody else claims the operation.
func TestLeaseIsRenewed(t *testing.T) {
	working := make(chan *dataset, 1)
	slow := resource.Hook{Before: func(ctx context.Context, _ *resource.Change) error {
		w := <-working // a second attempt would wait for ever
		seen := map[time.Time]bool{}
		for len(seen) < 4 && ctx.Err() == nil {
			seen[w.nextDue()] = true
		}
		return ctx.Err()
	}}
	eachDataset(t, Config{Lease: hung}, slow, func(t *testing.T, w *dataset) {
		w.renewal = time.Millisecond
		working <- w
		accepted := w.accept("POST", newUser)
		w.run()
		w.expect(accepted, "succeeded 1")
	})
}

// nextDue is when the next operation can be claimed: while one is worked on, the end of its lease.
func (w *dataset) nextDue() time.Time {
	tx, err := w.store.Read(context.Background())
	if err != nil {
		w.t.Error(err)
		return time.Time{}
	}
	defer tx.Close()
	due, found, err := tx.Next()
	if err != nil || !found {
		w.t.Errorf("no operation is unfinished: %v", err)
	}
	return due
}
