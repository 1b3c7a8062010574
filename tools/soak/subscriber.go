//go:build linux

package soak

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/plural-go/plural/internal/sse"
	"github.com/plural-go/plural/tools/soak/ledger"
	"github.com/plural-go/plural/tools/soak/stored"
)

// subscriber follows a collection across restarts of the server, and from node to node. It keeps the
// state that its events result in, and each change that it received.
type subscriber struct {
	collection string
	rng        *rand.Rand
	nodes      atomic.Pointer[[]*client]

	mutex     sync.Mutex // of the rest
	resources map[string]string
	received  map[ledger.Ref][]stored.LogEntry // by resource, in the order of the events
	changes   map[string]bool
	position  string // of the last event that has one
	synced    bool
	asked     bool // for a snapshot
	based     bool // its changes begin with a snapshot that was not the first, or not empty
	resets    int  // since the last check
	wrong     []string

	absence time.Duration       // maximum time that it is disconnected
	alter   func(event) []event // changes events, for tests of the harness; nil: none
	resumed atomic.Int64        // streams that resumed from a position
	began   atomic.Int64        // streams that started again with a snapshot
}

func newSubscriber(collection string, rng *rand.Rand) *subscriber {
	return &subscriber{collection: collection, rng: rng, resources: map[string]string{}, received: map[ledger.Ref][]stored.LogEntry{}, changes: map[string]bool{}}
}

// follow reads events until the context ends. A stream that ends is resumed on the next node.
func (s *subscriber) follow(ctx context.Context) {
	for node := s.rng.IntN(1 << 16); ctx.Err() == nil; node++ {
		nodes := *s.nodes.Load()
		s.read(ctx, nodes[node%len(nodes)].base.Load().(string), s.leave())
		if sleep(ctx, 20*time.Millisecond+time.Duration(s.rng.Int64N(int64(s.absence)+1))) != nil {
			return
		}
	}
}

// leaving is when a subscriber disconnects: after a number of events, in the middle of one, or after some
// time, also if its node does not respond.
type leaving struct {
	events int
	bytes  int64
	after  time.Duration
	synced bool // when the snapshot is complete
}

func (s *subscriber) leave() leaving {
	l := leaving{events: 1 + s.rng.IntN(300), bytes: 1 << 40, after: time.Hour}
	switch s.rng.IntN(4) {
	case 0: // otherwise a long snapshot would never be complete
		l.events, l.synced = math.MaxInt, true
		return l
	case 1:
		l.bytes = 500 + s.rng.Int64N(100_000)
	case 2:
		l.after = time.Duration(s.rng.Int64N(int64(3 * time.Second)))
	}
	return l
}

// streams has no timeout: a stream lasts as long as it is read.
var streams = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 8}}

// read reads one stream until it ends or the subscriber disconnects.
func (s *subscriber) read(ctx context.Context, base string, leave leaving) {
	ctx, cancel := context.WithTimeout(ctx, leave.after)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, base+"/"+s.collection, nil)
	if err != nil {
		s.addWrong("%v", err)
		return
	}
	request.Header.Set("Accept", "text/event-stream")
	s.mutex.Lock()
	resumes := s.synced
	if resumes && leave.synced {
		leave.events = 300
	}
	if resumes {
		request.Header.Set("Last-Event-ID", s.position)
	} else {
		s.forget() // an incomplete snapshot starts again
		s.based, s.asked = s.asked, true
	}
	s.mutex.Unlock()
	response, err := streams.Do(request)
	if err != nil {
		return // the server cannot be reached
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		if response.StatusCode < 500 {
			body, _ := io.ReadAll(io.LimitReader(response.Body, 1000))
			s.addWrong("the stream is refused: %d %s", response.StatusCode, body)
		}
		return
	}
	events := sse.NewReader(io.LimitReader(response.Body, leave.bytes))
	for range leave.events {
		event, err := readEvent(events)
		if err != nil {
			return
		}
		if event.kind == "reset" {
			s.began.Add(1)
		} else if resumes {
			s.resumed.Add(1)
		}
		resumes = false
		s.receive(event)
		if leave.synced && event.kind == "synced" {
			return
		}
	}
}

// receive handles an event, or what a fault of the test makes of it.
func (s *subscriber) receive(e event) {
	if s.alter == nil {
		s.take(e)
		return
	}
	for _, altered := range s.alter(e) {
		s.take(altered)
	}
}

// forget drops the state: a snapshot follows.
func (s *subscriber) forget() {
	s.synced, s.based, s.resources, s.received = false, false, map[string]string{}, map[ledger.Ref][]stored.LogEntry{}
}

// event is one event of a stream.
type event struct{ kind, id, data string }

func readEvent(from *sse.Reader) (event, error) {
	e, err := from.Next()
	return event{e.Name, e.ID, string(e.Data)}, err
}

// take applies an event to the state.
func (s *subscriber) take(e event) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	var message struct {
		Data     json.RawMessage
		Previous map[string]json.RawMessage
		Change   struct {
			ID       string
			Revision int64
		}
	}
	if err := json.Unmarshal([]byte(e.data), &message); err != nil {
		s.note("the event %s has no JSON: %q: %v", e.kind, ledger.Shortened(e.data), err)
		return
	}
	if e.id != "" {
		s.position = e.id
	}
	id, data := ledger.Identify(message.Data).ID, ledger.Plain(message.Data)
	before, there := s.resources[id]
	switch e.kind {
	case "listed":
		s.resources[id], s.based = data, true
		return
	case "synced":
		s.synced = true
		return
	case "bookmark":
		return
	case "reset":
		s.resets++
		s.forget()
		s.based = true
		return
	case "created", "updated":
		if there != (e.kind == "updated") {
			s.note("%s is %s, and it was there: %t", id, e.kind, there)
		}
		if there && !follows(before, data, message.Previous) {
			s.note("%s was %s, and is updated to %s from %s", id, ledger.Shortened(before), ledger.Shortened(data), ledger.Shortened(encode(message.Previous)))
		}
		s.resources[id] = data
	case "deleted":
		if before != data {
			s.note("%s was %s, and is deleted as %s", id, ledger.Shortened(before), ledger.Shortened(data))
		}
		delete(s.resources, id)
	default:
		s.note("an event %q, without a filter", e.kind)
	}
	if s.changes[message.Change.ID] {
		s.note("the change %s was sent twice", message.Change.ID)
	}
	s.changes[message.Change.ID] = true
	ref := ledger.Ref{Collection: s.collection, ID: id}
	s.received[ref] = append(s.received[ref], stored.LogEntry{Kind: e.kind, Revision: message.Change.Revision})
}

// follows reports whether an update applies to a state: the changed attributes had the former values in the
// event, and the others are unchanged. So no change in between is missing, even if the log was removed.
func follows(before, after string, previous map[string]json.RawMessage) bool {
	var was, is map[string]json.RawMessage
	if json.Unmarshal([]byte(before), &was) != nil || json.Unmarshal([]byte(after), &is) != nil {
		return false
	}
	delete(was, "updated_at") // is not part of events
	for name, value := range was {
		former, changed := previous[name]
		if !changed {
			former = is[name]
		}
		if string(former) != string(value) {
			return false
		}
	}
	return true
}

func (s *subscriber) isWrong() bool {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return len(s.wrong) > 0
}

func (s *subscriber) addWrong(format string, args ...any) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.note(format, args...)
}

// note records the first few problems.
func (s *subscriber) note(format string, args ...any) {
	if len(s.wrong) < 10 {
		s.wrong = append(s.wrong, "subscriber of "+s.collection+": "+fmt.Sprintf(format, args...))
	}
}
