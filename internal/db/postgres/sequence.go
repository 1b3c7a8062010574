package postgres

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/model"
)

// Revisions are given before a transaction commits, so that they are not committed in their order. So changes also have numbers,
// in the columns called position; the positions of clients are texts that contain a number.
// A tick gives numbers to the changes that are visible in its snapshot and were not in that of
// the tick before. It is one transaction, and ticks exclude each other, so that everybody reads the
// same order. See docs/decisions/0028-change-feed.md.
const (
	// channel is what other servers listen to.
	channel = "plural_changes"

	// maxTick bounds how many numbers a tick gives. If there are more changes, another tick follows.
	maxTick = 100_000

	// tickTimeout is for a database that does not answer. A tick takes milliseconds, or seconds if
	// there is much to do or a wait for others.
	tickTimeout = time.Minute

	// lastTick reads the state from the end of the index: while somebody has an old snapshot,
	// removed rows are still at its beginning.
	lastTick = "SELECT position, seen FROM " + db.TicksTable + " ORDER BY position DESC LIMIT 1"

	// isForeign: the snapshot is from another cluster, where transactions have higher numbers. Those
	// of a cluster with lower numbers do no harm.
	isForeign = "pg_snapshot_xmax(seen) > pg_snapshot_xmax(pg_current_snapshot())"

	// isNew: the change has no number. A subquery that is not made a join: few changes are new.
	isNew = "(SELECT true FROM " + db.SequenceTable + " AS s WHERE s.revision = c.revision) IS NULL"
)

// tickOf is the statement of a tick. It gives numbers to the changes that the last tick did not see: those of
// transactions that began later, and of those that it saw running and that have ended. It does so for up
// to a number of them, which is a constant for the planner, and returns the last number and whether
// there are more. Then the snapshot stays as it was. It returns nothing if the snapshot of the last
// tick means nothing here. A tick that finds nothing writes nothing.
func tickOf(most int) string {
	return "WITH last AS (SELECT * FROM (" + lastTick + ") AS t WHERE NOT " + isForeign + ")," +
		" unseen AS (SELECT c.revision FROM last, " + db.ChangesTable + " AS c WHERE c.transaction >= pg_snapshot_xmax(last.seen) AND " + isNew +
		" UNION ALL SELECT ended.revision FROM last, pg_snapshot_xip(last.seen) AS ran(number)" +
		" CROSS JOIN LATERAL (SELECT c.revision FROM " + db.ChangesTable + " AS c WHERE c.transaction = ran.number AND " + isNew +
		" OFFSET 0) AS ended" + // or the planner might read the whole log to join it
		" WHERE pg_visible_in_snapshot(ran.number, pg_current_snapshot())" +
		" ORDER BY 1 LIMIT " + strconv.Itoa(most+1) + ")," +
		" numbered AS (INSERT INTO " + db.SequenceTable + " (position, revision)" +
		" SELECT last.position + row_number() OVER (ORDER BY unseen.revision), unseen.revision FROM last, unseen ORDER BY unseen.revision LIMIT " + strconv.Itoa(most) + " RETURNING position)," +
		" result AS (SELECT count(*) AS count, max(position) AS position, (SELECT count(*) FROM unseen) > count(*) AS more FROM numbered)," +
		" removed AS (DELETE FROM " + db.TicksTable + " AS t WHERE t.position = (SELECT last.position FROM last, result WHERE result.count > 0))," +
		" stored AS (INSERT INTO " + db.TicksTable + " (position, seen)" +
		" SELECT result.position, CASE WHEN result.more THEN last.seen ELSE pg_current_snapshot() END" +
		" FROM last, result WHERE result.count > 0)" +
		" SELECT coalesce(result.position, last.position), result.more::int::bigint FROM last, result"
}

// renumber gives numbers to all changes that have none, whatever their transactions. Those of a
// database that had no numbers get their revisions.
var renumber = []string{
	// A tick would look at these again and again.
	"UPDATE " + db.ChangesTable + " SET transaction = '0' WHERE transaction >= pg_snapshot_xmax(pg_current_snapshot())",
	"WITH last AS (" + lastTick + ")," +
		" numbered AS (INSERT INTO " + db.SequenceTable + " (position, revision)" +
		" SELECT CASE last.position WHEN 0 THEN c.revision ELSE last.position + row_number() OVER (ORDER BY c.revision) END, c.revision" +
		" FROM last, " + db.ChangesTable + " AS c WHERE NOT EXISTS (SELECT FROM " + db.SequenceTable + " AS s WHERE s.revision = c.revision) RETURNING position)" +
		" UPDATE " + db.TicksTable + " SET position = coalesce((SELECT max(position) FROM numbered), position), seen = pg_current_snapshot()",
}

var (
	lockTicks = "SELECT pg_advisory_xact_lock(" + migrationLock + ", '" + db.TicksTable + "'::regclass::oid::int4)"
	// The planner does not know how few changes are new: it would scan tables and compile the
	// query, which takes a hundred times as long as to run it. What is seen must be durable, even if
	// the writers do not wait for that.
	tickSettings = "SELECT set_config('enable_seqscan', 'off', true), set_config('jit', 'off', true)," +
		" set_config('synchronous_commit', CASE current_setting('synchronous_commit') WHEN 'off' THEN 'on' ELSE current_setting('synchronous_commit') END, true)"

	errNoTick = errors.New("the table " + db.TicksTable + " has lost its row, so that changes can get no numbers: restore a backup")
)

// tickRun is a run of ticks that has ended.
type tickRun struct {
	number int64 // runs are numbered as they begin
	last   int64
	err    error
}

// AssignNumbers runs ticks until all has a number that was committed before. Callers wait for each other, so that at most one
// connection of each server waits for the lock, and get the result of a run that another caller has begun after their call:
// one that had begun before may not have seen what they have committed.
func (b *Database) AssignNumbers(ctx context.Context) (last int64, err error) {
	begun := b.runsBegun.Load()
	select {
	case b.sequencing <- struct{}{}:
		defer func() { <-b.sequencing }()
	case <-ctx.Done():
		return 0, ctx.Err()
	}
	if run := b.lastRun; run.number > begun {
		return run.last, run.err
	}
	number := b.runsBegun.Add(1)
	if last, err = b.sequence(ctx); ctx.Err() == nil { // otherwise the error may be only that of this caller
		b.lastRun = tickRun{number, last, err}
	}
	return last, err
}

// sequence runs ticks until one has given numbers to all that it found.
func (b *Database) sequence(ctx context.Context) (last int64, err error) {
	renumbered := false
	for attempt := 0; attempt < writeAttempts; {
		more, found := false, false
		err = b.runLocked(ctx, deferred{sql: b.tick, look: func(row model.Row) error {
			last, more, found = row.Int(0), row.Int(1) != 0, true
			return nil
		}})
		switch {
		case isLostConnection(err): // if it was committed after all, the next one finds nothing
			b.pool.Reset() // the other connections are probably lost too
			attempt++
		case err != nil:
			return 0, err
		case !found && renumbered:
			return 0, errNoTick
		case !found:
			renumbered = true
			if err = b.runLocked(ctx, deferred{sql: renumber[0]}, deferred{sql: renumber[1]}); err != nil {
				return 0, err
			}
		case !more:
			return last, nil
		}
	}
	return 0, err
}

// runLocked runs statements in a transaction that holds the lock of ticks, so that no other server gives numbers. All are
// sent at once, so that a server that hangs keeps no lock. Each sees what is committed when it begins.
func (b *Database) runLocked(ctx context.Context, statements ...deferred) error {
	acquired, err := b.acquire(ctx)
	if err != nil {
		return err
	}
	defer acquired.Release()
	c := b.transaction(ctx, acquired, beginCommitted)
	c.replyTimeout = tickTimeout
	c.queued = append(c.queued, deferred{sql: lockSchemas}, deferred{sql: lockTicks}, deferred{sql: tickSettings})
	c.queued = append(c.queued, statements...)
	if _, err = c.commit(); err != nil {
		c.rollback()
	}
	return err
}

// ChangeOrder: the transaction of a change is where a tick looks for it.
func (dialect) ChangeOrder() (columns string, additions, renumbered []string) {
	return ", transaction xid8 NOT NULL DEFAULT pg_current_xact_id()", []string{
		// The transaction alone, so that PostgreSQL stores it once for many changes. Older databases have the revision in it too.
		"CREATE INDEX " + db.ChangesTable + "_order ON " + db.ChangesTable + " (transaction)",
		"CREATE TABLE " + db.SequenceTable + " (position bigint NOT NULL PRIMARY KEY, revision bigint NOT NULL UNIQUE)",
		"CREATE TABLE " + db.TicksTable + " (position bigint NOT NULL PRIMARY KEY, seen pg_snapshot NOT NULL)",
		"INSERT INTO " + db.TicksTable + " (position, seen) VALUES (0, '1:1:')",
	}, renumber
}

func (dialect) PositionedLog() string {
	return "(SELECT position, " + db.ChangeColumns + ", transaction::text::bigint AS transaction FROM " + db.SequenceTable + " JOIN " + db.ChangesTable + " USING (revision))"
}

func (dialect) RemoveLog() string {
	return "WITH removed AS (DELETE FROM " + db.SequenceTable + " WHERE position <= $1 RETURNING revision)" +
		" DELETE FROM " + db.ChangesTable + " AS c USING removed WHERE c.revision = removed.revision"
}

func (dialect) ClearLog() []string {
	return []string{"DELETE FROM " + db.SequenceTable, "DELETE FROM " + db.ChangesTable}
}

func (dialect) PointColumns() string {
	return "(SELECT position FROM (" + lastTick + ") AS tick) AS position, coalesce((SELECT max(revision) FROM " + db.ChangesTable + "), 0) AS revision," +
		" pg_current_snapshot()::text AS seen"
}
