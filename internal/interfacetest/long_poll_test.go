package interfacetest

import (
	"context"
	"testing"
	"time"

	"github.com/plural-go/plural"
	"github.com/plural-go/plural/admin"
	"github.com/plural-go/plural/schema"
)

// TestLongPollsCountAsStreams: those that wait, and streams, have one limit for a caller. A response that does not depend on what
// happens is sent at once.
func TestLongPollsCountAsStreams(t *testing.T) {
	eachStore(t, schema.Example(), func(t *testing.T, s *server) {
		seedUsers(s, 1)
		last := s.get("/changes").ids(t)[0]
		path := "/changes?since=" + last
		stream := s.stream("/posts")
		stream.expect(`synced {}`)
		waiting := make(chan answer, 1)
		go func() { waiting <- s.get(path, "Prefer", "wait=300") }()
		s.awaitMetric("plural_streams 2")
		const tooMany = `{"errors":[{"status":429,"code":"too_many_requests","title":"Too many requests","detail":"You have 2 open streams and long polls, which is the limit for one caller. Close one of them first."}]}`
		s.get(path, "Prefer", "wait=300").expect(t, 429, tooMany)
		s.get("/users", "Accept", "text/event-stream").expect(t, 429, tooMany)
		// What does not wait is neither counted nor refused.
		s.get(path, "Prefer", "wait=0").expect(t, 200, data())
		s.get(path, "Prefer", "wait=300", "If-None-Match", "*").expect(t, 304, "")
		s.get(path, "Prefer", "wait=300", "If-Match", `"1"`).expectErrors(t, 412, "precondition_failed If-Match")
		s.get("/changes?cursor="+last+"&limit=0", "Prefer", "wait=300").expect(t, 200, data())
		s.write("PATCH", "/users/"+id(0), `{"name":"Ada"}`)
		(<-waiting).expectSettled(t, 200, data(change("updated", 0, `{"name":"User 0"}`, shown(0, "Ada", true))))
		s.awaitMetric("plural_streams 1")
		s.get(path, "Prefer", "wait=300").expectSettled(t, 200, data(change("updated", 0, `{"name":"User 0"}`, shown(0, "Ada", true))))
	}, func(c *plural.Config) { c.MaxStreamsPerCaller = 2 })
}

// TestLongPollsExpire: one whose credentials expire while it waits is 401.
func TestLongPollsExpire(t *testing.T) {
	eachAudit(t, func(t *testing.T, h *accessServer) {
		secret, err := admin.CreateKey(context.Background(), h.config.Database, admin.Key{Name: "expiring", Role: "auditor", Expires: time.Now().Add(time.Second)})
		if err != nil {
			t.Fatal(err)
		}
		h.keys["expiring"] = "Bearer " + secret
		h.checker.knows(h.keys["expiring"], "auditor")
		h.as("auditor", "POST", "/users", `{"name":"Ada"}`)
		last := h.as("auditor", "GET", "/changes", "").ids(t)[0]
		h.as("expiring", "GET", "/changes?since="+last, "", "Prefer", "wait=300").expectErrors(t, 401, "invalid_credentials Authorization")
	})
}
