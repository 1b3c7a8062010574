// Package sqlite implements a database in one file, with one connection that writes and
// several that read. No other package opens the files of a database.
package sqlite

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

	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/problem"
)

// Database is a database in one file.
type Database struct {
	dialect
	file    string
	trace   func(sql string)
	writer  *writer
	readers readers
	closing sync.Once
	changed db.Signal
}

const (
	maxShortReaders = 32
	maxPageReaders  = 32
	maxLongReaders  = 96
	maxIdleReaders  = 16
	ownReaders      = 8
)

// Open opens a database file, and creates it if it does not exist.
func Open(file string, o db.Options) (*Database, error) {
	if err := errors.Join(CheckFile(file), checkOwner(file)); err != nil {
		return nil, err
	}
	o = o.WithDefaults()
	b := &Database{file: file, trace: o.Trace}
	c, err := b.open(sqlite.OpenReadWrite|sqlite.OpenCreate, "wal_autocheckpoint = 0") // the writer checkpoints
	if err != nil {
		return nil, err
	}
	c.writes = true
	b.writer = startWriter(c, o)
	return b, nil
}

// CheckFile explains errors that SQLite would report only as "unable to open".
func CheckFile(file string) error {
	switch {
	case file == "":
		return errors.New("the database URL has no file name: write sqlite:plural.db")
	case strings.HasPrefix(file, "//"):
		// Other programs use it for different paths.
		return fmt.Errorf("the database URL must not have // after the scheme: write sqlite:%s", strings.TrimPrefix(file, "//"))
	case strings.Contains(file, "?") || strings.HasPrefix(file, ":") || strings.HasPrefix(file, "file:"):
		return fmt.Errorf("the database URL must be sqlite: and the name of a file, without parameters, but the name is %s", file)
	}
	if err := checkName(file); err != nil {
		return err
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

// checkName refuses the names of SQLite's auxiliary files: SQLite would treat the file as one
// of them, and remove it.
func checkName(file string) error {
	for _, ending := range []string{"-journal", "-wal", "-shm"} {
		if strings.HasSuffix(file, ending) {
			return fmt.Errorf("%s cannot be the name of a database: SQLite uses names that end in %s for other files. Give another name", file, ending)
		}
	}
	return nil
}

// openFile opens a connection. No file of a database is opened in any other way: closing any
// descriptor of a file releases all locks that the process has on it, of every connection.
func openFile(file string, flags sqlite.OpenFlags) (*sqlite.Conn, error) {
	if flags&sqlite.OpenCreate != 0 {
		createPrivate(file)
	}
	creating.RLock()
	defer creating.RUnlock()
	return sqlite.OpenConn(file, flags)
}

// creating is locked while a file is created, so that no connection opens it before it is closed.
var creating sync.RWMutex

// createPrivate creates the file of a new database, readable only by the user of the server.
// SQLite gives its other files the same mode. If creation fails, SQLite reports why.
func createPrivate(file string) {
	creating.Lock()
	defer creating.Unlock()
	created, err := os.OpenFile(file, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600) // #nosec G304 -- the operator names it
	if err == nil {
		_ = created.Close()
	}
}

// busyTimeout is how long a connection waits for the locks of others.
const busyTimeout = 5 * time.Second

// pragmas are set on every connection. A small page cache is as fast as a large one here, and
// limits the memory of a long stream.
var pragmas = []string{"foreign_keys = ON", "cache_size = -2000", "journal_size_limit = 67108864"}

// synchronous syncs every commit. It is a variable only so that the crash harness can build a
// server with a weaker value, whose lost writes it must detect. It is not a setting.
var synchronous = "FULL"

func (b *Database) open(flags sqlite.OpenFlags, more ...string) (*connection, error) {
	raw, err := openFile(b.file, flags)
	if err == nil {
		raw.SetBusyTimeout(busyTimeout) // without one it would wait forever
		err = useWAL(raw)
	}
	for _, pragma := range slices.Concat(pragmas, []string{"synchronous = " + synchronous}, more) {
		if err == nil {
			err = sqlitex.ExecuteTransient(raw, "PRAGMA "+pragma, nil)
		}
	}
	if err == nil {
		err = raw.CreateFunction(averageFunction, &sqlite.FunctionImpl{NArgs: 4, Deterministic: true, Scalar: average})
	}
	if err == nil {
		return newConn(raw, b.trace), nil
	}
	err = fmt.Errorf("the database %s cannot be opened: %w", b.file, err)
	if raw != nil {
		err = errors.Join(err, raw.Close())
	}
	return nil, err
}

// useWAL sets the journal mode. SQLite may refuse it without an error.
func useWAL(raw *sqlite.Conn) error {
	return sqlitex.ExecuteTransient(raw, "PRAGMA journal_mode = WAL", &sqlitex.ExecOptions{ResultFunc: func(stmt *sqlite.Stmt) error {
		if mode := stmt.ColumnText(0); mode != "wal" {
			return fmt.Errorf("its file system supports only the journal mode %s, and wal is required", mode)
		}
		return nil
	}})
}

func (b *Database) Read(ctx context.Context, _ db.Use) (db.Conn, func(), error) {
	if err := ctx.Err(); err != nil {
		return nil, nil, err // it would be noticed too late
	}
	c, err := b.readers.take()
	if err != nil {
		return nil, nil, err
	}
	if c == nil {
		if c, err = b.open(sqlite.OpenReadWrite, "query_only = ON"); err != nil {
			b.readers.put(nil)
			return nil, nil, err
		}
		c.release = func() { b.release(c) }
	}
	c.watch(ctx)
	if _, err := c.Exec("BEGIN"); err != nil {
		c.release()
		return nil, nil, err
	}
	return c, c.release, nil
}

// release ends a read.
func (b *Database) release(c *connection) {
	c.unwatch()
	if !c.raw.AutocommitEnabled() {
		if _, err := c.Exec("COMMIT"); err != nil {
			_ = c.close()
			c = nil
		}
	}
	b.readers.put(c)
}

// readers is the connections for reading. Of those that nobody uses, the one that was used last is used next: what it
// has read is most likely still in the caches of SQLite and of the processor.
type readers struct {
	mutex  sync.Mutex
	idle   []*connection
	closed bool
	inUse  sync.WaitGroup
}

// take returns a connection that is idle, or nil for a new one. It must be put back.
func (r *readers) take() (c *connection, err error) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if r.closed {
		return nil, db.ErrClosed
	}
	r.inUse.Add(1)
	if last := len(r.idle) - 1; last >= 0 {
		c, r.idle = r.idle[last], r.idle[:last]
	}
	return c, nil
}

// put puts a connection back, or nil for one that was closed. It closes the connection if enough are idle.
func (r *readers) put(c *connection) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	defer r.inUse.Done()
	switch {
	case c == nil:
	case len(r.idle) == maxIdleReaders:
		_ = c.close()
	default:
		r.idle = append(r.idle, c)
	}
}

// close waits until no connection is in use, and returns all of them.
func (r *readers) close() []*connection {
	r.mutex.Lock()
	r.closed = true
	r.mutex.Unlock()
	r.inUse.Wait()
	return r.idle
}

func (b *Database) Write(ctx context.Context, t *db.Task) error {
	err := b.writer.write(ctx, t)
	if err == nil && t.Evidence != nil { // the change log has grown
		b.changed.Send()
	}
	return err
}

// Close waits for readers and then for the writer, which moves the WAL into the database file.
func (b *Database) Close() (err error) {
	b.closing.Do(func() {
		for _, c := range b.readers.close() {
			err = errors.Join(err, c.close())
		}
		err = errors.Join(err, b.writer.close())
	})
	return err
}

func (b *Database) Fault(err error) error {
	code := sqlite.ErrCode(err)
	if code == sqlite.ResultConstraintForeignKey {
		return db.BrokenReference(err)
	}
	var refused *diskError
	switch {
	case errors.As(err, &refused):
		return &problem.Error{Code: problem.CodeUnavailable, Detail: "A write to disk has failed. Writes are refused until the server is restarted. Reads still work.", Cause: err}
	case diskFailed(err):
		return &problem.Error{Code: problem.CodeUnavailable, Detail: "Writing to disk failed. It is unknown whether the change was stored.", Cause: err}
	}
	switch code.ToPrimary() {
	case sqlite.ResultInterrupt:
		return context.Canceled
	case sqlite.ResultFull:
		return &problem.Error{Code: problem.CodeStorageFull, Detail: "There is no space left to store this. Reads still work. Try again later.", Cause: err}
	case sqlite.ResultBusy, sqlite.ResultLocked, sqlite.ResultProtocol, sqlite.ResultIOErr, sqlite.ResultCantOpen, sqlite.ResultReadOnly, sqlite.ResultPerm:
		return &problem.Error{Code: problem.CodeUnavailable, Detail: "The database is unavailable. Try again later.", Cause: err}
	}
	return nil
}

func (b *Database) Traits() db.Traits {
	return db.Traits{Name: "sqlite", OrderedSearch: true, ShortReads: maxShortReaders, PageReads: maxPageReaders, LongReads: maxLongReaders, OwnReads: ownReaders}
}
