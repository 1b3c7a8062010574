package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/problem"
)

// sqliteBackend is a database in one file: one connection that writes, many
// that read.
type sqliteBackend struct {
	file    string
	writer  *sqliteWriter
	short   chan struct{}    // one for each connection that may read at the same time
	first   chan struct{}    // likewise, the first piece of what may be long
	long    chan struct{}    // likewise, for long
	readers chan *sqliteConn // idle ones
	closed  chan struct{}
	closing sync.Once
}

const (
	maxShortReaders = 32
	maxFirstReaders = 32
	maxLongReaders  = 96
	maxIdleReaders  = 16
)

func openSQLite(file string) (*sqliteBackend, error) {
	if err := errors.Join(checkFile(file), checkOwner(file)); err != nil {
		return nil, err
	}
	b := &sqliteBackend{
		file:    file,
		short:   make(chan struct{}, maxShortReaders),
		first:   make(chan struct{}, maxFirstReaders),
		long:    make(chan struct{}, maxLongReaders),
		readers: make(chan *sqliteConn, maxIdleReaders),
		closed:  make(chan struct{}),
	}
	c, err := b.open(sqlite.OpenReadWrite|sqlite.OpenCreate, "wal_autocheckpoint = 0") // the writer does it
	if err != nil {
		return nil, err
	}
	c.writes = true
	b.writer = startSQLiteWriter(c)
	return b, nil
}

// checkFile says what SQLite would only call "unable to open".
func checkFile(file string) error {
	switch {
	case file == "":
		return errors.New("the database URL names no file: write sqlite:plural.db")
	case strings.HasPrefix(file, "//"):
		// Others mean different files by it.
		return fmt.Errorf("the database URL has slashes behind sqlite: that do not belong there: write sqlite:%s", strings.TrimPrefix(file, "//"))
	case strings.Contains(file, "?") || strings.HasPrefix(file, ":") || strings.HasPrefix(file, "file:"):
		return fmt.Errorf("the database URL must be sqlite: and the name of a file, without parameters, but the name is %s", file)
	}
	info, err := os.Stat(filepath.Dir(file))
	if err != nil || !info.IsDir() {
		return fmt.Errorf("the database %s cannot be opened: there is no directory %s", file, filepath.Dir(file))
	}
	if info, err = os.Stat(file); err == nil && info.IsDir() {
		return fmt.Errorf("the database %s cannot be opened: it is a directory", file)
	}
	return nil
}

// openFile opens a connection. No file of a database is opened in any other way: whoever closes
// one takes from the process all its locks on the file, those of every connection.
func openFile(file string, flags sqlite.OpenFlags) (*sqlite.Conn, error) {
	if flags&sqlite.OpenCreate != 0 {
		createPrivate(file)
	}
	creating.RLock()
	defer creating.RUnlock()
	return sqlite.OpenConn(file, flags)
}

// creating is held while a file is created, so that nobody opens it before it is closed.
var creating sync.RWMutex

// createPrivate makes the file of a database that is not there yet, so that nobody reads it but
// the server's own user. SQLite gives the files beside it the same mode. If it fails, SQLite
// says why.
func createPrivate(file string) {
	creating.Lock()
	defer creating.Unlock()
	created, err := os.OpenFile(file, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600) // #nosec G304 -- the operator names it
	if err == nil {
		_ = created.Close()
	}
}

// busyTimeout is how long a connection waits for others who have locked the database.
const busyTimeout = 5 * time.Second

// pragmas of every connection. A small page cache is as fast as a large one here,
// and bounds what a long stream takes of memory.
var pragmas = []string{"foreign_keys = ON", "cache_size = -2000", "journal_size_limit = 67108864"}

// synchronous syncs every commit. It is a variable so that the crash harness can
// link a server with less, and must find that it loses writes; it is no setting.
var synchronous = "FULL"

func (b *sqliteBackend) open(flags sqlite.OpenFlags, more ...string) (*sqliteConn, error) {
	raw, err := openFile(b.file, flags)
	if err == nil {
		raw.SetBusyTimeout(busyTimeout) // without one it would wait for ever
		err = useWAL(raw)
	}
	for _, pragma := range slices.Concat(pragmas, []string{"synchronous = " + synchronous}, more) {
		if err == nil {
			err = sqlitex.ExecuteTransient(raw, "PRAGMA "+pragma, nil)
		}
	}
	if err == nil {
		return &sqliteConn{raw: raw, statements: map[string]*sqlite.Stmt{}}, nil
	}
	err = fmt.Errorf("the database %s cannot be opened: %w", b.file, err)
	if raw != nil {
		err = errors.Join(err, raw.Close())
	}
	return nil, err
}

// useWAL makes sure of the journal mode, which SQLite may refuse without an error.
func useWAL(raw *sqlite.Conn) error {
	return sqlitex.ExecuteTransient(raw, "PRAGMA journal_mode = WAL", &sqlitex.ExecOptions{ResultFunc: func(stmt *sqlite.Stmt) error {
		if mode := stmt.ColumnText(0); mode != "wal" {
			return fmt.Errorf("its file system offers the journal mode %s only, and wal is needed", mode)
		}
		return nil
	}})
}

func (b *sqliteBackend) read(ctx context.Context, how reading) (conn, func(), error) {
	slots := b.short
	switch how {
	case aPiece:
		slots = b.first
	case atLength:
		slots = b.long
	}
	if err := b.take(ctx, slots); err != nil {
		return nil, nil, err
	}
	c, err := b.reader()
	if err == nil {
		c.raw.SetInterrupt(ctx.Done())
		_, err = c.exec("BEGIN")
	}
	release := func() {
		b.release(c)
		<-slots
	}
	if err != nil {
		release()
		return nil, nil, err
	}
	c.longer = func() error {
		if err := b.take(ctx, b.long); err != nil {
			return err
		}
		<-slots
		slots = b.long
		return nil
	}
	return c, release, nil
}

// take waits for a slot, but not for ever.
func (b *sqliteBackend) take(ctx context.Context, slots chan struct{}) error {
	select {
	case <-b.closed:
		return errClosed
	case slots <- struct{}{}:
		return nil
	default:
	}
	patience := time.NewTimer(maxWait)
	defer patience.Stop()
	select {
	case slots <- struct{}{}:
		return nil
	case <-b.closed:
		return errClosed
	case <-ctx.Done():
		return ctx.Err()
	case <-patience.C:
		return errBusy
	}
}

func (b *sqliteBackend) reader() (*sqliteConn, error) {
	select {
	case c := <-b.readers:
		return c, nil
	default:
		return b.open(sqlite.OpenReadWrite, "query_only = ON")
	}
}

// release takes a reading connection back.
func (b *sqliteBackend) release(c *sqliteConn) {
	if c == nil {
		return
	}
	c.raw.SetInterrupt(nil)
	if !c.raw.AutocommitEnabled() {
		if _, err := c.exec("COMMIT"); err != nil {
			_ = c.close()
			return
		}
	}
	select {
	case b.readers <- c:
	default:
		_ = c.close()
	}
}

func (b *sqliteBackend) write(ctx context.Context, fn func(conn) error) error {
	return b.writer.write(ctx, fn)
}

func (b *sqliteBackend) longReads() int { return cap(b.long) }

func (b *sqliteBackend) failure() error { return b.writer.failure() }

func (b *sqliteBackend) complete(ending ending) { b.writer.ending = ending }

// close lets those who read finish, and then the writer, which leaves the
// database in one file.
func (b *sqliteBackend) close() (err error) {
	b.closing.Do(func() {
		close(b.closed)
		for range maxShortReaders {
			b.short <- struct{}{}
		}
		for range maxFirstReaders {
			b.first <- struct{}{}
		}
		for range maxLongReaders {
			b.long <- struct{}{}
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
	if code == sqlite.ResultConstraintForeignKey {
		return brokenReference(err)
	}
	var refused *diskError
	switch {
	case errors.As(err, &refused):
		return &problem.Error{Code: problem.CodeUnavailable, Detail: "Writing has failed on the disk, and is refused until the server is started again. Reading goes on.", Cause: err}
	case diskFailed(err):
		return &problem.Error{Code: problem.CodeUnavailable, Detail: "Writing failed on the disk. It is not known whether this was stored.", Cause: err}
	}
	switch code.ToPrimary() {
	case sqlite.ResultInterrupt:
		return context.Canceled
	case sqlite.ResultFull:
		return &problem.Error{Code: problem.CodeStorageFull, Detail: "There is no room left to store this. Reading goes on; try again later.", Cause: err}
	case sqlite.ResultBusy, sqlite.ResultLocked, sqlite.ResultProtocol, sqlite.ResultIOErr, sqlite.ResultCantOpen, sqlite.ResultReadOnly, sqlite.ResultPerm:
		return &problem.Error{Code: problem.CodeUnavailable, Detail: "The database cannot be used at the moment. Try again later.", Cause: err}
	}
	return nil
}

func (*sqliteBackend) columnType(kind model.Kind) string {
	if kind.IsDecimal() {
		return "INTEGER"
	}
	switch kind {
	case model.KindUUID:
		return "BLOB"
	case model.KindInteger, model.KindBoolean:
		return "INTEGER"
	case model.KindNumber:
		return "REAL"
	default:
		return "TEXT"
	}
}

// reserved: SQLite keeps names that start with sqlite_ to itself.
func (*sqliteBackend) reserved(name string) bool { return strings.HasPrefix(name, "sqlite_") }

// A table without rowid is ordered by its primary key: a range of ids is one
// run of pages.
func (*sqliteBackend) tableOptions() string    { return " STRICT, WITHOUT ROWID" }
func (*sqliteBackend) revisionType() string    { return "INTEGER PRIMARY KEY AUTOINCREMENT" }
func (*sqliteBackend) lastRevision() string    { return "last_insert_rowid()" }
func (*sqliteBackend) returning(string) string { return "" } // it takes as long as to store the row
func (*sqliteBackend) nullsFirst() string      { return "" }
func (*sqliteBackend) nullsLast() string       { return "" }
func (*sqliteBackend) inlineReferences() bool  { return true }
func (*sqliteBackend) tryLock() string         { return "" }
func (*sqliteBackend) skipLocked() string      { return "" }
func (*sqliteBackend) soleServer() bool        { return true }
func (*sqliteBackend) holdSchema() []string    { return nil }
func (*sqliteBackend) contains(column, text string) string {
	return "instr(" + column + ", " + text + ") > 0"
}

// One transaction writes at a time, so revisions are committed in their order.
func (*sqliteBackend) changeOrder() (string, []string, []string) { return "", nil, nil }

func (*sqliteBackend) changesAfter(position Position) (string, []model.Value) {
	return "SELECT 0, " + changeColumns + " FROM " + changesTable + " WHERE revision > $1 ORDER BY revision LIMIT $2",
		[]model.Value{model.IntValue(position.Revision)}
}

func (*sqliteBackend) catalogue() catalogue {
	return catalogue{
		columns: `SELECT t.name, c.name, c.type, c."notnull" FROM sqlite_schema t, pragma_table_xinfo(t.name) c
			WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite\_%' ESCAPE '\' ORDER BY t.name, c.cid`,
		indexes: `SELECT t.name, i.name, i."unique", c.name FROM sqlite_schema t, pragma_index_list(t.name) i, pragma_index_info(i.name) c
			WHERE t.type = 'table' AND i.origin = 'c' ORDER BY t.name, i.name, c.seqno`,
		references: `SELECT t.name, f."from", f."table", '' FROM sqlite_schema t, pragma_foreign_key_list(t.name) f WHERE t.type = 'table'`,
	}
}
