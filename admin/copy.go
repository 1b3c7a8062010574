package admin

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/plural-go/plural/internal/catalog"
	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/db/databases"
	"github.com/plural-go/plural/internal/lists"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/search"
	"github.com/plural-go/plural/internal/suggest"
)

// CopyProgress is the progress of a copy. Every row is copied, and then checked.
type CopyProgress struct {
	Stage    string // copying, indexing or checking
	Table    string // empty while indexing
	Rows     int64  // of the table
	Finished bool   // the table, or the indexing, is finished
	Done, Of int64  // of all rows, each of which counts twice
}

// Copied is the result of Copy.
type Copied struct {
	Tables []CopiedTable
	// Newer is how many revisions the source has given since it was read. What they
	// changed, if anything, is not in the copy.
	Newer int64
}

// CopiedTable is a table that has the same rows on both sides.
type CopiedTable struct {
	Name     string
	Rows     int64
	Checksum string // SHA-256 of the rows, independent of the kind of database
}

// Copy copies a database to another place, which may be of the other kind: from SQLite to
// PostgreSQL, back, or within one of them. A server on the copy answers as one on the source
// did, including idempotency records, operations and cursors, and executes what the source had
// accepted. ETags and positions differ: the copy has a history of its own.
//
// The source is read from one snapshot, and not written to. The target must have no tables. It
// is filled in one transaction, which is committed once all rows were read back and found to
// be equal; if anything fails, it remains empty. Progress may be nil.
func Copy(ctx context.Context, from, to string, progress func(CopyProgress)) (*Copied, error) {
	if databases.Same(from, to) {
		return nil, fmt.Errorf("%s cannot be copied to itself", databases.Name(from))
	}
	source, err := databases.OpenSource(ctx, from)
	if err != nil {
		return nil, failedAt(ctx, "from", from, err)
	}
	defer source.Close()
	s, err := takeSnapshot(source)
	if err != nil {
		return nil, failedAt(ctx, "from", from, err)
	}
	c := &copying{source: s, progress: progress}
	err = c.copyTo(ctx, to)
	s.release()
	if err != nil {
		return nil, failedAt(ctx, "to", to, err)
	}
	now, err := ask(source, func(c db.Conn) (int64, error) { return db.Int(c, source.LastGiven()) })
	if err != nil {
		return nil, fmt.Errorf("everything was copied, but it is unknown whether the source was written to during the copy: %w", err)
	}
	c.copied.Newer = now - s.last
	return &c.copied, nil
}

func failedAt(ctx context.Context, direction, url string, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("copying %s %s was interrupted", direction, databases.Name(url))
	}
	return fmt.Errorf("copying %s %s: %w", direction, databases.Name(url), databases.Explain(err))
}

// copying is a copy in progress.
type copying struct {
	source   *snapshot
	progress func(CopyProgress)
	now      CopyProgress
	copied   Copied
}

// count counts the rows to copy.
func (c *copying) count() error {
	for _, table := range c.source.tables {
		n, err := db.Int(c.source, "SELECT count(*) FROM "+table.from(c.source))
		if err != nil {
			return sourceError(err)
		}
		c.now.Of += 2 * n
	}
	return nil
}

// sourceError marks an error as one of the source.
func sourceError(err error) error { return fmt.Errorf("the source cannot be read: %w", err) }

// copyTo fills the target.
func (c *copying) copyTo(ctx context.Context, url string) error {
	if created, err := databases.Create(url, func(url string) error { return c.copyToEmpty(ctx, url) }); created || err != nil {
		return err
	}
	if err := requireNothing(ctx, url); err != nil {
		return err
	}
	return c.copyToEmpty(ctx, url)
}

func (c *copying) copyToEmpty(ctx context.Context, url string) (err error) {
	b, err := databases.Open(ctx, url, db.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	return b.Migrate(ctx, func(target db.Conn) error { return c.fill(target, b) })
}

// requireNothing refuses a database that has any table, before it is opened for writing.
func requireNothing(ctx context.Context, url string) error {
	target, err := databases.OpenSource(ctx, url)
	if err != nil {
		return err
	}
	defer target.Close()
	found, err := tablesOf(target)
	if err != nil {
		return err
	}
	return requireNoTables(found)
}

func requireNoTables(found map[string]*db.TableDefinition) error {
	if len(found) > 0 {
		return fmt.Errorf("it is not empty (it has the tables %s), and a copy never overwrites data: use a database without tables", listed(found))
	}
	return nil
}

// fill creates the tables, fills them, and compares the result with the source.
func (c *copying) fill(target db.Conn, d db.Dialect) error {
	// Another process may have created tables since.
	found, err := db.Describe(target, d)
	if err == nil {
		err = requireNoTables(found)
	}
	if err != nil {
		return err
	}
	if err := c.count(); err != nil {
		return err
	}
	tables, additions := db.Definitions(d, c.source.schema)
	before, after := d.Loading(c.source.last)
	if err := db.ExecAll(target, append(tables, before...)...); err != nil {
		return err
	}
	for _, table := range c.source.tables {
		if err := c.load(target, d, table); err != nil {
			return fmt.Errorf("%s: %w", table.name, err)
		}
	}
	c.report("indexing", "", 0, false)
	if err := db.ExecAll(target, append(additions, after...)...); err != nil {
		return err
	}
	for _, collection := range c.source.schema.All() {
		if err := lists.BuildIndexes(target, db.NewTable(d, collection)); err != nil {
			return err
		}
		if err := search.Build(target, d, collection); err != nil {
			return err
		}
	}
	c.report("indexing", "", 0, true)
	for i, table := range c.source.tables {
		if err := c.check(target, d, table, c.copied.Tables[i]); err != nil {
			return fmt.Errorf("%s: %w", table.name, err)
		}
	}
	if err := c.checkDefinitions(target, d); err != nil {
		return err
	}
	return c.newHistory(target)
}

// newHistory separates the histories: the source goes on to give positions and revisions, which
// mean something else in the copy.
func (c *copying) newHistory(target db.Conn) error {
	if floor := c.source.floor; floor.Number > 0 {
		floor.Number = floor.Revision
		if err := db.SaveFloor(target, floor); err != nil {
			return err
		}
	}
	return db.NewHistory(target)
}

func (c *copying) load(target db.Conn, d db.Dialect, table copiedTable) error {
	rows, err := c.source.Query(table.selectAll(c.source))
	if err != nil {
		return sourceError(err)
	}
	defer rows.Close()
	sum := newChecksum()
	next := func() (model.Record, error) {
		more, err := rows.Next()
		if err != nil {
			return nil, sourceError(err)
		}
		if !more {
			return nil, nil
		}
		record := table.read(rows)
		sum.add(record)
		c.advance("copying", table.name, sum.rows)
		return record, nil
	}
	name, columns := table.storedNames(d)
	if err := target.Load(name, columns, next); err != nil {
		return err
	}
	c.copied.Tables = append(c.copied.Tables, CopiedTable{table.name, sum.rows, sum.String()})
	c.report("copying", table.name, sum.rows, true)
	return nil
}

// check reads back and compares the rows that were written.
func (c *copying) check(target db.Conn, d db.Dialect, table copiedTable, want CopiedTable) error {
	sum := newChecksum()
	err := db.Each(target, func(row model.Row) {
		sum.add(table.read(row))
		c.advance("checking", table.name, sum.rows)
	}, table.selectAll(d))
	if err != nil {
		return err
	}
	if got := (CopiedTable{table.name, sum.rows, sum.String()}); got != want {
		return fmt.Errorf("the rows written differ from the rows read: %s with the checksum %s became %s with %s",
			suggest.Counted(want.Rows, "row"), want.Checksum, suggest.Counted(got.Rows, "row"), got.Checksum)
	}
	c.report("checking", table.name, sum.rows, true)
	return nil
}

// checkDefinitions checks that the tables are those that a new database would have, and that new
// revisions continue after those of the source.
func (c *copying) checkDefinitions(target db.Conn, d db.Dialect) error {
	found, err := db.Describe(target, d)
	if err != nil {
		return err
	}
	if differences := catalog.Differences(d, c.source.schema, found); len(differences) > 0 {
		return fmt.Errorf("the tables would not match the schema; this is a bug in Plural:\n  - %s", strings.Join(differences, "\n  - "))
	}
	last, err := db.Int(target, d.LastGiven())
	if err == nil && last != c.source.last {
		err = fmt.Errorf("revisions would continue after %d instead of %d", last, c.source.last)
	}
	return err
}

// reportEvery is the number of rows between two reports.
const reportEvery = 1000

func (c *copying) advance(stage, table string, rows int64) {
	c.now.Done++
	if rows%reportEvery == 0 {
		c.report(stage, table, rows, false)
	}
}

func (c *copying) report(stage, table string, rows int64, finished bool) {
	c.now.Stage, c.now.Table, c.now.Rows, c.now.Finished = stage, table, rows, finished
	if c.progress != nil {
		c.progress(c.now)
	}
}
