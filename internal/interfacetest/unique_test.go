package interfacetest

import (
	"strconv"
	"strings"
	"testing"

	"github.com/plural-go/plural/schema"
)

func accounts(t *testing.T) *schema.Schema {
	return mustSchema(t, schema.Collection{Name: "accounts", NoTimestamps: true,
		Attributes: []schema.Attribute{
			{Name: "email", Type: schema.String, MaxLength: 100, Unique: true},
			{Name: "region", Type: schema.String, MaxLength: 10},
			{Name: "number", Type: schema.Integer},
		},
		Unique: [][]string{{"region", "number"}},
	})
}

func account(position int, email, region, number string) string {
	return `{"id":"` + id(position) + `","type":"accounts","email":` + email + `,"region":` + region + `,"number":` + number + `}`
}

func TestUniqueOnCreate(t *testing.T) {
	eachStore(t, accounts(t), func(t *testing.T, s *server) {
		s.createAll("/accounts", account(0, `"a"`, `"eu"`, `1`), account(1, `"b"`, `"eu"`, `2`))
		s.expectRefusal(t, "POST", "/accounts", `{"email":"a"}`, 409, "not_unique /email")
		s.expectRefusal(t, "POST", "/accounts", `{"region":"eu","number":2}`, 409, "not_unique /region")
		s.expectRefusal(t, "POST", "/accounts", `{"id":"`+id(0)+`","email":"b","region":"eu","number":1}`, 409, "id_exists /id", "not_unique /region", "not_unique /email")
		s.expectRefusal(t, "POST", "/accounts", `[{"email":"c"},{"email":"a"}]`, 409, "not_unique /1/email")
		s.expectRefusal(t, "POST", "/accounts", `[{"email":"c"},{"email":"d"},{"email":"c","region":"eu","number":1}]`, 409, "not_unique /2/region", "not_unique /2/email")
		s.expectRefusal(t, "POST", "/accounts", `[{"email":"a"},{"number":"x"}]`, 422, "type /1/number")
		// Case, and what looks alike, are different values.
		s.createAll("/accounts", account(2, `"A"`, `"EU"`, `1`), account(3, `"a "`, `"us"`, `1`))
		s.get("/accounts").expect(t, 200, data(account(0, `"a"`, `"eu"`, `1`), account(1, `"b"`, `"eu"`, `2`), account(2, `"A"`, `"EU"`, `1`), account(3, `"a "`, `"us"`, `1`)))
	})
}

// TestUniqueNull: null equals nothing, nor does a group with a null in it.
func TestUniqueNull(t *testing.T) {
	eachStore(t, accounts(t), func(t *testing.T, s *server) {
		bodies := []string{
			account(0, `null`, `null`, `null`), account(1, `null`, `null`, `null`),
			account(2, `null`, `"eu"`, `null`), account(3, `null`, `"eu"`, `null`),
			account(4, `null`, `null`, `1`), account(5, `null`, `null`, `1`),
		}
		s.createAll("/accounts", bodies...)
		s.get("/accounts").expect(t, 200, data(bodies...))
		s.do("PATCH", "/accounts/"+id(2), `{"number":1}`).expect(t, 200, `{"data":`+account(2, `null`, `"eu"`, `1`)+`}`)
		s.do("PATCH", "/accounts/"+id(3), `{"number":1}`).expectErrors(t, 409, "not_unique /region")
		s.do("PATCH", "/accounts/"+id(4), `{"region":"eu"}`).expectErrors(t, 409, "not_unique /region")
	})
}

func TestUniqueOnUpdate(t *testing.T) {
	eachStore(t, accounts(t), func(t *testing.T, s *server) {
		s.createAll("/accounts", account(0, `"a"`, `"eu"`, `1`), account(1, `"b"`, `"eu"`, `2`))
		s.do("PATCH", "/accounts/"+id(1), `{"email":"a"}`).expectErrors(t, 409, "not_unique /email")
		s.do("PATCH", "/accounts/"+id(1), `{"email":"a","number":1}`).expectErrors(t, 409, "not_unique /region", "not_unique /email")
		s.do("PUT", "/accounts/"+id(1), `{"email":"c","region":"eu","number":1}`).expectErrors(t, 409, "not_unique /region")
		s.get("/accounts/"+id(1)).expect(t, 200, `{"data":`+account(1, `"b"`, `"eu"`, `2`)+`}`)
		// Its own values are no conflict.
		s.do("PUT", "/accounts/"+id(1), `{"email":"b","region":"eu","number":3}`).expect(t, 200, `{"data":`+account(1, `"b"`, `"eu"`, `3`)+`}`)
		// A value that was given up, or deleted, is free.
		s.do("PATCH", "/accounts/"+id(0), `{"number":2}`).expect(t, 200, `{"data":`+account(0, `"a"`, `"eu"`, `2`)+`}`)
		s.do("DELETE", "/accounts/"+id(0), "")
		s.do("PATCH", "/accounts/"+id(1), `{"email":"a","number":2}`).expect(t, 200, `{"data":`+account(1, `"a"`, `"eu"`, `2`)+`}`)
	})
}

// TestConflictsInAnArrayWithReferences: who refers to an item of the same array that is
// in conflict is not to blame for that.
func TestConflictsInAnArrayWithReferences(t *testing.T) {
	nodes := mustSchema(t, schema.Collection{Name: "nodes", NoTimestamps: true, Attributes: []schema.Attribute{
		{Name: "name", Type: schema.String, MaxLength: 10, Unique: true}, reference("node_id", "nodes", schema.Cascade),
	}})
	eachStore(t, nodes, func(t *testing.T, s *server) {
		s.createAll("/nodes", `{"id":"`+id(0)+`","name":"a"}`)
		s.expectRefusal(t, "POST", "/nodes", `[{"id":"`+id(1)+`","name":"a"},{"id":"`+id(2)+`","node_id":"`+id(1)+`"}]`, 409, "not_unique /0/name")
		s.get("/nodes").expect(t, 200, data(`{"id":"`+id(0)+`","type":"nodes","name":"a","node_id":null}`))
	})
}

// TestUniqueEmail: the format bounds an email, so that it is indexed without a maxLength,
// also one that is as long as can be.
func TestUniqueEmail(t *testing.T) {
	s := mustSchema(t, schema.Collection{Name: "accounts", NoTimestamps: true, Attributes: []schema.Attribute{{Name: "email", Type: schema.String, Format: schema.Email, Unique: true}}})
	longest := strings.Repeat("a", 64) + "@" + strings.Repeat(strings.Repeat("b", 62)+".", 3)
	if longest = longest[:253] + "c"; len(longest) != 254 {
		t.Fatal(len(longest))
	}
	eachStore(t, s, func(t *testing.T, s *server) {
		s.createAll("/accounts", `{"id":"`+id(0)+`","type":"accounts","email":"`+longest+`"}`)
		s.expectRefusal(t, "POST", "/accounts", `{"email":"`+longest+`"}`, 409, "not_unique /email")
		s.expectRefusal(t, "POST", "/accounts", `{"email":"`+longest+`c"}`, 422, "format /email")
		s.get("/accounts?filter[email]="+longest).expect(t, 200, data(`{"id":"`+id(0)+`","type":"accounts","email":"`+longest+`"}`))
	})
}

// TestSameIDTwice: of two items with one id, the one that was not stored is named.
func TestSameIDTwice(t *testing.T) {
	made := mustSchema(t, schema.Collection{Name: "codes", NoTimestamps: true, Attributes: []schema.Attribute{{Name: "code", Type: schema.Integer, Unique: true}}})
	eachStore(t, made, func(t *testing.T, s *server) {
		item := func(n, code int) string { return `{"id":"` + id(n) + `","code":` + strconv.Itoa(code) + `}` }
		s.createAll("/codes", item(0, 0))
		for _, c := range []struct {
			items []string
			want  []string
		}{
			{[]string{item(1, 1), item(1, 2)}, []string{"id_exists /1/id"}},
			// The first has the code of another resource, so that the second is stored.
			{[]string{item(1, 0), item(1, 2)}, []string{"id_exists /0/id", "not_unique /0/code"}},
			{[]string{item(1, 0), item(1, 2), item(2, 3), item(1, 4), item(2, 5)}, []string{"id_exists /0/id", "not_unique /0/code", "id_exists /3/id", "id_exists /4/id"}},
		} {
			s.do("POST", "/codes", "["+strings.Join(c.items, ",")+"]").expectErrors(t, 409, c.want...)
		}
		s.get("/codes").expect(t, 200, data(`{"id":"`+id(0)+`","type":"codes","code":0}`))
	})
}
