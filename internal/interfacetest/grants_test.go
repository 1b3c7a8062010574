package interfacetest

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/plural-go/plural"
	"github.com/plural-go/plural/internal/pgtest"
	"github.com/plural-go/plural/schema"
)

// grants reads the statements of docs/deploy.md that give a role of PostgreSQL what the server needs.
func grants(t *testing.T) string {
	t.Helper()
	document, err := os.ReadFile("../../docs/deploy.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(document), "```sql\nGRANT ")
	statements, _, ended := strings.Cut(rest, "```")
	if !found || !ended {
		t.Fatal("docs/deploy.md has no grants")
	}
	return "GRANT " + statements
}

// TestRoleThatOwnsNothing: a server whose role of PostgreSQL has only the documented rights can do everything but migrate.
func TestRoleThatOwnsNothing(t *testing.T) {
	made := mustSchema(t, schema.Collection{Name: "notes", Search: []string{"text"}, Attributes: []schema.Attribute{
		{Name: "code", Type: schema.Integer, Unique: true}, {Name: "text", Type: schema.String},
	}})
	owned := pgtest.URL(t)
	owner, err := pgx.Connect(context.Background(), owned)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { owner.Close(context.Background()) })
	role := fmt.Sprintf("plural_role_%d_%d", os.Getpid(), time.Now().UnixNano())
	execute := func(sql string) {
		t.Helper()
		if _, err := owner.Exec(context.Background(), sql); err != nil {
			t.Fatal(err)
		}
	}
	execute("CREATE ROLE " + role + " LOGIN PASSWORD 'secret'")
	t.Cleanup(func() { execute("DROP OWNED BY " + role + "; DROP ROLE " + role) })
	limited, err := url.Parse(owned)
	if err != nil {
		t.Fatal(err)
	}
	parameters := limited.Query()
	parameters.Del("user")
	limited.User, limited.RawQuery = url.UserPassword(role, "secret"), parameters.Encode()
	s := start(t, made, owned)
	s.createAll("/notes", `{"id":"`+id(0)+`","code":0}`)
	execute(strings.ReplaceAll(grants(t), "plural_server", role))
	s = s.restart(context.Background(), func(c *plural.Config) { c.Database = limited.String() })
	var connected bool
	if err := owner.QueryRow(context.Background(), "SELECT count(*) > 0 FROM pg_stat_activity WHERE usename = $1", role).Scan(&connected); err != nil || !connected {
		t.Fatalf("the server is not connected as the role: %v", err)
	}
	expect := func(got answer, status int) {
		t.Helper()
		if got.status != status {
			t.Errorf("%d %s", got.status, got.body)
		}
	}
	expect(s.do("POST", "/notes", `{"id":"`+id(1)+`","code":1,"text":"one"}`), 201)
	expect(s.do("POST", "/notes", `{"text":"made"}`), 201)
	expect(s.do("POST", "/notes", `[{"code":2,"text":"two"},{"code":3,"text":"three"}]`), 201)
	expect(s.do("POST", "/notes?on_conflict=code", `[{"code":3,"text":"third"},{"code":4,"text":"four"}]`), 200)
	expect(s.do("PATCH", "/notes/"+id(1), `{"text":"first"}`, "Idempotency-Key", "k"), 200)
	expect(s.do("PATCH", "/notes?filter[code][gte]=2", `{"text":"many"}`), 200)
	expect(s.do("POST", "/-/transaction", `[{"method":"PUT","path":"/notes/`+id(0)+`","body":{"code":10}},{"method":"DELETE","path":"/notes/`+id(1)+`"}]`), 200)
	expect(s.do("DELETE", "/notes?search=many", ""), 200)
	later := s.do("PATCH", "/notes/"+id(0), `{"text":"later"}`, "Prefer", "respond-async")
	expect(later, 202)
	s.expectSuccess(t, later.operation(t))
	expect(s.get("/changes"), 200)
	s.get("/notes?search=later&fields=code").expect(t, 200, data(`{"id":"`+id(0)+`","type":"notes","code":10}`))
	s.get("/notes?sort=text&fields=text").expectLength(t, 2)
}
