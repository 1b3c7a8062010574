//go:build linux

package soak

import (
	"context"
	"fmt"
	"github.com/jackc/pgx/v5"
	"strings"
	"testing"

	"github.com/plural-go/plural/tools/soak/stored"
)

// A database that was tampered with is found to be at odds with itself, wherever
// it was.
func TestTamperedPostgresIsDetected(t *testing.T) {
	t.Parallel()
	s, err := NewNodes(t.Context(), server(t, Linked{Lease: testLease}))
	if err != nil {
		t.Fatal(err)
	}
	closed(t, s)
	r := NewRun(s, 8, testSeed)
	writeEverything(t, r)
	if err := s.Stop(); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ sql, want string }{
		"nothing":                {"SELECT 1", ""},
		"a row is gone":          {"DELETE FROM notes WHERE id = (SELECT id FROM notes LIMIT 1)", "is in the change log, and not in its table"},
		"an undeclared step":     {"UPDATE tickets SET state = 'gone' WHERE id = (SELECT id FROM tickets LIMIT 1)", "change log: the state of {tickets "},
		"a row too many":         {"INSERT INTO counters SELECT gen_random_uuid(), token, text, count, _revision FROM counters LIMIT 1", "is in its table, and not in the change log"},
		"another value":          {"UPDATE accounts SET text = 'other' WHERE id = (SELECT id FROM accounts LIMIT 1)", "is torn: "},
		"another past":           {"UPDATE _plural_changes SET previous = replace(previous, ' ', '-') WHERE kind = 'updated'", "is torn: "},
		"another revision":       {"UPDATE accounts SET _revision = 0 WHERE id = (SELECT id FROM accounts LIMIT 1)", "has revision 0, and its last change is"},
		"a change is gone":       {"DELETE FROM _plural_changes WHERE revision = (SELECT _revision FROM counters LIMIT 1)", "and its last change is"},
		"changes in wrong order": {"UPDATE _plural_sequence SET position = -position WHERE revision IN (SELECT revision FROM _plural_changes WHERE kind = 'updated' AND id IN (SELECT id FROM counters))", "updated of {counters"},
		"a wrong total":          {"INSERT INTO _plural_deltas SELECT 'orders', '', id, 1 FROM accounts LIMIT 1", "the total of {orders } is kept as"},
		"a total of nobody":      {"INSERT INTO _plural_totals VALUES ('orders', 'x', 1)", "the total of {orders x} is kept as 1, and none are there"},
		"a broken reference": {"ALTER TABLE orders DISABLE TRIGGER ALL; UPDATE orders SET account_id = gen_random_uuid()",
			"a row of orders refers to none in accounts"},
		"an operation is lost":       {"UPDATE operations SET status = 'pending' WHERE id = (SELECT id FROM operations LIMIT 1)", "an operation is not finished, and not in the queue"},
		"a follower of nobody":       {"INSERT INTO _plural_followers VALUES (gen_random_uuid(), gen_random_uuid())", "an operation waits for one that is not in the queue"},
		"an operation is left there": {queueOne("succeeded", 0), "the queue has an operation that is finished"},
		"an operation waits":         {queueOne("pending", 1), "an operation does not wait for as many as it says"},
	} {
		t.Run(name, func(t *testing.T) {
			copied := "copy_" + strings.ReplaceAll(name, " ", "_")
			execute(t, hosts(s.primary()), "CREATE DATABASE "+copied+" TEMPLATE postgres")
			url := strings.Replace(hosts(s.primary()), "/postgres?", "/"+copied+"?", 1)
			execute(t, url, c.sql)
			contents, err := stored.ReadPostgres(t.Context(), url)
			if err != nil {
				t.Fatal(err)
			}
			problems := strings.Join(contents.Problems, "\n")
			if c.want == "" && problems != "" || !strings.Contains(problems, c.want) {
				t.Errorf("%s\nwanted: %s", problems, c.want)
			}
		})
	}
}

// queueOne leaves an operation in the queue, with a status and a number of others
// that it waits for.
func queueOne(status string, blockers int) string {
	return fmt.Sprintf(`UPDATE operations SET status = '%s' WHERE id = (SELECT min(id::text)::uuid FROM operations);
		INSERT INTO _plural_queue SELECT (jsonb_populate_record(null::_plural_queue, jsonb_build_object('operation', min(id::text), 'caller', '', 'method', 'POST',
			'collection', 'x', 'resource', min(id::text), 'body', '', 'if_match', '', 'if_none_match', '', 'turn', 1, 'blockers', %d, 'followers', 0,
			'attempt', 0, 'accepted_by', 0, 'version', 0, 'due', now()))).* FROM operations`, status, blockers)
}

func execute(t *testing.T, url, sql string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	if _, err := conn.PgConn().Exec(t.Context(), sql).ReadAll(); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}
