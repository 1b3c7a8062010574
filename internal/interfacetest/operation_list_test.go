package interfacetest

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/plural-go/plural"
	"github.com/plural-go/plural/params"
	"github.com/plural-go/plural/problem"
)

// TestOperationsAreACollection: they are read as everything is.
func TestOperationsAreACollection(t *testing.T) {
	eachGated(t, func(t *testing.T, s *server, g *gate) {
		tag := s.do("POST", "/people", named(1, "One")).tag(t)
		made := []string{s.later("PATCH", "/people/"+id(1), `{"name":"Two"}`, "If-Match", tag)}
		s.expectSuccess(t, made[0])
		open := g.hold(1)
		made = append(made, s.later("PUT", "/people/"+id(1), `{"name":"Three"}`))
		g.await(1)
		made = append(made, s.later("DELETE", "/people/"+id(1), ""), s.later("POST", "/people", named(2, "Other")))
		s.expectSuccess(t, made[3])
		shown := []string{
			operation(made[0], "succeeded", "PATCH", 1, 1), operation(made[1], "running", "PUT", 1, 1),
			operation(made[2], "pending", "DELETE", 1, 0), operation(made[3], "succeeded", "POST", 2, 1),
		}
		all := s.get("/operations")
		all.expect(t, 200, data(shown...))
		all.expectHeaders(t, "X-Total-Count: 4", "Link: "+linkHeader("/operations", "first", "limit=100", "last", "limit=-100"))
		for parameters, want := range map[string][]int{
			"offset=1&limit=2":                {1, 2},
			"limit=-1":                        {3},
			"o=3&l=-2":                        {1, 2},
			"cursor=" + made[2]:               {2, 3},
			"cursor=" + made[2] + "&limit=-5": {0, 1},
			"limit=0":                         {},
			"filter[status]=pending":          {2},
			"filter[status]=pending&filter[status]=running":        {1, 2},
			"filter[status][in]=succeeded,failed":                  {0, 3},
			"filter[method]=POST":                                  {3},
			"filter[method][ne]=POST&filter[status]=succeeded":     {0},
			"filter[attempts][gte]=1&limit=2":                      {0, 1},
			"filter[errors]":                                       {},
			"filter[errors][null]=true&limit=1":                    {0},
			"filter[created_at][gt]=2020-01-01T00:00:00Z&offset=3": {3},
			"filter[type]=operations&filter[id]=" + made[1]:        {1},
			"sort=-id":                      {3, 2, 1, 0},
			"sort=method":                   {2, 0, 3, 1},
			"sort=-attempts,method&limit=3": {0, 3, 1},
			"sort=status&cursor=" + made[1] + "&limit=1":               {1},
			"filter[status]=succeeded&sort=-method&offset=1&limit=200": {0},
		} {
			var chosen []string
			for _, i := range want {
				chosen = append(chosen, shown[i])
			}
			got := s.get("/operations?" + parameters)
			got.expect(t, 200, data(chosen...))
			if t.Failed() {
				t.Fatalf("with %s", parameters)
			}
		}
		for parameters, place := range map[string]string{
			"filter[resource]=x": "invalid_parameter filter[resource]", "filter[caller]=x": "unknown_parameter filter[caller]",
			"sort=errors": "invalid_parameter sort", "filter[attempts]=x": "invalid_parameter filter[attempts]",
		} {
			s.get("/operations?"+parameters).expectErrors(t, 400, place)
		}
		head := s.do("HEAD", "/operations", "")
		head.expectHeaders(t, "X-Total-Count: 4", "Link: "+linkHeader("/operations", "first", "limit=100", "last", "limit=-100"))
		if head.status != 200 || head.body != "" {
			t.Errorf("HEAD: %d %s", head.status, head.body)
		}
		if got := s.get("/"); !strings.Contains(got.body, `"name":"operations","singular":"operation","total":4,`) {
			t.Errorf("got %s", got.body)
		}
		open()
		s.expectSuccess(t, made...)
		s.get("/people").expect(t, 200, data(person(2, "Other")))
	})
}

// TestOneOperation: its ETag changes when it does.
func TestOneOperation(t *testing.T) {
	eachGated(t, func(t *testing.T, s *server, g *gate) {
		open := g.hold(1)
		made := s.later("POST", "/people", named(1, "One"))
		path := "/operations/" + made
		g.await(1)
		running := s.get(path)
		running.expect(t, 200, one(operation(made, "running", "POST", 1, 1)))
		running.expectHeaders(t, tagged)
		tag := running.tag(t)
		if got := s.get(path, "If-None-Match", tag); got.status != 304 || got.body != "" || got.tag(t) != tag {
			t.Errorf("got %d %s", got.status, got.body)
		}
		open()
		s.finished(made)
		ended := s.get(path, "If-None-Match", tag)
		ended.expect(t, 200, one(operation(made, "succeeded", "POST", 1, 1)))
		if ended.tag(t) == tag {
			t.Error("two states have one ETag")
		}
		singular := s.get("/operation/" + made)
		singular.expect(t, 200, ended.timeless())
		singular.expectHeaders(t, tagged, "Content-Location: "+path)
		if got := s.do("HEAD", path, ""); got.status != 200 || got.tag(t) != ended.tag(t) {
			t.Errorf("HEAD: got %d", got.status)
		}
		created, updated := ended.member(t, "created_at"), ended.member(t, "updated_at")
		if created > updated || running.member(t, "created_at") != created {
			t.Errorf("it was accepted at %s and ended at %s", created, updated)
		}
		s.get("/operations/"+id(1)).expectErrors(t, 404, "not_found")
		s.get("/operations/x").expectErrors(t, 404, "not_found")
		s.get(path+"/people").expectErrors(t, 404, "not_found")
		s.get("/operation").expectErrors(t, 404, "not_found")
	})
}

// TestOperationsAreReadOnly: for clients, hooks and the library alike.
func TestOperationsAreReadOnly(t *testing.T) {
	var refusals []string
	meddle := plural.Hook{Collection: "notes", Within: func(_ context.Context, tx *plural.Tx, _ *plural.Change) error {
		refusals = nil
		made, err := tx.List("operations", params.Limit(1))
		if err != nil || len(made) != 1 || made[0].Get("status") != "succeeded" {
			t.Errorf("a hook reads %v, %v", made, err)
			return nil
		}
		_, created := tx.Create("operations", map[string]any{"status": "pending", "method": "POST", "resource": map[string]any{"id": id(1), "type": "people"}, "attempts": 0})
		_, updated := tx.Update("operations", made[0].ID(), map[string]any{"status": "failed"})
		_, deleted := tx.Delete("operations", made[0].ID())
		for _, err := range []error{created, updated, deleted} {
			var first problem.Errors
			if errors.As(err, &first) {
				refusals = append(refusals, string(first[0].Code))
			}
		}
		return nil
	}}
	eachStore(t, teamSchema(t), func(t *testing.T, s *server) {
		made := s.later("POST", "/people", named(1, "One"))
		s.expectSuccess(t, made)
		for _, prefer := range []string{"", "respond-async"} {
			for _, c := range []struct{ method, path, body string }{
				{"POST", "/operations", `{}`}, {"POST", "/operations", `[]`}, {"PUT", "/operations", `{}`}, {"PATCH", "/operations", `{}`}, {"DELETE", "/operations", ""},
				{"PUT", "/operations/" + made, `{}`}, {"PATCH", "/operations/" + made, `{}`}, {"DELETE", "/operations/" + made, ""}, {"POST", "/operations/" + made, `{}`},
				{"DELETE", "/operation/" + made, ""}, {"DELETE", "/operations/" + id(1), ""},
			} {
				refused := s.do(c.method, c.path, c.body, "Prefer", prefer, "Idempotency-Key", "k")
				refused.expectErrors(t, 405, "method_not_allowed")
				refused.expectHeaders(t, "Allow: GET, HEAD, QUERY, OPTIONS")
			}
		}
		for _, path := range []string{"/operations", "/operations/" + made} {
			if got := s.do("OPTIONS", path, ""); got.status != 204 || got.header.Get("Allow") != "GET, HEAD, QUERY, OPTIONS" {
				t.Errorf("OPTIONS %s: %d %v", path, got.status, got.header)
			}
		}
		s.create("/notes", `{}`)
		if want := []string{"method_not_allowed", "method_not_allowed", "method_not_allowed"}; !slices.Equal(refusals, want) {
			t.Errorf("a hook was refused with %v", refusals)
		}
		s.get("/operations").expect(t, 200, data(operation(made, "succeeded", "POST", 1, 1)))
	}, withHooks(meddle))
}

// TestNoHooksForOperations: there is nothing for them to take part in.
func TestNoHooksForOperations(t *testing.T) {
	config := plural.Config{Schema: teamSchema(t), Database: "sqlite:" + t.TempDir() + "/test.db", Hooks: []plural.Hook{
		{Collection: "operations", Before: func(context.Context, *plural.Change) error { return nil }},
	}}
	server, err := plural.Open(context.Background(), config)
	if err == nil {
		server.Stop(context.Background())
		t.Fatal("a hook for operations was taken")
	}
	if want := `hook 0 is for the collection "operations", which the schema does not declare`; err.Error() != want {
		t.Errorf("got  %s\nwant %s", err, want)
	}
}
