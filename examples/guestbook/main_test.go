package main

import (
	"context"
	"net/http/httptest"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/plural-go/plural/client"
	"github.com/plural-go/plural/problem"
)

func TestGuestbook(t *testing.T) {
	server, err := open(context.Background(), "sqlite:"+filepath.Join(t.TempDir(), "test.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer server.Stop(context.Background())
	const ada, entry = "00000000-0000-7000-8000-000000000001", "00000000-0000-7000-8000-000000000002"
	conflict := `409 {"errors":[{"status":409,"code":"conflict","title":"In conflict with a rule of this server","detail":"Ada has written 3 times, which is enough."}]}`
	for _, c := range []struct{ method, path, body, want string }{
		{"POST", "/guests", `{"id":"` + ada + `","name":"Ada"}`, "201 "},
		{"POST", "/guests/" + ada + "/entries", `{"id":"` + entry + `","text":"Hello."}`, "201 "},
		{"POST", "/guests/" + ada + "/entries", `[{"text":"Hello?"},{"text":"See https://example.com"}]`,
			`422 {"errors":[{"status":422,"code":"refused","title":"Refused by a rule of this server","detail":"Links are not welcome here.","source":{"pointer":"/1/text"}}]}`},
		{"POST", "/guests/" + ada + "/entries", `[{"text":"Hello?"},{"text":"Anybody?"}]`, "201 "},
		{"POST", "/guests/" + ada + "/entries", `{"text":"Still here."}`, conflict},
		{"DELETE", "/entries/" + entry, "", "200 "},
		{"GET", "/guests/" + ada, "", `200 {"data":{"id":"` + ada + `","type":"guests","name":"Ada","entries":2,`},
		{"POST", "/entries", `{"guest_id":"` + ada + `","text":"One more."}`, "201 "},
		{"POST", "/entries", `{"text":"Nobody."}`,
			`422 {"errors":[{"status":422,"code":"refused","title":"Refused by a rule of this server","detail":"Say who writes.","source":{"pointer":"/guest_id"}}]}`},
		{"POST", "/entries", `{"guest_id":"` + entry + `","text":"Somebody."}`,
			`422 {"errors":[{"status":422,"code":"unknown_reference","title":"The resource referred to does not exist","detail":"There is no resource ` + entry + ` in guests.","source":{"pointer":"/guest_id"}}]}`},
		{"DELETE", "/guests/" + ada, "", "200 "}, // and all entries with it
		{"GET", "/entries", "", `200 {"data":[]}`},
	} {
		r := httptest.NewRequest(c.method, c.path, strings.NewReader(c.body))
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		server.ServeHTTP(w, r)
		if got := strconv.Itoa(w.Code) + " " + w.Body.String(); !strings.HasPrefix(got, c.want) {
			t.Errorf("%s %s %s: got %s, want %s", c.method, c.path, c.body, got, c.want)
		}
	}
}

// TestEntriesOfAGuest: a guest can write three times.
func TestEntriesOfAGuest(t *testing.T) {
	ctx := t.Context()
	server, err := open(ctx, "sqlite:"+filepath.Join(t.TempDir(), "test.db"))
	if err != nil {
		t.Fatal(err)
	}
	front := httptest.NewServer(server)
	t.Cleanup(func() {
		front.Close()
		server.Stop(context.Background())
	})
	c, err := client.New(front.URL, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ada, err := client.Of[map[string]any](c, "guests").Create(ctx, map[string]any{"name": "Ada"})
	if err != nil {
		t.Fatal(err)
	}
	entries := client.Of[map[string]any](c, "entries").Under("guests", ada.ID)
	for range mostEntries {
		if _, err := entries.Create(ctx, map[string]any{"text": "Hello."}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := entries.Create(ctx, map[string]any{"text": "Hello?"}); !client.HasCode(err, problem.CodeConflict) {
		t.Errorf("got %v", err)
	}
}
