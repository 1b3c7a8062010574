package interfacetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/plural-go/plural"
	"github.com/plural-go/plural/internal/pgtest"
	"github.com/plural-go/plural/problem"
	"github.com/plural-go/plural/schema"
)

// Many clients create resources at once, so that their writes share transactions, and many of them are refused. Each
// request has a text of its own, its mark. What is stored at the end is compared with the answers.

// markedSchema has collections with different hooks.
func markedSchema(t *testing.T) *schema.Schema {
	t.Helper()
	mark := schema.Attribute{Name: "mark", Type: schema.String, Required: true}
	return mustSchema(t,
		schema.Collection{Name: "people", Singular: "person", Attributes: []schema.Attribute{
			mark, {Name: "email", Type: schema.String, MaxLength: 50, Unique: true}, {Name: "friend_id", References: &schema.Reference{Collection: "people", OnDelete: schema.SetNull}},
		}},
		schema.Collection{Name: "notes", NoTimestamps: true, Parent: &schema.Parent{Collection: "people", OnDelete: schema.Cascade}, Attributes: []schema.Attribute{mark, {Name: "text", Type: schema.String}}, Search: []string{"text"}},
		schema.Collection{Name: "hooked", Singular: "a_hooked", Attributes: []schema.Attribute{mark, {Name: "does", Type: schema.String}}},
		schema.Collection{Name: "before", Singular: "a_before", NoTimestamps: true, Attributes: []schema.Attribute{mark, {Name: "does", Type: schema.String}}},
		schema.Collection{Name: "labels", NoTimestamps: true, Attributes: []schema.Attribute{mark}},
		schema.Collection{Name: "entries", NoTimestamps: true, Attributes: []schema.Attribute{mark}},
	)
}

// markedHooks do what the attribute does says.
func markedHooks(afters *sync.Map) []plural.Hook {
	misbehave := func(ctx context.Context, does string) error {
		switch does {
		case "fail":
			return plural.Invalid("/does", "It fails.")
		case "panic":
			panic("it panics")
		case "cancel":
			ctx, cancel := context.WithCancel(ctx)
			cancel()
			return ctx.Err()
		case "wait":
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(time.Duration(rand.IntN(20)) * time.Millisecond):
			}
		}
		return nil
	}
	text := func(change *plural.Change, name string) string {
		value, _ := change.After.Get(name).(string)
		return value
	}
	after := func(_ context.Context, change *plural.Change) {
		count, _ := afters.LoadOrStore(text(change, "mark"), new(atomic.Int64))
		count.(*atomic.Int64).Add(1)
		if text(change, "does") == "panic after" {
			panic("it panics after the commit")
		}
	}
	return []plural.Hook{
		{Collection: "hooked", On: []plural.Verb{plural.Create}, Within: func(ctx context.Context, tx *plural.Tx, change *plural.Change) error {
			if strings.HasPrefix(text(change, "does"), "write") {
				if _, err := tx.Create("entries", map[string]any{"mark": "entry of " + text(change, "mark")}); err != nil {
					return err
				}
			}
			if text(change, "does") == "write and fail" {
				return errors.New("it fails")
			}
			return misbehave(ctx, text(change, "does"))
		}, After: after},
		{Collection: "before", On: []plural.Verb{plural.Create}, Before: func(ctx context.Context, change *plural.Change) error { return misbehave(ctx, text(change, "does")) }, After: after},
		{Collection: "people", On: []plural.Verb{plural.Create}, After: after},
	}
}

// marked is what a request with a mark may have stored.
type marked struct {
	collection string
	mark, id   string
	parent     string
	outcome    string // "stored", "refused" or "unknown"
	version    string // of updates
}

// marking is the requests of a test.
type marking struct {
	t       *testing.T
	servers []*server
	trouble bool // connections are lost
	gentle  bool // few requests are refused

	mutex  sync.Mutex
	all    []*marked
	people []string
	gone   map[string]bool // people that may have been deleted
}

// send sends a request to one of the servers.
func (m *marking) send(random *rand.Rand, ctx context.Context, method, path, body string, headers ...string) (status int, id, text string) {
	r := httptest.NewRequestWithContext(ctx, method, path, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	func() {
		defer func() {
			if recover() != nil {
				w.Code = 0
			}
		}()
		m.servers[random.IntN(len(m.servers))].opened.ServeHTTP(w, r)
	}()
	var envelope struct{ Data struct{ ID string } }
	_ = json.Unmarshal(w.Body.Bytes(), &envelope)
	return w.Code, envelope.Data.ID, w.Body.String()
}

func (m *marking) add(each *marked) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.all = append(m.all, each)
	if each.collection == "people" && each.outcome == "stored" && each.id != "" {
		m.people = append(m.people, each.id)
	}
}

// anyone is one of the people that were stored.
func (m *marking) anyone(random *rand.Rand) string {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	if len(m.people) == 0 {
		return id(0)
	}
	return m.people[random.IntN(len(m.people))]
}

// one sends a random request.
func (m *marking) one(random *rand.Rand, mark string) {
	ctx, each := context.Background(), &marked{collection: "people", mark: mark}
	if random.IntN(8) == 0 || m.gentle && random.IntN(3) == 0 {
		m.cancelled(random, each)
		return
	}
	path, body, headers, refuse := "/people", map[string]any{"mark": mark}, []string(nil), false
	kind := random.IntN(16)
	if m.gentle && random.IntN(20) > 0 {
		kind = []int{0, 4, 5, 8}[random.IntN(4)]
	}
	switch kind {
	case 0, 1, 2:
	case 3:
		body["email"] = fmt.Sprint(random.IntN(40), "@x")
	case 4:
		body["email"] = mark + "@x"
	case 5:
		body["friend_id"] = m.anyone(random)
	case 6:
		body["friend_id"], refuse = id(99), true
	case 7:
		body["id"] = id(1000 + random.IntN(60))
	case 8, 9:
		each.collection, each.parent = "notes", m.anyone(random)
		path = "/people/" + each.parent + "/notes"
		body["text"] = strings.Repeat(mark+" ", random.IntN(4))
	case 10:
		does := []string{"", "fail", "panic", "cancel", "wait", "write", "write and fail", "panic after"}[random.IntN(8)]
		each.collection, path, body["does"] = "hooked", "/hooked", does
		refuse = slices.Contains([]string{"fail", "panic", "cancel", "write and fail"}, does)
	case 11:
		does := []string{"", "fail", "panic", "cancel", "wait", "panic after"}[random.IntN(6)]
		each.collection, path, body["does"] = "before", "/before", does
		refuse = slices.Contains([]string{"fail", "panic", "cancel"}, does)
	case 12:
		m.steps(random, ctx, mark)
		return
	case 13:
		m.withKey(random, ctx, mark)
		return
	case 14:
		m.delete(random)
		return
	case 15:
		m.array(random, ctx, mark)
		return
	}
	encoded, _ := json.Marshal(body)
	status, created, text := m.send(random, ctx, "POST", path, string(encoded), headers...)
	each.id = created
	switch {
	case status == 201:
		each.outcome = "stored"
		if refuse {
			m.t.Errorf("%s %s was not refused", path, encoded)
		}
	case status >= 400 && status < 500 && status != 499 || refuse:
		each.outcome = "refused"
	default:
		each.outcome = "unknown"
		if !m.trouble && status != 503 { // a busy machine may take longer than a request waits
			m.t.Errorf("%s %s: %d %s", path, encoded, status, text)
		}
	}
	m.add(each)
	if each.outcome == "stored" && each.collection == "people" && random.IntN(4) == 0 {
		version := mark + " again"
		switch status, _, text := m.send(random, context.Background(), "PATCH", "/people/"+each.id, `{"mark":"`+version+`"}`); {
		case status == 200:
			each.version = version
		case status == 404:
			each.version = "unknown"
		case !m.trouble && status != 503:
			m.t.Errorf("an update: %d %s", status, text)
		default:
			each.version = "unknown"
		}
	}
}

// Label is a resource with nothing but a mark.
type Label struct {
	ID   string `json:"id"`
	Mark string `json:"mark"`
}

// cancelled creates a label by the library, whose context ends soon: that is not known to have stored anything.
func (m *marking) cancelled(random *rand.Rand, each *marked) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Duration(random.IntN(20000))*time.Microsecond)
	defer cancel()
	each.collection = "labels"
	created, err := of[Label](m.t, m.servers[random.IntN(len(m.servers))].opened).Create(ctx, Label{Mark: each.mark})
	if each.outcome = "unknown"; err == nil {
		each.outcome, each.id = "stored", created.ID
	} else if !m.trouble && errors.Is(err, context.DeadlineExceeded) {
		each.outcome = "refused"
	} else if of := (*problem.Error)(nil); !m.trouble && (!errors.As(err, &of) || of.Code != problem.CodeUnavailable) {
		m.t.Errorf("cancelled: %v", err)
	}
	m.add(each)
}

// steps sends a transaction of two creates, of which the second may be refused.
func (m *marking) steps(random *rand.Rand, ctx context.Context, mark string) {
	second := `{"mark":"` + mark + ` 2"}`
	refuse := random.IntN(2) == 0
	if refuse {
		second = `{"mark":"` + mark + ` 2","friend_id":"` + id(99) + `"}`
	}
	body := "[" + step("POST", "/people", `{"mark":"`+mark+` 1"}`) + "," + step("POST", "/people", second) + "]"
	status, _, text := m.send(random, ctx, "POST", "/-/transaction", body)
	outcome := "unknown"
	switch {
	case status == 200:
		outcome = "stored"
	case status >= 400 && status < 500 || refuse:
		outcome = "refused"
	case !m.trouble && status != 503:
		m.t.Errorf("steps: %d %s", status, text)
	}
	if refuse && outcome == "stored" {
		m.t.Error("steps were not refused")
	}
	for _, part := range []string{" 1", " 2"} {
		m.add(&marked{collection: "people", mark: mark + part, outcome: outcome})
	}
}

// array sends an array of people with ids that others use as well.
func (m *marking) array(random *rand.Rand, ctx context.Context, mark string) {
	var items []string
	var all []*marked
	for k, given := range random.Perm(60)[:4] {
		each := &marked{collection: "people", mark: fmt.Sprint(mark, " ", k), id: id(1000 + given)}
		items, all = append(items, `{"id":"`+each.id+`","mark":"`+each.mark+`"}`), append(all, each)
	}
	status, _, text := m.send(random, ctx, "POST", "/people", "["+strings.Join(items, ",")+"]")
	outcome := "unknown"
	switch {
	case status == 201:
		outcome = "stored"
	case status == 409:
		outcome = "refused"
	case !m.trouble && status != 503:
		m.t.Errorf("an array: %d %s", status, text)
	}
	for _, each := range all {
		each.outcome = outcome
		m.add(each)
	}
}

// delete deletes anyone, or one of those whose ids are given.
func (m *marking) delete(random *rand.Rand) {
	person := m.anyone(random)
	if random.IntN(2) == 0 {
		person = id(1000 + random.IntN(60))
	}
	m.mutex.Lock()
	if m.gone == nil {
		m.gone = map[string]bool{}
	}
	m.gone[person] = true
	m.mutex.Unlock()
	if status, _, text := m.send(random, context.Background(), "DELETE", "/people/"+person, ""); status != 200 && status != 404 && status != 503 && !m.trouble {
		m.t.Errorf("a deletion: %d %s", status, text)
	}
}

// withKey sends the same request with a key several times at once.
func (m *marking) withKey(random *rand.Rand, ctx context.Context, mark string) {
	var sending sync.WaitGroup
	var mutex sync.Mutex
	ids, unknown := map[string]int{}, false
	for range 3 {
		random := rand.New(rand.NewPCG(random.Uint64(), 0)) // #nosec G404 -- no secret
		sending.Go(func() {
			status, created, text := m.send(random, ctx, "POST", "/people", `{"mark":"`+mark+`"}`, "Idempotency-Key", mark)
			mutex.Lock()
			defer mutex.Unlock()
			switch status {
			case 201:
				ids[created]++
			case 409:
			default:
				unknown = true
				if status != 503 && !m.trouble {
					m.t.Errorf("with a key: %d %s", status, text)
				}
			}
		})
	}
	sending.Wait()
	each := &marked{collection: "people", mark: mark, outcome: "unknown"}
	if len(ids) > 1 {
		m.t.Errorf("one key has created %v", ids)
	}
	for created := range ids {
		each.outcome, each.id = "stored", created
	}
	if len(ids) == 0 && !unknown {
		m.t.Errorf("nobody has created %s", mark)
	}
	m.add(each)
}

// run lets clients send requests.
func (m *marking) run(clients, requests int) {
	seed := rand.Uint64()
	m.t.Log("seed", seed)
	together(clients, func(i int) bool {
		random := rand.New(rand.NewPCG(seed, uint64(i))) // #nosec G404 -- no secret
		for n := range requests {
			m.one(random, fmt.Sprintf("m%dx%d", i, n))
		}
		return true
	})
}

const stressClients, stressRequests = 64, 6

// TestSharedCreatesAreStoredOnce: what was acknowledged is stored once, with one entry in the change log and right totals. Of
// what was refused nothing is stored.
func TestSharedCreatesAreStoredOnce(t *testing.T) {
	for name, database := range pgtest.Databases() {
		for _, gentle := range []bool{false, true} {
			t.Run(fmt.Sprint(name, " gentle ", gentle), func(t *testing.T) {
				var afters sync.Map
				s := start(t, markedSchema(t), database(t), withHooks(markedHooks(&afters)...))
				m := &marking{t: t, servers: []*server{s}, gentle: gentle}
				m.run(stressClients, stressRequests)
				m.checkEnded()
				m.check(&afters)
				if strings.HasPrefix(s.config.Database, "postgres") {
					m.checkLog()
				}
			})
		}
	}
}

// TestSharedCreatesInTrouble: the same while connections are ended, statements are cancelled, and others hold locks.
func TestSharedCreatesInTrouble(t *testing.T) {
	for _, gentle := range []bool{false, true} {
		t.Run(fmt.Sprint("gentle ", gentle), func(t *testing.T) { testTrouble(t, gentle) })
	}
}

// testTrouble: two servers share the database.
func testTrouble(t *testing.T, gentle bool) {
	var afters sync.Map
	s := start(t, markedSchema(t), pgtest.URL(t), withHooks(markedHooks(&afters)...))
	m := &marking{t: t, servers: []*server{s, s.another()}, trouble: true, gentle: gentle}
	ctx, cancel := context.WithCancel(context.Background())
	var troubling sync.WaitGroup
	trouble := func(pause time.Duration, sql ...string) {
		troubling.Go(func() {
			config, err := pgx.ParseConfig(s.config.Database)
			if err != nil {
				t.Error(err)
				return
			}
			config.RuntimeParams["application_name"] = "trouble"
			c, err := pgx.ConnectConfig(context.Background(), config)
			if err != nil {
				t.Error(err)
				return
			}
			defer c.Close(context.Background())
			for ctx.Err() == nil {
				for _, each := range sql {
					if _, err := c.Exec(context.Background(), each); err != nil {
						t.Log(each, err)
						_, _ = c.Exec(context.Background(), "ROLLBACK")
						break
					}
				}
				time.Sleep(pause)
			}
		})
	}
	trouble(60*time.Millisecond, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND application_name <> 'trouble' AND state <> 'idle' ORDER BY random() LIMIT 1")
	trouble(100*time.Millisecond, "BEGIN", "LOCK TABLE _plural_changes IN EXCLUSIVE MODE", "SELECT pg_sleep(0.08)", "COMMIT")
	trouble(90*time.Millisecond, "BEGIN", "UPDATE people SET email = email WHERE id = (SELECT id FROM people ORDER BY random() LIMIT 1)", "SELECT pg_sleep(0.08)", "COMMIT")
	trouble(50*time.Millisecond, "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND application_name <> 'trouble' AND state <> 'idle' ORDER BY random() LIMIT 1")
	m.run(stressClients, stressRequests)
	cancel()
	troubling.Wait()
	m.check(&afters)
	m.checkLog()
}
