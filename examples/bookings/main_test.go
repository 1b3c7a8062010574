package main

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/plural-go/plural"
)

func TestBookings(t *testing.T) {
	var notes []string
	server, err := open(context.Background(), "sqlite:"+filepath.Join(t.TempDir(), "test.db"), func(note string) { notes = append(notes, note) })
	if err != nil {
		t.Fatal(err)
	}
	defer server.Stop(context.Background())
	rooms, err := plural.Of[Room](server)
	if err != nil {
		t.Fatal(err)
	}
	blue, err := rooms.Create(context.Background(), Room{Name: "Blue", Seats: 4})
	if err != nil {
		t.Fatal(err)
	}
	book := func(method, path, body string) (int, string) {
		r := httptest.NewRequest(method, "/api/rooms/"+blue.ID+"/bookings"+path, strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		server.ServeHTTP(w, r)
		return w.Code, w.Body.String()
	}
	status, body := book("POST", "", `{"email":"Ada@Example.com","people":2,"from":"2026-11-14T09:00:00Z","until":"2026-11-14T10:00:00Z"}`)
	if status != http.StatusCreated || !strings.Contains(body, `"email":"ada@example.com"`) {
		t.Fatal(status, body)
	}
	var created struct{ Data Booking }
	if err := json.Unmarshal([]byte(body), &created); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		method, path, body string
		status             int
		detail             string
	}{
		{"POST", "", `{"email":"b@example.com","people":5,"from":"2026-11-14T11:00:00Z","until":"2026-11-14T12:00:00Z"}`, 422, "The room Blue has 4 seats."},
		{"POST", "", `{"email":"b@example.com","people":1,"from":"2026-11-14T12:00:00Z","until":"2026-11-14T11:00:00Z"}`, 422, "Must be after from."},
		{"POST", "", `{"email":"b@example.com","people":1,"from":"2026-11-14T09:59:00Z","until":"2026-11-14T11:00:00Z"}`, 409, "The room is taken from 2026-11-14T09:00:00.000Z until 2026-11-14T10:00:00.000Z."},
		{"POST", "", `{"email":"b@example.com","people":1,"from":"2026-11-14T10:00:00Z","until":"2026-11-14T11:00:00Z"}`, 201, ""},
		{"PATCH", "/" + created.Data.ID, `{"until":"2026-11-14T09:30:00Z"}`, 200, ""},
		{"PATCH", "/" + created.Data.ID, `{"until":"2026-11-14T10:30:00Z"}`, 409, "The room is taken from 2026-11-14T10:00:00.000Z until 2026-11-14T11:00:00.000Z."},
	} {
		if status, body := book(c.method, c.path, c.body); status != c.status || !strings.Contains(body, c.detail) {
			t.Errorf("%s %s: got %d %s", c.method, c.body, status, body)
		}
	}
	want := []string{"create: booking of ada@example.com", "create: booking of b@example.com", "update: booking of ada@example.com"}
	if !slices.Equal(notes, want) {
		t.Errorf("got %q", notes)
	}
}
