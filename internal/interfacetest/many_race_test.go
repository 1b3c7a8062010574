package interfacetest

import (
	"fmt"
	"slices"
	"testing"
)

// TestUpsertsRace: of clients that upsert the same keys at the same time, one creates each
// resource, and all others change it.
func TestUpsertsRace(t *testing.T) {
	eachStore(t, members(t), func(t *testing.T, s *server) {
		const clients, rounds = 8, 4
		for round := range rounds {
			answers := together(clients, func(i int) answer {
				return s.do("POST", "/accounts?on_conflict=email", fmt.Sprintf(`{"email":"%d","name":"%d"}`, round, i))
			})
			created := 0
			for _, a := range answers {
				if a.status == 201 {
					created++
				} else if a.status != 200 {
					t.Errorf("%d %s", a.status, a.body)
				}
			}
			if created != 1 {
				t.Errorf("%d clients have created a resource", created)
			}
		}
		if total := s.get("/accounts").total(); total != fmt.Sprint(rounds) {
			t.Errorf("there are %s resources", total)
		}
	})
}

// TestUpsertArraysRace: the same with arrays, whose items have different orders.
func TestUpsertArraysRace(t *testing.T) {
	eachStore(t, members(t), func(t *testing.T, s *server) {
		const clients, items = 4, 10
		answers := together(clients, func(i int) answer {
			body := "["
			for k := range items {
				if k > 0 {
					body += ","
				}
				body += fmt.Sprintf(`{"email":"%d","name":"%d"}`, (k*3+i)%items, i)
			}
			return s.do("POST", "/accounts?on_conflict=email", body+"]")
		})
		statuses := []int{}
		for _, a := range answers {
			statuses = append(statuses, a.status)
		}
		slices.Sort(statuses)
		if !slices.Equal(statuses, []int{200, 200, 200, 201}) {
			t.Errorf("statuses %v", statuses)
		}
		// All resources have the name that the last array gave them.
		names := map[string]bool{}
		for _, each := range s.get("/accounts").ids(t) {
			names[s.get("/accounts/"+each).member(t, "name")] = true
		}
		if total := s.get("/accounts").total(); total != fmt.Sprint(items) || len(names) != 1 {
			t.Errorf("%s resources with the names %v", total, names)
		}
	})
}

// TestRangesRaceWrites: a range is changed as a whole, whatever else is written to its resources.
func TestRangesRaceWrites(t *testing.T) {
	eachStore(t, members(t), func(t *testing.T, s *server) {
		const resources, clients, writes = 20, 4, 10
		for i := range resources {
			s.createAll("/accounts", fmt.Sprintf(`{"id":"%s","email":"%d","name":"start","number":0}`, id(i), i))
		}
		answers := together(clients+2, func(i int) []answer {
			var all []answer
			for n := range writes {
				switch {
				case i < clients:
					all = append(all, s.do("PATCH", "/accounts/"+id((i+n)%resources), fmt.Sprintf(`{"number":%d}`, i*writes+n)))
				default:
					all = append(all, s.do("PATCH", "/accounts?filter[id][null]=false", fmt.Sprintf(`{"name":"%d-%d"}`, i, n)))
				}
			}
			return all
		})
		for i, all := range answers {
			for _, a := range all {
				if a.status != 200 {
					t.Errorf("client %d: %d %s", i, a.status, a.body)
				} else if i >= clients && len(a.ids(t)) != resources {
					t.Errorf("a range of %d", len(a.ids(t)))
				}
			}
		}
		names := map[string]bool{}
		for i := range resources {
			names[s.get("/accounts/"+id(i)).member(t, "name")] = true
		}
		if len(names) != 1 {
			t.Errorf("the resources have the names %v", names)
		}
	})
}

// TestRangesRaceDeletions: each resource is deleted by one request.
func TestRangesRaceDeletions(t *testing.T) {
	eachStore(t, family(t), func(t *testing.T, s *server) {
		const resources = 20
		for i := range resources {
			s.createAll("/people", fmt.Sprintf(`{"id":"%s","name":"%d"}`, id(i), i%2))
		}
		answers := together(6, func(i int) answer {
			switch i {
			case 4, 5:
				return s.do("PATCH", "/people?filter[name]=0", `{"name":"1"}`)
			}
			return s.do("DELETE", fmt.Sprintf("/people?filter[name]=%d", i%2), "")
		})
		seen := map[string]int{}
		for i, a := range answers {
			if a.status != 200 {
				t.Errorf("%d %s", a.status, a.body)
			} else if i < 4 {
				for _, each := range a.ids(t) {
					seen[each]++
				}
			}
		}
		for _, each := range s.get("/people").ids(t) {
			seen[each]++
		}
		for i := range resources {
			if seen[id(i)] != 1 {
				t.Errorf("%s was seen %d times", id(i), seen[id(i)])
			}
		}
	})
}

// TestTransactionsInOppositeOrder: transactions that write to the same resources in opposite orders wait
// for each other in a circle. All succeed in the end.
func TestTransactionsInOppositeOrder(t *testing.T) {
	eachStore(t, members(t), func(t *testing.T, s *server) {
		const clients, resources, rounds = 4, 6, 1
		var paths []string
		for i := range resources {
			paths = append(paths, "/accounts/"+s.create("/accounts", fmt.Sprintf(`{"email":"%d","name":"N"}`, i)))
		}
		for round := range rounds {
			answers := together(clients, func(i int) answer {
				var steps []string
				for k := range resources {
					path := paths[k]
					if i%2 == 1 {
						path = paths[resources-1-k]
					}
					steps = append(steps, fmt.Sprintf(`{"method":"PATCH","path":%q,"body":{"name":"%d-%d"}}`, path, round, i))
				}
				return s.transaction(steps)
			})
			for _, a := range answers {
				if a.status != 200 {
					t.Errorf("%d %s", a.status, a.body)
				}
			}
		}
	})
}
