package interfacetest

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestCheckOfTwoAttributesAndTwoWriters: of two writers, each changes one of the attributes of a check. Either change alone is allowed, and both
// together are not: one of the writers is refused, however they write and whichever node they ask.
func TestCheckOfTwoAttributesAndTwoWriters(t *testing.T) {
	t.Parallel()
	eachNodes(t, parsed(t, bookingFile).Schema, func(t *testing.T, nodes []*server) {
		s := nodes[0]
		path := "/bookings/" + id(1)
		s.create("/bookings", `{"id":"`+id(1)+`","title":"A","starts":0,"ends":9}`)
		ways := []func(s *server, body string) answer{
			func(s *server, body string) answer { return s.do("PATCH", path, body) },
			func(s *server, body string) answer { return s.do("PATCH", "/bookings?limit=1", body) },
			func(s *server, body string) answer {
				return s.do("POST", "/bookings?on_conflict=id", `{"id":"`+id(1)+`",`+body[1:])
			},
			func(s *server, body string) answer { return s.transaction([]string{step("PATCH", path, body)}) },
		}
		for round := range 40 {
			if reset := s.do("PATCH", path, `{"starts":0,"ends":9}`); reset.status != 200 {
				t.Fatalf("%d %s", reset.status, reset.body)
			}
			answers := together(2, func(writer int) answer {
				way := ways[(round>>(2*writer))%len(ways)]
				return way(nodes[writer%len(nodes)], []string{`{"starts":6}`, `{"ends":3}`}[writer])
			})
			stored := s.get(path)
			var starts, ends, length int
			for member, value := range map[string]*int{"starts": &starts, "ends": &ends} {
				if err := json.Unmarshal([]byte(stored.member(t, member)), value); err != nil {
					t.Fatal(err)
				}
			}
			if length = ends - starts; length != 3 || answers[0].status == answers[1].status {
				t.Fatalf("round %d: from %d to %d after %d %s and %d %s", round, starts, ends, answers[0].status, answers[0].body, answers[1].status, answers[1].body)
			}
			for writer, each := range answers {
				if each.status != 200 && !strings.HasPrefix(each.errorText(t), "check ") {
					t.Errorf("round %d, writer %d: %d %s", round, writer, each.status, each.body)
				}
			}
		}
	})
}
