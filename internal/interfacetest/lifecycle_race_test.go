package interfacetest

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/plural-go/plural"
	goclient "github.com/plural-go/plural/client"
	"github.com/plural-go/plural/internal/move"
	"github.com/plural-go/plural/internal/pgtest"
	"github.com/plural-go/plural/schema"
)

// randomLifecycle is a lifecycle in which some states lead to some.
type randomLifecycle struct {
	states      []string
	transitions map[string][]string
	initial     []string
}

func drawLifecycle(random *rand.Rand) randomLifecycle {
	l := randomLifecycle{states: []string{"a", "b", "c", "d"}, transitions: map[string][]string{}}
	for _, from := range l.states {
		for _, to := range l.states {
			if from != to && random.IntN(2) == 0 {
				l.transitions[from] = append(l.transitions[from], to)
			}
		}
		if random.IntN(2) == 0 {
			l.initial = append(l.initial, from)
		}
	}
	if l.initial == nil {
		l.initial = l.states[:1]
	}
	return l
}

func (l randomLifecycle) schema(t testing.TB) *schema.Schema {
	t.Helper()
	state := schema.Attribute{Name: "state", Type: schema.String, Required: true, Transitions: l.transitions, Initial: l.initial}
	for _, each := range l.states {
		state.Enum = append(state.Enum, each)
	}
	return mustSchema(t, schema.Collection{Name: "items", NoTimestamps: true, Attributes: []schema.Attribute{
		state, {Name: "n", Type: schema.Integer}, {Name: "made_in", Type: schema.String, WriteOnce: true},
	}})
}

// lifecycleWriter writes at random, in all ways.
type lifecycleWriter struct {
	*server
	random    *rand.Rand
	lifecycle randomLifecycle
	accepted  []string // operations
}

const lifecycleResources = 3

func (w *lifecycleWriter) state() string {
	return w.lifecycle.states[w.random.IntN(len(w.lifecycle.states))]
}

// body is the attributes of a resource, with its id if it may be new.
func (w *lifecycleWriter) body(position int, isNew bool) string {
	state := w.state()
	if isNew {
		return fmt.Sprintf(`{"id":"%s","state":"%s","made_in":"%s"}`, id(position), state, state)
	}
	return fmt.Sprintf(`{"state":"%s","n":%d}`, state, w.random.IntN(3))
}

// write sends one write. Whether it succeeds depends on the others, but it never fails otherwise.
func (w *lifecycleWriter) write() {
	position := w.random.IntN(lifecycleResources)
	path := "/items/" + id(position)
	var got answer
	switch w.random.IntN(12) {
	case 0:
		got = w.do("DELETE", path, "")
	case 1:
		got = w.do("POST", "/items", w.body(position, true))
	case 2, 3:
		got = w.do("POST", "/items?on_conflict=id", `[{"id":"`+id(position)+`","state":"`+w.state()+`"},{"id":"`+id((position+1)%lifecycleResources)+`","state":"`+w.state()+`"}]`)
	case 4:
		got = w.do("PUT", path, w.body(position, false))
	case 5:
		got = w.do("PATCH", "/items?filter[state]="+w.state(), w.body(position, false))
	case 6:
		got = w.transaction([]string{step("PATCH", path, w.body(position, false)), step("PATCH", path, w.body(position, false))})
	case 7:
		got = w.do("POST", "/items", w.body(position, true), "Prefer", "respond-async")
	case 8:
		got = w.do("PATCH", path, w.body(position, false), "Prefer", "respond-async")
	case 9:
		w.importRows()
		return
	default:
		got = w.do("PATCH", path, w.body(position, false))
	}
	switch got.status {
	case 200, 201, 404, 409, 422:
	case 202:
		w.accepted = append(w.accepted, got.operation(w.t))
	default:
		w.t.Errorf("%d %s", got.status, got.body)
	}
}

// importRows imports all resources, of which some exist.
func (w *lifecycleWriter) importRows() {
	var rows strings.Builder
	for i := range lifecycleResources {
		fmt.Fprintf(&rows, `{"id":"%s","state":"%s"}`+"\n", id(i), w.state())
	}
	c, err := goclient.New(w.base, goclient.Options{})
	if err != nil {
		w.t.Error(err)
		return
	}
	items, err := c.Collections(context.Background())
	if err != nil {
		w.t.Error(err)
		return
	}
	found := slices.IndexFunc(items, func(each goclient.Description) bool { return each.Name == "items" })
	columns := move.ColumnsOf(items[found].Attributes)
	reader, err := move.NewReader(strings.NewReader(rows.String()), move.NDJSON, columns)
	if err != nil {
		w.t.Error(err)
		return
	}
	conflict := []move.OnConflict{move.SkipOnConflict, move.ReplaceOnConflict, move.UpdateOnConflict}[w.random.IntN(3)]
	run := &move.Import{Client: c, Collection: items[found], Rows: reader, Columns: columns, OnError: move.SkipOnError, OnConflict: conflict, Bad: func(move.Row, string) {}}
	if _, err := run.Run(context.Background()); err != nil {
		w.t.Error(err)
	}
}

// loggedChange is a change of an item in the change log.
type loggedChange struct {
	Kind     string
	Resource struct{ ID string }
	Previous map[string]any
	Data     map[string]any
}

// check reads the change log, and follows each resource from state to state. It returns how many transitions there were.
func (l randomLifecycle) check(t *testing.T, s *server) (transitions int) {
	t.Helper()
	var log struct{ Data []loggedChange }
	if err := json.Unmarshal([]byte(s.get("/changes?limit=100000").body), &log); err != nil {
		t.Fatal(err)
	}
	states, origins := map[string]string{}, map[string]any{}
	for _, each := range log.Data {
		from, exists := states[each.Resource.ID]
		if each.Kind == "deleted" {
			delete(states, each.Resource.ID)
			continue
		}
		to := each.Data["state"].(string)
		switch {
		case !exists && !slices.Contains(l.initial, to):
			t.Errorf("%s was created in the state %s: the lifecycle is %+v", each.Resource.ID, to, l)
		case exists && from != to && !slices.Contains(l.transitions[from], to):
			t.Errorf("%s went from %s to %s: the lifecycle is %+v", each.Resource.ID, from, to, l)
		case exists && from != to:
			transitions++
		}
		if exists && origins[each.Resource.ID] != each.Data["made_in"] {
			t.Errorf("%s was made in %v, and later in %v", each.Resource.ID, origins[each.Resource.ID], each.Data["made_in"])
		}
		states[each.Resource.ID], origins[each.Resource.ID] = to, each.Data["made_in"]
	}
	stored := map[string]string{}
	var list struct {
		Data []struct{ ID, State string }
	}
	if err := json.Unmarshal([]byte(s.get("/items").body), &list); err != nil {
		t.Fatal(err)
	}
	for _, each := range list.Data {
		stored[each.ID] = each.State
	}
	if !maps.Equal(stored, states) {
		t.Errorf("stored is %v, but the change log leads to %v", stored, states)
	}
	return transitions
}

// eachNodes runs a test on SQLite, on PostgreSQL, and with two servers on one database of PostgreSQL.
func eachNodes(t *testing.T, s *schema.Schema, test func(*testing.T, []*server), change ...func(*plural.Config)) {
	t.Helper()
	eachStore(t, s, func(t *testing.T, s *server) { test(t, []*server{s}) }, change...)
	t.Run("two nodes", func(t *testing.T) {
		first := start(t, s, pgtest.URL(t), change...)
		test(t, []*server{first, first.another()})
	})
}

// TestLifecyclesRace: whoever writes at the same time, and in which way, no history has a step that is not declared.
func TestLifecyclesRace(t *testing.T) {
	const lifecycles, writers, writes = 3, 6, 12
	for n := range uint64(lifecycles) {
		l := drawLifecycle(rand.New(rand.NewPCG(n, 37)))
		eachNodes(t, l.schema(t), func(t *testing.T, nodes []*server) {
			for position := range lifecycleResources {
				nodes[0].write("POST", "/items", inState(position, l.initial[0]))
			}
			accepted := together(writers, func(i int) []string {
				w := &lifecycleWriter{server: nodes[i%len(nodes)], random: rand.New(rand.NewPCG(n, uint64(i))), lifecycle: l}
				for range writes {
					w.write()
				}
				return w.accepted
			})
			for _, operation := range slices.Concat(accepted...) {
				nodes[0].finished(operation)
			}
			l.check(t, nodes[0])
		})
	}
}

// TestTwoWritersOfAState: of writers that all have seen a state with two ways out, one takes its way. The others see what it has
// stored.
func TestTwoWritersOfAState(t *testing.T) {
	l := randomLifecycle{states: []string{"a", "b", "c"}, transitions: map[string][]string{"a": {"b", "c"}}, initial: []string{"a"}}
	const writers, rounds = 4, 5
	eachNodes(t, l.schema(t), func(t *testing.T, nodes []*server) {
		for round := range rounds {
			nodes[0].write("POST", "/items", inState(round, "a"))
			answers := together(writers, func(i int) answer {
				return nodes[i%len(nodes)].do("PATCH", "/items/"+id(round), `{"state":"`+[]string{"b", "c"}[i/2]+`"}`)
			})
			statuses := map[int]int{}
			for _, each := range answers {
				statuses[each.status]++
			}
			if !maps.Equal(statuses, map[int]int{200: 2, 409: 2}) {
				t.Errorf("the statuses are %v", statuses)
			}
		}
		if got := l.check(t, nodes[0]); got != rounds {
			t.Errorf("%d resources made %d transitions", rounds, got)
		}
	})
}

// TestTransactionsThatSawAState: two transactions of PostgreSQL have read the same state before either writes. One is executed again.
func TestTransactionsThatSawAState(t *testing.T) {
	l := randomLifecycle{states: []string{"a", "b", "c"}, transitions: map[string][]string{"a": {"b", "c"}}, initial: []string{"a"}}
	for _, servers := range []int{1, 2} {
		t.Run(fmt.Sprint(servers), func(t *testing.T) {
			var mutex sync.Mutex
			var seen []string
			both := make(chan struct{})
			hook := plural.Hook{Collection: "items", On: []plural.Verb{plural.Update}, Within: func(_ context.Context, _ *plural.Tx, change *plural.Change) error {
				from, _, _ := change.Transition("state")
				mutex.Lock()
				seen = append(seen, from)
				if len(seen) == 2 {
					close(both)
				}
				mutex.Unlock()
				<-both
				return nil
			}}
			nodes := []*server{start(t, l.schema(t), pgtest.URL(t), withHooks(hook))}
			if servers == 2 {
				nodes = append(nodes, nodes[0].another())
			}
			nodes[0].write("POST", "/items", inState(1, "a"))
			answers := together(2, func(i int) answer {
				return nodes[i%servers].do("PATCH", "/items/"+id(1), `{"state":"`+[]string{"b", "c"}[i]+`"}`)
			})
			if l.check(t, nodes[0]); answers[0].status+answers[1].status != 200+409 {
				t.Errorf("got %d %s\nand %d %s", answers[0].status, answers[0].body, answers[1].status, answers[1].body)
			}
			winner := slices.IndexFunc(answers, func(each answer) bool { return each.status == 200 })
			if want := []string{"a", "a", []string{"b", "c"}[max(winner, 0)]}; !slices.Equal(seen, want) {
				t.Errorf("the transactions have seen %v, want %v", seen, want)
			}
		})
	}
}
