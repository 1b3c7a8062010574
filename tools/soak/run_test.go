//go:build linux

package soak

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/plural-go/plural/tools/soak/ledger"
)

// A counter whose creation got no response is neither shared nor taken for lost.
func TestCountersAreAcknowledged(t *testing.T) {
	stored := map[ledger.Ref]ledger.Value{}
	posts := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		posts++
		body, _ := io.ReadAll(r.Body)
		var data struct{ ID, Token string }
		if err := json.Unmarshal(body, &data); err != nil {
			t.Error(err)
		}
		if posts != 1 {
			stored[ledger.Ref{Collection: "counters", ID: data.ID}] = ledger.Value{Token: data.Token}
		}
		if posts == 1 || posts == 3 {
			panic(http.ErrAbortHandler)
		}
		w.WriteHeader(http.StatusCreated)
		_, _ = w.Write([]byte(`{"data":{"type":"counters",` + string(body[1:]) + `}`))
	}))
	defer server.Close()
	run := NewRun(nil, 1, 1)
	run.clients = []*client{newClient(server.URL, 1)}
	if err := run.createCounters(t.Context()); err != nil {
		t.Fatal(err)
	}
	if posts != numCounters+2 || len(run.counters) != numCounters {
		t.Errorf("%d requests created %d counters", posts, len(run.counters))
	}
	for _, ref := range run.counters {
		if _, ok := stored[ref]; !ok {
			t.Errorf("%v is not stored", ref)
		}
	}
	requests := run.ledger.Requests()
	for _, v := range append(ledger.Check(requests, &ledger.Observed{Resources: stored}), ledger.Linearizable(requests, nil)...) {
		t.Error(v)
	}
}

// A server that never answers ends the run.
func TestCountersNeedAServer(t *testing.T) {
	server := httptest.NewServer(nil)
	server.Close()
	run := NewRun(nil, 1, 1)
	run.clients = []*client{newClient(server.URL, 1)}
	if err := run.createCounters(t.Context()); err == nil || len(run.counters) != 0 {
		t.Errorf("%d counters, %v", len(run.counters), err)
	}
}
