package interfacetest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/plural-go/plural"
	"github.com/plural-go/plural/problem"
)

// TestRulesOfOperations: a request is checked when it is accepted, except for what depends on the state that unfinished operations will leave.
func TestRulesOfOperations(t *testing.T) {
	t.Parallel()
	var g *gate
	install := func(c *plural.Config) {
		g = &gate{shut: map[string]chan struct{}{}, reached: map[string]bool{}}
		c.MaxHookTime = hung
		c.Hooks = []plural.Hook{{Collection: "bookings", Before: g.before, Timeout: hung}}
	}
	withFile(t, bookingFile, func(t *testing.T, s *server) {
		g.t = t
		defer g.openAll()
		path := "/bookings/" + id(1)
		b := booked{1, "A", 1, 2, 5, 100, "null", `"A"`, ""}
		s.do("POST", "/bookings", `{"title":"A","starts":2,"ends":1}`, "Prefer", "respond-async").expectDetails(t, 422, "/ends: "+tooEarly)
		s.expectSuccess(t, s.later("POST", "/bookings", `{"id":"`+id(1)+`","title":"A","starts":1,"ends":2,"seats":5}`))
		s.get(path).expect(t, 200, one(b.json()))
		refused := s.do("PATCH", path, `{"seats":16}`)
		refused.expectDetails(t, 422, "/seats: "+tooMany)
		s.do("PATCH", path, `{"seats":16}`, "Prefer", "respond-async").expectDetails(t, 422, "/seats: "+tooMany)

		open := g.hold(1)
		first := s.later("PATCH", path, `{"seats":10}`)
		g.await(1)
		second := s.later("PATCH", path, `{"seats":16}`) // the state before it will be another one
		third := s.later("PATCH", path, `{"seats":40}`)
		s.do("PATCH", path, `{"ends":0,"seats":0}`, "Prefer", "respond-async").expectDetails(t, 422, "/ends: "+tooEarly, ": "+nobody)
		s.do("PATCH", path, `{"total":"1.00"}`, "Prefer", "respond-async").expectErrors(t, 422, "read_only /total")
		open()
		s.expectSuccess(t, first, second)
		s.expectFailure(t, third, refused)
		b.seats, b.former = 16, "10"
		s.get(path).expect(t, 200, one(b.json()))

		// A resource that does not exist yet.
		open = g.hold(2)
		created := s.later("POST", "/bookings", `{"id":"`+id(2)+`","title":"B","starts":1,"ends":2}`)
		g.await(2)
		moved := s.later("PATCH", "/bookings/"+id(2), `{"starts":3,"ends":4}`)
		grown := s.later("PATCH", "/bookings/"+id(2), `{"seats":12}`)
		s.do("PATCH", "/bookings/"+id(2), `{"ends":2}`, "Prefer", "respond-async").expectDetails(t, 422, "/ends: "+tooEarly)
		open()
		s.expectSuccess(t, created, moved)
		s.expectFailure(t, grown, refused)
		c := booked{2, "B", 3, 4, 1, 100, "1", `"B"`, ""}
		s.get("/bookings/"+id(2)).expect(t, 200, one(c.json()))
	}, install)
}

// TestRulesOfDryRunsAndRepetitions: a dry run shows what would be computed, and a repetition has the same response.
func TestRulesOfDryRunsAndRepetitions(t *testing.T) {
	t.Parallel()
	withFile(t, bookingFile, func(t *testing.T, s *server) {
		b := booked{1, "A", 1, 2, 3, 100, "null", `"A"`, ""}
		body := `{"id":"` + id(1) + `","title":"A","starts":1,"ends":2,"seats":3}`
		dry := s.do("POST", "/bookings?dry_run=true", body)
		dry.expect(t, 201, one(b.json()))
		dry.expectHeaders(t, "X-Affected: bookings=1")
		s.do("POST", "/bookings?dry_run=true", `{"starts":2,"ends":1}`).expectDetails(t, 422, "/ends: "+tooEarly)
		s.get("/bookings").expect(t, 200, data())

		first := s.do("POST", "/bookings", body, "Idempotency-Key", "a")
		first.expect(t, 201, one(b.json()))
		s.do("POST", "/bookings", body, "Idempotency-Key", "a").expectReplay(t, first)
		first = s.do("PATCH", "/bookings/"+id(1), `{"ends":0}`, "Idempotency-Key", "b")
		first.expectDetails(t, 422, "/ends: "+tooEarly)
		s.do("PATCH", "/bookings/"+id(1), `{"ends":0}`, "Idempotency-Key", "b").expectReplay(t, first)

		dry = s.do("PATCH", "/bookings/"+id(1)+"?dry_run=true", `{"seats":4}`)
		c := b
		c.seats, c.former = 4, "3"
		dry.expect(t, 200, one(c.json()))
		dry.expectHeaders(t, "X-Affected: bookings=1")
		s.get("/bookings").expect(t, 200, data(b.json()))
	})
}

// Booking is a booking as a program writes it. It sends back what it has read.
type Booking struct {
	ID     string  `json:"id"`
	Title  string  `json:"title"`
	Starts int64   `json:"starts"`
	Ends   int64   `json:"ends"`
	Seats  int64   `json:"seats"`
	Price  string  `json:"price"`
	Total  string  `json:"total"`
	Double string  `json:"double"`
	Former *int64  `json:"former"`
	First  string  `json:"first"`
	RoomID *string `json:"room_id"`
}

// expectProblems compares the errors of a call of the library.
func expectProblems(t testing.TB, err error, want ...string) {
	t.Helper()
	var list problem.Errors
	var got []string
	if errors.As(err, &list) {
		for _, each := range list {
			got = append(got, fmt.Sprintf("%s %s: %s", each.Code, each.Source.Pointer, each.Detail))
		}
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got  %v (%v)\nwant %v", got, err, want)
	}
}

func TestRulesOfTheLibrary(t *testing.T) {
	t.Parallel()
	withFile(t, bookingFile, func(t *testing.T, s *server) {
		ctx, bookings := context.Background(), of[Booking](t, s.opened)
		made, err := bookings.Create(ctx, Booking{ID: id(1), Title: "A", Starts: 1, Ends: 2, Seats: 3, Price: "2.50", Total: "ignored"})
		want := Booking{ID: id(1), Title: "A", Starts: 1, Ends: 2, Seats: 3, Price: "2.50", Total: "7.50", Double: "15.00", First: "A"}
		if err != nil || made != want {
			t.Errorf("got %+v, %v", made, err)
		}
		_, err = bookings.Create(ctx, Booking{Starts: 2, Ends: 1, Seats: 1, Price: "1.00"})
		expectProblems(t, err, "check /ends: "+tooEarly)
		_, err = bookings.CreateMany(ctx, []Booking{{Seats: 1, Price: "1.00"}, {Seats: -1, Price: "1.00"}})
		expectProblems(t, err, "check /1: "+nobody)
		_, err = bookings.Update(ctx, id(1), map[string]any{"ends": 0})
		expectProblems(t, err, "check /ends: "+tooEarly)
		made.Seats = 4
		made, err = bookings.Replace(ctx, id(1), made)
		former := int64(3)
		want.Seats, want.Total, want.Double = 4, "10.00", "20.00"
		if made.Former == nil || *made.Former != former || err != nil {
			t.Errorf("got %+v, %v", made, err)
		}
		if made.Former = nil; made != want {
			t.Errorf("got %+v", made)
		}
		err = s.opened.Transaction(ctx, func(_ context.Context, tx *plural.Tx) error {
			_, err := tx.Update("bookings", id(1), map[string]any{"seats": 0})
			expectProblems(t, err, "check : "+nobody)
			_, err = tx.Update("bookings", id(1), map[string]any{"seats": 6}) // the transaction goes on
			return err
		})
		if err != nil {
			t.Error(err)
		}
		b := booked{1, "A", 1, 2, 6, 250, "4", `"A"`, ""}
		s.get("/bookings").expect(t, 200, data(b.json()))
	})
}

// TestRulesAndHooks: hooks see what is computed from the input, and cannot set it. What they set and write is bound by the rules.
func TestRulesAndHooks(t *testing.T) {
	t.Parallel()
	var seen []string
	note := func(when string, change *plural.Change) {
		for _, each := range []*plural.Resource{change.Before, change.After} {
			if each != nil {
				when += fmt.Sprintf(" %v/%v/%v", each.Get("seats"), each.Get("total"), each.Get("former"))
			}
		}
		seen = append(seen, when)
	}
	hook := plural.Hook{
		Collection: "bookings",
		Before: func(_ context.Context, change *plural.Change) error {
			if change.Verb == plural.Delete {
				return nil
			}
			if err := change.After.Set("total", "1.00"); err == nil || err.Error() != "total of bookings is computed by the server, and cannot be set" {
				t.Errorf("Set in Before: %v", err)
			}
			return nil
		},
		Within: func(_ context.Context, tx *plural.Tx, change *plural.Change) error {
			note("within", change)
			if change.After == nil {
				return nil
			}
			if err := change.After.Set("former", 1); err == nil {
				t.Error("a hook has set what is computed")
			}
			switch change.After.Get("title") {
			case "double":
				return change.After.Set("seats", 2*change.After.Get("seats").(int64))
			case "none":
				return change.After.Set("seats", 0)
			case "other":
				_, err := tx.Create("bookings", map[string]any{"starts": 2, "ends": 1})
				var refused problem.Errors
				if !errors.As(err, &refused) || refused[0].Code != problem.CodeCheck {
					t.Errorf("the write of a hook: %v", err)
				}
				return plural.Conflict("", "The other one: %s", refused[0].Detail)
			}
			return nil
		},
		After: func(_ context.Context, change *plural.Change) { note("after", change) },
	}
	withFile(t, bookingFile, func(t *testing.T, s *server) {
		seen = nil
		s.do("POST", "/bookings", `{"id":"`+id(1)+`","title":"double","starts":1,"ends":2,"seats":2}`).expect(t, 201, one(booked{1, "double", 1, 2, 4, 100, "null", `"double"`, ""}.json()))
		s.do("PATCH", "/bookings?limit=2", `{"title":"A","seats":5}`).expect(t, 200, data(booked{1, "A", 1, 2, 5, 100, "4", `"double"`, ""}.json()))
		s.do("PATCH", "/bookings/"+id(1), `{"title":"none"}`).expectDetails(t, 422, ": "+nobody)
		s.do("POST", "/bookings", `{"title":"other"}`).expectDetails(t, 409, ": The other one: "+tooEarly)
		s.do("PATCH", "/bookings/"+id(1), `{"title":"A","seats":5}`).expect(t, 200, one(booked{1, "A", 1, 2, 5, 100, "4", `"double"`, ""}.json()))
		want := []string{
			"within 2/2.00/<nil>", "after 4/4.00/<nil>",
			"within 4/4.00/<nil> 5/5.00/<nil>", "after 4/4.00/<nil> 5/5.00/4",
			"within 5/5.00/4 5/5.00/4",                   // none
			"within 1/1.00/<nil>", "within 1/1.00/<nil>", // other, and what its hook writes
		}
		if got := strings.Join(seen, "\n"); got != strings.Join(want, "\n") {
			t.Errorf("got\n%s\nwant\n%s", got, strings.Join(want, "\n"))
		}
	}, withHooks(hook))
}
