package interfacetest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/plural-go/plural/schema"
)

// id is the id of the resource that a test puts at a position: the ids of the
// positions ascend, so that the position in the collection is the same.
func id(position int) string { return fmt.Sprintf("00000000-0000-7000-8000-%012d", position) }

// user is the representation of a user as seedUsers makes it.
func user(position int) string {
	return fmt.Sprintf(`{"id":"%s","type":"users","name":"User %d","email":"user%d@example.com","active":%t,"created_at":"TIME","updated_at":"TIME"}`,
		id(position), position, position, position%2 == 0)
}

// seedUsers creates users at the positions from 0. Every second one is active.
func seedUsers(s *server, count int) {
	s.t.Helper()
	bodies := make([]string, count)
	for i := range bodies {
		bodies[i] = fmt.Sprintf(`{"id":"%s","name":"User %d","email":"user%d@example.com","active":%t}`, id(i), i, i, i%2 == 0)
	}
	s.createAll("/users", bodies...)
}

// post is the representation of a post with nothing but a title and an author,
// which is the JSON of an id, or null.
func post(position int, title, author string) string {
	return fmt.Sprintf(`{"id":"%s","type":"posts","title":"%s","body":null,"published_at":null,"user_id":%s,"created_at":"TIME","updated_at":"TIME"}`,
		id(position), title, author)
}

// quoted is a text between quotes.
func quoted(text string) string { return `"` + text + `"` }

// data is the envelope around representations, as a collection has it.
func data(representations ...string) string {
	return `{"data":[` + strings.Join(representations, ",") + `]}`
}

// createAll posts an array.
func (s *server) createAll(path string, bodies ...string) {
	s.t.Helper()
	created := s.do("POST", path, "["+strings.Join(bodies, ",")+"]")
	if created.status != 201 {
		s.t.Fatalf("POST %s: %d %s", path, created.status, created.body)
	}
}

// expectPositions compares the status and the positions of the listed resources.
func (a answer) expectPositions(t testing.TB, what string, want ...int) {
	t.Helper()
	if a.status != 200 {
		t.Errorf("%s: %d %s", what, a.status, a.body)
		return
	}
	got := []int{}
	for _, each := range a.ids(t) {
		n, err := strconv.Atoi(each[24:])
		if err != nil || each != id(n) {
			t.Errorf("%s: %s is no id of these tests", what, each)
		}
		got = append(got, n)
	}
	if !slices.Equal(got, want) {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

// from lists the positions of a half-open interval.
func from(start, end int) []int {
	positions := []int{}
	for i := start; i < end; i++ {
		positions = append(positions, i)
	}
	return positions
}

// tagged is an ETag in the form that every one has.
const tagged = "Etag: TAG"

// etags: the operations are declared by no schema, which is version 0.
var etags = regexp.MustCompile(`^"[1-9a-z][0-9a-z]*\.(0|[1-9a-z][0-9a-z]*)(\.[0-9a-z]+){0,3}"$`)

// expectHeaders compares all headers, each as "Name: value", but those that
// every answer has: they are checked for what they must be.
func (a answer) expectHeaders(t testing.TB, want ...string) {
	t.Helper()
	var got []string
	for name, values := range a.header {
		switch name {
		case "Date", "X-Request-Id", "Content-Type", "Content-Length":
		case "X-Content-Type-Options":
			if values[0] != "nosniff" {
				t.Errorf("X-Content-Type-Options is %q", values)
			}
		case "Accept-Query": // every list has it, see TestQuery
			if values[0] != "application/x-www-form-urlencoded" {
				t.Errorf("Accept-Query is %q", values)
			}
		case "Link":
			if rest := a.otherLinks(t); rest != "" {
				got = append(got, "Link: "+rest)
			}
		case "Vary":
			// Whatever has a stream depends on Accept, see TestWhatDependsOnAccept.
			if values = slices.DeleteFunc(slices.Clone(values), func(value string) bool { return value == "Accept" }); len(values) > 0 {
				got = append(got, "Vary: "+strings.Join(values, ", "))
			}
		case "Etag":
			got = append(got, "Etag: "+etags.ReplaceAllString(strings.Join(values, ", "), "TAG"))
		default:
			got = append(got, name+": "+strings.Join(values, ", "))
		}
	}
	ofCollections := strings.Contains(a.body, `"type":"collections"`) // GET /, which is not compressed
	if strings.HasPrefix(a.body, `{"data":[`) && len(a.body) >= 1<<10 && a.status == http.StatusOK && !ofCollections {
		want = append(want, "Vary: Accept-Encoding") // a list that is worth to be compressed
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("got headers\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(want, "\n  "))
	}
	if got := a.header.Get("Content-Type"); got != "application/json;charset=utf-8" {
		t.Errorf("Content-Type is %q", got)
	}
	if a.header.Get("X-Request-Id") == "" {
		t.Error("no X-Request-Id")
	}
}

// changesLink is the first link of every list that has a stream.
var changesLink = regexp.MustCompile(`^<(/[^?>]*)\?([^>]*&)?since=[A-Za-z0-9_-]+>; rel="changes"(, |$)`)

// otherLinks is the Link header without the one to the changes, which must be the first, and
// have the filters of the others.
func (a answer) otherLinks(t testing.TB) string {
	t.Helper()
	link := a.header.Get("Link")
	found := changesLink.FindStringSubmatch(link)
	if found == nil {
		if strings.Contains(link, `rel="changes"`) {
			t.Errorf("not the link to the changes of this list: %s", link)
		}
		return link
	}
	rest := strings.TrimPrefix(link, found[0])
	if rest != "" && !strings.HasPrefix(rest, "<"+found[1]+"?"+found[2]) {
		t.Errorf("the link to the changes has another path or other filters: %s", link)
	}
	for _, name := range []string{"sort=", "limit=", "offset=", "cursor="} {
		if strings.Contains(found[2], name) {
			t.Errorf("the link to the changes has a range or an order: %s", link)
		}
	}
	return rest
}

// expectRefusal is expectErrors for a table: it says which request failed.
func (s *server) expectRefusal(t testing.TB, method, path, body string, status int, want ...string) {
	t.Helper()
	before := t.Failed()
	s.do(method, path, body).expectErrors(t, status, want...)
	if !before && t.Failed() {
		t.Logf("first failure: %s %s %.200s", method, path, body)
	}
}

// member is one member of the resource in an answer, as JSON.
func (a answer) member(t testing.TB, name string) string {
	t.Helper()
	var envelope struct{ Data map[string]json.RawMessage }
	if err := json.Unmarshal([]byte(a.body), &envelope); err != nil {
		t.Fatalf("%v: %d %s", err, a.status, a.body)
	}
	return string(envelope.Data[name])
}

// total is the X-Total-Count of an answer, "" if it has none.
func (a answer) total() string {
	return strings.Join(a.header[http.CanonicalHeaderKey("X-Total-Count")], ", ")
}

// parsed is a schema file.
func parsed(t testing.TB, text string) *schema.File {
	t.Helper()
	file, err := schema.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// mustSchema makes a schema that was declared in a test.
func mustSchema(t testing.TB, collections ...schema.Collection) *schema.Schema {
	t.Helper()
	made, err := schema.New(collections...)
	if err != nil {
		t.Fatal(err)
	}
	return made
}
