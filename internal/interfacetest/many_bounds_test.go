package interfacetest

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/plural-go/plural"
	"github.com/plural-go/plural/schema"
)

const hiddenTextsFile = `
collections:
  texts:
    timestamps: false
    attributes:
      code: {type: integer, unique: true}
      note: {type: string}
      secret: {type: string}
access:
  roles:
    admin:
      texts: [list, read, create, update, delete]
    clerk:
      texts: {list: true, read: true, create: true, update: true, delete: true, visible: [code, note], writable: [code, note]}
    keeper:
      texts: {list: true, read: true, update: true, visible: [code, note], writable: [secret]}
`

// TestBytesOfMany: the number of resources that a request changes does not bound their memory, so that their bytes are bounded
// too. What is hidden from the caller does not count, so that the bound tells nothing of it. It is not lost either.
func TestBytesOfMany(t *testing.T) {
	file, err := schema.Parse([]byte(hiddenTextsFile))
	if err != nil {
		t.Fatal(err)
	}
	const count = 66
	eachStore(t, file.Schema, func(t *testing.T, s *server) {
		h := &accessServer{server: s, keys: map[string]string{"": ""}}
		for _, role := range []string{"admin", "clerk", "keeper"} {
			h.key(role, role, "")
		}
		var rows, upserts, notes, all []string
		for n := range count {
			secret := strings.Repeat(string(rune('a'+n%26)), 3<<17)
			rows = append(rows, `{"id":"`+id(n)+`","code":`+strconv.Itoa(n)+`,"secret":"`+secret+`"}`)
			upserts = append(upserts, `{"code":`+strconv.Itoa(n)+`,"note":"u"}`)
			notes = append(notes, `{"id":"`+id(n)+`","type":"texts","code":`+strconv.Itoa(n)+`,"note":"n"}`)
			all = append(all, `{"id":"`+id(n)+`","type":"texts","code":`+strconv.Itoa(n)+`,"note":"u","secret":"`+secret+`"}`)
		}
		for part := range slices.Chunk(rows, 11) {
			h.must("POST", "/texts", "["+strings.Join(part, ",")+"]")
		}
		h.as("admin", "PATCH", "/texts?limit=66", `{"note":"n"}`).expectErrors(t, 413, "too_many_items")
		h.as("admin", "DELETE", "/texts?limit=66&dry_run=true", "").expectErrors(t, 413, "too_many_items")
		step := `{"method":"PATCH","path":"/texts/` + id(0) + `","body":{}}`
		h.as("admin", "POST", "/-/transaction", "["+strings.Join(slices.Repeat([]string{step}, count), ",")+"]").expectErrors(t, 413, "too_many_items /63/path")
		h.as("admin", "POST", "/texts?on_conflict=code", "["+strings.Join(upserts, ",")+"]").expectErrors(t, 413, "too_many_items")
		if got := h.as("admin", "PATCH", "/texts?limit=60", `{"note":"x"}`); got.status != 200 {
			t.Errorf("a range of 22.5 MiB is refused: %d %.200s", got.status, got.body)
		}
		h.as("clerk", "PATCH", "/texts?limit=66", `{"note":"n"}`).expect(t, 200, data(notes...))
		updated := strings.ReplaceAll(data(notes...), `"note":"n"`, `"note":"u"`)
		h.as("clerk", "POST", "/texts?on_conflict=code", "["+strings.Join(upserts, ",")+"]").expect(t, 200, updated)
		if got := h.as("admin", "GET", "/texts?limit=66", ""); got.body != data(all...) {
			t.Errorf("the hidden texts have changed: %.200s", got.body)
		}
		// Conflicts are found, whatever else a resource has.
		h.as("clerk", "PATCH", "/texts?limit=66", `{"code":1}`).expectErrors(t, 409, "not_unique /code")
		h.as("keeper", "PATCH", "/texts?limit=66&offset=1", `{"secret":null}`).expectLength(t, count-1)
		h.as("admin", "GET", "/texts?filter[secret]&fields=code", "").expectPositions(t, "with a secret", 0)
		h.must("PATCH", "/texts?limit=20", `{"secret":"`+strings.Repeat("x", 3<<17)+`","code":null}`)
		h.as("clerk", "DELETE", "/texts?limit=66", "").expectLength(t, count)
	}, func(c *plural.Config) { c.MaxBody, c.Access = 32<<20, file.Access })
}

const hiddenStatesFile = `
collections:
  nodes:
    timestamps: false
    attributes:
      code: {type: string, maxLength: 10, unique: true}
      note: {type: string}
      state: {type: string}
      secret: {type: string}
      parent_id: {references: nodes}
access:
  roles:
    admin:
      nodes: [list, read, create, update, delete]
    guest:
      nodes: {list: true, read: true, create: resource.parent.state != "closed", update: true, visible: [code, note, parent_id], writable: [code, note, parent_id]}
`

// TestCreateRulesReadHiddenValues: a rule of create reads a hidden attribute of a resource that the same request updates.
func TestCreateRulesReadHiddenValues(t *testing.T) {
	file, err := schema.Parse([]byte(hiddenStatesFile))
	if err != nil {
		t.Fatal(err)
	}
	eachStore(t, file.Schema, func(t *testing.T, s *server) {
		h := &accessServer{server: s, keys: map[string]string{"": ""}}
		h.key("admin", "admin", "")
		h.key("guest", "guest", "g")
		h.must("POST", "/nodes", `{"id":"`+id(1)+`","code":"1","state":"closed","secret":"`+strings.Repeat("x", 5<<20)+`"}`)
		h.must("POST", "/nodes", `{"id":"`+id(2)+`","code":"2","state":"closed","secret":"short"}`)
		h.must("PATCH", "/nodes/"+id(2), `{"secret":"`+strings.Repeat("x", 5<<20)+`"}`)
		for _, n := range []int{2, 1} {
			got := h.as("guest", "POST", "/nodes?on_conflict=code", `[{"code":"1","note":"x"},{"code":"2","note":"x"},{"code":"9`+string(rune('0'+n))+`","parent_id":"`+id(n)+`"}]`)
			got.expectErrors(t, 403, "forbidden /2")
		}
	}, func(c *plural.Config) { c.MaxBody, c.Access = 32<<20, file.Access })
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

const searchedTextsFile = `
collections:
  texts:
    timestamps: false
    search: [title, body]
    attributes:
      title: {type: string}
      body: {type: string}
access:
  roles:
    admin:
      texts: [list, read, create, update, delete]
    clerk:
      texts: {list: true, read: true, update: true, visible: [title], writable: [title, body]}
`

// TestWordsOfMany: a request gives the search index a bounded number of words, because that takes long.
func TestWordsOfMany(t *testing.T) {
	file, err := schema.Parse([]byte(searchedTextsFile))
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	for n := 0; text.Len() < 400_000; n++ {
		text.WriteString(" w" + strconv.FormatInt(int64(n), 36) + strings.Repeat("x", 55))
	}
	const count = 25 // 10 MB of words
	eachStore(t, file.Schema, func(t *testing.T, s *server) {
		h := &accessServer{server: s, keys: map[string]string{"": ""}}
		h.key("admin", "admin", "")
		h.key("clerk", "clerk", "")
		var short, all []string
		for n := range count {
			short = append(short, `{"id":"`+id(n)+`","title":"t`+strconv.Itoa(n)+`"}`)
			all = append(all, `{"id":"`+id(n)+`","type":"texts","title":"new"}`)
		}
		h.must("POST", "/texts", "["+strings.Join(short, ",")+"]")
		before := h.as("admin", "GET", "/texts", "").body
		for _, role := range []string{"admin", "clerk"} {
			got := h.as(role, "PATCH", "/texts?limit=25", `{"body":"`+text.String()+`"}`)
			got.expectErrors(t, 413, "too_many_items")
			if want := "The texts that this request changes have more than 1 MiB of different words, counted for each resource. Change fewer at once."; !strings.Contains(got.body, want) {
				t.Errorf("got %s", got.body)
			}
		}
		if after := h.as("admin", "GET", "/texts", "").body; after != before {
			t.Errorf("got  %s\nwant %s", after, before)
		}
		h.as("clerk", "PATCH", "/texts?limit=2", `{"body":"`+text.String()+`"}`).expectLength(t, 2)
		// Few different words, and words that stay.
		h.as("clerk", "PATCH", "/texts?limit=25", `{"title":"`+strings.Repeat("again ", 80_000)+`"}`).expectLength(t, count)
		h.as("clerk", "PATCH", "/texts?limit=25", `{"title":"new"}`).expect(t, 200, data(all...))
		h.as("clerk", "GET", "/texts?search=new&limit=100", "").expect(t, 200, data(all...))
		h.as("admin", "GET", "/texts?search=new+w1xxx&limit=100&fields=title", "").expect(t, 200, data(all[:2]...))
		h.as("admin", "GET", "/texts?search=again", "").expect(t, 200, data())
	}, func(c *plural.Config) { c.Access = file.Access })
}
