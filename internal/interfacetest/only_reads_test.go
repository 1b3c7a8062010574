package interfacetest

import (
	"context"
	"testing"

	"github.com/plural-go/plural"
)

// TestWritesThatOnlyReadNeedNoWriter: a range in which nothing is, and the dry run of a deletion, are answered while another
// transaction writes.
func TestWritesThatOnlyReadNeedNoWriter(t *testing.T) {
	var entered, leave chan struct{}
	holds := plural.Hook{Collection: "toys", On: []plural.Verb{plural.Create}, Within: func(ctx context.Context, _ *plural.Tx, change *plural.Change) error {
		if change.ID != id(99) {
			return nil
		}
		entered <- struct{}{} // more than one, if the transaction runs again
		select {
		case <-leave:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}}
	eachStore(t, family(t), func(t *testing.T, s *server) {
		s.createAll("/people", `{"id":"`+id(0)+`","name":"A"}`, `{"id":"`+id(1)+`","name":"B"}`)
		s.createAll("/people/"+id(0)+"/cats", `{"id":"`+id(10)+`"}`, `{"id":"`+id(11)+`"}`)
		s.createAll("/toys", `{"id":"`+id(20)+`","cat_id":"`+id(10)+`"}`, `{"id":"`+id(21)+`","cat_id":"`+id(10)+`"}`)
		entered, leave = make(chan struct{}, 10), make(chan struct{})
		held := make(chan answer, 1)
		go func() { held <- s.do("POST", "/toys", `{"id":"`+id(99)+`"}`) }()
		<-entered
		nobody := "/people?filter[name]=nobody"
		s.do("PATCH", nobody, `{"name":"X"}`).expect(t, 200, data())
		s.do("DELETE", nobody, "").expect(t, 200, data())
		s.do("PATCH", nobody+"&dry_run=true", `{"name":"X"}`).expectHeaders(t, "X-Affected: people=0")
		const all = "people=1, cats=2, toys=2"
		for _, path := range []string{"/people/" + id(0) + "?", "/people?filter[name]=A&"} {
			got := s.do("DELETE", path+"dry_run=true", "")
			got.expectHeaders(t, "X-Affected: "+all, "X-Deleted: people=1, cats=2")
		}
		got := s.do("POST", "/-/transaction?dry_run=true", "["+step("DELETE", "/people/"+id(0), "")+"]")
		got.expectHeaders(t, "X-Affected: "+all, "X-Deleted: people=1, cats=2")
		close(leave)
		if got := <-held; got.status != 201 {
			t.Errorf("the transaction that held the writer: %d %s", got.status, got.body)
		}
		s.get("/people").expectPositions(t, "people", 0, 1)
	}, withHooks(holds))
}

// TestDryRunsWithHooks: where a hook takes part in a deletion, its dry run is executed and undone.
func TestDryRunsWithHooks(t *testing.T) {
	renames := plural.Hook{Collection: "cats", On: []plural.Verb{plural.Delete}, Within: func(_ context.Context, tx *plural.Tx, change *plural.Change) error {
		_, err := tx.Update("people", id(1), map[string]any{"name": "has lost a cat"})
		return err
	}}
	eachStore(t, family(t), func(t *testing.T, s *server) {
		s.createAll("/people", `{"id":"`+id(0)+`","name":"A"}`, `{"id":"`+id(1)+`","name":"B"}`)
		s.createAll("/people/"+id(0)+"/cats", `{"id":"`+id(10)+`"}`)
		s.do("DELETE", "/people/"+id(0)+"?dry_run=true", "").expectHeaders(t, "X-Affected: people=2, cats=1", "X-Deleted: people=1, cats=1")
		s.get("/people?filter[name]=B").expectPositions(t, "unchanged", 1)
	}, withHooks(renames))
}

// TestRangesAreVerified: of what was found before the transaction, a write changes what is still in the range. What has come into it
// since is no part of the write.
func TestRangesAreVerified(t *testing.T) {
	var s *server
	moves := plural.Hook{Collection: "people", On: []plural.Verb{plural.Update, plural.Delete}, Before: func(_ context.Context, change *plural.Change) error {
		if change.ID != id(0) {
			return nil
		}
		for _, r := range [][2]string{{id(1), "other"}, {id(3), "found"}} {
			if got := s.do("PUT", "/people/"+r[0], `{"name":"`+r[1]+`"}`); got.status != 200 {
				t.Errorf("%d %s", got.status, got.body)
			}
		}
		if got := s.do("DELETE", "/people/"+id(2), ""); got.status != 200 {
			t.Errorf("%d %s", got.status, got.body)
		}
		return nil
	}}
	for _, method := range []string{"PATCH", "DELETE"} {
		t.Run(method, func(t *testing.T) {
			eachStore(t, family(t), func(t *testing.T, started *server) {
				s = started
				for i, name := range []string{"found", "found", "found", "other", "found"} {
					s.createAll("/people", `{"id":"`+id(i)+`","name":"`+name+`"}`)
				}
				got := s.do(method, "/people?filter[name]=found&sort=-id", map[string]string{"PATCH": `{"name":"written"}`}[method])
				got.expectPositions(t, "still in the range, in the order in which they were found", 4, 0)
				s.get("/people?filter[name]=other").expectPositions(t, "has left the range", 1)
				s.get("/people?filter[name]=found").expectPositions(t, "has come into the range", 3)
			}, withHooks(moves))
		})
	}
}

// TestWritesThatTakeTooLong change nothing. A write of one resource takes as long as it takes.
func TestWritesThatTakeTooLong(t *testing.T) {
	eachStore(t, family(t), func(t *testing.T, s *server) {
		s.createAll("/people", `{"id":"`+id(0)+`","name":"A"}`)
		s.createAll("/people/"+id(0)+"/cats", `{"id":"`+id(10)+`"}`)
		hasty := s.another(func(c *plural.Config) { c.QueryTimeout = 1 })
		before := s.get("/people").body + s.get("/cats").body
		for _, r := range [][3]string{
			{"DELETE", "/people/" + id(0), ""},
			{"POST", "/people", `[{"name":"B"}]`},
			{"POST", "/people?on_conflict=id", `{"id":"` + id(0) + `","name":"B"}`},
			{"POST", "/-/transaction", "[" + step("PATCH", "/people/"+id(0), `{"name":"B"}`) + "]"},
		} {
			got := hasty.do(r[0], r[1], r[2])
			got.expectErrors(t, 503, "too_expensive")
			got = hasty.do(r[0], r[1], r[2], "Idempotency-Key", r[0]+r[1][:5])
			got.expectErrors(t, 503, "too_expensive")
		}
		if after := s.get("/people").body + s.get("/cats").body; after != before {
			t.Errorf("got  %s\nwant %s", after, before)
		}
		hasty.do("PATCH", "/people/"+id(0), `{"name":"B"}`).expect(t, 200, `{"data":{"id":"`+id(0)+`","type":"people","name":"B","boss_id":null}}`)
		s.do("DELETE", "/people/"+id(0), "", "Idempotency-Key", "DELETE/peop").expect(t, 200, `{"data":{"id":"`+id(0)+`","type":"people","name":"B","boss_id":null}}`)
	})
}
