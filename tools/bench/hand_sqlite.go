package bench

import (
	"context"
	"errors"
	"runtime"
	"slices"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

// handSQLite is the hand-written handler's database in a file: connections that
// read, each with its prepared statements, and a goroutine that writes.
type handSQLite struct {
	readers chan *sqliteReader
	jobs    chan *sqliteJob
	stopped chan struct{}
}

const sqliteReaders = 8

const userColumns = "id, name, email, active, created_at, updated_at"

// An index contains the id too.
const sqliteTable = `CREATE TABLE users (id BLOB PRIMARY KEY, name TEXT NOT NULL, email TEXT NOT NULL, active INTEGER NOT NULL,
	created_at TEXT NOT NULL, updated_at TEXT NOT NULL) STRICT, WITHOUT ROWID;
	CREATE INDEX users_active ON users (active)`

func openSQLiteConn(file string) (*sqlite.Conn, error) {
	conn, err := sqlite.OpenConn(file, sqlite.OpenReadWrite|sqlite.OpenCreate)
	if err != nil {
		return nil, err
	}
	for _, pragma := range []string{"journal_mode = WAL", "synchronous = FULL", "busy_timeout = 5000", "cache_size = -2000"} {
		if err := sqlitex.ExecuteTransient(conn, "PRAGMA "+pragma, nil); err != nil {
			return nil, errors.Join(err, conn.Close())
		}
	}
	return conn, nil
}

// createHandSQLite makes the database with its rows.
func createHandSQLite(file string, rows int) (err error) {
	conn, err := openSQLiteConn(file)
	if err != nil {
		return err
	}
	defer conn.Close()
	defer sqlitex.Save(conn)(&err)
	if err := sqlitex.ExecuteScript(conn, sqliteTable, nil); err != nil {
		return err
	}
	insert := conn.Prep(sqliteInsert)
	for row := range rows {
		id, _ := parseID(rowID(row)) // is one
		u := newUser{id: id, Name: rowName(row), Email: rowEmail(row), Active: rowActive(row), created: loadedAt}
		if err := insertUser(insert, &u); err != nil {
			return err
		}
	}
	return nil
}

const sqliteInsert = "INSERT INTO users (" + userColumns + ") VALUES (?1, ?2, ?3, ?4, ?5, ?5)"

func insertUser(insert *sqlite.Stmt, u *newUser) error {
	insert.BindBytes(1, u.id[:])
	insert.BindText(2, u.Name)
	insert.BindText(3, u.Email)
	insert.BindBool(4, u.Active)
	insert.BindText(5, u.created)
	_, err := insert.Step()
	_ = insert.Reset() // repeats the error of the step
	return err
}

func openHandSQLite(file string) (*handSQLite, error) {
	db := &handSQLite{readers: make(chan *sqliteReader, sqliteReaders), jobs: make(chan *sqliteJob, 256), stopped: make(chan struct{})}
	for range sqliteReaders {
		conn, err := openSQLiteConn(file)
		if err != nil {
			return nil, err
		}
		reader := &sqliteReader{conn: conn}
		for statement, text := range map[**sqlite.Stmt]string{
			&reader.one:    "SELECT " + userColumns + " FROM users WHERE id = ?1",
			&reader.all:    "SELECT " + userColumns + " FROM users ORDER BY id LIMIT ?1 OFFSET ?2",
			&reader.active: "SELECT " + userColumns + " FROM users WHERE active = 1 ORDER BY id LIMIT ?1 OFFSET ?2",
		} {
			if *statement, err = conn.Prepare(text); err != nil {
				return nil, err
			}
		}
		db.readers <- reader
	}
	conn, err := openSQLiteConn(file)
	if err != nil {
		return nil, err
	}
	w := &sqliteWriter{conn: conn}
	for statement, text := range map[**sqlite.Stmt]string{
		&w.begin: "BEGIN IMMEDIATE", &w.commit: "COMMIT", &w.insert: sqliteInsert,
		&w.rename: "UPDATE users SET name = ?2, updated_at = ?3 WHERE id = ?1 RETURNING " + userColumns,
	} {
		if *statement, err = conn.Prepare(text); err != nil {
			return nil, err
		}
	}
	go db.write(w)
	return db, nil
}

func (db *handSQLite) close() {
	close(db.jobs)
	<-db.stopped
	for range sqliteReaders {
		(<-db.readers).conn.Close()
	}
}

type sqliteReader struct {
	conn             *sqlite.Conn
	one, all, active *sqlite.Stmt
	scratch          rowScratch
}

func (db *handSQLite) get(_ context.Context, dst []byte, id [16]byte) ([]byte, error) {
	reader := <-db.readers
	defer func() { db.readers <- reader }()
	reader.one.BindBytes(1, id[:])
	defer reader.one.Reset()
	found, err := reader.one.Step()
	if err == nil && !found {
		err = errNone
	}
	if err != nil {
		return dst, err
	}
	return reader.scratch.appendRow(dst, reader.one), nil
}

func (db *handSQLite) list(_ context.Context, q listQuery, p *page) error {
	reader := <-db.readers
	defer func() { db.readers <- reader }()
	statement := reader.all
	if q.onlyActive {
		statement = reader.active
	}
	statement.BindInt64(1, q.limit)
	statement.BindInt64(2, q.offset)
	defer statement.Reset()
	for {
		found, err := statement.Step()
		if err != nil || !found {
			return err
		}
		if err := p.next(); err != nil {
			return err
		}
		p.buffer = reader.scratch.appendRow(p.buffer, statement)
	}
}

// rowScratch holds the columns of a row without making them anew for each.
type rowScratch []byte

func (s *rowScratch) appendRow(dst []byte, row *sqlite.Stmt) []byte {
	var starts [7]int
	*s = (*s)[:0]
	for column, isText := range []bool{true, true, true, false, true, true} {
		starts[column] = len(*s)
		if isText {
			length := row.ColumnLen(column)
			*s = slices.Grow(*s, length)[:len(*s)+length]
			row.ColumnBytes(column, (*s)[starts[column]:])
		}
	}
	starts[6] = len(*s)
	text := func(column int) []byte { return (*s)[starts[column]:starts[column+1]] }
	return appendUser(dst, text(0), text(1), text(2), row.ColumnInt64(3) != 0, text(4), text(5))
}

type sqliteWriter struct {
	conn                          *sqlite.Conn
	begin, commit, insert, rename *sqlite.Stmt
	scratch                       rowScratch
}

type sqliteJob struct {
	run  func(*sqliteWriter) error
	err  error
	done chan struct{}
}

// write takes all that wait into one transaction. A statement that fails has no
// effect and harms no other.
func (db *handSQLite) write(w *sqliteWriter) {
	defer close(db.stopped)
	defer w.conn.Close()
	for first := range db.jobs {
		runtime.Gosched() // so that others can come
		batch := []*sqliteJob{first}
		for len(db.jobs) > 0 && len(batch) < cap(db.jobs) {
			batch = append(batch, <-db.jobs)
		}
		err := execute(w.begin)
		for _, job := range batch {
			if err == nil {
				job.err = job.run(w)
			}
		}
		if err == nil {
			err = execute(w.commit)
		}
		for _, job := range batch {
			if err != nil {
				job.err = err
			}
			close(job.done)
		}
	}
}

func execute(statement *sqlite.Stmt) error {
	_, err := statement.Step()
	_ = statement.Reset() // repeats the error of the step
	return err
}

func (db *handSQLite) do(run func(*sqliteWriter) error) error {
	job := &sqliteJob{run: run, done: make(chan struct{})}
	db.jobs <- job
	<-job.done
	return job.err
}

func (db *handSQLite) create(_ context.Context, u *newUser) error {
	return db.do(func(w *sqliteWriter) error { return insertUser(w.insert, u) })
}

func (db *handSQLite) rename(_ context.Context, dst []byte, id [16]byte, name, now string) ([]byte, error) {
	err := db.do(func(w *sqliteWriter) error {
		w.rename.BindBytes(1, id[:])
		w.rename.BindText(2, name)
		w.rename.BindText(3, now)
		defer w.rename.Reset()
		found, err := w.rename.Step()
		if err == nil && !found {
			err = errNone
		}
		if err != nil {
			return err
		}
		dst = w.scratch.appendRow(dst, w.rename)
		_, err = w.rename.Step()
		return err
	})
	return dst, err
}
