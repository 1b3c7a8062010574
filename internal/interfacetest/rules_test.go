package interfacetest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/plural-go/plural"
)

// bookingFile is bookings of rooms, with checks and computed attributes of every kind: of the resource alone, of another computed attribute,
// of the state before, and of the create.
const bookingFile = `
collections:
  rooms:
    timestamps: false
    attributes:
      name: {type: string, maxLength: 50}
  bookings:
    timestamps: false
    attributes:
      title: {type: string, maxLength: 20}
      starts: {type: integer}
      ends: {type: integer}
      seats: {type: integer, default: 1}
      price: {type: string, format: decimal, scale: 2, default: "1.00"}
      total: {type: string, format: decimal, scale: 2, computed: resource.price * resource.seats}
      double: {type: string, format: decimal, scale: 2, computed: resource.total * 2}
      former: {type: integer, computed: previous.seats}
      first: {type: string, maxLength: 20, computed: resource.title, when: create}
      room_id: {references: {collection: rooms, on_delete: set_null}}
    checks:
      - {rule: resource.ends >= resource.starts, message: It ends before it starts., attribute: ends}
      - {rule: resource.seats > 0, message: Nobody comes.}
      - {rule: resource.seats - previous.seats <= 10, message: Too many come at once., attribute: seats}
`

// booked is a booking.
type booked struct {
	n             int
	title         string
	starts, ends  int
	seats, cents  int
	former, first string // JSON
	room          string // JSON; empty: null
}

func (b booked) json() string {
	money := func(cents int) string { return fmt.Sprintf("%d.%02d", cents/100, cents%100) }
	if b.room == "" {
		b.room = "null"
	}
	return fmt.Sprintf(`{"id":"%s","type":"bookings","title":"%s","starts":%d,"ends":%d,"seats":%d,"price":"%s","total":"%s","double":"%s","former":%s,"first":%s,"room_id":%s}`,
		id(b.n), b.title, b.starts, b.ends, b.seats, money(b.cents), money(b.cents*b.seats), money(2*b.cents*b.seats), b.former, b.first, b.room)
}

// withFile starts a server with a schema file and its access rules on each database.
func withFile(t *testing.T, text string, test func(*testing.T, *server), change ...func(*plural.Config)) {
	t.Helper()
	file := parsed(t, text)
	eachStore(t, file.Schema, test, append([]func(*plural.Config){func(c *plural.Config) { c.Access = file.Access }}, change...)...)
}

// refusals is the errors of an answer, each as "pointer: detail".
func (a answer) refusals(t testing.TB) []string {
	t.Helper()
	var got struct {
		Errors []struct{ Source struct{ Pointer string } }
	}
	if err := json.Unmarshal([]byte(a.body), &got); err != nil {
		t.Fatalf("%v: %d %s", err, a.status, a.body)
	}
	all := a.details(t)
	for i, each := range got.Errors {
		all[i] = each.Source.Pointer + ": " + all[i]
	}
	return all
}

// expectDetails compares the status and all errors, each as "pointer: detail".
func (a answer) expectDetails(t testing.TB, status int, want ...string) {
	t.Helper()
	if got := a.refusals(t); a.status != status || !slices.Equal(got, want) {
		t.Errorf("got  %d\n%s\nwant %d\n%s\nbody %s", a.status, strings.Join(got, "\n"), status, strings.Join(want, "\n"), a.body)
	}
}

const (
	tooEarly   = "It ends before it starts."
	nobody     = "Nobody comes."
	tooMany    = "Too many come at once."
	notTotal   = "total is computed by the server. Leave it out, or send the value that you read."
	outOfRange = "Must be between -9999999999999999.99 and 9999999999999999.99."
)

func TestRulesOfASingleWrite(t *testing.T) {
	t.Parallel()
	withFile(t, bookingFile, func(t *testing.T, s *server) {
		b := booked{1, "A", 1, 2, 3, 250, "null", `"A"`, ""}
		s.do("POST", "/bookings", `{"id":"`+id(1)+`","title":"A","starts":1,"ends":2,"seats":3,"price":"2.50"}`).expect(t, 201, one(b.json()))
		path := "/bookings/" + id(1)
		// All checks that fail are reported, but not beside other errors of the resource. What is undecided holds.
		s.do("POST", "/bookings", `{"starts":2,"ends":1,"seats":0}`).expectDetails(t, 422, "/ends: "+tooEarly, ": "+nobody)
		s.do("POST", "/bookings", `{"starts":2,"ends":1,"title":1}`).expectErrors(t, 422, "type /title")
		s.do("POST", "/bookings", `{"starts":2,"ends":1,"room_id":"`+id(9)+`"}`).expectErrors(t, 422, "unknown_reference /room_id")
		s.do("POST", "/bookings", `{"starts":2,"ends":1,"seats":10,"price":"9999999999999999.99"}`).expectDetails(t, 422, "/total: "+outOfRange)
		s.do("POST", "/bookings", `{"total":"1.00"}`).expectErrors(t, 422, "read_only /total")
		c := booked{2, "", 0, 0, 1, 100, "null", `"x"`, ""}
		s.do("POST", "/bookings", `{"id":"`+id(2)+`","title":"x","starts":2}`).expect(t, 201,
			one(strings.NewReplacer(`"title":""`, `"title":"x"`, `"starts":0,"ends":0`, `"starts":2,"ends":null`).Replace(c.json())))

		b.seats, b.former = 4, "3"
		s.do("PATCH", path, `{"seats":4}`).expect(t, 200, one(b.json()))
		tag := s.get(path).header.Get("Etag")
		s.do("PATCH", path, `{}`).expect(t, 200, one(b.json())) // former would be 4, but nothing else changes
		s.do("PATCH", path, `{"seats":4,"total":"10.00","former":3,"first":"A"}`).expect(t, 200, one(b.json()))
		if got := s.get(path).header.Get("Etag"); got != tag {
			t.Errorf("a write without a change has made %s of %s", got, tag)
		}
		s.do("PATCH", path, `{"seats":5,"total":"12.50"}`).expectDetails(t, 422, "/total: "+notTotal) // it is what would be computed
		s.do("PATCH", path, `{"total":"x"}`).expectErrors(t, 422, "read_only /total")
		s.do("PATCH", path, `{"seats":15}`).expectDetails(t, 422, "/seats: "+tooMany)
		s.do("PATCH", path, `{"ends":0,"seats":-1}`).expectDetails(t, 422, "/ends: "+tooEarly, ": "+nobody)
		s.do("PATCH", path, `{"ends":0,"price":"9999999999999999.99"}`).expectDetails(t, 422, "/total: "+outOfRange)
		b.title, b.seats, b.former = "B", 5, "4"
		s.do("PUT", path, `{"title":"B","starts":1,"ends":2,"seats":5,"price":"2.50","total":"0.00","double":"0.00","former":9,"first":"Z"}`).expect(t, 200, one(b.json()))
		s.do("PUT", path, `{"title":"B","starts":3,"ends":2,"seats":5}`).expectDetails(t, 422, "/ends: "+tooEarly)
		s.get(path).expect(t, 200, one(b.json()))
	})
}

func TestRulesOfManyResources(t *testing.T) {
	t.Parallel()
	withFile(t, bookingFile, func(t *testing.T, s *server) {
		body := func(n int, title string, starts, ends int) string {
			return fmt.Sprintf(`{"id":"%s","title":"%s","starts":%d,"ends":%d}`, id(n), title, starts, ends)
		}
		initial := func(n int, title string, starts, ends int) booked {
			return booked{n, title, starts, ends, 1, 100, "null", quoted(title), ""}
		}
		// An array.
		s.do("POST", "/bookings", "["+body(1, "A", 1, 2)+","+body(2, "B", 2, 1)+`,{"seats":0,"starts":2,"ends":1},{"title":2,"seats":0}]`).expectErrors(t, 422, "type /3/title")
		s.do("POST", "/bookings", "["+body(1, "A", 1, 2)+","+body(2, "B", 2, 1)+`,{"seats":0,"starts":2,"ends":1}]`).expectDetails(t, 422, "/1/ends: "+tooEarly, "/2/ends: "+tooEarly, "/2: "+nobody)
		b1, b2, b3 := initial(1, "A", 1, 2), initial(2, "B", 5, 9), initial(3, "C", 0, 1)
		s.do("POST", "/bookings", "["+body(1, "A", 1, 2)+","+body(2, "B", 5, 9)+","+body(3, "C", 0, 1)+"]").expect(t, 201, data(b1.json(), b2.json(), b3.json()))
		s.do("POST", "/bookings", `[{"starts":1,"total":"1.00"},{"starts":1}]`).expectErrors(t, 422, "read_only /0/total")

		// An upsert.
		s.do("POST", "/bookings?on_conflict=id", `[{"id":"`+id(1)+`","ends":0},{"id":"`+id(4)+`","starts":2,"ends":1},{"id":"`+id(2)+`","seats":12}]`).expectDetails(t, 422, "/0/ends: "+tooEarly, "/1/ends: "+tooEarly, "/2/seats: "+tooMany)
		s.do("POST", "/bookings?on_conflict=id", `[{"id":"`+id(1)+`","total":"9.00"},{"id":"`+id(4)+`","total":"9.00"}]`).expectErrors(t, 422, "read_only /0/total", "read_only /1/total")
		b1.seats, b1.former = 2, "1"
		b4 := initial(4, "D", 7, 8)
		s.do("POST", "/bookings?on_conflict=id", `[{"id":"`+id(1)+`","seats":2,"total":"1.00"},`+body(4, "D", 7, 8)+"]").expect(t, 200, data(b1.json(), b4.json()))
		s.do("POST", "/bookings?on_conflict=total", `{}`).expectErrors(t, 400, "invalid_parameter on_conflict")

		// A range: errors of all name their resource.
		s.do("PATCH", "/bookings?filter[starts][gte]=1", `{"ends":4}`).expectDetails(t, 422, "/ends: "+id(2)+": "+tooEarly, "/ends: "+id(4)+": "+tooEarly)
		s.do("PATCH", "/bookings?limit=1", `{"ends":0}`).expectDetails(t, 422, "/ends: "+id(1)+": "+tooEarly)
		s.do("PATCH", "/bookings?filter[starts][gte]=0", `{"total":"1.00","seats":1}`).expectDetails(t, 422, "/total: "+notTotal)
		for _, each := range []*booked{&b1, &b2, &b3, &b4} {
			each.former, each.cents = fmt.Sprint(each.seats), 200
		}
		s.do("PATCH", "/bookings?filter[starts][gte]=0", `{"price":"2.00"}`).expect(t, 200, data(b1.json(), b2.json(), b3.json(), b4.json()))

		// A transaction.
		s.transaction([]string{step("POST", "/bookings", body(5, "E", 1, 1)), step("PATCH", "/bookings/"+id(5), `{"starts":2}`)}).expectDetails(t, 422, "/1/body/ends: "+tooEarly)
		b5 := initial(5, "E", 1, 1)
		changed := b5
		changed.starts, changed.ends, changed.former = 3, 3, "1"
		s.transaction([]string{step("POST", "/bookings", body(5, "E", 1, 1)), step("PATCH", "/bookings/"+id(5), `{"starts":3,"ends":3}`)}).expect(t, 200, data(b5.json(), changed.json()))
		s.get("/bookings").expect(t, 200, data(b1.json(), b2.json(), b3.json(), b4.json(), changed.json()))
	})
}

// TestErrorsOfARangeAreBounded: errors of checks are listed for 100 resources.
func TestErrorsOfARangeAreBounded(t *testing.T) {
	t.Parallel()
	withFile(t, bookingFile, func(t *testing.T, s *server) {
		var bodies []string
		for i := range 103 {
			bodies = append(bodies, fmt.Sprintf(`{"id":"%s","starts":%d}`, id(i), i))
		}
		s.createAll("/bookings", bodies...)
		got := s.do("PATCH", "/bookings?filter[starts][gte]=0", `{"ends":0}`).refusals(t)
		if len(got) != 100 || got[0] != "/ends: "+id(1)+": "+tooEarly || got[99] != "/ends: "+id(100)+": "+tooEarly+" There are more errors than are listed." {
			t.Errorf("got %d: %q, …, %q", len(got), got[0], got[len(got)-1])
		}
	})
}

// previous is the former values of the only change in an answer, as JSON.
func (a answer) previous(t testing.TB) map[string]string {
	t.Helper()
	var got struct {
		Data []struct{ Previous map[string]json.RawMessage }
	}
	if err := json.Unmarshal([]byte(a.body), &got); err != nil || len(got.Data) != 1 {
		t.Fatalf("%v: %d %s", err, a.status, a.body)
	}
	previous := map[string]string{}
	for name, value := range got.Data[0].Previous {
		previous[name] = string(value)
	}
	return previous
}
