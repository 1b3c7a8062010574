package postgres

import (
	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/model"
)

// Tasks that share a transaction send their statements together. Each task runs in a coroutine and stops when it inserts a row or
// runs a batch. When all tasks have returned or stopped, everything is sent by one round trip, and the rows of a collection, a
// time and a caller are inserted by one statement. Then the tasks go on, one after the other.
//
// Other transactions could have run between the statements of a task anyway, so it makes no difference to it that other tasks
// do, unless they write to the same resource: the database would not notice that within a transaction. A task that updates the
// resource of another one starts when that has returned.

// gathering is the tasks of a transaction.
type gathering struct {
	*connection
	coroutines *coroutines
	tasks      []*gatheredTask
	stopped    []*gatheredTask // wait for their statements
	succeeded  []*db.Task
}

// gatheredTask is a task in a coroutine, and the transaction as the task sees it.
type gatheredTask struct {
	*connection
	work       *db.Queued
	coroutine  *coroutine    // that runs it; nil: it has returned
	insertion  *db.Insertion // that it waits for; nil: its statements are queued
	savepoints int           // that it is in
	wrote      bool          // it has written something, or tried to
	err        error
}

// run runs tasks until all have returned. An error means that all must run alone.
func (g *gathering) run(batch []*db.Queued) error {
	defer func() {
		for _, t := range g.tasks {
			if t.coroutine != nil {
				t.coroutine.end()
			}
		}
	}()
	for len(batch) > 0 {
		var later []*db.Queued
		for i, s := range batch { // those with the same id are neighbours
			if s.ID != (model.ID{}) && i > 0 && s.ID == batch[i-1].ID {
				later = append(later, s)
			} else if err := g.goOn(g.start(s)); err != nil {
				return err
			}
		}
		for len(g.stopped) > 0 {
			if err := g.sendAll(); err != nil {
				return errAlone
			}
			stopped := g.stopped
			g.stopped = nil
			for _, t := range stopped {
				if err := g.goOn(t); err != nil {
					return err
				}
			}
		}
		batch = later
	}
	return nil
}

func (g *gathering) start(s *db.Queued) *gatheredTask {
	t := &gatheredTask{connection: g.connection, work: s}
	t.coroutine = g.coroutines.take(func() { t.err = s.Start(t, g.succeeded) })
	g.tasks = append(g.tasks, t)
	return t
}

// goOn runs a task until it stops or returns. A task that has failed before it has written anything does not affect the
// others, and gets its error in a transaction of its own, or at once if there are no others. That includes one that Announce
// has refused, unless it goes on all the same.
func (g *gathering) goOn(t *gatheredTask) error {
	g.altered, g.yielded = false, false
	stopped, _ := t.coroutine.next()
	if !stopped {
		g.coroutines.keep(t.coroutine)
		t.coroutine = nil
	}
	t.wrote = t.wrote || g.altered
	switch {
	case g.yielded && (stopped || t.err == nil):
		return errAlone
	case stopped:
		g.stopped = append(g.stopped, t)
	case t.err == nil:
		g.succeeded = append(g.succeeded, t.work.Task)
	case g.failed() || t.wrote:
		return errAlone
	default:
		t.work.Err, g.yielded = errAlone, false
	}
	return nil
}

// sendAll sends the statements that the stopped tasks wait for.
func (g *gathering) sendAll() error {
	var all []*db.Insertion
	for _, t := range g.stopped {
		if t.insertion != nil {
			all = gather(all, t.insertion)
			t.insertion = nil
		}
	}
	for _, n := range all {
		g.queueInsert(n)
	}
	return g.flush()
}

// gather adds an insertion of one record to others, to one of these if it differs only in its record.
func gather(all []*db.Insertion, n *db.Insertion) []*db.Insertion {
	for _, other := range all {
		if other.Collection == n.Collection && other.At == n.At && other.Caller == n.Caller {
			other.Records = append(other.Records, n.Records[0])
			return all
		}
	}
	copied := *n
	copied.Records = []model.Record{n.Records[0]}
	return append(all, &copied)
}

// maxGathered is how many bytes of texts a row has at most that is inserted with others. Larger ones would take the
// memory of all of them at once, and a round trip less makes no difference to them.
const maxGathered = 64 << 10

// Insert stops the task until the row is inserted, unless other tasks must not run meanwhile.
func (t *gatheredTask) Insert(n *db.Insertion) error {
	if !n.New || len(n.Records) != 1 || t.savepoints > 0 || n.Records[0].TextSize() > maxGathered {
		return t.connection.Insert(n)
	}
	t.insertion, t.altered = n, true
	return t.pause()
}

// Batch stops the task until the statements have run, unless other tasks must not run meanwhile.
func (t *gatheredTask) Batch(statements ...db.Statement) error {
	if t.savepoints > 0 {
		return t.connection.Batch(statements...)
	}
	if err := t.Defer(statements...); err != nil {
		return err
	}
	return t.pause()
}

// pause stops the task until all statements that are queued have run.
func (t *gatheredTask) pause() error {
	if !t.coroutine.yield(true) {
		return errAlone
	}
	return nil
}

// Savepoint: what other tasks write must not be undone with what this one does.
func (t *gatheredTask) Savepoint(fn func() (keep bool)) error {
	return t.connection.Savepoint(func() bool {
		t.savepoints++
		defer func() { t.savepoints-- }()
		return fn()
	})
}
