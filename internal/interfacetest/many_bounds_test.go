package interfacetest

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/plural-go/plural"
	"github.com/plural-go/plural/schema"
)

// TestBytesOfMany: the number of resources that a request changes does not bound their memory, so
// that their bytes are bounded too.
func TestBytesOfMany(t *testing.T) {
	made := mustSchema(t, schema.Collection{Name: "texts", Attributes: []schema.Attribute{
		{Name: "code", Type: schema.Integer, Unique: true}, {Name: "text", Type: schema.String},
	}})
	eachStore(t, made, func(t *testing.T, s *server) {
		var rows []string
		for n := range 66 {
			rows = append(rows, `{"id":"`+id(n)+`","code":`+strconv.Itoa(n)+`,"text":"`+strings.Repeat("a", 1<<20)+`"}`)
		}
		for part := range slices.Chunk(rows, 11) {
			s.createAll("/texts", part...)
		}
		s.do("PATCH", "/texts?limit=66", `{"code":null}`).expectErrors(t, 413, "too_many_items")
		s.do("DELETE", "/texts?limit=66&dry_run=true", "").expectErrors(t, 413, "too_many_items")
		step := `{"method":"PATCH","path":"/texts/` + id(0) + `","body":{}}`
		s.do("POST", "/-/transaction", "["+strings.Join(slices.Repeat([]string{step}, 66), ",")+"]").expectErrors(t, 413, "too_many_items /63/path")
		var upserts []string
		for n := range 66 {
			upserts = append(upserts, `{"code":`+strconv.Itoa(n)+`}`)
		}
		s.do("POST", "/texts?on_conflict=code", "["+strings.Join(upserts, ",")+"]").expectErrors(t, 413, "too_many_items")
		if got := s.do("PATCH", "/texts?limit=60", `{"code":null}`); got.status != 200 {
			t.Errorf("60 MiB are refused: %d %.200s", got.status, got.body)
		}
	}, func(c *plural.Config) { c.MaxBody = 32 << 20 })
}

// TestFilterThatIsRepeated: a database that bounds the depth of a condition is not given a deep one.
func TestFilterThatIsRepeated(t *testing.T) {
	eachStore(t, schema.Example(), func(t *testing.T, s *server) {
		seedUsers(s, 1)
		if ids := s.get("/users?" + strings.Repeat("filter[name]&", 1000) + "limit=2").ids(t); !slices.Equal(ids, []string{id(0)}) {
			t.Errorf("got %q", ids)
		}
	})
}
