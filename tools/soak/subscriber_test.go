//go:build linux

package soak

import (
	"slices"
	"strings"
	"testing"

	"github.com/plural-go/plural/internal/sse"
	"github.com/plural-go/plural/tools/soak/ledger"
	"github.com/plural-go/plural/tools/soak/stored"
)

// TestSubscriberNoticesFaults: events that are missing, doubled, in another order or not in the
// change log are found.
func TestSubscriberNoticesFaults(t *testing.T) {
	const (
		createdA = "event: created\nid: 1\ndata: {\"data\":{\"id\":\"a\",\"type\":\"notes\"},\"change\":{\"id\":\"c1\",\"revision\":1}}\n\n"
		updatedA = "event: updated\nid: 2\ndata: {\"data\":{\"id\":\"a\",\"type\":\"notes\",\"token\":\"2\"},\"change\":{\"id\":\"c2\",\"revision\":2}}\n\n"
		deletedA = "event: deleted\nid: 3\ndata: {\"data\":{\"id\":\"a\",\"type\":\"notes\",\"token\":\"2\"},\"change\":{\"id\":\"c3\",\"revision\":3}}\n\n"
	)
	a := ledger.Ref{Collection: "notes", ID: "a"}
	log := map[ledger.Ref][]stored.LogEntry{a: {{Kind: ledger.Created, Revision: 1}, {Kind: ledger.Updated, Revision: 2}, {Kind: ledger.Deleted, Revision: 3}}}
	for name, c := range map[string]struct {
		stream string
		all    bool
		wrong  bool // a fault is found
	}{
		"everything":          {createdA + ": comment\n\n" + updatedA + "event: bookmark\nid: 2\ndata: {}\n\n" + deletedA, true, false},
		"the beginning":       {createdA + updatedA, false, false},
		"cut in the middle":   {createdA + updatedA[:40], false, false},
		"not everything":      {createdA + updatedA, true, true},
		"nothing":             {"", true, true},
		"one is missing":      {createdA + deletedA, false, true},
		"one is doubled":      {createdA + updatedA + updatedA, false, true},
		"in another order":    {updatedA + createdA, false, true},
		"not in the log":      {createdA + strings.ReplaceAll(updatedA, ":2}", ":9}"), false, true},
		"of another resource": {strings.ReplaceAll(createdA, `"a"`, `"b"`), false, true},
		"no JSON":             {"event: created\ndata: x\n\n", false, true},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSubscriber("notes", nil)
			lines := sse.NewReader(strings.NewReader(c.stream))
			for {
				e, err := readEvent(lines)
				if err != nil {
					break
				}
				s.take(e)
			}
			found := slices.Concat(s.wrong, s.logDifferences(log, false, c.all))
			if (len(found) > 0) != c.wrong {
				t.Errorf("found %q", found)
			}
		})
	}
}
