package interfacetest

import (
	"strings"
	"testing"
)

// TestETagsOfVersions: each version has ETags of its own for one state, also where it shows the same, and a write accepts each.
func TestETagsOfVersions(t *testing.T) {
	eachVersioned(t, func(t *testing.T, s *server) {
		tags := map[string]int{}
		for number, path := range map[int]string{1: "/clients/", 2: "/customers/", 3: "/customers/"} {
			tags[s.version(number).get(path+id(2)).tag(t)] = number
		}
		if len(tags) != 3 {
			t.Fatalf("the ETags are %v", tags)
		}
		for tag, number := range tags {
			// Each is what that version has, and no other.
			for other, path := range map[int]string{1: "/clients/", 2: "/customers/", 3: "/customers/"} {
				want := 200
				if other == number {
					want = 304
				}
				if got := s.version(other).get(path+id(2), "If-None-Match", tag); got.status != want {
					t.Errorf("version %d with the ETag of %d: %d", other, number, got.status)
				}
				s.version(other).do("PATCH", path+id(2), `{}`, "If-None-Match", tag).expectErrors(t, 412, "precondition_failed If-None-Match")
			}
			// The same state: nothing changes.
			same := s.version(1).do("PATCH", "/clients/"+id(2), `{"name":"Bob"}`, "If-Match", tag)
			if same.status != 200 || tags[same.tag(t)] != 1 {
				t.Errorf("version 1 with the ETag of %d: %d %s", number, same.status, same.header.Get("Etag"))
			}
		}
		before := s.get("/customers/" + id(2)).tag(t)
		written := s.version(1).do("PATCH", "/clients/"+id(2), `{"fax":"5"}`, "If-Match", before) // which the newest does not show
		if written.status != 200 || written.tag(t) != s.version(1).get("/clients/"+id(2)).tag(t) {
			t.Errorf("%d %s", written.status, written.header.Get("Etag"))
		}
		refused := s.do("PATCH", "/customers/"+id(2), `{"vip":true}`, "If-Match", before)
		refused.expectErrors(t, 412, "precondition_failed If-Match")
		if now := s.get("/customers/" + id(2)).tag(t); !strings.Contains(refused.body, strings.Trim(now, `"`)) {
			t.Errorf("the ETag is %s, not that of %s", now, refused.body)
		}
		// A collection that is the same in two versions.
		two, three := s.version(2).get("/orders/"+id(12)).tag(t), s.get("/orders/"+id(12)).tag(t)
		if two == three {
			t.Errorf("versions 2 and 3 have the ETag %s", two)
		}
		part := s.version(2).get("/orders/" + id(12) + "?fields=code").tag(t)
		if got := s.do("DELETE", "/orders/"+id(12), "", "If-Match", part); got.status != 200 {
			t.Errorf("with the ETag of a selection of version 2: %d %s", got.status, got.body)
		}
	})
}

// TestReplaysOfVersions: a repetition has the names of the version, and another version is another request.
func TestReplaysOfVersions(t *testing.T) {
	eachVersioned(t, func(t *testing.T, s *server) {
		old := s.version(1)
		body := `{"id":"` + id(31) + `","name":"Cleo"}`
		first := old.do("POST", "/clients", body, "Idempotency-Key", "a")
		first.expect(t, 201, `{"data":`+customerIn(1, 31, `"Cleo"`, "null", `"new"`, "null", "null", "null", "null", "", "")+`}`)
		old.do("POST", "/clients", body, "Idempotency-Key", "a").expectReplay(t, first)
		s.version(2).do("POST", "/customers", body, "Idempotency-Key", "a").expectErrors(t, 422, "idempotency_key_reused Idempotency-Key")
		refused := old.do("POST", "/clients", `{"name":"Cleo","mail":"ann@example.com"}`, "Idempotency-Key", "b")
		refused.expectErrors(t, 409, "not_unique /mail")
		old.do("POST", "/clients", `{"name":"Cleo","mail":"ann@example.com"}`, "Idempotency-Key", "b").expectReplay(t, refused)
	})
}
