package interfacetest

import (
	"fmt"
	"maps"
	"sync"
	"testing"

	"github.com/plural-go/plural/internal/pgtest"
)

// TestManyWriteOneResource on two servers: each has its turn, and nobody is turned away.
func TestManyWriteOneResource(t *testing.T) {
	const clients, requests = 16, 20
	for name, c := range map[string]struct {
		prefer string
		want   int
	}{"at once": {"", 200}, "later": {"respond-async", 202}} {
		t.Run(name, func(t *testing.T) {
			s := start(t, teamSchema(t), pgtest.URL(t))
			s.create("/people", named(1, "One"))
			servers := []*server{s, s.another()}
			var mutex sync.Mutex
			got := map[int]int{}
			var all sync.WaitGroup
			for i := range clients {
				all.Go(func() {
					for j := range requests {
						answer := servers[i%2].do("PATCH", "/people/"+id(1), fmt.Sprintf(`{"name":"%d of %d"}`, j, i), "Prefer", c.prefer)
						mutex.Lock()
						got[answer.status]++
						mutex.Unlock()
					}
				})
			}
			all.Wait()
			if want := map[int]int{c.want: clients * requests}; !maps.Equal(got, want) {
				t.Errorf("got %v, want %v", got, want)
			}
		})
	}
}
