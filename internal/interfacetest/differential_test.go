package interfacetest

import (
	"fmt"
	"log/slog"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/plural-go/plural"
	"github.com/plural-go/plural/internal/pgtest"
	"github.com/plural-go/plural/schema"
)

// TestDatabasesGiveTheSameResponses sends random requests to a server on each store, and the
// answers must be the same but for minted ids, times and the numbers in ETags.
// -rapid.checks says how many sequences of requests there are.
func TestDatabasesGiveTheSameResponses(t *testing.T) {
	t.Parallel()
	declared := differentialSchema(t)
	quiet := func(c *plural.Config) { c.Logger = slog.New(slog.DiscardHandler) }
	sides := []*side{
		{name: "SQLite", server: start(t, declared, "sqlite:"+filepath.Join(t.TempDir(), "test.db"), quiet)},
		{name: "PostgreSQL", server: start(t, declared, pgtest.URL(t), quiet)},
	}
	runs := 0
	statuses := map[int]int{}
	rapid.Check(t, func(t *rapid.T) {
		runs++
		for _, s := range sides {
			s.forget()
		}
		d := &drawing{t: t, run: runs, sides: sides, used: map[string][]string{}}
		sendToAll(t, sides, d.seeding("things"))
		sendToAll(t, sides, d.seeding("parts"))
		for range rapid.IntRange(5, 40).Draw(t, "requests") {
			statuses[sendToAll(t, sides, d.request())]++
		}
		for _, path := range []string{"/", "/things?limit=100000", "/parts?limit=100000&sort=text,-weight"} {
			sendToAll(t, sides, differentialRequest{method: "GET", path: path})
		}
	})
	// The requests must be neither all refused nor all carried out.
	for _, status := range []int{200, 201, 304, 400, 404, 409, 412, 422} {
		if statuses[status] == 0 && runs >= 100 {
			t.Errorf("there was no answer with %d: %v", status, statuses)
		}
	}
}

func differentialSchema(t *testing.T) *schema.Schema {
	t.Helper()
	file, err := schema.Parse([]byte(`
collections:
  things:
    attributes:
      name: {type: string, maxLength: 40, index: true}
      label: {type: string, maxLength: 6, unique: true}
      count: {type: integer, index: true}
      size: {type: number}
      flag: {type: boolean}
      code: {type: string, format: uuid}
      day: {type: string, format: date}
      moment: {type: string, format: date-time, index: true}
      box: {type: object}
      list: {type: array, maxItems: 4}
      spot: {type: object, properties: {city: {type: string, maxLength: 40}, floor: {type: integer}, size: {type: number}, fee: {type: string, format: decimal, scale: 2}, since: {type: string, format: date-time}}}
      tags: {type: array, items: {type: string}, index: true}
      codes: {type: array, items: {type: number}}
      state: {type: string, enum: [new, old], default: new}
      next: {references: {collection: things, on_delete: set_null}}
    required: [state]
    index: [spot.city, spot.fee]
    search: [label]
    label: name
  parts:
    parent: {collection: things, on_delete: cascade}
    timestamps: false
    attributes:
      text: {type: string, maxLength: 30}
      weight: {type: number, minimum: -1000, index: true}
      keeper: {references: {collection: things, on_delete: restrict}}
      place: {type: integer}
    unique: [[text, place]]
    search: [text]
`))
	if err != nil {
		t.Fatal(err)
	}
	return file.Schema
}

// differentialRequest is a request in which {id3} and {tag3} stand for the minted id and the
// ETag that were the fourth to be seen.
type differentialRequest struct {
	method, path, body string
	headers            []string
}

// side is a server with the names of what only it knows.
type side struct {
	name      string
	server    *server
	ids, tags []string            // that it made, in the order in which they appeared
	seen      map[string][]string // ids by collection, in our names
}

// sendToAll sends a request to all sides, and compares their answers.
func sendToAll(t *rapid.T, sides []*side, r differentialRequest) (status int) {
	t.Helper()
	var answers []string
	for _, s := range sides {
		sent := r
		sent.path, sent.body, sent.headers = s.theirs(r.path), s.theirs(r.body), nil
		for _, header := range r.headers {
			sent.headers = append(sent.headers, s.theirs(header))
		}
		got := s.server.do(sent.method, sent.path, sent.body, sent.headers...)
		status = got.status
		s.server.expectSameByQuery(t, sent.method, sent.path, got, sent.headers...)
		answers = append(answers, s.ours(got))
	}
	if answers[0] != answers[1] {
		t.Fatalf("%s %s %q\n%s\n\n%s: %s\n\n%s: %s", r.method, r.path, r.headers, r.body, sides[0].name, answers[0], sides[1].name, answers[1])
	}
	if status >= 500 {
		t.Fatalf("%s %s %q\n%s\n\n%s", r.method, r.path, r.headers, r.body, answers[0])
	}
	return status
}

// theirs replaces our names by what they stand for here.
func (s *side) theirs(text string) string {
	var pairs []string
	for i, id := range s.ids {
		pairs = append(pairs, fmt.Sprintf("{id%d}", i), id)
	}
	for i, tag := range s.tags {
		pairs = append(pairs, fmt.Sprintf("{tag%d}", i), tag)
	}
	return strings.NewReplacer(pairs...).Replace(text)
}

var (
	anyID = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
	// It may happen to be one that one of the sides has given.
	exampleTag  = regexp.MustCompile(`such as \\"[0-9a-z]+(\.[0-9a-z]+)+\\"`)
	anyResource = regexp.MustCompile(`"id":"([^"]+)","type":"([a-z]+)"`)
	// In the detail of an error it is within another string.
	anyTag = regexp.MustCompile(`\\?"[1-9a-z][0-9a-z]*(\.[0-9a-z]+){2,3}\\?"`)
	// A refusal tells what the server has set.
	setTime = regexp.MustCompile(`is set by the server, and is [0-9TZ:.-]+\. Leave`)
)

// ours is an answer in our names.
func (s *side) ours(a answer) string {
	var lines []string
	for name, values := range a.header {
		switch name {
		case "Date", "X-Request-Id", "Content-Length": // the numbers in ETags differ in length
		default:
			lines = append(lines, name+": "+strings.Join(values, ", "))
		}
	}
	slices.Sort(lines)
	text := fmt.Sprintf("%d\n%s\n\n%s", a.status, strings.Join(lines, "\n"), a.timeless())
	text = setTime.ReplaceAllString(text, "is set by the server, and is TIME. Leave")
	text = exampleTag.ReplaceAllString(text, "such as an ETag")
	text = anyPosition.ReplaceAllString(text, "since=POSITION")
	text = anyID.ReplaceAllStringFunc(text, func(id string) string {
		if isOwnID(id) {
			return id
		}
		return nameOf(&s.ids, "id", id)
	})
	for _, resource := range anyResource.FindAllStringSubmatch(text, -1) {
		if id, collection := resource[1], resource[2]; !slices.Contains(s.seen[collection], id) {
			s.seen[collection] = append(s.seen[collection], id)
		}
	}
	return anyTag.ReplaceAllStringFunc(text, func(tag string) string {
		return nameOf(&s.tags, "tag", strings.ReplaceAll(tag, `\`, ""))
	})
}

func nameOf(known *[]string, kind, text string) string {
	if !slices.Contains(*known, text) {
		*known = append(*known, text)
	}
	return fmt.Sprintf("{%s%d}", kind, slices.Index(*known, text))
}

// forget removes all resources, so that a sequence of requests can be told from its
// beginning.
func (s *side) forget() {
	for _, collection := range []string{"/parts", "/things"} {
		for _, id := range s.server.get(collection + "?limit=100000").ids(s.server.t) {
			if got := s.server.do("DELETE", collection+"/"+id, ""); got.status != 200 {
				s.server.t.Fatalf("deleting: %d %s", got.status, got.body)
			}
		}
	}
	s.ids, s.tags, s.seen = nil, nil, map[string][]string{}
}
