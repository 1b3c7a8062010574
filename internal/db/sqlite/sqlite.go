// Package sqlite is a database in one file: one connection that writes, many that read. No
// other package opens the files of a database.
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

// Database is a database in one file: one connection that writes, many
// that read.
type Database struct {
	dialect
	file    string
	trace   func(sql string)
	writer  *writer
	short   chan struct{}    // slots of short reads
	first   chan struct{}    // slots of first pages
	long    chan struct{}    // slots of long reads
	readers chan *connection // idle ones
	closed  chan struct{}
	closing sync.Once
	changed db.Signal
}

const (
	maxShortReaders = 32
	maxFirstReaders = 32
	maxLongReaders  = 96
	maxIdleReaders  = 16
)

// Open opens a database that is a file, and makes it if there is none.
func Open(file string, o db.Options) (*Database, error) {
	if err := errors.Join(CheckFile(file), checkOwner(file)); err != nil {
		return nil, err
	}
	o = o.WithDefaults()
	b := &Database{
		file:    file,
		trace:   o.Trace,
		short:   make(chan struct{}, maxShortReaders),
		first:   make(chan struct{}, maxFirstReaders),
		long:    make(chan struct{}, maxLongReaders),
		readers: make(chan *connection, maxIdleReaders),
		closed:  make(chan struct{}),
	}
	c, err := b.open(sqlite.OpenReadWrite|sqlite.OpenCreate, "wal_autocheckpoint = 0") // the writer checkpoints
	if err != nil {
		return nil, err
	}
	c.writes = true
	b.writer = startWriter(c, o)
	return b, nil
}

// CheckFile explains what SQLite would report as "unable to open".
func CheckFile(file string) error {
	switch {
	case file == "":
		return errors.New("the database URL names no file: write sqlite:plural.db")
	case strings.HasPrefix(file, "//"):
		// Others mean different files by it.
		return fmt.Errorf("the database URL has slashes behind sqlite: that do not belong there: write sqlite:%s", strings.TrimPrefix(file, "//"))
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

// checkName refuses names that SQLite gives to the other files of a database: it would take the
// file for one of them, and remove it.
func checkName(file string) error {
	for _, ending := range []string{"-journal", "-wal", "-shm"} {
		if strings.HasSuffix(file, ending) {
			return fmt.Errorf("%s cannot be the name of a database: SQLite uses names that end in %s for other files. Give another name", file, ending)
		}
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

// creating is locked while a file is created, so that nobody opens it before it is closed.
var creating sync.RWMutex

// createPrivate creates the file of a new database, readable only by the user of the server.
// SQLite gives the other files the same mode. If it fails, SQLite reports why.
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
		return &connection{raw: raw, trace: b.trace, statements: map[string]*sqlite.Stmt{}}, nil
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

func (b *Database) Read(ctx context.Context, how db.Use) (db.Conn, func(), error) {
	slots := b.short
	switch how {
	case db.PageQuery, db.PageQueries:
		slots = b.first
	case db.LongRead:
		slots = b.long
	}
	if err := b.acquireSlot(ctx, slots); err != nil {
		return nil, nil, err
	}
	c, err := b.reader()
	if err == nil {
		c.raw.SetInterrupt(ctx.Done())
		_, err = c.Exec("BEGIN")
	}
	release := func() {
		b.release(c)
		<-slots
	}
	if err != nil {
		release()
		return nil, nil, err
	}
	c.extend = func() error {
		if err := b.acquireSlot(ctx, b.long); err != nil {
			return err
		}
		<-slots
		slots = b.long
		return nil
	}
	return c, release, nil
}

// acquireSlot waits for a slot, up to db.MaxWait.
func (b *Database) acquireSlot(ctx context.Context, slots chan struct{}) error {
	select {
	case <-b.closed:
		return db.ErrClosed
	case slots <- struct{}{}:
		return nil
	default:
	}
	patience := time.NewTimer(db.MaxWait)
	defer patience.Stop()
	select {
	case slots <- struct{}{}:
		return nil
	case <-b.closed:
		return db.ErrClosed
	case <-ctx.Done():
		return ctx.Err()
	case <-patience.C:
		return db.ErrBusy
	}
}

func (b *Database) reader() (*connection, error) {
	select {
	case c := <-b.readers:
		return c, nil
	default:
		return b.open(sqlite.OpenReadWrite, "query_only = ON")
	}
}

// release returns a reading connection.
func (b *Database) release(c *connection) {
	if c == nil {
		return
	}
	c.raw.SetInterrupt(nil)
	if !c.raw.AutocommitEnabled() {
		if _, err := c.Exec("COMMIT"); err != nil {
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

func (b *Database) Write(ctx context.Context, t *db.Task) error {
	err := b.writer.write(ctx, t)
	if err == nil && t.Evidence != nil {
		b.changed.Send()
	}
	return err
}

// Close waits for readers and then for the writer, which leaves the database in one file.
func (b *Database) Close() (err error) {
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

func (b *Database) Fault(err error) error {
	code := sqlite.ErrCode(err)
	if code == sqlite.ResultConstraintForeignKey {
		return db.BrokenReference(err)
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

func (b *Database) Traits() db.Traits {
	return db.Traits{PageReads: cap(b.first), LongReads: cap(b.long)}
}
