package interfacetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/plural-go/plural"
	"github.com/plural-go/plural/problem"
)

// TestOperationsTakeEffectInOrder: those on one resource in the order in which
// they were accepted, and each once.
func TestOperationsTakeEffectInOrder(t *testing.T) {
	const resources, each = 6, 25
	var mutex sync.Mutex
	var effects map[string][]string
	hook := plural.Hook{Collection: "people", After: func(_ context.Context, change *plural.Change) {
		mutex.Lock()
		defer mutex.Unlock()
		from := "00"
		if change.Before != nil {
			from = change.Before.Get("name").(string)
		}
		effects[change.ID] = append(effects[change.ID], from+">"+change.After.Get("name").(string))
	}}
	eachStore(t, teamSchema(t), func(t *testing.T, s *server) {
		mutex.Lock()
		effects = map[string][]string{}
		mutex.Unlock()
		var clients sync.WaitGroup
		operations := make([][]string, resources)
		for i := range resources {
			clients.Go(func() {
				operations[i] = append(operations[i], s.later("POST", "/people", named(i, "10")))
				for n := 11; n < 10+each; n++ {
					method := []string{"PATCH", "PUT"}[n%2]
					operations[i] = append(operations[i], s.later(method, "/people/"+id(i), fmt.Sprintf(`{"name":"%d"}`, n)))
				}
			})
		}
		clients.Wait()
		want := []string{"00>10"}
		for n := 11; n < 10+each; n++ {
			want = append(want, fmt.Sprintf("%d>%d", n-1, n))
		}
		for i := range resources {
			s.expectSuccess(t, operations[i]...)
			s.get("/people/"+id(i)).expect(t, 200, one(person(i, fmt.Sprint(10+each-1))))
			eventually(t, "all hooks have run", func() bool {
				mutex.Lock()
				defer mutex.Unlock()
				return len(effects[id(i)]) >= each
			})
			mutex.Lock()
			got := effects[id(i)]
			slices.Sort(got) // what follows a commit may be overtaken
			if !slices.Equal(got, want) {
				t.Errorf("the effects on %d were %v", i, got)
			}
			mutex.Unlock()
		}
		s.get("/operations?filter[attempts][ne]=1").expect(t, 200, data())
		s.get("/operations?filter[status]=succeeded&limit=0", "Prefer", "count=exact").expectTotal(t, fmt.Sprint(resources*each))
	}, withHooks(hook))
}

// TestOperationsInParallel: those on different resources do not wait for each
// other, as long as there are workers.
func TestOperationsInParallel(t *testing.T) {
	eachGated(t, func(t *testing.T, s *server, g *gate) {
		var opens []func()
		var operations []string
		for i := range 4 {
			opens = append(opens, g.hold(i))
			operations = append(operations, s.later("POST", "/people", named(i, "Met")))
		}
		// Three have come to the gate, and the fourth has no worker.
		eventually(t, "three are held up", func() bool {
			return g.count() == 3
		})
		s.get("/operations?filter[status]=running&limit=0", "Prefer", "count=exact").expectTotal(t, "3")
		s.get("/operations?filter[status]=pending&limit=0", "Prefer", "count=exact").expectTotal(t, "1")
		for i, open := range opens {
			if g.isReached(i) {
				open()
			}
		}
		eventually(t, "the fourth is held up", func() bool { return g.count() == 4 })
		for _, open := range opens {
			open()
		}
		s.expectSuccess(t, operations...)
	}, func(c *plural.Config) { c.Workers = 3 })
}

// TestSynchronousWritesDoNotWait for operations, which see what they have done.
func TestSynchronousWritesDoNotWait(t *testing.T) {
	eachGated(t, func(t *testing.T, s *server, g *gate) {
		s.create("/people", named(1, "One"))
		open := g.hold(1)
		held := s.later("PATCH", "/people/"+id(1), `{"name":"Two"}`)
		g.await(1)
		s.do("PATCH", "/people/"+id(1), `{"name":"Quick","email":"quick"}`).expect(t, 200, `{"data":{"id":"`+id(1)+`","type":"people","name":"Quick","email":"quick","friend_id":null}}`)
		s.create("/people", named(2, "Other"))
		s.do("DELETE", "/people/"+id(2), "").expect(t, 200, one(person(2, "Other")))
		open()
		s.expectSuccess(t, held)
		s.get("/people/"+id(1)).expect(t, 200, `{"data":{"id":"`+id(1)+`","type":"people","name":"Two","email":"quick","friend_id":null}}`)
	})
}

// TestTransientFailures: what is not the request's fault is tried again, and
// those behind it wait.
func TestTransientFailures(t *testing.T) {
	var tries, dryRuns atomic.Int64
	var accepted chan struct{}
	hook := plural.Hook{
		Collection: "people",
		Before: func(_ context.Context, change *plural.Change) error {
			<-accepted
			if change.After.Get("name") == "Shaky" {
				tries.Add(1)
			}
			return nil
		},
		Within: func(_ context.Context, _ *plural.Tx, change *plural.Change) error {
			if change.After.Get("name") != "Shaky" {
				return nil
			}
			switch tries.Load() {
			case 0:
				dryRuns.Add(1)
			case 1:
				return &problem.Error{Code: "unavailable", Detail: "Not now."}
			case 2:
				return errors.New("not yet")
			}
			return nil
		},
	}
	eachStore(t, teamSchema(t), func(t *testing.T, s *server) {
		tries.Store(0)
		dryRuns.Store(0)
		first := s.later("POST", "/people", named(1, "Shaky"))
		second := s.later("PATCH", "/people/"+id(1), `{"name":"Firm"}`)
		if got := dryRuns.Load(); got < 2 { // the second is checked by a dry run after the first
			t.Errorf("there were %d dryRuns", got)
		}
		close(accepted)
		s.finished(second).expect(t, 200, one(operation(second, "succeeded", "PATCH", 1, 1)))
		s.finished(first).expect(t, 200, one(operation(first, "succeeded", "POST", 1, 3)))
		s.get("/people").expect(t, 200, data(person(1, "Firm")))
	}, withHooks(hook), func(*plural.Config) { accepted = make(chan struct{}) })
}
