package postgres

import (
	"context"
	"errors"
	"slices"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/plural-go/plural/internal/db"
)

// To begin, commit and sync a transaction costs as much as several creates. So a few goroutines run
// the short tasks, and the tasks that wait for them share the next transaction. While few write,
// each has a transaction of its own.

const (
	// maxSharing limits how many tasks share a transaction.
	maxSharing = 32
	// maxLockWait bounds how long tasks that share a transaction wait for others. A task that has to
	// wait for longer does so alone.
	maxLockWait = "50ms"
)

// errAlone: a task cannot share a transaction.
var errAlone = errors.New("tasks must run alone")

// writeShared runs a short task, in a transaction with others if several wait. It waits up to
// db.MaxWait for its start.
func (b *Database) writeShared(ctx context.Context, t *db.Task) error {
	wait, cancel := context.WithTimeoutCause(ctx, db.MaxWait, db.ErrBusy)
	defer cancel()
	err := b.short.Do(wait, t)
	if errors.Is(err, errAlone) {
		return b.writeAlone(ctx, t)
	}
	return err
}

// runShort runs the short tasks that wait, in one transaction. If it fails, each must run alone: an error that one has caused
// must not be the result of another. If its outcome is unknown, so is that of each.
func (b *Database) runShort() {
	batch := b.short.TakeShort(maxSharing)
	if len(batch) == 0 {
		return // another goroutine has taken them
	}
	// Servers that update the same resources in the same order do not wait for each other in a circle. The order
	// descends, so creates, which have no id, come last.
	slices.SortStableFunc(batch, func(a, b *db.Queued) int { return b.ID.Compare(a.ID) })
	err := b.runTogether(batch)
	for _, s := range batch {
		switch {
		case s.Err != nil: // it has stored nothing
		case errors.Is(err, errUnknownOutcome):
			s.Err = err
		case err != nil:
			s.Err = errAlone
		}
	}
	b.short.Done(batch...)
}

// runTogether runs tasks in one transaction. An error means that nothing is stored, or that the outcome
// is unknown. A task that fails before it has written anything does not affect the others, and gets its
// error in a transaction of its own.
func (b *Database) runTogether(batch []*db.Queued) error {
	ctx := context.Background()
	acquired, err := b.acquire(ctx)
	if err != nil {
		return err
	}
	defer acquired.Release()
	c := b.transaction(ctx, acquired, beginWrite)
	c.shared, c.replyTimeout, c.locks = true, b.replyTimeout, &b.locks
	g := &gathering{connection: c, coroutines: &b.coroutines}
	err = g.run(batch)
	if only := g.tasks[0]; len(batch) == 1 && only.err != nil && !c.failed() && !isOfDatabase(only.err) {
		c.rollback()
		only.work.Err = only.err
		return nil
	}
	if err != nil {
		c.rollback()
		return err
	}
	return b.finish(acquired, c, g.succeeded)
}

// isOfDatabase reports whether a task has failed because of the database or of other transactions, and not
// by itself. Alone, it may succeed.
func isOfDatabase(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) || errors.Is(err, errContended) || errors.Is(err, errAlone) || errors.Is(err, db.ErrOutdated) || isLostConnection(err)
}
