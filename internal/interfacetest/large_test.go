package interfacetest

import (
	"testing"
)

// TestNamesReservedInSQL runs every operation over names that mean
// something in SQL.
func TestNamesReservedInSQL(t *testing.T) {
	thing := func(position int, rest string) string {
		return `{"id":"` + id(position) + `","type":"sqlite_things",` + rest + `}`
	}
	eachStore(t, large(t), func(t *testing.T, s *server) {
		first := `"xmin":1,"order":2,"select":true,"rowid":3,"group":"g","data":{"data":{}}`
		s.do("POST", "/sqlite_things", `{"id":"`+id(0)+`",`+first+`}`).expect(t, 201, `{"data":`+thing(0, first)+`}`)
		s.do("POST", "/sqlite_things", `{"order":2,"rowid":3,"group":"g"}`).expectErrors(t, 409, "not_unique /order", "not_unique /rowid")
		second := `"xmin":-1,"order":2,"select":null,"rowid":null,"group":"h","data":null`
		s.do("POST", "/sqlite_things", `{"id":"`+id(1)+`",`+second+`}`).expect(t, 201, `{"data":`+thing(1, second)+`}`)
		s.get("/sqlite_things?sort=xmin").expect(t, 200, data(thing(1, second), thing(0, first)))
		s.get("/sqlite_things?filter[select]&filter[order]=2&filter[group][gte]=g&filter[rowid][null]=false&filter[xmin][lt]=5&filter[data]").expect(t, 200, data(thing(0, first)))
		s.get("/sqlite_thing/"+id(1)).expect(t, 200, `{"data":`+thing(1, second)+`}`)
		s.do("PATCH", "/sqlite_things/"+id(1), `{"group":"g"}`).expectErrors(t, 409, "not_unique /order")
		changed := `"xmin":0,"order":2,"select":null,"rowid":null,"group":"h","data":{"x":[1]}`
		s.do("PATCH", "/sqlite_things/"+id(1), `{"xmin":0,"data":{"x":[1]}}`).expect(t, 200, `{"data":`+thing(1, changed)+`}`)

		groups := "/user-groups/" + id(0) + "/members"
		s.createAll("/user-groups", with(0), with(1))
		member := `{"id":"` + id(0) + `","type":"members","name":"A","thing_id":"` + id(0) + `","user_group_id":"` + id(0) + `","created_at":"TIME","updated_at":"TIME"}`
		s.do("POST", groups, `{"id":"`+id(0)+`","name":"A","thing_id":"`+id(0)+`"}`).expect(t, 201, `{"data":`+member+`}`)
		s.do("POST", groups, `{"name":"A"}`).expectErrors(t, 409, "not_unique /user_group_id")
		s.do("POST", "/user-groups/"+id(1)+"/members", `{"id":"`+id(1)+`","name":"A"}`)
		list := s.get(groups)
		list.expect(t, 200, data(member))
		list.expectHeaders(t, "Link: "+linkHeader(groups, "first", "limit=100", "last", "limit=-100"), "X-Total-Count: 1")
		s.get("/user-group/"+id(0)).expectHeaders(t, tagged, "Content-Location: /user-groups/"+id(0))
		s.do("DELETE", "/sqlite_things/"+id(0), "").expect(t, 200, `{"data":`+thing(0, first)+`}`)
		s.get("/members?filter[thing_id][null]=true").expectPositions(t, "after the thing has gone", 0, 1)
		s.do("DELETE", "/user-groups/"+id(0), "")
		s.get("/members").expectPositions(t, "after the group has gone", 1)
	})
}
