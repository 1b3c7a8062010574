package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"github.com/plural-go/plural/internal/model"
)

// Backup copies an SQLite database into a new file. The database may be in use,
// also by other processes: the copy is what it was at one moment. It is checked
// before it gets its name, so that a file of that name is always whole.
func Backup(ctx context.Context, url, file string) error {
	return explained(backUp(ctx, url, file))
}

func backUp(ctx context.Context, url, file string) error {
	database, err := sqliteFile(url)
	if err != nil {
		return err
	}
	if _, err := os.Stat(database); err != nil {
		return fmt.Errorf("there is no database %s", database)
	}
	if _, err := os.Lstat(file); err == nil {
		return fmt.Errorf("%s exists already; a backup never overwrites a file", file)
	}
	partial, err := partialFile(file)
	if err != nil {
		return err
	}
	defer removeDatabase(partial)
	if err := copyDatabase(ctx, database, partial); err != nil {
		return err
	}
	if err := settle(ctx, partial); err != nil {
		return err
	}
	if err := checkBackup(ctx, partial); err != nil {
		return fmt.Errorf("no backup was written, as the copy of the database does not pass the check: %w", err)
	}
	if err := claim(partial, file); err != nil {
		return err
	}
	return syncDirectory(filepath.Dir(file))
}

// partialFile makes an empty file beside another one, to become it.
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

// claim gives a file its name, unless there is one of that name. A link fails if
// somebody else made it meanwhile, and a rename would not; but not all file
// systems have links.
func claim(partial, file string) error {
	err := os.Link(partial, file)
	if err != nil && !errors.Is(err, os.ErrExist) {
		if _, missing := os.Lstat(file); errors.Is(missing, os.ErrNotExist) {
			err = os.Rename(partial, file)
		}
	}
	return err
}

// settle makes a copy one plain file that can be read from anywhere: a database
// with a write-ahead log needs files beside it even to be read.
func settle(ctx context.Context, file string, more ...string) error {
	c, err := openRaw(ctx, file, sqlite.OpenReadWrite)
	if err != nil {
		return err
	}
	err = run(c, append([]string{"PRAGMA synchronous = FULL", "PRAGMA journal_mode = DELETE"}, more...)...)
	return errors.Join(err, c.Close())
}

// Restore makes an SQLite database what a backup is. The backup is checked first.
// The database may be in use: it is replaced in one transaction, and whoever
// reads it sees the old or the new.
func Restore(ctx context.Context, url, file string, force bool) error {
	return explained(restore(ctx, url, file, force))
}

func restore(ctx context.Context, url, file string, force bool) error {
	database, err := sqliteFile(url)
	if err != nil {
		return err
	}
	if info, err := os.Stat(file); err != nil {
		return fmt.Errorf("there is no backup %s", file)
	} else if existing, err := os.Stat(database); err == nil && os.SameFile(info, existing) {
		return fmt.Errorf("%s is the database itself", file)
	}
	if err := checkBackup(ctx, file); err != nil {
		return fmt.Errorf("%s is no backup that can be restored: %w", file, err)
	}
	if !force {
		if err := requireEmpty(ctx, database); err != nil {
			return err
		}
	}
	partial, err := partialFile(database)
	if err != nil {
		return err
	}
	defer removeDatabase(partial)
	if err := copyDatabase(ctx, file, partial); err != nil {
		return err
	}
	if err := settle(ctx, partial, newNumbers(time.Now())...); err != nil {
		return err
	}
	return copyDatabase(ctx, partial, database)
}

// newNumbers lets a database that is restored go on with revisions, and versions of
// the schema, that nobody has seen: those that were given since the backup are known
// to clients, and meant something else. As the new ones begin with the time, it need
// not be known which they were.
func newNumbers(now time.Time) []string {
	millis := now.UnixMilli()
	first := fmt.Sprint(millis << 20)
	return []string{
		fmt.Sprintf("INSERT INTO %s (version, at, document) SELECT max(version + 1, %d), '%s', document FROM %[1]s ORDER BY version DESC LIMIT 1",
			schemasTable, millis, model.FormatTime(now)),
		"INSERT INTO sqlite_sequence (name, seq) SELECT '" + changesTable + "', 0 WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = '" + changesTable + "')",
		"UPDATE sqlite_sequence SET seq = max(seq, " + first + ") WHERE name = '" + changesTable + "'",
	}
}

func sqliteFile(url string) (string, error) {
	file, ok := strings.CutPrefix(url, "sqlite:")
	if !ok {
		return "", errors.New("this is for SQLite databases; PostgreSQL has pg_dump and pg_restore")
	}
	return file, checkFile(file)
}

// removeDatabase removes what is left of a copy that has done its service, or failed.
func removeDatabase(file string) {
	for _, name := range sqliteFiles(file) {
		_ = os.Remove(name)
	}
}

// sqliteFiles are the files that a database may have.
func sqliteFiles(file string) []string {
	return []string{file, file + "-journal", file + "-wal", file + "-shm"}
}

// pagesAtOnce is how much is copied before looking whether to go on.
const pagesAtOnce = 1024

// copyDatabase makes one database what another is, in one transaction.
func copyDatabase(ctx context.Context, from, to string) (err error) {
	source, err := openRaw(ctx, from, sqlite.OpenReadOnly)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, source.Close()) }()
	target, err := openRaw(ctx, to, sqlite.OpenReadWrite|sqlite.OpenCreate)
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
	// The source stands still for as long as it is being read in a transaction.
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

var errNoDatabase = errors.New("it is no SQLite database")

func openRaw(ctx context.Context, file string, flags sqlite.OpenFlags) (*sqlite.Conn, error) {
	c, err := openFile(file, flags)
	if err == nil {
		c.SetInterrupt(ctx.Done())
		c.SetBusyTimeout(busyTimeout)
		err = run(c, "PRAGMA schema_version") // the first to look into the file
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

// checkBackup makes sure that a file is a whole database of Plural's: nothing in
// it is damaged, its tables are those of its schema, every reference leads
// somewhere, and there are as many resources as it says.
func checkBackup(ctx context.Context, file string) (err error) {
	raw, err := openRaw(ctx, file, sqlite.OpenReadOnly)
	if err != nil {
		return err
	}
	c := &sqliteConn{raw: raw, statements: map[string]*sqlite.Stmt{}}
	defer func() { err = errors.Join(err, c.close()) }()
	verdict := ""
	if _, err := one(c, func(row model.Row) { verdict = string(row.AppendText(nil, 0)) }, "PRAGMA integrity_check"); err != nil {
		return err
	}
	if verdict != "ok" {
		return fmt.Errorf("it is damaged: %s", verdict)
	}
	d := &sqliteBackend{}
	found, err := describe(c, d)
	if err != nil {
		return err
	}
	if len(found) == 0 {
		return errors.New("it is empty")
	}
	stored, err := storedSchema(c, d, found)
	if err != nil {
		return err
	}
	if err := checkForeignKeys(c); err != nil {
		return err
	}
	for _, collection := range stored.All() {
		var kept, there int64
		if _, err := one(c, func(row model.Row) { kept = row.Int(0) }, "SELECT total FROM "+allTotals()+" WHERE collection = $1 AND parent = ''", model.TextValue(collection.Name)); err != nil {
			return err
		}
		if _, err := one(c, func(row model.Row) { there = row.Int(0) }, "SELECT count(*) FROM "+quote(d, collection.Name)); err != nil {
			return err
		}
		if kept != there {
			return fmt.Errorf("%s should have %s, and has %d", collection.Name, counted(kept, "resource"), there)
		}
	}
	return nil
}

// requireEmpty refuses a database in which there is something to lose.
func requireEmpty(ctx context.Context, file string) (err error) {
	if info, err := os.Stat(file); err != nil || info.Size() == 0 {
		return nil
	}
	raw, err := openRaw(ctx, file, sqlite.OpenReadOnly)
	if err != nil {
		return err
	}
	c := &sqliteConn{raw: raw, statements: map[string]*sqlite.Stmt{}}
	defer func() { err = errors.Join(err, c.close()) }()
	found, err := describe(c, &sqliteBackend{})
	if err != nil || len(found) == 0 {
		return err
	}
	if found[totalsTable] == nil {
		return fmt.Errorf("%s has tables that Plural did not make (%s)", file, strings.Join(sortedNames(found), ", "))
	}
	var resources int64
	_, err = one(c, func(row model.Row) { resources = row.Int(0) }, "SELECT coalesce(sum(total), 0) FROM "+allTotals()+" WHERE parent = ''")
	if err == nil && resources > 0 {
		err = &NotEmptyError{File: file, Resources: resources}
	}
	return err
}

// NotEmptyError says that a restore would replace what is there.
type NotEmptyError struct {
	File      string
	Resources int64
}

// Error tells how much is there.
func (e *NotEmptyError) Error() string {
	return fmt.Sprintf("%s has %s, which would be replaced; --force permits it", e.File, counted(e.Resources, "resource"))
}
