package interfacetest

import (
	"fmt"
	"strings"
	"testing"
)

// bombFile has texts that double from attribute to attribute.
const bombFile = `
collections:
  things:
    timestamps: false
    attributes:
      n: {type: integer}
      a: {type: string}
      twice: {type: string, computed: resource.a + resource.a}
      four: {type: string, computed: resource.twice + resource.twice}
      eight: {type: string, computed: dyn(resource.four) + dyn(resource.four)}
      list: {type: boolean, computed: "['a', 'b'].all(x, size(resource.four + x) > 0)"}
`

// TestTextsOfRulesAreBounded: computed attributes cannot make texts of any length, nor can those of a range together.
func TestTextsOfRulesAreBounded(t *testing.T) {
	t.Parallel()
	withFile(t, bombFile, func(t *testing.T, s *server) {
		const outOfRange = "The value cannot be computed from these values."
		body := func(size int) string { return `{"a":"` + strings.Repeat("a", size) + `"}` }
		s.do("POST", "/things", body(128<<10+1)).expectDetails(t, 422, "/eight: "+outOfRange, "/list: "+outOfRange)
		s.do("POST", "/things", body(1<<20-100)).expectDetails(t, 422, "/twice: "+outOfRange)
		a := strings.Repeat("a", 1000)
		s.do("POST", "/things?dry_run=true", `{"id":"`+id(1)+`","a":"`+a+`"}`).expect(t, 201, one(fmt.Sprintf(
			`{"id":"%s","type":"things","n":null,"a":"%s","twice":"%s","four":"%s","eight":"%s","list":true}`, id(1), a, a+a, a+a+a+a, strings.Repeat(a, 8))))

		var bodies []string
		for n := range 30 {
			bodies = append(bodies, fmt.Sprintf(`{"id":"%s","n":%d}`, id(n), n))
		}
		s.createAll("/things", bodies...)
		s.do("PATCH", "/things?limit=30", body(64<<10)).expectErrors(t, 413, "too_many_items")
		s.get("/things?filter[a][null]=false").expect(t, 200, data())
		s.do("PATCH", "/things?limit=30", body(4<<10)).expectLength(t, 30)
	})
}

// TestHiddenTextsOfRulesAreBounded: a check reads texts that the caller does not see, and has no pointer to an attribute that
// they may only set.
func TestHiddenTextsOfRulesAreBounded(t *testing.T) {
	t.Parallel()
	withFile(t, `
collections:
  things:
    timestamps: false
    attributes:
      n: {type: integer}
      pin: {type: integer}
      secret: {type: string}
    checks:
      - {rule: resource.secret == null || resource.n < 10, message: It is too large., attribute: pin}
access:
  roles:
    admin: {things: [list, read, create, update, delete]}
    clerk: {things: {list: true, read: true, update: true, visible: [n], writable: [n, pin]}}
`, func(t *testing.T, s *server) {
		h := &accessServer{server: s, keys: map[string]string{"": ""}}
		h.key("admin", "admin", "root")
		h.key("clerk", "clerk", "cleo")
		secret := strings.Repeat("s", 1000<<10)
		for n := range 30 { // more than one write may keep
			h.must("POST", "/things", fmt.Sprintf(`{"id":"%s","n":1,"secret":"%s"}`, id(n), secret))
		}
		h.as("clerk", "PATCH", "/things?limit=30", `{"n":2}`).expectErrors(t, 413, "too_many_items")
		h.as("clerk", "PATCH", "/things?limit=20", `{"n":2}`).expectLength(t, 20)
		h.as("clerk", "PATCH", "/things/"+id(1), `{"n":11,"pin":3}`).expectDetails(t, 422, ": It is too large.")
	})
}
