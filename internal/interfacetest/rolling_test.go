package interfacetest

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/plural-go/plural"
	"github.com/plural-go/plural/admin"
	"github.com/plural-go/plural/internal/pgtest"
)

// A migration in two parts, with servers of both schemas between them.

const rollingBefore = `
version: 2
collections:
  teams:
    attributes:
      name: {type: string}
  users:
    attributes:
      name: {type: string, maxLength: 100}
      fax: {type: string}
      level: {type: integer}
      team_id: {references: teams}
    required: [name]
  posts:
    parent: users
    attributes:
      title: {type: string, index: true, maxLength: 20}
`

const rollingAfter = `
version: 3
collections:
  teams:
    attributes:
      name: {type: string, default: Nobody}
  people:
    renamed_from: users
    attributes:
      full_name: {type: string, maxLength: 50, renamed_from: name}
      level: {type: integer, minimum: 0, default: 1}
      team_id: {references: teams}
      kind: {type: string, default: basic, enum: [basic, gold]}
      code: {type: string, computed: resource.full_name + '!'}
    required: [full_name, level, kind]
    checks: [{rule: resource.full_name != '', message: No name.}]
  posts:
    parent: people
    attributes:
      title: {type: string, index: true, maxLength: 20, unique: true}
`

// migratePart makes a part of a migration.
func migratePart(t *testing.T, database, yaml string, part admin.MigrationPart) []string {
	t.Helper()
	steps, err := admin.Migrate(context.Background(), database, parsed(t, yaml).Schema, admin.MigrateOptions{Part: part, AllowLoss: true})
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	for _, step := range steps {
		texts = append(texts, step.Class+" "+step.Text)
	}
	return texts
}

// TestExpandAndContract: servers with both schemas start on an expanded database, one after the other, and find what the other one
// has written.
func TestExpandAndContract(t *testing.T) {
	old, now := parsed(t, rollingBefore).Schema, parsed(t, rollingAfter).Schema
	for name, database := range pgtest.Databases() {
		t.Run(name, func(t *testing.T) {
			before := start(t, old, database(t))
			url := before.config.Database
			before.create("/teams", `{"id":"`+id(9)+`"}`)
			before.create("/users", `{"id":"`+id(1)+`","name":"One","fax":"f","level":7,"team_id":"`+id(9)+`"}`)
			before.create("/users/"+id(1)+"/posts", `{"id":"`+id(5)+`","title":"T"}`)
			stop(t, before.opened, context.Background())
			got := strings.Join(migratePart(t, url, rollingAfter, admin.Expand), "\n")
			want := "additive users: new attribute kind (string); existing resources get the default\nadditive users: new attribute code (string)\n" +
				"additive the interface gets version 3; servers with the new schema do not serve these any more: 2"
			if got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}

			after := start(t, now, url)
			after.get("/people/"+id(1)).expect(t, 200, `{"data":{"id":"`+id(1)+`","type":"people","full_name":"One","level":7,"team_id":"`+id(9)+
				`","kind":"basic","code":null,"created_at":"TIME","updated_at":"TIME"}}`)
			after.do("POST", "/people", `{"id":"`+id(2)+`","full_name":"Two","kind":"gold"}`).expect(t, 201, `{"data":{"id":"`+id(2)+
				`","type":"people","full_name":"Two","level":1,"team_id":null,"kind":"gold","code":"Two!","created_at":"TIME","updated_at":"TIME"}}`)
			after.do("PATCH", "/people/"+id(1), `{"level":8}`).expect(t, 200, `{"data":{"id":"`+id(1)+`","type":"people","full_name":"One","level":8,"team_id":"`+id(9)+
				`","kind":"basic","code":"One!","created_at":"TIME","updated_at":"TIME"}}`)
			after.get("/people?sort=-full_name&filter[team.name][null]=true&include=team").expect(t, 200, data(
				`{"id":"`+id(2)+`","type":"people","full_name":"Two","level":1,"team_id":null,"kind":"gold","code":"Two!","created_at":"TIME","updated_at":"TIME","team":null}`,
				`{"id":"`+id(1)+`","type":"people","full_name":"One","level":8,"team_id":"`+id(9)+`","kind":"basic","code":"One!","created_at":"TIME","updated_at":"TIME","team":{"id":"`+id(9)+
					`","type":"teams","name":null,"created_at":"TIME","updated_at":"TIME"}}`))
			after.create("/people/"+id(2)+"/posts", `{"id":"`+id(6)+`","title":"U"}`)
			stop(t, after.opened, context.Background())

			again := start(t, old, url)
			again.get("/users/"+id(1)).expect(t, 200, `{"data":{"id":"`+id(1)+`","type":"users","name":"One","fax":"f","level":8,"team_id":"`+id(9)+`","created_at":"TIME","updated_at":"TIME"}}`)
			again.do("PUT", "/users/"+id(2), `{"name":"Second","fax":"g","level":3}`).expect(t, 200, `{"data":{"id":"`+id(2)+`","type":"users","name":"Second","fax":"g","level":3,"team_id":null,"created_at":"TIME","updated_at":"TIME"}}`)
			again.do("POST", "/users", `{"id":"`+id(3)+`","name":"Three"}`).expect(t, 201, `{"data":{"id":"`+id(3)+`","type":"users","name":"Three","fax":null,"level":null,"team_id":null,"created_at":"TIME","updated_at":"TIME"}}`)
			again.get("/users/"+id(2)+"/posts").expectTotal(t, "1")
			stop(t, again.opened, context.Background())

			if _, err := plural.Open(context.Background(), plural.Config{Schema: parsed(t, strings.Replace(rollingBefore, "fax", "mail", 1)).Schema, Database: url, Logger: before.config.Logger}); err == nil ||
				!strings.HasPrefix(err.Error(), "the database is expanded for another schema:\n  - version 1 of the schema is in use, ") {
				t.Errorf("got %v", err)
			}

			got = strings.Join(migratePart(t, url, rollingAfter, admin.Contract), "\n")
			want = `additive teams: name changes without effect on stored values (default)
rewriting collection users is renamed to people
additive people: the singular becomes person
rewriting people: attribute name is renamed to full_name
rewriting people: full_name is restricted by maxLength
rewriting people: level is restricted by minimum
rewriting people: level becomes required; resources without a value get the default
rewriting people: code is computed for all resources
losing people: attribute fax is removed
rewriting people: new check: resource.full_name != ''
rewriting posts: attribute user_id is renamed to person_id
rewriting posts: values of title must be unique
additive posts: the index on title is removed
losing version 2 of the interface ends: users.fax is removed; it stays if people.fax is declared with until: 2`
			if got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
			contracted := start(t, now, url)
			person := func(position int, name, level, team, kind string) string {
				return `{"id":"` + id(position) + `","type":"people","full_name":"` + name + `","level":` + level + `,"team_id":` + team + `,"kind":"` + kind +
					`","code":"` + name + `!","created_at":"TIME","updated_at":"TIME"}`
			}
			contracted.get("/people").expect(t, 200, data(person(1, "One", "8", quoted(id(9)), "basic"), person(2, "Second", "3", "null", "gold"), person(3, "Three", "1", "null", "basic")))
		})
	}
}

// rolling is what clients of the servers of a rolling upgrade have done.
type rolling struct {
	t      *testing.T
	mutex  sync.Mutex
	states map[string]string // name and level of what exists, by id
	gone   map[string]bool
}

// load writes to a server and reads from it until it is told to stop. Each round sends on rounds.
func (r *rolling) load(s *server, crew, collection, name string, number int, stopped <-chan struct{}, rounds chan<- int) {
	for round := 0; ; round++ {
		select {
		case <-stopped:
			return
		default:
		}
		text := fmt.Sprintf("%s %d %d", crew, number, round)
		created := r.ok(s, "POST", "/"+collection, fmt.Sprintf(`{"%s":"%s","level":%d}`, name, text, round))
		var body struct{ Data struct{ ID string } }
		if err := json.Unmarshal([]byte(created.body), &body); err != nil {
			r.t.Error(err)
		}
		path := "/" + collection + "/" + body.Data.ID
		r.ok(s, "POST", path+"/posts", fmt.Sprintf(`{"title":"%s"}`, text))
		changed := r.ok(s, "PATCH", path, fmt.Sprintf(`{"level":%d}`, round+1), "If-Match", created.header.Get("ETag"))
		r.ok(s, "GET", "/"+collection+"?sort=-level,"+name+"&limit=3&filter[level][gte]=1&include=posts", "")
		if read := r.ok(s, "GET", path, ""); read.body != changed.body {
			r.t.Errorf("read %s, and written was %s", read.body, changed.body)
		}
		r.mutex.Lock()
		r.states[body.Data.ID] = fmt.Sprintf("%s %d", text, round+1)
		r.mutex.Unlock()
		if round%3 == 2 {
			posts := r.ok(s, "GET", path+"/posts", "")
			r.ok(s, "DELETE", "/posts/"+posts.ids(r.t)[0], "")
			r.ok(s, "DELETE", path, "")
			r.mutex.Lock()
			delete(r.states, body.Data.ID)
			r.gone[body.Data.ID] = true
			r.mutex.Unlock()
		}
		select {
		case rounds <- round:
		case <-stopped:
			return
		}
	}
}

// ok sends a request that must succeed.
func (r *rolling) ok(s *server, method, path, body string, headers ...string) answer {
	a := s.do(method, path, body, headers...)
	if a.status != 200 && a.status != 201 {
		r.t.Errorf("%s %s %s: %d %s", method, path, body, a.status, a.body)
	}
	return a
}

// folded reads a stream up to a change of its own, and expects what its events say of the resources of crews.
func (r *rolling) folded(s *server, e *events, path, name string, crews ...string) {
	last := s.create(path, fmt.Sprintf(`{"%s":"the last","level":1}`, name))
	states, position, synced := map[string]string{}, "", false
	for states[last] == "" || !synced { // a list is in the order of ids, in which another server may be ahead
		next, ok := e.next()
		if !ok { // when the schema changes
			e = s.stream(path, "Last-Event-ID", position)
			continue
		}
		if next.id != "" {
			position = next.id
		}
		if next.kind == "retry" {
			continue
		}
		var body struct{ Data map[string]any }
		if err := json.Unmarshal([]byte(next.data), &body); err != nil {
			r.t.Fatal(err)
		}
		id := fmt.Sprint(body.Data["id"])
		switch next.kind {
		case "listed", "created", "updated":
			states[id] = fmt.Sprint(body.Data[name], " ", body.Data["level"])
		case "deleted":
			delete(states, id)
		case "reset": // a contraction may begin a new history
			states, synced = map[string]string{}, false
		case "synced":
			synced = true
		default:
			r.t.Errorf("%s: got %s", path, next.kind)
		}
	}
	s.do("DELETE", path+"/"+last, "")
	ofCrews := func(states map[string]string) map[string]string {
		found := map[string]string{}
		for id, state := range states {
			if crew, _, _ := strings.Cut(state, " "); slices.Contains(crews, crew) {
				found[id] = state
			}
		}
		return found
	}
	r.mutex.Lock()
	defer r.mutex.Unlock()
	got, want := ofCrews(states), ofCrews(r.states)
	if len(want) == 0 {
		r.t.Error("the crews have written nothing")
	}
	for id, state := range want {
		if got[id] != state {
			r.t.Errorf("%s of %s is %q by its events, and should be %q", id, path, got[id], state)
		}
	}
	for id, state := range got {
		if want[id] == "" {
			r.t.Errorf("%s of %s is %q by its events, and should be deleted", id, path, state)
		}
	}
}

// crew is clients of one server.
type crew struct {
	stop   chan struct{}
	rounds chan int
	all    sync.WaitGroup
}

func (r *rolling) start(s *server, crewName, collection, name string) *crew {
	c := &crew{stop: make(chan struct{}), rounds: make(chan int)}
	for number := range 3 {
		c.all.Go(func() { r.load(s, crewName, collection, name, number, c.stop, c.rounds) })
	}
	return c
}

// await waits for rounds of the clients.
func (c *crew) await(rounds int) {
	for range rounds {
		<-c.rounds
	}
}

func (c *crew) end() {
	close(c.stop)
	c.all.Wait()
}

// TestRollingUpgrade: no request is refused while servers with the old and the new schema use a database, during both parts of the
// migration, and nothing is lost.
func TestRollingUpgrade(t *testing.T) {
	t.Parallel()
	r := &rolling{t: t, states: map[string]string{}, gone: map[string]bool{}}
	first := start(t, parsed(t, rollingBefore).Schema, pgtest.URL(t))
	url := first.config.Database
	ofOld := first.stream("/users")
	old := r.start(first, "first", "users", "name")
	old.await(6)
	migratePart(t, url, rollingAfter, admin.Expand)
	old.await(6)
	newNode := start(t, parsed(t, rollingAfter).Schema, url)
	ofNew := newNode.stream("/people")
	now := r.start(newNode, "new", "people", "full_name")
	now.await(6)
	second := start(t, parsed(t, rollingBefore).Schema, url) // a server with the old schema starts again
	restarted := r.start(second, "second", "users", "name")
	old.end()
	r.folded(first, ofOld, "/users", "name", "first")
	stop(t, first.opened, context.Background())
	restarted.await(6)
	now.await(6)
	restarted.end()
	stop(t, second.opened, context.Background())
	migratePart(t, url, rollingAfter, admin.Contract)
	now.await(12)
	now.end()
	r.folded(newNode, ofNew, "/people", "full_name", "first", "second", "new")
	for _, s := range []*server{newNode, start(t, parsed(t, rollingAfter).Schema, url)} {
		for id, want := range r.states {
			var body struct {
				Data struct {
					Name  string `json:"full_name"`
					Code  string `json:"code"`
					Kind  string `json:"kind"`
					Level int
				}
			}
			read := r.ok(s, "GET", "/people/"+id, "")
			if err := json.Unmarshal([]byte(read.body), &body); err != nil {
				t.Fatal(err)
			}
			if got := fmt.Sprintf("%s %d", body.Data.Name, body.Data.Level); got != want || body.Data.Code != body.Data.Name+"!" || body.Data.Kind != "basic" {
				t.Errorf("got %s, want %s", read.body, want)
			}
		}
		for id := range r.gone {
			s.get("/people/"+id).expectErrors(t, 404, "not_found")
		}
		s.get("/people").expectTotal(t, fmt.Sprint(len(r.states)))
	}
}

// TestContractionComputes: a server that waits for the contraction has other ETags and positions for what the contraction computes, as
// revisions stay.
func TestContractionComputes(t *testing.T) {
	const old = "version: 1\ncollections: {users: {attributes: {name: {type: string}}}}"
	const computes = "version: 2\ncollections: {users: {attributes: {name: {type: string}, code: {type: string, computed: resource.name + '!'}}}}"
	for name, database := range pgtest.Databases() {
		t.Run(name, func(t *testing.T) {
			before := start(t, parsed(t, old).Schema, database(t))
			url := before.config.Database
			before.create("/users", `{"id":"`+id(1)+`","name":"One"}`)
			stop(t, before.opened, context.Background())
			migratePart(t, url, computes, admin.Expand)
			now := start(t, parsed(t, computes).Schema, url)
			user := func(name, code string) string {
				return `{"data":{"id":"` + id(1) + `","type":"users","name":"` + name + `","code":` + code + `,"created_at":"TIME","updated_at":"TIME"}}`
			}
			read := now.get("/users/" + id(1))
			read.expect(t, 200, user("One", "null"))
			tag := read.header.Get("ETag")
			stream := now.stream("/users")
			var position string
			for position == "" {
				event, ok := stream.next()
				if position = event.id; !ok {
					t.Fatal("the stream has ended")
				}
			}
			migratePart(t, url, computes, admin.Contract)
			now.do("GET", "/users/"+id(1), "", "If-None-Match", tag).expect(t, 200, user("One", `"One!"`))
			now.do("PATCH", "/users/"+id(1), `{"name":"Two"}`, "If-Match", tag).expect(t, 200, user("Two", `"Two!"`))
			if event, _ := now.stream("/users", "Last-Event-ID", position).next(); event.kind != "reset" {
				t.Errorf("got %+v", event)
			}
		})
	}
}

// TestUndoneExpansionComputes: where a migration undoes an expansion, no value stays that a server with the new schema has computed.
func TestUndoneExpansionComputes(t *testing.T) {
	const old = "version: 1\ncollections: {users: {attributes: {name: {type: string}, code: {type: string, computed: resource.name + '!'}}}}"
	const other = "version: 2\ncollections: {users: {attributes: {name: {type: string}, code: {type: string, computed: resource.name + '.'}}}}"
	for name, database := range pgtest.Databases() {
		t.Run(name, func(t *testing.T) {
			before := start(t, parsed(t, old).Schema, database(t))
			url := before.config.Database
			before.create("/users", `{"id":"`+id(1)+`","name":"One"}`)
			stop(t, before.opened, context.Background())
			migratePart(t, url, other, admin.Expand)
			now := start(t, parsed(t, other).Schema, url)
			now.create("/users", `{"id":"`+id(2)+`","name":"Two"}`)
			stop(t, now.opened, context.Background())
			migratePart(t, url, old, admin.WholeMigration)
			again := start(t, parsed(t, old).Schema, url)
			for i, code := range []string{"One!", "Two!"} {
				var body struct{ Data struct{ Code string } }
				if err := json.Unmarshal([]byte(again.get("/users/"+id(i+1)).body), &body); err != nil || body.Data.Code != code {
					t.Errorf("got %s (%v), want %s", body.Data.Code, err, code)
				}
			}
		})
	}
}
