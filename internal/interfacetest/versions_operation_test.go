package interfacetest

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/plural-go/plural"
	"github.com/plural-go/plural/admin"
)

// operationIn is an operation that has ended, on a resource under its name in a version.
func operationIn(status, method string, position int, collection, errors string) string {
	return fmt.Sprintf(`{"id":"ID","type":"operations","status":"%s","method":"%s","resource":{"id":"%s","type":"%s"},"errors":%s,"attempts":1,"created_at":"TIME","updated_at":"TIME"}`,
		status, method, id(position), collection, errors)
}

// TestOperationsOfVersions: an operation is executed by the version that requested it, and has its names for everybody.
func TestOperationsOfVersions(t *testing.T) {
	g := &gate{shut: map[string]chan struct{}{}, reached: map[string]bool{}}
	eachVersioned(t, func(t *testing.T, s *server) {
		g.t = t
		defer g.openAll()
		old := s.version(1)
		expect := func(operation, want string) {
			t.Helper()
			for _, version := range []int{1, 3} {
				if got := strings.Replace(s.version(version).finished(operation).timeless(), operation, "ID", 1); got != one(want) {
					t.Errorf("in version %d: got\n%s\nwant\n%s", version, got, one(want))
				}
			}
		}
		open := g.hold(31)
		first := old.later("POST", "/clients", `{"id":"`+id(31)+`","name":"Cleo","mail":"cleo@example.com","fax":"33"}`)
		g.await(31)
		// Others of other versions wait for it. What they write is checked by their versions.
		second := s.version(2).later("PATCH", "/customers/"+id(31), `{"phone":"44"}`)
		old.do("PATCH", "/clients/"+id(31), `{"rating":6,"phone":"1"}`, "Prefer", "respond-async").expectErrors(t, 422, "unknown_attribute /phone")
		order := old.later("POST", "/clients/"+id(31)+"/orders", `{"id":"`+id(32)+`","code":"c1","amount":4}`)
		third := s.later("PATCH", "/customers/"+id(31), `{"email":"late@example.com"}`)
		fourth := old.later("PATCH", "/clients/"+id(31), `{"mail":"late@example.com","fax":"34"}`)
		if taken := s.do("PATCH", "/customers/"+id(2), `{"email":"late@example.com"}`); taken.status != 200 {
			t.Fatal(taken.body)
		}
		open()
		expect(first, operationIn("succeeded", "POST", 31, "clients", "null"))
		expect(second, operationIn("succeeded", "PATCH", 31, "customers", "null"))
		expect(order, operationIn("succeeded", "POST", 32, "orders", "null"))
		refusal := func(name string) string {
			return `[{"status":409,"code":"not_unique","title":"The value is taken","detail":"Another resource, stored or in this request, has this ` + name + `.","source":{"pointer":"/` + name + `"}}]`
		}
		expect(third, operationIn("failed", "PATCH", 31, "customers", refusal("email")))
		expect(fourth, operationIn("failed", "PATCH", 31, "clients", refusal("mail")))
		old.get("/clients/"+id(31)).expect(t, 200, one(customerIn(1, 31, `"Cleo"`, `"cleo@example.com"`, `"new"`, `"33"`, "null", "null", "null", "", "")))
		s.version(2).get("/customers/"+id(31)).expect(t, 200, one(customerIn(2, 31, `"Cleo"`, `"cleo@example.com"`, `"new"`, "", "null", "null", "null", `"44"`, "")))
		// One that is awaited.
		awaited := old.do("PATCH", "/clients/"+id(31), `{"fax":"35"}`, "Prefer", "respond-async, wait=300", "If-Match", s.get("/customers/"+id(31)).tag(t))
		awaited.expect(t, 200, one(customerIn(1, 31, `"Cleo"`, `"cleo@example.com"`, `"new"`, `"35"`, "null", "null", "null", "", "")))
		if tag := old.get("/clients/" + id(31)).tag(t); awaited.tag(t) != tag {
			t.Errorf("the ETag is %s, and should be %s", awaited.tag(t), tag)
		}
		old.do("DELETE", "/clients/"+id(31), "", "Prefer", "respond-async, wait=300").
			expect(t, 200, one(customerIn(1, 31, `"Cleo"`, `"cleo@example.com"`, `"new"`, `"35"`, "null", "null", "null", "", "")))
	}, func(c *plural.Config) {
		c.MaxHookTime = time.Minute
		c.Hooks = []plural.Hook{{Collection: "customers", Before: g.before, Timeout: time.Minute}}
	})
}

// TestOperationsAfterMigrations: what was requested before a migration is executed by the version that requested it, or fails if that has
// ended.
func TestOperationsAfterMigrations(t *testing.T) {
	next := []string{ // changes of the newest schema
		"version: 3", "version: 4",
		"      company: {type: string, maxLength: 20, renamed_from: name}", "      title: {type: string, maxLength: 20, renamed_from: company}",
		"label: company", "label: title",
		"required: [company]", "required: [title]",
		"      fax: {type: string, until: 1}\n", "",
		"    renamed_from: labels\n", "",
		", renamed_from: label_id}", "}",
	}
	eachDatabase(t, func(t *testing.T, database string) {
		waits := func(ctx context.Context, _ *plural.Change) error {
			<-ctx.Done()
			return ctx.Err()
		}
		s := startVersioned(t, database, shopVersions, seedVersion, func(c *plural.Config) {
			c.MaxHookTime = hung
			c.Hooks = []plural.Hook{{Collection: "customers", Before: waits, Timeout: hung}}
		})
		ended := s.version(1).later("PATCH", "/clients/"+id(1), `{"name":"Anna"}`)
		kept := s.version(2).later("PATCH", "/customers/"+id(2), `{"name":"Bobby","phone":"23"}`)
		newest := s.later("POST", "/customers", `{"id":"`+id(31)+`","company":"Cleo"}`)
		stop(t, s.opened, expired())
		file := parsed(t, strings.NewReplacer(next...).Replace(shopVersions[2]))
		if _, err := admin.Migrate(t.Context(), s.config.Database, file.Schema, admin.MigrateOptions{AllowLoss: true}); err != nil {
			t.Fatal(err)
		}
		s = start(t, file.Schema, s.config.Database)
		got := s.finished(ended)
		if faults := got.member(t, "errors"); got.member(t, "status") != `"failed"` || !strings.Contains(faults, `"code":"version_gone"`) || !strings.Contains(faults, "version 1 ") {
			t.Errorf("got %s", got.body)
		}
		s.version(2).expectSuccess(t, kept)
		s.expectSuccess(t, newest)
		two, three := s.version(2), s.version(3)
		two.get("/customers/"+id(1)).expect(t, 200, one(customerIn(2, 1, `"Ann"`, `"ann@example.com"`, `"new"`, "", 5, "null", "null", `"none"`, "")))
		two.get("/customers/"+id(2)).expect(t, 200, one(customerIn(2, 2, `"Bobby"`, `"bob@example.com"`, `"blocked"`, "", "null", "null", quoted(id(1)), `"23"`, "")))
		three.get("/customers/"+id(31)).expect(t, 200, one(customerIn(3, 31, `"Cleo"`, "null", `"new"`, "", "null", "null", "null", "", false)))
	})
}
