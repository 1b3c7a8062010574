package interfacetest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/plural-go/plural"
)

// stayVersions are the schema files of a hotel, whose newest one has rules, also for attributes that the first does not have.
var stayVersions = []string{`
version: 1
collections:
  bookings:
    attributes:
      begins: {type: integer}
      ends: {type: integer}
      state: {type: string, enum: [open, done], default: open}
      owner: {type: string}
`, `
version: 2
collections:
  stays:
    renamed_from: bookings
    attributes:
      starts: {type: integer, renamed_from: begins}
      finishes: {type: integer, renamed_from: ends}
      status: {type: string, enum: [open, done], default: open, renamed_from: state, transitions: {open: [done], done: []}}
      host: {type: string, renamed_from: owner, write_once: true}
      nights: {type: integer, maximum: 100, computed: resource.finishes - resource.starts}
      fee: {type: integer, default: 0}
      room_id: {references: rooms}
    checks:
      - {rule: resource.finishes >= resource.starts, message: It ends before it starts., attribute: finishes}
      - {rule: resource.fee <= 10, message: Too dear., attribute: fee}
  rooms:
    attributes:
      name: {type: string}
`}

// eachStay runs a test against a server with the newest schema of the hotel.
func eachStay(t *testing.T, test func(*testing.T, *server), change ...func(*plural.Config)) {
	t.Helper()
	eachDatabase(t, func(t *testing.T, database string) {
		test(t, startVersioned(t, database, stayVersions, func(*server, int) {}, change...))
	})
}

// booking is the representation of a stay in version 1.
func booking(position int, begins, ends int, state, owner string) string {
	return fmt.Sprintf(`{"id":"%s","type":"bookings","begins":%d,"ends":%d,"state":"%s","owner":%s,"created_at":"TIME","updated_at":"TIME"}`, id(position), begins, ends, state, owner)
}

// TestRulesOfVersions has the rules of the newest version refuse writes of an earlier one.
func TestRulesOfVersions(t *testing.T) {
	eachStay(t, func(t *testing.T, s *server) {
		old := s.version(1)
		at := "/bookings/" + id(1)
		old.do("POST", "/bookings", `{"id":"`+id(1)+`","begins":3,"ends":5,"owner":"ann"}`).expect(t, 201, one(booking(1, 3, 5, "open", `"ann"`)))
		for _, test := range []struct {
			method, path, body string
			status             int
			want               string
		}{
			{"POST", "/bookings", `{"begins":5,"ends":3}`, 422, "check /ends"},
			{"POST", "/bookings", `[{},{"begins":5,"ends":3}]`, 422, "check /1/ends"},
			{"POST", "/bookings", `{"begins":0,"ends":200}`, 422, "maximum"}, // of an attribute that the version does not have
			{"POST", "/bookings", `{"state":"done"}`, 409, "transition /state"},
			{"PATCH", at, `{"owner":"bob"}`, 422, "read_only /owner"},
			{"PATCH", at, `{"ends":1}`, 422, "check /ends"},
			{"PATCH", "/bookings?filter[begins]=3", `{"ends":1}`, 422, "check /ends"},
			{"PUT", at, `{"begins":3,"ends":5}`, 422, "read_only /owner"},
		} {
			if old.do(test.method, test.path, test.body).expectErrors(t, test.status, test.want); t.Failed() {
				t.Fatalf("%s %s %s", test.method, test.path, test.body)
			}
		}
		old.transaction([]string{`{"method":"PATCH","path":"` + at + `","body":{"state":"done"}}`, `{"method":"PATCH","path":"` + at + `","body":{"state":"open"}}`}).
			expectErrors(t, 409, "transition /1/body/state")
		hidden := old.do("POST", "/bookings", `{"begins":0,"ends":200}`)
		if strings.Contains(hidden.body, "nights") || strings.Contains(hidden.body, "100") {
			t.Errorf("the version is told of an attribute that it does not have: %s", hidden.body)
		}
		old.do("PATCH", at, `{"state":"done"}`).expect(t, 200, one(booking(1, 3, 5, "done", `"ann"`)))
		s.get("/stays/"+id(1)).expect(t, 200, one(fmt.Sprintf(`{"id":"%s","type":"stays","starts":3,"finishes":5,"status":"done","host":"ann","nights":2,"fee":0,"room_id":null,"created_at":"TIME","updated_at":"TIME"}`, id(1))))
	})
}

// TestHooksOfVersions: hooks have the newest names whatever version writes, set what it does not have, and their errors have its names.
func TestHooksOfVersions(t *testing.T) {
	var mutex sync.Mutex
	var told []string
	note := func(phase string, change *plural.Change) {
		mutex.Lock()
		defer mutex.Unlock()
		told = append(told, fmt.Sprint(phase, " ", change.Verb, " ", change.Collection, " ", change.After != nil && change.After.Get("host") != nil))
	}
	hook := plural.Hook{
		Collection: "stays",
		Before: func(_ context.Context, change *plural.Change) error {
			note("before", change)
			if change.After == nil {
				return nil
			}
			switch change.After.Get("host") {
			case "before":
				return plural.Invalid("starts", "too early")
			case "before, hidden":
				return plural.Conflict("/fee", "too early")
			case "set":
				return change.After.Set("fee", 3)
			}
			return nil
		},
		Within: func(_ context.Context, tx *plural.Tx, change *plural.Change) error {
			note("within", change)
			if change.After == nil {
				return nil
			}
			switch change.After.Get("host") {
			case "within":
				return plural.Invalid("/finishes/0/starts", "too late")
			case "dear":
				return change.After.Set("fee", 11)
			case "text":
				return change.After.Set("fee", "much")
			case "nowhere":
				return change.After.Set("room_id", id(99))
			case "room":
				room, err := tx.Create("rooms", map[string]any{"name": "made"})
				if err != nil {
					return err
				}
				return change.After.Set("room_id", room.ID())
			}
			return nil
		},
		After: func(_ context.Context, change *plural.Change) { note("after", change) },
	}
	eachStay(t, func(t *testing.T, s *server) {
		old := s.version(1)
		for owner, want := range map[string]string{
			"before": "refused /begins", "before, hidden": "conflict", "within": "refused /ends/0/starts", "dear": "check", "text": "type", "nowhere": "unknown_reference",
		} {
			refused := old.do("POST", "/bookings", `{"owner":"`+owner+`"}`)
			if got := refused.errorText(t); got != want || refused.status >= 500 {
				t.Errorf("%s: got %q, want %q: %s", owner, got, want, refused.body)
			}
			if text := strings.ToLower(refused.body); owner == "nowhere" && (strings.Contains(text, "room") || strings.Contains(text, id(99))) {
				t.Errorf("the version is told of a collection that it does not have: %s", refused.body)
			}
			if owner == "before" {
				old.do("POST", "/bookings", `[{},{"owner":"before"}]`).expectErrors(t, 422, "refused /1/begins")
			}
		}
		mutex.Lock()
		told = nil
		mutex.Unlock()
		old.do("POST", "/bookings", `{"id":"`+id(1)+`","begins":1,"ends":2,"owner":"set"}`).expect(t, 201, one(booking(1, 1, 2, "open", `"set"`)))
		old.do("PATCH", "/bookings/"+id(1), `{"ends":3}`).expect(t, 200, one(booking(1, 1, 3, "open", `"set"`)))
		old.do("DELETE", "/bookings/"+id(1), "").expect(t, 200, one(booking(1, 1, 3, "open", `"set"`)))
		want := []string{
			"before create stays true", "within create stays true", "after create stays true",
			"before update stays false", "within update stays true", "after update stays true",
			"before delete stays false", "within delete stays false", "after delete stays false",
		}
		mutex.Lock()
		if !slices.Equal(told, want) {
			t.Errorf("got %q, want %q", told, want)
		}
		mutex.Unlock()
		old.do("POST", "/bookings", `{"id":"`+id(2)+`","begins":1,"ends":2,"owner":"room"}`).expect(t, 201, one(booking(2, 1, 2, "open", `"room"`)))
		if rooms := s.get("/rooms").ids(t); len(rooms) != 1 || s.get("/stays/"+id(2)).member(t, "room_id") != quoted(rooms[0]) {
			t.Errorf("the rooms are %v", rooms)
		}
	}, withHooks(hook))
}
