package postgres

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/pgtest"
)

// TestSharedSessionsAreRefused, and nothing of the attempt is left in a session that other clients get.
func TestSharedSessionsAreRefused(t *testing.T) {
	for _, mode := range []string{"transaction", "statement"} {
		t.Run(mode, func(t *testing.T) {
			direct, through := pgtest.Pooled(t, mode)
			if d, err := Open(context.Background(), through, db.Options{}); err == nil || err.Error() != errShared.Error() {
				t.Errorf("got %v, %v", d, err)
			}
			if d, err := Open(context.Background(), direct, db.Options{Direct: through}); err == nil || err.Error() != "the direct URL: "+errShared.Error() {
				t.Errorf("got %v, %v", d, err)
			}
			c, err := pgx.Connect(t.Context(), through+"&default_query_exec_mode=simple_protocol")
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close(context.Background())
			var timeout string
			if err := c.QueryRow(t.Context(), "SHOW idle_in_transaction_session_timeout").Scan(&timeout); err != nil || timeout != "0" {
				t.Errorf("a session of others has the timeout %s, %v", timeout, err)
			}
		})
	}
}

// TestSessionPooler: with the settings that PgBouncer has by default, a connection through it has the parameters of the server, and those
// of the URL.
func TestSessionPooler(t *testing.T) {
	_, through := pgtest.Pooled(t, "session")
	d := open(t, through+"&statement_timeout=1h&application_name=plural")
	rows, err := d.pool.Query(t.Context(), "SELECT current_setting(name) FROM unnest(ARRAY['default_transaction_isolation', 'idle_in_transaction_session_timeout', 'statement_timeout', 'application_name', 'client_encoding']) AS name")
	if err != nil {
		t.Fatal(err)
	}
	got, err := pgx.CollectRows(rows, pgx.RowTo[string])
	want := [5]string{"read committed", "40s", "1h", "plural", "UTF8"}
	if err != nil || len(got) != 5 || [5]string(got) != want {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
}
