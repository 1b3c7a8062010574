package interfacetest

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/plural-go/plural"
	"github.com/plural-go/plural/schema"
)

// calls records what hooks are called with.
type calls struct {
	mutex sync.Mutex
	all   []string
}

func (c *calls) add(stage string, change *plural.Change) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	text := stage + " " + string(change.Verb)
	if change.DryRun {
		text = "dry " + text
	}
	if change.ID != "" && strings.HasPrefix(change.ID, "00000000") {
		text += " " + strings.TrimLeft(change.ID[24:], "0")
	}
	c.all = append(c.all, text)
}

// taken returns the calls since the last time.
func (c *calls) taken() []string {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	taken := c.all
	c.all = nil
	return taken
}

// TestHooksOfMany: every resource of a range, an upsert or a transaction has the hooks of what
// happens to it.
func TestHooksOfMany(t *testing.T) {
	var seen calls
	hook := plural.Hook{
		Collection: "accounts",
		Before: func(_ context.Context, change *plural.Change) error {
			seen.add("before", change)
			if change.After != nil && change.After.Get("name") == "hooked" {
				return change.After.Set("team", "by hook")
			}
			return nil
		},
		Within: func(_ context.Context, _ *plural.Tx, change *plural.Change) error {
			seen.add("within", change)
			if change.After != nil && change.After.Get("name") == "refused" {
				return plural.Invalid("/name", "not this name")
			}
			return nil
		},
		After: func(_ context.Context, change *plural.Change) { seen.add("after", change) },
	}
	eachStore(t, members(t), func(t *testing.T, s *server) {
		seen.taken()
		s.createAll("/accounts", `{"id":"`+id(1)+`","email":"a","name":"A"}`, `{"id":"`+id(2)+`","email":"b","name":"B"}`)
		seen.taken()
		for _, test := range []struct {
			method, path, body string
			status             int
			want               []string
		}{
			{"PATCH", "/accounts?limit=9", `{"name":"hooked"}`, 200, []string{"before update 1", "before update 2", "within update 1", "within update 2", "after update 1", "after update 2"}},
			{"PATCH", "/accounts?limit=9", `{"name":"refused"}`, 422, []string{"before update 1", "before update 2", "within update 1"}},
			{"PATCH", "/accounts?limit=1&dry_run=true", `{"name":"X"}`, 200, []string{"dry before update 1", "dry within update 1"}},
			{"POST", "/accounts?on_conflict=email", `[{"email":"a","name":"C"},{"id":"` + id(3) + `","email":"c","name":"C"}]`, 200,
				[]string{"before update 1", "before create 3", "within update 1", "within create 3", "after update 1", "after create 3"}},
			{"POST", "/-/transaction", "[" + step("POST", "/accounts", `{"id":"`+id(4)+`","name":"D"}`) + "," + step("DELETE", "/accounts/"+id(4), "") + "]", 200,
				[]string{"before create 4", "before delete 4", "within create 4", "within delete 4", "after create 4", "after delete 4"}},
			{"POST", "/-/transaction?dry_run=true", "[" + step("DELETE", "/accounts/"+id(3), "") + "]", 200, []string{"dry before delete 3", "dry within delete 3"}},
			{"POST", "/-/transaction", "[" + step("PATCH", "/accounts/"+id(3), `{"name":"refused"}`) + "]", 422, []string{"before update 3", "within update 3"}},
			{"DELETE", "/accounts?filter[id][in]=" + id(2) + "," + id(3), "", 200, []string{"before delete 2", "before delete 3", "within delete 3", "within delete 2", "after delete 3", "after delete 2"}},
		} {
			a := s.do(test.method, test.path, test.body)
			if got := seen.taken(); a.status != test.status || !slices.Equal(got, test.want) {
				t.Errorf("%s %s: %d %s\ngot  %v\nwant %v", test.method, test.path, a.status, a.body, got, test.want)
			}
			if test.status == 422 && !strings.Contains(a.body, `"code":"refused"`) {
				t.Errorf("%s", a.body)
			}
		}
		if got := s.get("/accounts/"+id(1)).member(t, "team"); got != `"by hook"` {
			t.Errorf("team %s", got)
		}
	}, withHooks(hook))
}

// TestHooksThatChangeTheRange: a hook may change or delete resources that follow it.
func TestHooksThatChangeTheRange(t *testing.T) {
	hook := plural.Hook{Collection: "accounts", On: []plural.Verb{plural.Update}, Within: func(_ context.Context, tx *plural.Tx, change *plural.Change) error {
		if change.ID != id(0) || change.After.Get("name") == "again" {
			return nil
		}
		if _, err := tx.Update("accounts", id(1), map[string]any{"team": "by hook"}); err != nil {
			return err
		}
		_, err := tx.Delete("accounts", id(2))
		return err
	}}
	eachStore(t, members(t), func(t *testing.T, s *server) {
		for i := range 4 {
			s.createAll("/accounts", fmt.Sprintf(`{"id":"%s","email":"%d","name":"N"}`, id(i), i))
		}
		s.do("PATCH", "/accounts?limit=9", `{"active":false}`).expectPositions(t, "what is left", 0, 1, 3)
		if got := s.get("/accounts/" + id(1)); got.member(t, "team") != `"by hook"` || got.member(t, "active") != "false" {
			t.Error(got.body)
		}
		// The next upsert is about a resource that the hook of the first deletes.
		s.createAll("/accounts", `{"id":"`+id(2)+`","email":"2","name":"N"}`)
		mixed := s.do("POST", "/accounts?on_conflict=email", `[{"email":"0","active":true},{"email":"2","name":"new"}]`)
		if ids := mixed.ids(t); mixed.status != 200 || len(ids) != 2 || ids[0] != id(0) || ids[1] == id(2) {
			t.Errorf("%d %s", mixed.status, mixed.body)
		}
	}, withHooks(hook))
}

// TestHooksOfManySeeHiddenValues: a hook sees all values of a resource, also if it is large and its caller sees only some.
func TestHooksOfManySeeHiddenValues(t *testing.T) {
	file, err := schema.Parse([]byte(hiddenTextsFile))
	if err != nil {
		t.Fatal(err)
	}
	secret := strings.Repeat("s", 5<<20)
	var whole []bool
	hook := plural.Hook{Collection: "texts", On: []plural.Verb{plural.Update, plural.Delete}, Within: func(_ context.Context, _ *plural.Tx, change *plural.Change) error {
		whole = append(whole, change.Before.Get("secret") == secret && (change.After == nil || change.After.Get("secret") == secret))
		return nil
	}}
	eachStore(t, file.Schema, func(t *testing.T, s *server) {
		h := &accessServer{server: s, keys: map[string]string{"": ""}}
		for _, role := range []string{"admin", "clerk"} {
			h.key(role, role, "")
		}
		for n := range 2 {
			h.must("POST", "/texts", `{"code":`+strconv.Itoa(n)+`,"secret":"`+secret+`"}`)
		}
		whole = nil
		h.as("clerk", "POST", "/texts?on_conflict=code", `[{"code":0,"note":"u"},{"code":1,"note":"u"}]`).expectLength(t, 2)
		h.as("clerk", "PATCH", "/texts?limit=9", `{"note":"p"}`).expectLength(t, 2)
		h.as("clerk", "DELETE", "/texts?limit=9", "").expectLength(t, 2)
		if want := []bool{true, true, true, true, true, true}; !slices.Equal(whole, want) {
			t.Errorf("seen whole: got %v, want %v", whole, want)
		}
	}, func(c *plural.Config) { c.MaxBody, c.Access = 32<<20, file.Access }, withHooks(hook))
}
