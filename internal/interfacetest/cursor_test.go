package interfacetest

import (
	"strings"
	"testing"

	"github.com/plural-go/plural/schema"
)

func TestCursor(t *testing.T) {
	t.Parallel()
	eachStore(t, schema.Example(), func(t *testing.T, s *server) {
		seedUsers(s, 10)
		for query, want := range map[string][]int{
			"cursor=" + id(0):                                   from(0, 10),
			"cursor=" + id(9):                                   {9},
			"cursor=" + id(3) + "&limit=4":                      from(3, 7),
			"cursor=" + id(3) + "&limit=-2":                     {1, 2},
			"cursor=" + id(3) + "&limit=-9":                     {0, 1, 2},
			"cursor=" + id(0) + "&limit=-9":                     {},
			"cursor=" + id(3) + "&limit=0":                      {},
			"cursor=" + id(4) + "&filter[active]":               {4, 6, 8},
			"cursor=" + id(3) + "&filter[active]":               {4, 6, 8}, // excluded itself
			"cursor=" + id(3) + "&filter[active]&limit=-1":      {2},
			"cursor=" + id(9) + "&filter[active]":               {},
			"cursor=" + id(9) + "&filter[active]&l=-2":          {6, 8},
			"cursor=" + id(3) + "&sort=-id":                     {3, 2, 1, 0},
			"cursor=" + id(3) + "&sort=-id&limit=-3":            {6, 5, 4},
			"cursor=" + id(3) + "&sort=active":                  {3, 5, 7, 9, 0, 2, 4, 6, 8},
			"cursor=" + id(2) + "&sort=active&limit=-3":         {7, 9, 0},
			"cursor=" + id(2) + "&sort=-active,-id":             {2, 0, 9, 7, 5, 3, 1},
			"cursor=" + id(3) + "&sort=-id&filter[active]":      {2, 0},
			"cursor=" + id(3) + "&sort=-id&filter[active]&l=-9": {8, 6, 4},
		} {
			s.get("/users?"+query).expectPositions(t, query, want...)
		}
		own := "abcdefab-cdef-4abc-8def-abcdefabcdef"
		s.createAll("/users", `{"id":"`+own+`","name":"A","email":"a@example.com"}`)
		if got := s.get("/users?cursor=" + strings.ToUpper(own)).ids(t); len(got) != 1 || got[0] != own {
			t.Errorf("got %v from a cursor in upper case", got)
		}
	})
}

// TestCursorDeleted: a deleted resource keeps its place, but not with sort.
func TestCursorDeleted(t *testing.T) {
	eachStore(t, schema.Example(), func(t *testing.T, s *server) {
		seedUsers(s, 6)
		for _, position := range []int{0, 3, 5} {
			s.do("DELETE", "/users/"+id(position), "")
		}
		for query, want := range map[string][]int{
			"cursor=" + id(3):                               {4},
			"cursor=" + id(3) + "&limit=-9":                 {1, 2},
			"cursor=" + id(3) + "&limit=-1":                 {2},
			"cursor=" + id(0):                               {1, 2, 4},
			"cursor=" + id(0) + "&limit=-1":                 {},
			"cursor=" + id(5):                               {},
			"cursor=" + id(5) + "&limit=-2":                 {2, 4},
			"cursor=" + id(3) + "&filter[active]":           {4},
			"cursor=" + id(3) + "&filter[active]&l=-5":      {2},
			"cursor=" + id(3) + "&filter[active]=false&l=5": {},
		} {
			s.get("/users?"+query).expectPositions(t, query, want...)
		}
		s.get("/users?cursor="+id(3)+"&sort=name").expectErrors(t, 400, "unknown_cursor cursor")
		s.get("/users?cursor="+id(3)+"&sort=-id").expectErrors(t, 400, "unknown_cursor cursor")
		// It never was in another collection.
		s.get("/posts?cursor="+id(3)).expectErrors(t, 400, "unknown_cursor cursor")
		// One that has come back is an ordinary cursor.
		s.createAll("/users", `{"id":"`+id(3)+`","name":"A","email":"a@example.com"}`)
		s.get("/users?cursor="+id(3)).expectPositions(t, "created again", 3, 4)
		s.get("/users?cursor="+id(3)+"&sort=-id").expectPositions(t, "created again, sorted", 3, 2, 1)
	})
}

// TestCursorInSubCollection: a cursor is of this parent, or was when it was
// deleted.
func TestCursorInSubCollection(t *testing.T) {
	eachStore(t, schema.Example(), func(t *testing.T, s *server) {
		startPosts(s)
		s.createAll("/users/"+id(0)+"/posts", `{"id":"`+id(4)+`"}`, `{"id":"`+id(5)+`"}`)
		s.do("DELETE", "/posts/"+id(4), "")
		s.do("DELETE", "/posts/"+id(1), "")
		path := "/users/" + id(0) + "/posts?cursor="
		s.get(path+id(2)).expectPositions(t, "of this parent", 2, 5)
		s.get(path+id(4)).expectPositions(t, "deleted", 5)
		s.get(path+id(4)+"&limit=-9").expectPositions(t, "deleted, backwards", 0, 2)
		s.get(path+id(3)).expectErrors(t, 400, "unknown_cursor cursor")
		s.get(path+id(1)).expectErrors(t, 400, "unknown_cursor cursor")
		s.get("/posts?cursor="+id(1)).expectPositions(t, "deleted, in the collection", 2, 3, 5)
		s.do("PATCH", "/posts/"+id(2), `{"user_id":"`+id(1)+`"}`)
		s.get(path+id(2)).expectErrors(t, 400, "unknown_cursor cursor")
	})
}

// TestCursorDoesNotDrift: pages by cursor show everything once, whatever comes
// and goes before them.
func TestCursorDoesNotDrift(t *testing.T) {
	eachStore(t, schema.Example(), func(t *testing.T, s *server) {
		seedUsers(s, 9)
		page := s.get("/users?limit=3")
		page.expectPositions(t, "first page", 0, 1, 2)
		s.do("DELETE", "/users/"+id(1), "")
		s.do("DELETE", "/users/"+id(3), "") // which the link names
		page = s.get(page.link(t, "next"))
		page.expectPositions(t, "second page", 4, 5, 6)
		s.createAll("/users", `{"id":"`+id(3)+`","name":"A","email":"a@example.com"}`)
		page.expectPositions(t, "the same page", 4, 5, 6)
		page = s.get(page.link(t, "next"))
		page.expectPositions(t, "third page", 7, 8)
		page = s.get(page.link(t, "prev"))
		page.expectPositions(t, "back", 4, 5, 6)
	})
}
