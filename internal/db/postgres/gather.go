package postgres

import (
	"iter"

	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/model"
)

// Tasks that share a transaction insert their rows together. Each task that creates a resource is a coroutine that stops
// when it inserts the row. When all tasks have returned or stopped, the rows are inserted by one round trip, and by one statement
// for all rows of a collection, a time and a caller. Then the tasks go on, one after the other.
//
// Other transactions could have run between the statements of a task anyway, so it makes no difference to it that other tasks do.

// gathering is the tasks of a transaction.
type gathering struct {
	*connection
	tasks     []*gatheredTask
	stopped   []*gatheredTask // wait for their inserts
	succeeded []*db.Task
}

// gatheredTask is a task as a coroutine, and the transaction as the task sees it.
type gatheredTask struct {
	*connection
	queuedTask *queuedTask
	next       func() (struct{}, bool) // runs the task; false: it has returned
	end        func()                  // ends the coroutine
	stop       func(struct{}) bool     // is called by the task, and returns when it goes on; false: it must return
	insertion  *db.Insertion           // that it waits for
	savepoints int                     // that it is in
	wrote      bool                    // it has written something, or tried to
	err        error
}

// run runs tasks until all have returned. An error means that all must run alone.
func (g *gathering) run(batch []*queuedTask) error {
	defer func() {
		for _, t := range g.tasks {
			t.end()
		}
	}()
	for _, s := range batch {
		if err := g.goOn(g.start(s)); err != nil {
			return err
		}
	}
	for len(g.stopped) > 0 {
		if err := g.insert(); err != nil {
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
	return nil
}

func (g *gathering) start(s *queuedTask) *gatheredTask {
	t := &gatheredTask{connection: g.connection, queuedTask: s}
	g.tasks = append(g.tasks, t)
	if s.task.ID != (model.ID{}) { // it updates a resource, and has nothing to insert
		t.next, t.end = func() (struct{}, bool) {
			t.err = s.task.Start(g.connection, g.succeeded)
			return struct{}{}, false
		}, func() {}
		return t
	}
	t.next, t.end = iter.Pull(func(stop func(struct{}) bool) {
		t.stop = stop
		t.err = s.task.Start(t, g.succeeded)
	})
	return t
}

// goOn runs a task until it stops or returns. A task that has failed before it has written anything does not affect the
// others, and gets its error in a transaction of its own, or at once if there are no others.
func (g *gathering) goOn(t *gatheredTask) error {
	g.altered = false
	_, stopped := t.next()
	t.wrote = t.wrote || g.altered || stopped
	switch {
	case stopped:
		g.stopped = append(g.stopped, t)
	case t.err == nil:
		g.succeeded = append(g.succeeded, t.queuedTask.task)
	case g.failed() || t.wrote:
		return errAlone
	default:
		t.queuedTask.alone = true
	}
	return nil
}

// insert inserts the rows that the stopped tasks wait for.
func (g *gathering) insert() error {
	var all []*db.Insertion
	for _, t := range g.stopped {
		all = gather(all, t.insertion)
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
	t.insertion = n
	if !t.stop(struct{}{}) {
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
