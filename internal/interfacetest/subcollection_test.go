package interfacetest

import (
	"testing"

	"github.com/plural-go/plural/schema"
)

// expectTotals compares the totals of the posts of users 0 and 1, and of all.
func expectTotals(t *testing.T, s *server, zero, one, all string) {
	t.Helper()
	got := [3]string{s.get("/users/" + id(0) + "/posts?limit=0").total(), s.get("/users/" + id(1) + "/posts?limit=0").total(), s.get("/posts?limit=0").total()}
	if want := [3]string{zero, one, all}; got != want {
		t.Errorf("the totals are %v, want %v", got, want)
	}
}

func TestSubCollectionRead(t *testing.T) {
	eachStore(t, schema.Example(), func(t *testing.T, s *server) {
		startPosts(s)
		list := s.get("/users/" + id(0) + "/posts")
		list.expect(t, 200, data(post(0, "Zero", quoted(id(0))), post(2, "Two", quoted(id(0)))))
		address := "</users/" + id(0) + "/posts?"
		list.expectHeaders(t, "Link: "+address+`limit=100>; rel="first", `+address+`limit=-100>; rel="last"`, "X-Total-Count: 2")
		s.get("/users/"+id(2)+"/posts").expect(t, 200, data())
		one := s.get("/users/" + id(0) + "/posts/" + id(2))
		one.expect(t, 200, `{"data":`+post(2, "Two", quoted(id(0)))+`}`)
		one.expectHeaders(t, tagged)
		// Every child is also in its own collection.
		s.get("/posts/"+id(2)).expect(t, 200, one.timeless())
		s.get("/posts").expect(t, 200, data(post(0, "Zero", quoted(id(0))), post(1, "One", quoted(id(1))), post(2, "Two", quoted(id(0))), post(3, "Three", "null")))
		expectTotals(t, s, "2", "1", "4")
	})
}

// TestSubCollectionOfAnotherParent: unknown parents, and children of others, are not
// found by any operation, and nothing happens to them.
func TestSubCollectionOfAnotherParent(t *testing.T) {
	eachStore(t, schema.Example(), func(t *testing.T, s *server) {
		startPosts(s)
		before := s.get("/posts").body
		for _, path := range []string{
			"/users/" + id(9) + "/posts/" + id(0), // no such parent
			"/users/" + id(1) + "/posts/" + id(0), // of another parent
			"/users/" + id(0) + "/posts/" + id(3), // of no parent
			"/users/" + id(0) + "/posts/" + id(9), // no such child
			"/users/" + id(0) + "/posts/x",
			"/users/x/posts/" + id(0),
			"/users/" + id(0) + "/users/" + id(0),
			"/users/" + id(0) + "/nope/" + id(0),
			"/posts/" + id(0) + "/users/" + id(0),
			"/users/" + id(0) + "/posts/" + id(0) + "/posts",
		} {
			for method, body := range map[string]string{"GET": "", "HEAD": "", "PUT": `{"title":"X"}`, "PATCH": `{"title":"X"}`, "DELETE": ""} {
				if got := s.do(method, path, body); got.status != 404 {
					t.Errorf("%s %s: %d %s", method, path, got.status, got.body)
				}
			}
		}
		for _, path := range []string{"/users/" + id(9) + "/posts", "/users/x/posts", "/users/" + id(0) + "/nope"} {
			s.expectRefusal(t, "GET", path, "", 404, "not_found")
			s.expectRefusal(t, "POST", path, `{"title":"X"}`, 404, "not_found")
			s.expectRefusal(t, "POST", path, `[]`, 404, "not_found")
		}
		if after := s.get("/posts").body; after != before {
			t.Errorf("got  %s\nwant %s", after, before)
		}
		expectTotals(t, s, "2", "1", "4")
	})
}

// TestSubCollectionCreate: the parent comes from the path, and Location is the
// canonical path.
func TestSubCollectionCreate(t *testing.T) {
	eachStore(t, schema.Example(), func(t *testing.T, s *server) {
		startPosts(s)
		path := "/users/" + id(1) + "/posts"
		created := s.do("POST", path, `{"id":"`+id(4)+`","title":"Four"}`)
		created.expect(t, 201, `{"data":`+post(4, "Four", quoted(id(1)))+`}`)
		created.expectHeaders(t, tagged, "Location: /posts/"+id(4))
		s.do("POST", path, `{"id":"`+id(5)+`","title":"Five","user_id":"`+id(1)+`"}`).expect(t, 201, `{"data":`+post(5, "Five", quoted(id(1)))+`}`)
		s.do("POST", path, `[{"id":"`+id(6)+`","title":"Six"},{"id":"`+id(7)+`","title":"Seven"}]`).expect(t, 201,
			data(post(6, "Six", quoted(id(1))), post(7, "Seven", quoted(id(1)))))
		s.do("POST", path, `[]`).expect(t, 201, data())
		s.do("POST", path, `{"user_id":"`+id(0)+`"}`).expectErrors(t, 422, "parent_mismatch /user_id")
		s.do("POST", path, `{"user_id":null,"nope":1}`).expectErrors(t, 422, "unknown_attribute /nope", "parent_mismatch /user_id")
		s.do("POST", path, `[{},{"user_id":"`+id(9)+`"}]`).expectErrors(t, 422, "parent_mismatch /1/user_id")
		s.do("POST", path, `{"id":"`+id(0)+`"}`).expectErrors(t, 409, "id_exists /id")
		s.get(path).expectPositions(t, path, 1, 4, 5, 6, 7)
		expectTotals(t, s, "2", "5", "8")
	})
}

func TestSubCollectionReplace(t *testing.T) {
	eachStore(t, schema.Example(), func(t *testing.T, s *server) {
		startPosts(s)
		path := "/users/" + id(0) + "/posts/" + id(2)
		s.do("PUT", path, `{"title":"New"}`).expect(t, 200, `{"data":`+post(2, "New", quoted(id(0)))+`}`)
		s.do("PUT", path, `{"title":"Newer","user_id":"`+id(0)+`"}`).expect(t, 200, `{"data":`+post(2, "Newer", quoted(id(0)))+`}`)
		s.do("PUT", path, `{"title":"X","user_id":"`+id(1)+`"}`).expectErrors(t, 422, "parent_mismatch /user_id")
		s.do("PUT", path, `{"title":"X","user_id":null}`).expectErrors(t, 422, "parent_mismatch /user_id")
		s.get(path).expect(t, 200, `{"data":`+post(2, "Newer", quoted(id(0)))+`}`)
		expectTotals(t, s, "2", "1", "4")
		// On its own path the parent is an attribute like any other.
		s.do("PUT", "/posts/"+id(2), `{"title":"Free"}`).expect(t, 200, `{"data":`+post(2, "Free", "null")+`}`)
		s.get(path).expectErrors(t, 404, "not_found")
		expectTotals(t, s, "1", "1", "4")
	})
}

// TestSubCollectionMove: PATCH may give a child another parent, or none.
func TestSubCollectionMove(t *testing.T) {
	eachStore(t, schema.Example(), func(t *testing.T, s *server) {
		startPosts(s)
		path := "/users/" + id(0) + "/posts/" + id(2)
		s.do("PATCH", path, `{"title":"Same"}`).expect(t, 200, `{"data":`+post(2, "Same", quoted(id(0)))+`}`)
		s.do("PATCH", path, `{"user_id":"`+id(9)+`"}`).expectErrors(t, 422, "unknown_reference /user_id")
		s.do("PATCH", path, `{"user_id":"`+id(1)+`"}`).expect(t, 200, `{"data":`+post(2, "Same", quoted(id(1)))+`}`)
		s.get(path).expectErrors(t, 404, "not_found")
		s.do("PATCH", path, `{"user_id":"`+id(0)+`"}`).expectErrors(t, 404, "not_found")
		s.get("/users/"+id(1)+"/posts").expectPositions(t, "of user 1", 1, 2)
		s.get("/users/"+id(0)+"/posts").expectPositions(t, "of user 0", 0)
		expectTotals(t, s, "1", "2", "4")
		s.do("PATCH", "/users/"+id(1)+"/posts/"+id(1), `{"user_id":null}`).expect(t, 200, `{"data":`+post(1, "One", "null")+`}`)
		expectTotals(t, s, "1", "1", "4")
		s.do("PATCH", "/posts/"+id(3), `{"user_id":"`+id(0)+`"}`).expect(t, 200, `{"data":`+post(3, "Three", quoted(id(0)))+`}`)
		expectTotals(t, s, "2", "1", "4")
	})
}

func TestSubCollectionDelete(t *testing.T) {
	eachStore(t, schema.Example(), func(t *testing.T, s *server) {
		startPosts(s)
		s.do("DELETE", "/users/"+id(0)+"/posts/"+id(2), "").expect(t, 200, `{"data":`+post(2, "Two", quoted(id(0)))+`}`)
		s.do("DELETE", "/users/"+id(0)+"/posts/"+id(2), "").expectErrors(t, 404, "not_found")
		s.get("/posts/"+id(2)).expectErrors(t, 404, "not_found")
		expectTotals(t, s, "1", "1", "3")
		// The example's posts outlive their author.
		s.do("DELETE", "/users/"+id(0), "").expect(t, 200, `{"data":`+user(0)+`}`)
		s.get("/users/"+id(0)+"/posts").expectErrors(t, 404, "not_found")
		s.get("/posts").expect(t, 200, data(post(0, "Zero", "null"), post(1, "One", quoted(id(1))), post(3, "Three", "null")))
		// Another user with the same id does not inherit anything.
		s.createAll("/users", `{"id":"`+id(0)+`","name":"A","email":"a@example.com"}`)
		s.get("/users/"+id(0)+"/posts").expect(t, 200, data())
		expectTotals(t, s, "0", "1", "3")
	})
}

// TestSubCollectionRanges: positions, cursors, filters and sort are those of
// the sub-collection.
func TestSubCollectionRanges(t *testing.T) {
	eachStore(t, schema.Example(), func(t *testing.T, s *server) {
		startPosts(s)
		path := "/users/" + id(0) + "/posts"
		for query, want := range map[string][]int{
			"limit=1":                      {0},
			"limit=-1":                     {2},
			"offset=1&limit=5":             {2},
			"offset=9&limit=-9":            {0, 2},
			"cursor=" + id(2):              {2},
			"cursor=" + id(2) + "&l=-5":    {0},
			"sort=-id":                     {2, 0},
			"sort=title":                   {2, 0},
			"filter[title]=Two":            {2},
			"filter[user_id]=" + id(1):     {},
			"filter[user_id][ne]=" + id(1): {0, 2},
		} {
			s.get(path+"?"+query).expectPositions(t, query, want...)
		}
		s.get(path+"?cursor="+id(1)).expectErrors(t, 400, "unknown_cursor cursor")
		s.get(path+"?nope=1").expectErrors(t, 400, "unknown_parameter nope")
	})
}
