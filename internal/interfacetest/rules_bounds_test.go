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
