package store

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/schema"
)

// sqliteBackend is a database in one file: one connection that writes, many
// that read.
type sqliteBackend struct {
	file    string
	writer  *sqliteWriter
	slots   chan struct{}    // one for each connection that may read at the same time
	readers chan *sqliteConn // idle ones
	closed  chan struct{}
	closing sync.Once
}

const (
	maxReaders     = 128
	maxIdleReaders = 16
)

func openSQLite(file string) (*sqliteBackend, error) {
	// In memory every connection would have a database of its own.
	if file == "" || file == ":memory:" {
		return nil, errors.New("the database URL names no file: write sqlite:plural.db")
	}
	b := &sqliteBackend{file: file, slots: make(chan struct{}, maxReaders), readers: make(chan *sqliteConn, maxIdleReaders), closed: make(chan struct{})}
	c, err := b.open(sqlite.OpenReadWrite | sqlite.OpenCreate)
	if err != nil {
		return nil, err
	}
	b.writer = startSQLiteWriter(c)
	return b, nil
}

// pragmas of every connection. FULL syncs every commit. A small page cache is as
// fast as a large one here, and bounds what a long stream takes of memory.
var pragmas = []string{"busy_timeout = 5000", "journal_mode = WAL", "synchronous = FULL", "foreign_keys = ON", "cache_size = -2000"}

func (b *sqliteBackend) open(flags sqlite.OpenFlags) (*sqliteConn, error) {
	raw, err := sqlite.OpenConn(b.file, flags)
	for i := 0; err == nil && i < len(pragmas); i++ {
		err = sqlitex.ExecuteTransient(raw, "PRAGMA "+pragmas[i], nil)
	}
	if err == nil {
		return &sqliteConn{raw: raw, statements: map[string]*sqlite.Stmt{}}, nil
	}
	err = fmt.Errorf("opening the database %s: %w", b.file, err)
	if raw != nil {
		err = errors.Join(err, raw.Close())
	}
	return nil, err
}

func (b *sqliteBackend) read(ctx context.Context) (conn, func(), error) {
	select {
	case b.slots <- struct{}{}:
	case <-b.closed:
		return nil, nil, errClosed
	case <-ctx.Done():
		return nil, nil, ctx.Err()
	}
	c, err := b.reader()
	if err == nil {
		c.raw.SetInterrupt(ctx.Done())
		_, err = c.exec("BEGIN")
	}
	if err != nil {
		b.release(c)
		return nil, nil, err
	}
	return c, func() { b.release(c) }, nil
}

func (b *sqliteBackend) reader() (*sqliteConn, error) {
	select {
	case c := <-b.readers:
		return c, nil
	default:
		return b.open(sqlite.OpenReadWrite)
	}
}

// release takes a reading connection back.
func (b *sqliteBackend) release(c *sqliteConn) {
	defer func() { <-b.slots }()
	if c == nil {
		return
	}
	c.raw.SetInterrupt(nil)
	if _, err := c.exec("COMMIT"); err != nil {
		c.close()
		return
	}
	select {
	case b.readers <- c:
	default:
		c.close()
	}
}

func (b *sqliteBackend) write(ctx context.Context, fn func(conn) error) error {
	return b.writer.write(ctx, fn)
}

// close lets those who read finish, and then the writer, which leaves the
// database in one file.
func (b *sqliteBackend) close() (err error) {
	b.closing.Do(func() {
		close(b.closed)
		for range maxReaders {
			b.slots <- struct{}{}
		}
		close(b.readers)
		for c := range b.readers {
			err = errors.Join(err, c.close())
		}
		err = errors.Join(err, b.writer.close())
	})
	return err
}

func (b *sqliteBackend) fault(err error) error {
	code := sqlite.ErrCode(err)
	switch code.ToPrimary() {
	case sqlite.ResultInterrupt:
		return context.Canceled
	case sqlite.ResultFull:
		return &fault.Error{Code: fault.CodeStorageFull, Detail: "There is no room left to store this. Reading goes on; try again later.", Cause: err}
	case sqlite.ResultBusy, sqlite.ResultLocked, sqlite.ResultIOErr, sqlite.ResultCantOpen, sqlite.ResultReadOnly,
		sqlite.ResultCorrupt, sqlite.ResultNotADB, sqlite.ResultPerm:
		return &fault.Error{Code: fault.CodeUnavailable, Detail: "The database cannot be used at the moment. Try again later.", Cause: err}
	}
	return nil
}

func (*sqliteBackend) columnType(kind schema.Kind) string {
	switch kind {
	case schema.KindUUID:
		return "BLOB"
	case schema.KindInteger, schema.KindBoolean:
		return "INTEGER"
	case schema.KindNumber:
		return "REAL"
	default:
		return "TEXT"
	}
}

// quote: SQLite keeps names that start with sqlite_ to itself.
func (*sqliteBackend) quote(name string) string {
	if len(name) > 7 && name[:7] == "sqlite_" {
		return `"_` + name + `"`
	}
	return `"` + name + `"`
}

// A table without rowid is ordered by its primary key: a range of ids is one
// run of pages.
func (*sqliteBackend) tableOptions() string   { return " STRICT, WITHOUT ROWID" }
func (*sqliteBackend) revisionType() string   { return "INTEGER PRIMARY KEY AUTOINCREMENT" }
func (*sqliteBackend) nullsFirst() string     { return "" }
func (*sqliteBackend) nullsLast() string      { return "" }
func (*sqliteBackend) inlineReferences() bool { return true }
func (*sqliteBackend) contains(column, text string) string {
	return "instr(" + column + ", " + text + ") > 0"
}

func (*sqliteBackend) describe(c conn) (map[string]*tableShape, error) {
	tables := map[string]*tableShape{}
	text := func(row schema.Row, column int) string { return string(row.AppendText(nil, column)) }
	unquoted := func(name string) string { // see quote
		if len(name) > 8 && name[:8] == "_sqlite_" {
			return name[1:]
		}
		return name
	}
	err := each(c, func(row schema.Row) bool {
		name := unquoted(text(row, 0))
		if tables[name] == nil {
			tables[name] = &tableShape{references: map[string]string{}}
		}
		tables[name].columns = append(tables[name].columns, columnShape{name: unquoted(text(row, 1)), kind: text(row, 2), notNull: row.Int(3) == 1})
		return true
	}, `SELECT t.name, c.name, c.type, c."notnull" FROM sqlite_schema t, pragma_table_xinfo(t.name) c
		WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite\_%' ESCAPE '\' ORDER BY t.name, c.cid`)
	if err != nil {
		return nil, err
	}
	lastIndex := ""
	err = each(c, func(row schema.Row) bool {
		table := tables[unquoted(text(row, 0))]
		if index := text(row, 1); index != lastIndex {
			table.indexes = append(table.indexes, indexShape{unique: row.Int(2) == 1})
			lastIndex = index
		}
		last := &table.indexes[len(table.indexes)-1]
		last.columns = append(last.columns, unquoted(text(row, 3)))
		return true
	}, `SELECT t.name, i.name, i."unique", c.name FROM sqlite_schema t, pragma_index_list(t.name) i, pragma_index_info(i.name) c
		WHERE t.type = 'table' AND i.origin = 'c' ORDER BY t.name, i.name, c.seqno`)
	if err != nil {
		return nil, err
	}
	err = each(c, func(row schema.Row) bool {
		tables[unquoted(text(row, 0))].references[unquoted(text(row, 1))] = unquoted(text(row, 2))
		return true
	}, `SELECT t.name, f."from", f."table" FROM sqlite_schema t, pragma_foreign_key_list(t.name) f WHERE t.type = 'table'`)
	return tables, err
}
