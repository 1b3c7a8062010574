package store

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// connect opens a database by its URL, sqlite:FILE or postgres://…. A file that does not
// exist is made.
func connect(ctx context.Context, url string, o options) (backend, error) {
	scheme, rest, _ := strings.Cut(url, ":")
	switch scheme {
	case "sqlite":
		return openSQLite(rest, o)
	case "postgres", "postgresql":
		return openPostgres(ctx, url, o)
	}
	return nil, errors.New("the database URL must be sqlite:FILE or postgres://HOST/DATABASE")
}

// connectExisting opens a database without making a file for it.
func connectExisting(ctx context.Context, url string, o options) (backend, error) {
	if file, ok := fileOf(url); ok {
		if err := checkExists(file); err != nil {
			return nil, err
		}
	}
	return connect(ctx, url, o)
}

func fileOf(url string) (file string, ok bool) { return strings.CutPrefix(url, "sqlite:") }

// onDatabase opens a database that exists, and closes it again.
func onDatabase(ctx context.Context, url string, fn func(backend) error) error {
	b, err := connectExisting(ctx, url, options{})
	if err != nil {
		return explain(err)
	}
	return explain(errors.Join(fn(b), b.close()))
}

// explain says more of an error of a database, to a person who runs a command or starts a
// server.
func explain(err error) error { return explained(err) }

// source is a database that is only read.
type source struct {
	dialect
	lend  func() (c conn, release func(), err error) // reads from one snapshot
	close func() error
}

// openSource opens a database that exists, to read it. Nothing of it changes: not even the
// journal mode of a file.
func openSource(ctx context.Context, url string) (*source, error) {
	if file, ok := fileOf(url); ok {
		d, lend, closeIt, err := openReadOnly(ctx, file)
		if err != nil {
			return nil, err
		}
		return &source{d, lend, closeIt}, nil
	}
	b, err := connect(ctx, url, options{})
	if err != nil {
		return nil, err
	}
	return &source{b, func() (conn, func(), error) { return b.read(ctx, atLength) }, b.close}, nil
}

// createFile makes a database by fill, which gets the URL of an empty one. It gets its name once it is
// filled: until then nobody else opens it, so that it can be removed if something fails. False
// means that the URL names no new file, and nothing was done.
func createFile(url string, fill func(url string) error) (created bool, err error) {
	file, ok := fileOf(url)
	if !ok || exists(file) {
		return false, nil
	}
	if err := checkFile(file); err != nil {
		return true, err
	}
	return true, createDatabase(file, func(partial string) error { return fill("sqlite:" + partial) })
}

// backUpFile copies a database that is a file to a new file. Check gets the copy, before it has its
// name.
func backUpFile(ctx context.Context, url, to string, check func(conn, dialect) error) error {
	file, err := requireFile(url)
	if err != nil {
		return err
	}
	return backUpDatabase(ctx, file, to, check)
}

// restoreFile makes a database what a copy of it in a file is. Check gets the copy, and mayReplace
// the database as it is, with its name.
func restoreFile(ctx context.Context, url, from string, check func(conn, dialect) error, mayReplace func(c conn, d dialect, name string) error) error {
	file, err := requireFile(url)
	if err != nil {
		return err
	}
	return restoreDatabase(ctx, file, from, check, mayReplace)
}

func requireFile(url string) (string, error) {
	file, ok := fileOf(url)
	if !ok {
		return "", errors.New("this is for SQLite databases; PostgreSQL has pg_dump and pg_restore")
	}
	return file, checkFile(file)
}

// sameDatabase recognises a database given twice, as far as that can be seen from
// outside.
func sameDatabase(one, two string) bool {
	first, isFile := fileOf(one)
	second, areFiles := fileOf(two)
	return one == two || isFile && areFiles && sameFile(first, second)
}

// placeName names a database, without what its URL may hold of secrets.
func placeName(url string) string {
	if file, ok := fileOf(url); ok {
		return "the SQLite database " + file
	}
	if database, host, ok := addressOf(url); ok {
		return fmt.Sprintf("the PostgreSQL database %s on %s", database, host)
	}
	return "the database"
}
