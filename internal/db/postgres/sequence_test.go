package postgres

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/pgtest"
)

func insertChanges(t *testing.T, d *Database, n int) {
	t.Helper()
	err := d.Migrate(context.Background(), func(c db.Conn) error { // it has any time
		return db.ExecAll(c, someChanges(n))
	})
	if err != nil {
		t.Fatal(err)
	}
}

func someChanges(n int) string {
	return fmt.Sprintf("INSERT INTO %s (collection, id, kind, at, caller, schema, previous)"+
		" SELECT 1, gen_random_uuid(), 'created', now(), '', 1, '' FROM generate_series(1, %d)", db.ChangesTable, n)
}

// TestTickOfALongLog: a tick looks at what is new only, however long the log is and whatever the
// planner knows of it. A tick that gives as many positions as one may give is followed by another.
func TestTickOfALongLog(t *testing.T) {
	for name, index := range map[string]string{"new database": "", "older database": "(transaction, revision)"} {
		t.Run(name, func(t *testing.T) { testTickOfALongLog(t, index) })
	}
}

// testTickOfALongLog tests a log with another index on the transaction, if there is one.
func testTickOfALongLog(t *testing.T, index string) {
	d := open(t, pgtest.URL(t))
	if index != "" {
		name := db.ChangesTable + "_order"
		err := d.Migrate(context.Background(), func(c db.Conn) error {
			return db.ExecAll(c, "DROP INDEX "+name, "CREATE INDEX "+name+" ON "+db.ChangesTable+" "+index)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	const many = maxTick + 10
	insertChanges(t, d, many)
	if last, err := d.AssignNumbers(context.Background()); err != nil || last != many {
		t.Fatal(last, err)
	}
	insertChanges(t, d, 3)
	c, release, err := d.Read(context.Background(), db.LongRead)
	if err != nil {
		t.Fatal(err)
	}
	var ordered int64
	_, err = db.One(c, func(row model.Row) { ordered = row.Int(0) }, "SELECT count(*) FROM "+db.SequenceTable+" WHERE position = revision AND position BETWEEN 1 AND "+fmt.Sprint(many))
	release()
	if err != nil || ordered != many {
		t.Errorf("%d changes have their revisions as positions, %v", ordered, err)
	}
	for _, analyze := range []bool{false, true} {
		err = d.Migrate(context.Background(), func(c db.Conn) error {
			if analyze {
				if err := db.ExecAll(c, "ANALYZE"); err != nil {
					return err
				}
			}
			if err := db.ExecAll(c, tickSettings); err != nil {
				return err
			}
			var plan []string
			err := db.Each(c, func(row model.Row) {
				plan = append(plan, row.Text(0))
			}, "EXPLAIN "+d.tick)
			text := strings.Join(plan, "\n")
			if strings.Contains(text, "JIT") || strings.Contains(text, "Seq Scan") || strings.Contains(text, "Hash") || strings.Contains(text, "Merge") {
				t.Errorf("the plan of a tick is\n%s", text)
			}
			for i, line := range plan {
				if strings.Contains(line, "Index") && strings.Contains(line, "Scan") && !strings.Contains(line, "Backward") && !strings.Contains(plan[i+1], "Index Cond") {
					t.Errorf("a whole index is read:\n%s", text)
				}
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if last, err := d.AssignNumbers(context.Background()); err != nil || last != many+3 {
		t.Error(last, err)
	}
}

// TestTicksAtTheirLimit: with fewer changes than a tick may place, with exactly as many, and with more,
// everything gets a position, in the order of revisions, also what is committed between two ticks of
// one run and by transactions that an earlier tick saw running. The tick after that finds nothing.
func TestTicksAtTheirLimit(t *testing.T) {
	const limit = 4
	for _, n := range []int{limit - 1, limit, limit + 1, 2*limit - 1, 2 * limit, 2*limit + 1, 3 * limit} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			url := pgtest.URL(t)
			d := open(t, url)
			d.tick = tickOf(limit)
			slow, quick := connect(t, url), connect(t, url)
			run(t, quick, someChanges(1))
			// A transaction that the next tick sees running, with a revision that comes first.
			run(t, slow, "BEGIN", someChanges(1))
			run(t, quick, someChanges(n))
			last, err := d.AssignNumbers(context.Background())
			if err != nil || last != int64(n+1) {
				t.Fatalf("with an open transaction: the last position is %d, %v", last, err)
			}
			run(t, slow, "COMMIT")
			run(t, quick, someChanges(n))
			last, err = d.AssignNumbers(context.Background())
			if err != nil || last != int64(2*n+2) {
				t.Errorf("the last position is %d, %v", last, err)
			}
			if got, want := revisions(t, d), orderOf(n); !slices.Equal(got, want) {
				t.Errorf("the revisions are in the order %v, want %v", got, want)
			}
			if n := unplaced(t, d); n != 0 {
				t.Errorf("the next tick looks at %d changes that have positions", n)
			}
			if again, err := d.AssignNumbers(context.Background()); err != nil || again != last {
				t.Errorf("the next tick returns %d, %v", again, err)
			}
		})
	}
}

func connect(t *testing.T, url string) *pgx.Conn {
	t.Helper()
	c, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close(context.Background()) })
	return c
}

func run(t *testing.T, c *pgx.Conn, statements ...string) {
	t.Helper()
	for _, statement := range statements {
		if _, err := c.Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
}

// orderOf is the revisions of TestTicksAtTheirLimit: the second one is committed late.
func orderOf(n int) (revisions []int64) {
	for revision := range int64(2*n + 2) {
		if revision != 1 {
			revisions = append(revisions, revision+1)
		}
	}
	return slices.Insert(revisions, n+1, 2)
}

// revisions is those of the changes with a position, in that order.
func revisions(t *testing.T, d *Database) (revisions []int64) {
	t.Helper()
	query(t, d, func(row model.Row) { revisions = append(revisions, row.Int(0)) }, "SELECT revision FROM "+db.SequenceTable+" ORDER BY position")
	return revisions
}

// unplaced is how many changes the next tick has to look at.
func unplaced(t *testing.T, d *Database) (n int64) {
	t.Helper()
	query(t, d, func(row model.Row) { n = row.Int(0) }, "SELECT count(*) FROM "+db.ChangesTable+" AS c, ("+lastTick+") AS last WHERE c.transaction >= pg_snapshot_xmax(last.seen)"+
		" OR c.transaction IN (SELECT pg_snapshot_xip(last.seen))")
	return n
}

func query(t *testing.T, d *Database, read func(model.Row), sql string) {
	t.Helper()
	c, release, err := d.Read(context.Background(), db.LongRead)
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	if err = db.Each(c, read, sql); err != nil {
		t.Fatal(err)
	}
}

// TestSequenceIsShared: callers that come while ticks run share the next run, which sees what was
// committed before they came. One that gives up does not end it for the others.
func TestSequenceIsShared(t *testing.T) {
	d := open(t, pgtest.URL(t))
	d.sequencing <- struct{}{} // a run that has begun
	insertChanges(t, d, 3)
	ctx, giveUp := context.WithCancel(context.Background())
	type result struct {
		last int64
		err  error
	}
	call := func(ctx context.Context) chan result {
		before, ended := waiting(), make(chan result, 1)
		go func() {
			last, err := d.AssignNumbers(ctx)
			ended <- result{last, err}
		}()
		for waiting() == before {
			time.Sleep(time.Millisecond)
		}
		return ended
	}
	impatient := call(ctx)
	var others []chan result
	for range 20 {
		others = append(others, call(context.Background()))
	}
	giveUp()
	if got := <-impatient; got.err != context.Canceled {
		t.Errorf("who gave up got %v", got)
	}
	<-d.sequencing
	for _, each := range others {
		if got := <-each; got.last != 3 || got.err != nil {
			t.Errorf("got %v", got)
		}
	}
	if n := d.runsBegun.Load(); n != 1 {
		t.Errorf("20 callers took %d runs", n)
	}

	d.sequencing <- struct{}{}
	ctx, giveUp = context.WithCancel(context.Background())
	alone := call(ctx)
	giveUp()
	if got := <-alone; got.err != context.Canceled {
		t.Errorf("who gave up got %v", got)
	}
	<-d.sequencing
	insertChanges(t, d, 1)
	if last, err := d.AssignNumbers(context.Background()); last != 4 || err != nil {
		t.Error(last, err)
	}
}

// waiting counts the goroutines that wait in Sequence. No other test of this package may run meanwhile.
func waiting() (n int) {
	stacks := make([]byte, 4<<20)
	for goroutine := range strings.SplitSeq(string(stacks[:runtime.Stack(stacks, true)]), "\n\n") {
		state, frames, _ := strings.Cut(goroutine, "\n")
		if strings.Contains(state, "[select") && strings.HasPrefix(frames, "github.com/plural-go/plural/internal/db/postgres.(*Database).AssignNumbers(") {
			n++
		}
	}
	return n
}
