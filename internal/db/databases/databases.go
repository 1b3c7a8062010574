// Package databases opens a database by its URL, and does with it what depends on its kind: backup,
// restore, creation of a file. It is the only package that imports both databases.
package databases

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/db/postgres"
	"github.com/plural-go/plural/internal/db/sqlite"
)

// Open opens a database by its URL, sqlite:FILE or postgres://…. It creates a file that does not
// exist.
func Open(ctx context.Context, url string, o db.Options) (db.Database, error) {
	scheme, rest, isURL := strings.Cut(url, ":")
	switch scheme {
	case "sqlite":
		if o.Direct != "" {
			return nil, errors.New("a direct URL of the database is given, which is for PostgreSQL: leave it out")
		}
		return sqlite.Open(rest, o)
	case "postgres", "postgresql":
		return postgres.Open(ctx, url, o)
	}
	if !isURL && url != "" {
		return nil, fmt.Errorf("the database URL must be sqlite:FILE or postgres://HOST/DATABASE: for this file, write sqlite:%s", url)
	}
	return nil, errors.New("the database URL must be sqlite:FILE or postgres://HOST/DATABASE")
}

// OpenExisting is Open for a database that exists: a missing file is an error.
func OpenExisting(ctx context.Context, url string, o db.Options) (db.Database, error) {
	if file, ok := fileOf(url); ok {
		if err := sqlite.CheckExists(file); err != nil {
			return nil, err
		}
	}
	return Open(ctx, url, o)
}

func fileOf(url string) (file string, ok bool) { return strings.CutPrefix(url, "sqlite:") }

// With calls a function with a database that exists, and closes the database afterwards.
func With(ctx context.Context, url string, fn func(db.Database) error) error {
	b, err := OpenExisting(ctx, url, db.Options{})
	if err != nil {
		return Explain(err)
	}
	return Explain(errors.Join(fn(b), b.Close()))
}

// Read calls a function with a database that exists and a connection that reads from one snapshot of it.
func Read(ctx context.Context, url string, fn func(db.Database, db.Conn) error) error {
	return With(ctx, url, func(b db.Database) error {
		c, release, err := b.Read(ctx, db.LongRead)
		if err != nil {
			return err
		}
		defer release()
		return fn(b, c)
	})
}

// Explain adds advice to an error of a database, for a person who runs a command or starts a
// server.
func Explain(err error) error { return sqlite.Explain(err) }

// Source is a database that is opened only for reading.
type Source struct {
	db.Dialect
	Read  func() (c db.Conn, release func(), err error) // reads from one snapshot
	Close func() error
}

// OpenSource opens a database that exists, only for reading. Nothing of it changes, not even the
// journal mode of a file.
func OpenSource(ctx context.Context, url string) (*Source, error) {
	if file, ok := fileOf(url); ok {
		d, lend, closeIt, err := sqlite.OpenReadOnly(ctx, file)
		if err != nil {
			return nil, err
		}
		return &Source{d, lend, closeIt}, nil
	}
	b, err := Open(ctx, url, db.Options{})
	if err != nil {
		return nil, err
	}
	return &Source{b, func() (db.Conn, func(), error) { return b.Read(ctx, db.LongRead) }, b.Close}, nil
}

// Create creates a database file. It calls fill with the URL of an empty temporary database, and
// renames that file if fill succeeds: until then no other process opens it, so it can be removed
// after an error. False means that the URL names no new file, and that fill was not called.
func Create(url string, fill func(url string) error) (created bool, err error) {
	file, ok := fileOf(url)
	if !ok || sqlite.Exists(file) {
		return false, nil
	}
	if err := sqlite.CheckFile(file); err != nil {
		return true, err
	}
	return true, sqlite.Create(file, func(partial string) error { return fill("sqlite:" + partial) })
}

// BackUp copies a SQLite database to a new file. It calls check with the copy before the copy gets
// its name.
func BackUp(ctx context.Context, url, to string, check func(db.Conn, db.Dialect) error) error {
	file, err := requireFile(url)
	if err != nil {
		return err
	}
	return sqlite.BackUp(ctx, file, to, check)
}

// RestoreSteps are what the caller of Restore does with the databases.
type RestoreSteps = sqlite.RestoreSteps

// Restore replaces the contents of a SQLite database by those of a backup.
func Restore(ctx context.Context, url, from string, steps RestoreSteps) error {
	file, err := requireFile(url)
	if err != nil {
		return err
	}
	return sqlite.Restore(ctx, file, from, steps)
}

// CheckObjects refuses a SQLite database with other tables, indexes, views or triggers than those that create makes in an
// empty one.
func CheckObjects(c db.Conn, create func(db.Conn, db.Dialect) error) error {
	return sqlite.CheckObjects(c, create)
}

func requireFile(url string) (string, error) {
	file, ok := fileOf(url)
	if !ok {
		return "", errors.New("this is for SQLite databases; PostgreSQL has pg_dump and pg_restore")
	}
	return file, sqlite.CheckFile(file)
}

// Same reports whether two URLs name the same database, as far as the URLs and files show it.
func Same(one, two string) bool {
	first, isFile := fileOf(one)
	second, areFiles := fileOf(two)
	return one == two || isFile && areFiles && sqlite.SameFile(first, second)
}

// Name names a database for messages, without the secrets that its URL may contain.
func Name(url string) string {
	if file, ok := fileOf(url); ok {
		return "the SQLite database " + file
	}
	if database, host, ok := postgres.Address(url); ok {
		return fmt.Sprintf("the PostgreSQL database %s on %s", database, host)
	}
	return "the database"
}
