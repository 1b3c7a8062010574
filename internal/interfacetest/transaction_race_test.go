package interfacetest

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/plural-go/plural/internal/pgtest"
	"github.com/plural-go/plural/schema"
)

// TestTransactionWaitsOnce: a transaction that has lost a race for its first resource runs again with the locks of all that its steps
// name, those after the lost one included.
func TestTransactionWaitsOnce(t *testing.T) {
	url := pgtest.URL(t)
	s := start(t, schema.Example(), url)
	seedUsers(s, 2)
	ctx := context.Background()
	connect := func() *pgx.Conn {
		t.Helper()
		conn, err := pgx.Connect(ctx, url)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close(ctx) })
		return conn
	}
	rivals, watcher := []pgx.Tx{}, connect() // rivals have changed a resource each
	for position := range 2 {
		tx, err := connect().Begin(ctx)
		if err == nil {
			_, err = tx.Exec(ctx, "UPDATE users SET id = id WHERE id = $1", id(position))
		}
		if err != nil {
			t.Fatal(err)
		}
		rivals = append(rivals, tx)
	}
	answered := make(chan answer, 1)
	go func() {
		answered <- s.transaction([]string{step("PATCH", "/users/"+id(0), `{"name":"X"}`), step("PATCH", "/users/"+id(1), `{"name":"Y"}`)})
	}()
	for lost, rival := range rivals {
		var advisory int // locks, when somebody waits for a rival
		eventually(t, "somebody waits for a rival", func() (waits bool) {
			err := watcher.QueryRow(ctx, "SELECT count(*) FILTER (WHERE NOT granted AND locktype = 'transactionid') > 0, count(*) FILTER (WHERE granted AND locktype = 'advisory' AND classid = 758726)"+
				" FROM pg_locks WHERE pid IN (SELECT pid FROM pg_stat_activity WHERE datname = current_database())").Scan(&waits, &advisory)
			if err != nil {
				t.Fatal(err)
			}
			return waits
		})
		if want := []int{0, 2}[lost]; advisory != want {
			t.Errorf("a transaction that has lost %d races has %d locks, want %d", lost, advisory, want)
		}
		if err := rival.Commit(ctx); err != nil {
			t.Fatal(err)
		}
	}
	(<-answered).expect(t, 200, data(renamed(0, "X"), renamed(1, "Y")))
}
