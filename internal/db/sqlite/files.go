package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/model"
)

// CheckExists refuses a file that does not exist or cannot be a database.
func CheckExists(file string) error {
	if err := CheckFile(file); err != nil {
		return err
	}
	if _, err := os.Stat(file); err != nil {
		return fmt.Errorf("there is no database %s", file)
	}
	return nil
}

// Exists reports whether there is a file with this name, even if it is a broken link.
func Exists(file string) bool {
	_, err := os.Lstat(file)
	return !errors.Is(err, os.ErrNotExist)
}

func SameFile(one, two string) bool {
	first, err := os.Stat(one)
	if err != nil {
		return false
	}
	second, err := os.Stat(two)
	return err == nil && os.SameFile(first, second)
}

// checkOwner refuses the database of another program before anything in it is changed, even the
// journal mode. Errors of reading are ignored, as they are reported later.
func checkOwner(file string) error {
	if info, err := os.Stat(file); err != nil || info.Size() == 0 {
		return nil
	}
	c, err := openConn(context.Background(), file, sqlite.OpenReadOnly)
	if err != nil {
		return nil
	}
	found, err := db.Describe(c, dialect{})
	if err := c.close(); err != nil {
		return err
	}
	if err == nil && len(found) > 0 && found[db.MetaTable] == nil {
		return db.NoPluralTables(found)
	}
	return nil
}

// OpenReadOnly opens a file for reading. Lend opens a snapshot.
func OpenReadOnly(ctx context.Context, file string) (d db.Dialect, lend func() (db.Conn, func(), error), closeIt func() error, err error) {
	if err := CheckExists(file); err != nil {
		return nil, nil, nil, err
	}
	c, err := openConn(ctx, file, sqlite.OpenReadOnly)
	if err != nil {
		return nil, nil, nil, err
	}
	lend = func() (db.Conn, func(), error) {
		_, err := c.Exec("BEGIN")
		return c, func() { _, _ = c.Exec("ROLLBACK") }, err
	}
	return dialect{}, lend, c.close, nil
}

// openConn opens a connection whose statements end with the context.
func openConn(ctx context.Context, file string, flags sqlite.OpenFlags) (*connection, error) {
	raw, err := openRaw(file, flags)
	if err != nil {
		return nil, err
	}
	c := newConn(raw, func(string) {})
	c.watch(ctx)
	return c, nil
}

// inspect calls fn with a connection that reads a file.
func inspect(ctx context.Context, file string, fn func(*connection) error) error {
	c, err := openConn(ctx, file, sqlite.OpenReadOnly)
	if err != nil {
		return err
	}
	return errors.Join(fn(c), c.close())
}

// Create creates a file, which gets its name when it is complete.
func Create(file string, fill func(partial string) error) error {
	partial, err := partialFile(file)
	if err != nil {
		return err
	}
	defer removeDatabase(partial)
	if err := fill(partial); err != nil {
		return err
	}
	if err := publish(partial, file); err != nil {
		return err
	}
	return syncDirectory(filepath.Dir(file))
}

// BackUp copies a database into a new file. The database may be in use, also by other
// processes: the copy is a snapshot. It is checked before it gets its name, so a file with that
// name is always complete.
func BackUp(ctx context.Context, database, file string, check func(db.Conn, db.Dialect) error) error {
	if _, err := os.Stat(database); err != nil {
		return fmt.Errorf("there is no database %s", database)
	}
	if err := checkName(file); err != nil {
		return err
	}
	if _, err := os.Lstat(file); err == nil {
		return fmt.Errorf("%s exists already; a backup never overwrites a file", file)
	}
	return Create(file, func(partial string) error {
		if err := copyToSingleFile(ctx, database, partial); err != nil {
			return err
		}
		if err := checkWhole(ctx, partial, check); err != nil {
			return fmt.Errorf("no backup was written, because the copy of the database failed its check: %w", err)
		}
		return nil
	})
}

// RestoreSteps are what the caller of Restore does with the databases.
type RestoreSteps struct {
	// Check checks the backup.
	Check func(db.Conn, db.Dialect) error
	// MayReplace refuses to replace the contents of a database, by an error. Nil: anything may be
	// replaced.
	MayReplace func(c db.Conn, d db.Dialect, name string) error
	// Prepare changes a copy of the backup before it becomes the contents of the database.
	Prepare func(db.Conn, db.Dialect) error
}

// Restore replaces the contents of a database by a backup. The database may be in use: one
// transaction replaces everything, so a reader sees either the old or the new contents.
func Restore(ctx context.Context, database, file string, steps RestoreSteps) error {
	if _, err := os.Stat(file); err != nil {
		return fmt.Errorf("there is no backup %s", file)
	}
	if SameFile(file, database) {
		return fmt.Errorf("%s is the database itself", file)
	}
	if err := checkWhole(ctx, file, steps.Check); err != nil {
		return fmt.Errorf("%s cannot be restored: %w", file, err)
	}
	if info, err := os.Stat(database); err == nil && info.Size() > 0 && steps.MayReplace != nil {
		if err := inspect(ctx, database, func(c *connection) error { return steps.MayReplace(c, dialect{}, database) }); err != nil {
			return err
		}
	}
	partial, err := partialFile(database)
	if err != nil {
		return err
	}
	defer removeDatabase(partial)
	if err := copyToSingleFile(ctx, file, partial); err != nil {
		return err
	}
	c, err := openConn(ctx, partial, sqlite.OpenReadWrite)
	if err != nil {
		return err
	}
	if err := errors.Join(steps.Prepare(c, dialect{}), c.close()); err != nil {
		return err
	}
	return copyDatabase(ctx, partial, database)
}

// checkWhole checks that a file is an undamaged database without dangling references, and that
// it passes a further check.
func checkWhole(ctx context.Context, file string, check func(db.Conn, db.Dialect) error) error {
	return inspect(ctx, file, func(c *connection) error {
		verdict := ""
		if _, err := db.One(c, func(row model.Row) { verdict = row.Text(0) }, "PRAGMA integrity_check"); err != nil {
			return err
		}
		if verdict != "ok" {
			return fmt.Errorf("it is damaged: %s", verdict)
		}
		if err := checkForeignKeys(c); err != nil {
			return err
		}
		return check(c, dialect{})
	})
}

// partialFile creates an empty temporary file in the directory of another one.
func partialFile(file string) (name string, err error) {
	if info, err := os.Stat(filepath.Dir(file)); err != nil || !info.IsDir() {
		return "", fmt.Errorf("%s cannot be written: there is no directory %s", file, filepath.Dir(file))
	}
	partial, err := os.CreateTemp(filepath.Dir(file), filepath.Base(file)+".*.partial")
	if err != nil {
		return "", err
	}
	return partial.Name(), partial.Close()
}

// publish gives a file its name, unless that name exists. A link fails if another process has
// created the name since; a rename would replace it. But not all file systems have links.
func publish(partial, file string) error {
	err := os.Link(partial, file)
	if err != nil && !errors.Is(err, os.ErrExist) {
		if _, missing := os.Lstat(file); errors.Is(missing, os.ErrNotExist) {
			err = os.Rename(partial, file)
		}
	}
	return err
}

// copyToSingleFile makes a copy that is one plain file and can be read from anywhere: a database with a
// write-ahead log needs other files even for reading.
func copyToSingleFile(ctx context.Context, from, to string) error {
	if err := copyDatabase(ctx, from, to); err != nil {
		return err
	}
	c, err := openRaw(to, sqlite.OpenReadWrite)
	if err != nil {
		return err
	}
	err = run(c, "PRAGMA synchronous = FULL", "PRAGMA journal_mode = DELETE")
	return errors.Join(err, c.Close())
}

// removeDatabase removes the files of a temporary copy.
func removeDatabase(file string) {
	for _, name := range filesOf(file) {
		_ = os.Remove(name)
	}
}

// filesOf returns the files that a database may have.
func filesOf(file string) []string {
	return []string{file, file + "-journal", file + "-wal", file + "-shm"}
}

// pagesAtOnce is how many pages are copied between checks for cancellation.
const pagesAtOnce = 1024

// copyDatabase replaces the contents of one database by those of another, in one transaction.
func copyDatabase(ctx context.Context, from, to string) (err error) {
	source, err := openRaw(from, sqlite.OpenReadOnly)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, source.Close()) }()
	target, err := openRaw(to, sqlite.OpenReadWrite|sqlite.OpenCreate)
	if errors.Is(err, errNoDatabase) {
		err = fmt.Errorf("%w; move it away first", err)
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, target.Close()) }()
	if err := run(target, "PRAGMA synchronous = FULL"); err != nil {
		return err
	}
	// A read transaction keeps the source from changing.
	if err := run(source, "BEGIN", "SELECT count(*) FROM sqlite_schema"); err != nil {
		return err
	}
	backup, err := sqlite.NewBackup(target, "", source, "")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, backup.Close()) }()
	for {
		more, err := backup.Step(pagesAtOnce)
		if err != nil || !more {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
}

var errNoDatabase = errors.New("it is not an SQLite database")

func openRaw(file string, flags sqlite.OpenFlags) (*sqlite.Conn, error) {
	c, err := openFile(file, flags)
	if err == nil {
		c.SetBusyTimeout(busyTimeout)
		err = run(c, "PRAGMA schema_version") // the first statement that reads the file
	}
	if err != nil {
		if sqlite.ErrCode(err) == sqlite.ResultNotADB {
			err = errNoDatabase
		}
		err = fmt.Errorf("%s cannot be opened: %w", file, err)
		if c != nil {
			err = errors.Join(err, c.Close())
		}
		return nil, err
	}
	return c, nil
}

func run(c *sqlite.Conn, statements ...string) error {
	for _, statement := range statements {
		if err := sqlitex.ExecuteTransient(c, statement, nil); err != nil {
			return err
		}
	}
	return nil
}
