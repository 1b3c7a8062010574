package store

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/pgtest"
	"github.com/plural-go/plural/problem"
	"github.com/plural-go/plural/schema"
)

// with is a URL with one more parameter, or another value of it.
func with(t *testing.T, database, name, value string) string {
	t.Helper()
	u, err := url.Parse(database)
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	q.Set(name, value)
	u.RawQuery = q.Encode()
	return u.String()
}

// TestCancelledStatements: the database ends a statement, not the caller, who may try again.
func TestCancelledStatements(t *testing.T) {
	t.Parallel()
	st := open(t, pgtest.URL(t), (*model.Schema)(schema.Example()))
	slow := func(tx *Tx) error {
		return errors.Join(db.ExecAll(tx.conn, "SET LOCAL statement_timeout = '20ms'"), tx.fault(db.ExecAll(tx.conn, "SELECT pg_sleep(60)")))
	}
	if err := st.Write(context.Background(), slow); !fault.Is(err, problem.CodeUnavailable) || !strings.Contains(err.Error(), "57014") {
		t.Errorf("a write: got %v", err)
	}
	tx, err := st.Read(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Close()
	if err := slow(tx); !fault.Is(err, problem.CodeUnavailable) || !strings.Contains(err.Error(), "57014") {
		t.Errorf("a read: got %v", err)
	}
}

// TestLostRaces: they are run again, and when they are lost for good it is not a mistake of the
// server.
func TestLostRaces(t *testing.T) {
	t.Parallel()
	st := open(t, pgtest.URL(t), (*model.Schema)(schema.Example()))
	for _, c := range []struct {
		code, message string
		runs          int
		want          problem.Code
	}{
		{"40001", "", 10, problem.CodeUnavailable},
		{"40P01", "", 10, problem.CodeUnavailable},
		{"23505", "", 10, problem.CodeUnavailable},
		{"23503", "", 10, problem.CodeUnavailable},
		{"XX000", "new multixact has more than one updating member: 0 2[1 (keysh), 2 (nokeyupd)]", 10, problem.CodeUnavailable},
		{"XX000", "something else", 1, problem.CodeInternal},
	} {
		runs := 0
		err := st.Write(context.Background(), func(tx *Tx) error {
			runs++
			return tx.fault(&pgconn.PgError{Code: c.code, Message: c.message})
		})
		if runs != c.runs || !fault.Is(err, c.want) {
			t.Errorf("%s %s: %d runs, got %v", c.code, c.message, runs, err)
		}
	}
}

// TestReadsOfCutConnections: they are run again on another.
func TestReadsOfCutConnections(t *testing.T) {
	t.Parallel()
	database := pgtest.URL(t)
	st := open(t, database, (*model.Schema)(schema.Example()))
	users := st.schema.Collection("users")
	count := func(tx *Tx) (int64, error) { return tx.Count(users, nil) }
	for name, c := range map[string]struct {
		begin func(context.Context) (*Tx, error)
		count func(*Tx) (int64, error)
	}{
		"one query": {st.ReadOne, count},
		"several":   {st.Read, count},
		"at length": {st.ReadAtLength, count},
		"a page": {st.lookAtPage, func(tx *Tx) (total int64, err error) {
			_, err = db.One(tx.conn, func(row model.Row) { total = row.Int(len(users.Columns())) }, st.bound().firstPage(users, false), model.IntValue(10))
			return total, err
		}},
	} {
		for range 2 { // there is a connection the second time, which is gone
			tx, err := c.begin(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			execute(t, database, "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()")
			if n, err := c.count(tx); err != nil || n != 0 {
				t.Errorf("%s: got %d, %v", name, n, err)
			}
			tx.Close()
		}
	}
}

// limited makes a role for a database, and returns its name and the URL with it.
func limited(t *testing.T, database, how string) (role, asRole string) {
	t.Helper()
	u, err := url.Parse(database)
	if err != nil {
		t.Fatal(err)
	}
	role = u.Path[1:] + "_role"
	execute(t, database, "CREATE ROLE "+role+" LOGIN "+how)
	t.Cleanup(func() {
		execute(t, database, "DROP OWNED BY "+role)
		execute(t, database, "DROP ROLE "+role)
	})
	return role, with(t, database, "user", role)
}

// TestFewerConnectionsThanThePoolWouldHave: they are enough, it only takes longer.
func TestFewerConnectionsThanThePoolWouldHave(t *testing.T) {
	t.Parallel()
	database := pgtest.URL(t)
	role, asRole := limited(t, database, "CONNECTION LIMIT 2")
	execute(t, database, "GRANT ALL ON SCHEMA public TO "+role)
	st, err := Open(context.Background(), asRole, (*model.Schema)(schema.Example()))
	if err != nil {
		t.Fatal(err)
	}
	defer closeStore(t, st)
	users := st.schema.Collection("users")
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() {
			insert(t, st, users, fmt.Sprintf(`{"name":"A","email":"%d@example.com"}`, i))
			if err := st.Ping(context.Background()); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if stored := execute(t, database, "SELECT 1 FROM users"); stored != 20 {
		t.Errorf("there are %d users", stored)
	}
}

// TestRolesThatMayNotDoEnough are told so, once.
func TestRolesThatMayNotDoEnough(t *testing.T) {
	t.Parallel()
	const denied = "ERROR: permission denied for "
	for name, c := range map[string]struct {
		empty       bool
		grant, want string
	}{
		"no schema":  {true, "", "creating the tables: " + denied + "schema public (SQLSTATE 42501)"},
		"no reading": {false, "", "waiting for the end of a migration by another process: " + denied + "table _plural_schemas (SQLSTATE 42501)"},
		"some reading": {false, "GRANT SELECT ON _plural_schemas TO %s",
			"the database cannot be read: " + denied + "table _plural_meta (SQLSTATE 42501)"},
		"no writing": {false, "GRANT SELECT ON ALL TABLES IN SCHEMA public TO %s",
			"the database cannot be written: " + denied + "table _plural_meta (SQLSTATE 42501)"},
		"read-only": {false, "GRANT ALL ON ALL TABLES IN SCHEMA public TO %[1]s; ALTER ROLE %[1]s SET default_transaction_read_only = on",
			"the database cannot be written: ERROR: cannot execute UPDATE in a read-only transaction (SQLSTATE 25006)"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			database := pgtest.URL(t)
			if !c.empty {
				open(t, database, (*model.Schema)(schema.Example()))
			}
			execute(t, database, "REVOKE CREATE ON SCHEMA public FROM PUBLIC") // as it is since version 15
			role, asRole := limited(t, database, "")
			if c.grant != "" {
				execute(t, database, fmt.Sprintf(c.grant, role))
			}
			if _, err := Open(context.Background(), asRole, (*model.Schema)(schema.Example())); err == nil || err.Error() != c.want {
				t.Errorf("got  %v\nwant %s", err, c.want)
			}
		})
	}
}

// TestEncodings: texts are kept as they are, or the database is refused.
func TestEncodings(t *testing.T) {
	t.Parallel()
	database := pgtest.URL(t)
	u, err := url.Parse(database)
	if err != nil {
		t.Fatal(err)
	}
	const text = "Ada é 世界 😀"
	execute(t, database, "ALTER DATABASE "+u.Path[1:]+" SET client_encoding = 'LATIN1'")
	for i, given := range []string{database, with(t, database, "client_encoding", "utf-8")} {
		st := open(t, given, (*model.Schema)(schema.Example()))
		users := st.schema.Collection("users")
		insert(t, st, users, fmt.Sprintf(`{"name":"%s","email":"%d@example.com"}`, text, i))
	}
	if stored := execute(t, with(t, database, "client_encoding", "UTF8"), "SELECT 1 FROM users WHERE name = '"+text+"'"); stored != 2 {
		t.Errorf("%d texts are as they were", stored)
	}
	latin := u.Path[1:] + "_latin"
	execute(t, database, "CREATE DATABASE "+latin+" ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0")
	defer execute(t, database, "DROP DATABASE "+latin+" WITH (FORCE)")
	u.Path = "/" + latin
	_, err = Open(context.Background(), u.String(), (*model.Schema)(schema.Example()))
	const want = "the database has the encoding LATIN1, which cannot store every character. It must be UTF8: CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0"
	if err == nil || err.Error() != want {
		t.Errorf("got %v", err)
	}
}

// TestWrongURLs: the part that is wrong is named, and the password is not.
func TestWrongURLs(t *testing.T) {
	for database, want := range map[string]string{
		"postgres://ada:hunter2@db/plural?pool_max_conns=abc":                           `cannot parse pool_max_conns (strconv.ParseInt: parsing "abc": invalid syntax)`,
		"postgres://ada:hunter2@db/plural?pool_max_conns=0":                             "pool_max_conns too small",
		"postgres://ada:hunter2@db/plural?sslmode=perhaps":                              "failed to configure TLS (sslmode is invalid)",
		"postgres://ada:hunter2@db/plural?client_encoding=LATIN1":                       "client_encoding is LATIN1, but only UTF8 is supported. Remove it",
		"postgres://ada:hunter2@db:none/plural":                                         "the port after the host is not a number. If that is part of the password, write its / as %2F, ? as %3F and # as %23",
		"postgres://ada:hunter2/3@db/plural":                                            "the port after the host is not a number. If that is part of the password, write its / as %2F, ? as %3F and # as %23",
		"postgres://ada:hunter2%zz@db/plural":                                           "a % is not followed by two hexadecimal digits. Write %25 for a percent sign",
		"postgres://ada@db/plural?password=hunter2%zz":                                  "a % is not followed by two hexadecimal digits. Write %25 for a percent sign",
		"postgres://ada:hunter2 3@db/plural":                                            "the user or the password has a character that must be escaped, such as @ as %40",
		"postgres://ada:hunter2@db/plural?password=hunter2`:%20x&connect_timeout=often": "invalid connect_timeout (strconv.ParseInt: parsing \"often\": invalid syntax)",
	} {
		_, err := Open(context.Background(), database, (*model.Schema)(schema.Example()))
		if full := "the database URL cannot be used: " + want + ". It should be like postgres://user@host/database"; err == nil || err.Error() != full {
			t.Errorf("%s:\ngot  %v\nwant %s", database, err, full)
		}
	}
}
