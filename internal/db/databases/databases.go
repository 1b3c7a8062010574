// Package databases opens databases by their URLs. No other package knows which there are.
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

// Open opens a database by its URL, sqlite:FILE or postgres://…. A file that does not
// exist is made.
func Open(ctx context.Context, url string, o db.Options) (db.Database, error) {
	scheme, rest, _ := strings.Cut(url, ":")
	switch scheme {
	case "sqlite":
		if o.Direct != "" {
			return nil, errors.New("a direct URL of the database is given, which is for PostgreSQL: leave it out")
		}
		return sqlite.Open(rest, o)
	case "postgres", "postgresql":
		return postgres.Open(ctx, url, o)
	}
	return nil, errors.New("the database URL must be sqlite:FILE or postgres://HOST/DATABASE")
}

// OpenExisting opens a database without making a file for it.
func OpenExisting(ctx context.Context, url string, o db.Options) (db.Database, error) {
	if file, ok := fileOf(url); ok {
		if err := sqlite.CheckExists(file); err != nil {
			return nil, err
		}
	}
	return Open(ctx, url, o)
}

func fileOf(url string) (file string, ok bool) { return strings.CutPrefix(url, "sqlite:") }

// With opens a database that exists, and closes it again.
func With(ctx context.Context, url string, fn func(db.Database) error) error {
	b, err := OpenExisting(ctx, url, db.Options{})
	if err != nil {
		return Explain(err)
	}
	return Explain(errors.Join(fn(b), b.Close()))
}

// Explain says more of an error of a database, to a person who runs a command or starts a
// server.
func Explain(err error) error { return sqlite.Explain(err) }

// Source is a database that is only read.
type Source struct {
	db.Dialect
	Read  func() (c db.Conn, release func(), err error) // reads from one snapshot
	Close func() error
}

// OpenSource opens a database that exists, to read it. Nothing of it changes: not even the
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

// Create makes a database by fill, which gets the URL of an empty one. It gets its name once it is
// filled: until then nobody else opens it, so that it can be removed if something fails. False
// means that the URL names no new file, and nothing was done.
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

// BackUp copies a database that is a file to a new file. Check gets the copy, before it has its
// name.
func BackUp(ctx context.Context, url, to string, check func(db.Conn, db.Dialect) error) error {
	file, err := requireFile(url)
	if err != nil {
		return err
	}
	return sqlite.BackUp(ctx, file, to, check)
}

// Restore makes a database what a copy of it in a file is. Check gets the copy, and mayReplace
// the database as it is, with its name; nil: anything may be replaced. Prepare changes what the
// database becomes.
func Restore(ctx context.Context, url, from string, check func(db.Conn, db.Dialect) error, mayReplace func(c db.Conn, d db.Dialect, name string) error, prepare func(db.Conn, db.Dialect) error) error {
	file, err := requireFile(url)
	if err != nil {
		return err
	}
	return sqlite.Restore(ctx, file, from, check, mayReplace, prepare)
}

func requireFile(url string) (string, error) {
	file, ok := fileOf(url)
	if !ok {
		return "", errors.New("this is for SQLite databases; PostgreSQL has pg_dump and pg_restore")
	}
	return file, sqlite.CheckFile(file)
}

// Same recognises a database given twice, as far as that can be seen from
// outside.
func Same(one, two string) bool {
	first, isFile := fileOf(one)
	second, areFiles := fileOf(two)
	return one == two || isFile && areFiles && sqlite.SameFile(first, second)
}

// Name names a database, without what its URL may hold of secrets.
func Name(url string) string {
	if file, ok := fileOf(url); ok {
		return "the SQLite database " + file
	}
	if database, host, ok := postgres.Address(url); ok {
		return fmt.Sprintf("the PostgreSQL database %s on %s", database, host)
	}
	return "the database"
}
