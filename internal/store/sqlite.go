package store

import (
	"context"
	"errors"
	"fmt"
	"strings"
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

// reserved: SQLite keeps names that start with sqlite_ to itself.
func (*sqliteBackend) reserved(name string) bool { return strings.HasPrefix(name, "sqlite_") }

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

func (*sqliteBackend) catalogue() catalogue {
	return catalogue{
		columns: `SELECT t.name, c.name, c.type, c."notnull" FROM sqlite_schema t, pragma_table_xinfo(t.name) c
			WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite\_%' ESCAPE '\' ORDER BY t.name, c.cid`,
		indexes: `SELECT t.name, i.name, i."unique", c.name FROM sqlite_schema t, pragma_index_list(t.name) i, pragma_index_info(i.name) c
			WHERE t.type = 'table' AND i.origin = 'c' ORDER BY t.name, i.name, c.seqno`,
		references: `SELECT t.name, f."from", f."table" FROM sqlite_schema t, pragma_foreign_key_list(t.name) f WHERE t.type = 'table'`,
	}
}
