package interfacetest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/plural-go/plural/schema"
)

// papers are documents of any size, and remarks on them.
func papers(t testing.TB) *schema.Schema {
	return mustSchema(t,
		schema.Collection{Name: "papers", Attributes: []schema.Attribute{{Name: "text", Type: schema.String}}},
		schema.Collection{Name: "remarks", Attributes: []schema.Attribute{{Name: "text", Type: schema.String}, {Name: "rank", Type: schema.Integer}}, Parent: &schema.Parent{Collection: "papers"}},
	)
}

// TestIncludeInManyChunks: a list of many chunks has the related resources of each resource, in any order, and
// whatever the size of the resources.
func TestIncludeInManyChunks(t *testing.T) {
	t.Parallel()
	const papersCount, remarksCount = 50, 1200
	eachStore(t, papers(t), func(t *testing.T, s *server) {
		var bodies []string
		for i := range papersCount {
			size := 10
			if i%10 == 0 { // too large for one chunk together
				size = 200_000
			}
			bodies = append(bodies, fmt.Sprintf(`{"id":"%s","text":"%s"}`, id(i+1), strings.Repeat("p", size)))
			if len(bodies) == 10 {
				for _, body := range bodies {
					s.create("/papers", body)
				}
				bodies = nil
			}
		}
		for i := range remarksCount {
			paper := "null"
			if i%7 > 0 {
				paper = quoted(id(1 + i%papersCount))
			}
			bodies = append(bodies, fmt.Sprintf(`{"id":"%s","text":"R","rank":%d,"paper_id":%s}`, id(1000+i), i%100, paper))
		}
		s.createAll("/remarks", bodies[:600]...)
		s.createAll("/remarks", bodies[600:]...)
		type paper struct{ ID, Text string }
		type remark struct {
			ID    string
			Rank  int
			Paper *paper
			Place *string `json:"paper_id"`
			// The columns of papers have other types at their places.
			CreatedAt time.Time `json:"created_at"`
			UpdatedAt time.Time `json:"updated_at"`
		}
		for _, order := range []string{"", "&sort=rank", "&sort=-rank"} {
			response, err := http.Get(s.base + "/remarks?include=paper&limit=100000" + order)
			if err != nil {
				t.Fatal(err)
			}
			body, err := io.ReadAll(response.Body)
			response.Body.Close()
			var list struct{ Data []remark }
			if err == nil {
				err = json.Unmarshal(body, &list)
			}
			if err != nil || len(list.Data) != remarksCount {
				t.Fatalf("%s: %d resources, %v", order, len(list.Data), err)
			}
			seen := map[string]bool{}
			for i, each := range list.Data {
				seen[each.ID] = true
				if each.CreatedAt.IsZero() || !each.UpdatedAt.Equal(each.CreatedAt) {
					t.Fatalf("%s: remark %s was created at %v and updated at %v", order, each.ID, each.CreatedAt, each.UpdatedAt)
				}
				if (each.Place == nil) != (each.Paper == nil) || each.Place != nil && (each.Paper.ID != *each.Place || len(each.Paper.Text) < 10) {
					t.Fatalf("%s: remark %s of %v has %.100v", order, each.ID, each.Place, each.Paper)
				}
				if i > 0 && (order == "&sort=rank" && list.Data[i-1].Rank > each.Rank || order == "&sort=-rank" && list.Data[i-1].Rank < each.Rank || order == "" && list.Data[i-1].ID >= each.ID) {
					t.Fatalf("%s: not in order at %d", order, i)
				}
			}
			if len(seen) != remarksCount {
				t.Errorf("%s: %d different resources", order, len(seen))
			}
		}
	})
}

// TestIncludeIsBounded: the related resources of one resource fit into memory, or are refused.
func TestIncludeIsBounded(t *testing.T) {
	eachStore(t, papers(t), func(t *testing.T, s *server) {
		s.createAll("/papers", `{"id":"`+id(1)+`"}`, `{"id":"`+id(2)+`","text":"`+strings.Repeat("p", 700_000)+`"}`)
		for i := range 12 {
			s.create("/remarks", fmt.Sprintf(`{"id":"%s","text":"%s","paper_id":"%s"}`, id(100+i), strings.Repeat("r", 800_000), id(1)))
		}
		var small []string
		for i := range 20 {
			small = append(small, fmt.Sprintf(`{"id":"%s","text":"r","paper_id":"%s"}`, id(200+i), id(2)))
		}
		s.createAll("/remarks", small...)
		if a := s.get("/papers/" + id(1) + "?include=remarks"); a.status != 200 || len(a.body) < 8_000_000 { // 10 of 800 KB
			t.Errorf("%d with %d bytes", a.status, len(a.body))
		}
		large := "?include=remarks&include[remarks][limit]=12"
		s.get("/papers/"+id(1)+large).expectErrors(t, 400, "limit_too_large include")
		s.get("/papers"+large).expectErrors(t, 400, "limit_too_large include")
		if a := s.get("/papers" + large + "&fields[remarks]=rank"); a.status != 200 {
			t.Errorf("%d %.200s", a.status, a.body)
		}
		// The same resource again and again.
		s.get("/papers/"+id(2)+"?include=remarks.paper&include[remarks][limit]=20").expectErrors(t, 400, "limit_too_large include")
		if a := s.get("/papers/" + id(2) + "?include=remarks.paper"); a.status != 200 || len(a.body) < 7_000_000 {
			t.Errorf("%d with %d bytes", a.status, len(a.body))
		}
	})
}
