package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/plural-go/plural/internal/model"
)

// CopyProgress is how far a copy has come. Every row is copied, and then checked.
type CopyProgress struct {
	Stage    string // copying, indexing or checking
	Table    string // empty while indexing
	Rows     int64  // of the table
	Finished bool   // this was the last of the table, or the index
	Done, Of int64  // of all rows, twice
}

// Copied is what a copy has moved.
type Copied struct {
	Tables []CopiedTable
	// Newer is how many revisions the source has given since it was read: what they
	// changed is not in the copy.
	Newer int64
}

// CopiedTable is a table with the same rows on both sides.
type CopiedTable struct {
	Name     string
	Rows     int64
	Checksum string
}

// Copy makes an empty database what another one is, whatever kinds they are of:
// every row of every table, and with them ids, times, revisions and what is
// known of schemas before; and revisions go on where they were. The source may be
// in use: it is read from one snapshot, and not written to. The target is filled
// in one transaction, which is committed only once every row has been
// read back and found to be the same.
func Copy(ctx context.Context, from, to string, progress func(CopyProgress)) (*Copied, error) {
	if sameDatabase(from, to) {
		return nil, fmt.Errorf("%s cannot be copied to itself", placeName(from))
	}
	source, err := lookInto(ctx, from)
	if err != nil {
		return nil, failedAt(ctx, "from", from, err)
	}
	defer source.close()
	s, err := source.snapshot()
	if err != nil {
		return nil, failedAt(ctx, "from", from, err)
	}
	c := &copying{source: s, progress: progress}
	err = c.into(ctx, to)
	s.release()
	if err != nil {
		return nil, failedAt(ctx, "to", to, err)
	}
	now, err := source.last()
	if err != nil {
		return nil, fmt.Errorf("everything was copied, but it cannot be seen whether the source was written to meanwhile: %w", err)
	}
	c.copied.Newer = now - s.last
	return &c.copied, nil
}

func failedAt(ctx context.Context, direction, url string, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("copying %s %s was interrupted", direction, placeName(url))
	}
	return fmt.Errorf("copying %s %s: %w", direction, placeName(url), explained(err))
}

// copying is a copy in progress.
type copying struct {
	source   *snapshot
	progress func(CopyProgress)
	now      CopyProgress
	copied   Copied
}

// count finds how much there is to do.
func (c *copying) count() error {
	for _, table := range c.source.tables {
		_, err := one(c.source, func(row model.Row) { c.now.Of += 2 * row.Int(0) }, "SELECT count(*) FROM "+table.from(c.source))
		if err != nil {
			return unread(err)
		}
	}
	return nil
}

// unread tells an error of the source from one of the target.
func unread(err error) error { return fmt.Errorf("the source cannot be read: %w", err) }

// into fills the target. A new file gets its name once it is filled: until then nobody else opens
// it, so that it can be removed if something fails.
func (c *copying) into(ctx context.Context, url string) error {
	file, isFile := strings.CutPrefix(url, "sqlite:")
	if _, missing := os.Lstat(file); isFile && errors.Is(missing, os.ErrNotExist) {
		if err := checkFile(file); err != nil {
			return err
		}
		partial, err := partialFile(file)
		if err != nil {
			return err
		}
		defer removeDatabase(partial)
		if err := c.intoEmpty(ctx, "sqlite:"+partial); err != nil {
			return err
		}
		if err := claim(partial, file); err != nil {
			return err
		}
		return syncDirectory(filepath.Dir(file))
	}
	if err := requireNothing(ctx, url); err != nil {
		return err
	}
	return c.intoEmpty(ctx, url)
}

func (c *copying) intoEmpty(ctx context.Context, url string) (err error) {
	b, err := connect(ctx, url)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.close()) }()
	return b.migrate(ctx, func(target conn) error { return c.fill(target, b) })
}

// requireNothing refuses a database that has any table, before it is opened to be
// written to.
func requireNothing(ctx context.Context, url string) error {
	target, err := lookInto(ctx, url)
	if err != nil {
		return err
	}
	defer target.close()
	found, err := target.tables()
	if err != nil {
		return err
	}
	return nothing(found)
}

func nothing(found map[string]*tableShape) error {
	if len(found) > 0 {
		return fmt.Errorf("it is not empty (it has the tables %s), and a copy replaces nothing: give a database without tables", listed(found))
	}
	return nil
}

// fill makes the tables, fills them, and compares what is in them then.
func (c *copying) fill(target conn, d dialect) error {
	// Somebody may have been faster.
	found, err := describe(target, d)
	if err == nil {
		err = nothing(found)
	}
	if err != nil {
		return err
	}
	if err := c.count(); err != nil {
		return err
	}
	tables, additions := definitions(d, c.source.schema)
	before, after := d.loading(c.source.last)
	if err := execAll(target, append(tables, before...)...); err != nil {
		return err
	}
	for _, table := range c.source.tables {
		if err := c.load(target, d, table); err != nil {
			return fmt.Errorf("%s: %w", table.name, err)
		}
	}
	c.report("indexing", "", 0, false)
	if err := execAll(target, append(additions, after...)...); err != nil {
		return err
	}
	for _, collection := range c.source.schema.All() {
		table := newTable(d, collection)
		totals, err := countLists(target, table)
		if err == nil {
			err = divide(target, table, totals)
		}
		if err != nil {
			return err
		}
	}
	c.report("indexing", "", 0, true)
	for i, table := range c.source.tables {
		if err := c.check(target, d, table, c.copied.Tables[i]); err != nil {
			return fmt.Errorf("%s: %w", table.name, err)
		}
	}
	return c.checkShape(target, d)
}

func (c *copying) load(target conn, d dialect, table copiedTable) error {
	rows, err := c.source.query(table.selectAll(c.source))
	if err != nil {
		return unread(err)
	}
	defer rows.close()
	sum := newChecksum()
	next := func() (model.Record, error) {
		more, err := rows.next()
		if err != nil {
			return nil, unread(err)
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
	if err := target.load(name, columns, next); err != nil {
		return err
	}
	c.copied.Tables = append(c.copied.Tables, CopiedTable{table.name, sum.rows, sum.String()})
	c.report("copying", table.name, sum.rows, true)
	return nil
}

// check reads back what was written.
func (c *copying) check(target conn, d dialect, table copiedTable, want CopiedTable) error {
	sum := newChecksum()
	err := each(target, func(row model.Row) bool {
		sum.add(table.read(row))
		c.advance("checking", table.name, sum.rows)
		return true
	}, table.selectAll(d))
	if err != nil {
		return err
	}
	if got := (CopiedTable{table.name, sum.rows, sum.String()}); got != want {
		return fmt.Errorf("what was written is not what was read: %s with the checksum %s became %s with %s",
			counted(want.Rows, "row"), want.Checksum, counted(got.Rows, "row"), got.Checksum)
	}
	c.report("checking", table.name, sum.rows, true)
	return nil
}

// checkShape makes sure that the tables are those that a new database would have,
// and that revisions go on where they should.
func (c *copying) checkShape(target conn, d dialect) error {
	found, err := describe(target, d)
	if err != nil {
		return err
	}
	if differences := compare(d, c.source.schema, found); len(differences) > 0 {
		return fmt.Errorf("the tables would not fit the schema; this is a mistake in Plural:\n  - %s", strings.Join(differences, "\n  - "))
	}
	last, err := lastGiven(target, d)
	if err == nil && last != c.source.last {
		err = fmt.Errorf("revisions would go on behind %d, and not behind %d", last, c.source.last)
	}
	return err
}

// reportEvery is after how many rows somebody is told.
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

// sameDatabase recognises a database given twice, as far as that can be seen from
// outside; one with two names has tables as a target, and is refused for that.
func sameDatabase(from, to string) bool {
	if from == to {
		return true
	}
	one, isFile := strings.CutPrefix(from, "sqlite:")
	two, areFiles := strings.CutPrefix(to, "sqlite:")
	if !isFile || !areFiles {
		return false
	}
	first, err := os.Stat(one)
	if err != nil {
		return false
	}
	second, err := os.Stat(two)
	return err == nil && os.SameFile(first, second)
}

// placeName names a database, without what its URL may hold of secrets.
func placeName(url string) string {
	if file, ok := strings.CutPrefix(url, "sqlite:"); ok {
		return "the SQLite database " + file
	}
	if config, err := pgconn.ParseConfig(url); err == nil && strings.HasPrefix(url, "postgres") {
		return fmt.Sprintf("the PostgreSQL database %s on %s", config.Database, config.Host)
	}
	return "the database"
}
