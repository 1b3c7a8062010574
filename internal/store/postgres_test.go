package store

import (
	"context"
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/pgtest"
	"github.com/plural-go/plural/schema"
)

// TestConnectionsEndUnderTransactions: these are run again.
func TestConnectionsEndUnderTransactions(t *testing.T) {
	t.Parallel()
	s := (*model.Schema)(schema.Example())
	users := s.Collection("users")
	for name, end := range map[string]func(*testing.T, *Tx, string){
		"terminated": func(t *testing.T, tx *Tx, url string) {
			execute(t, url, fmt.Sprintf("SELECT pg_terminate_backend(%d, 10000)", pidOf(t, tx)))
		},
		"idle for too long": func(t *testing.T, tx *Tx, url string) {
			pid := pidOf(t, tx)
			if _, err := tx.conn.Exec("SET idle_in_transaction_session_timeout = 1"); err != nil {
				t.Error(err)
			}
			for gone := false; !gone; {
				gone = execute(t, url, fmt.Sprintf("SELECT 1 FROM pg_stat_activity WHERE pid = %d", pid)) == 0
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url := pgtest.URL(t)
			st := open(t, url, s)
			runs := 0
			err := st.Write(context.Background(), func(tx *Tx) error {
				if _, err := tx.Backlog(1); err != nil {
					return err
				}
				if runs++; runs == 1 {
					end(t, tx, url)
				}
				user := record(t, users, `{"id":"00000000-0000-0000-0000-000000000001","name":"Ada","email":"ada@example.com"}`)
				user[users.CreatedColumn()], user[users.UpdatedColumn()] = tx.Now(), tx.Now()
				_, err := tx.Insert(users, user)
				return err
			})
			if stored := execute(t, url, "SELECT 1 FROM users"); err != nil || runs != 2 || stored != 1 {
				t.Errorf("%v, in %d runs: %d users", err, runs, stored)
			}
		})
	}
}

// pidOf is the process of the database that a transaction runs in.
func pidOf(t *testing.T, tx *Tx) (pid int64) {
	t.Helper()
	if _, err := db.One(tx.conn, func(row model.Row) { pid = row.Int(0) }, "SELECT pg_backend_pid()"); err != nil {
		t.Error(err)
	}
	return pid
}

// execute runs a statement from outside, and counts its rows.
func execute(t *testing.T, url, sql string) int64 {
	t.Helper()
	conn, err := pgx.Connect(context.Background(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	tag, err := conn.Exec(context.Background(), sql)
	if err != nil {
		t.Fatal(err)
	}
	return tag.RowsAffected()
}
