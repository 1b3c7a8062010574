package feed

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/query"
	"github.com/plural-go/plural/internal/reads"
	"github.com/plural-go/plural/problem"
)

// TestFoldedEventsAreTheList: several writers change random resources, with cascades and
// references that become null, while subscribers with random filters, rules, parents and single
// resources read, fall behind, disconnect and resume, all of them in random versions of the interface. Whoever adds up snapshot and events has what
// a list shows, whenever nobody writes; each event fits what is known; the changes of a resource
// come in their order.
func TestFoldedEventsAreTheList(t *testing.T) {
	rounds, _ := strconv.Atoi(os.Getenv("PLURAL_MODEL_ROUNDS"))
	rounds = max(rounds, 6)
	eachDatabase(t, func() Options { return Options{Kept: 20_000, Poll: 5 * time.Millisecond} }, func(t *testing.T, n *notes) {
		seed := rand.Uint64()
		t.Log("seed", seed)
		w := &modelDataset{notes: n, t: t, versions: []*model.Schema{n.schema, n.schema, n.version(1), n.version(2)}}
		for i := range 8 {
			w.subscribers = append(w.subscribers, &subscriber{dataset: w, random: rand.New(rand.NewPCG(seed, uint64(i)))})
		}
		for round := range rounds {
			w.round(seed, round)
			if t.Failed() {
				return
			}
		}
	})
}

type modelDataset struct {
	*notes
	t           *testing.T
	versions    []*model.Schema
	subscribers []*subscriber
}

// round lets writers and subscribers work at the same time, and then compares.
func (w *modelDataset) round(seed uint64, round int) {
	var writers, readers sync.WaitGroup
	over := make(chan struct{})
	for i := range 3 {
		random := rand.New(rand.NewPCG(seed+1, uint64(round*10+i)))
		writers.Go(func() {
			for range 25 {
				w.write(random)
			}
		})
	}
	for _, s := range w.subscribers {
		readers.Go(func() {
			for {
				select {
				case <-over:
					return
				default:
					s.act()
				}
			}
		})
	}
	writers.Wait()
	close(over)
	readers.Wait()
	last, err := w.feed.store.AssignNumbers(context.Background())
	if err != nil {
		w.t.Fatal(err)
	}
	for _, s := range w.subscribers {
		s.compare(last)
	}
}

func smallID(random *rand.Rand, most int) model.ID { return model.ID{15: byte(random.IntN(most) + 1)} }

var owners = []any{"ada", "eve", nil}

// write does a random write. It may be refused: the resource exists, or does not, or is
// referred to.
func (w *modelDataset) write(random *rand.Rand) {
	c, most := w.notes.notes, 8
	body := map[string]any{}
	some := func(name string, values ...any) {
		if random.IntN(2) == 0 {
			body[name] = values[random.IntN(len(values))]
		}
	}
	switch random.IntN(5) {
	case 0:
		c, most = w.books, 3
		some("name", "a", "b", nil)
		some("owner", owners...)
	case 1, 2:
		c = w.links
		some("label", "a", "b", "ab", "c", nil)
		some("rank", 0, 1, 2, 3, nil)
		some("note_id", smallID(random, 8).String(), nil)
	default:
		some("title", "a", "b", "ab", nil)
		some("open", true, false, nil)
		some("owner", owners...)
		some("secret", "x", "y")
		some("book_id", smallID(random, 3).String(), nil)
	}
	id := smallID(random, most)
	method := []string{http.MethodPost, http.MethodPost, http.MethodPatch, http.MethodPatch, http.MethodPatch, http.MethodPut, http.MethodDelete}[random.IntN(7)]
	c, body = in(w.versions[random.IntN(len(w.versions))], c, body)
	if method == http.MethodPost {
		body["id"] = id.String()
	}
	err := w.do(method, c, id, body)
	for _, each := range fault.From(err) {
		if err != nil && each.Status() >= 500 {
			w.t.Errorf("%s %s: %v", method, c.Name, err)
		}
	}
}

// subscriber is a client that adds up what it is told.
type subscriber struct {
	dataset *modelDataset
	random  *rand.Rand
	shape   Shape
	started bool
	stream  *Subscription
	state   fold
	earlier []fold // states that it had before, with their positions
}

// fold is what is known after some events.
type fold struct {
	position  string
	resources map[model.ID]string
	revisions map[model.ID]int64 // of the last change told
	synced    bool
}

func (f fold) clone() fold {
	return fold{position: f.position, resources: maps.Clone(f.resources), revisions: maps.Clone(f.revisions), synced: f.synced}
}

func emptyFold() fold {
	return fold{resources: map[model.ID]string{}, revisions: map[model.ID]int64{}}
}

// choose draws another shape.
func (s *subscriber) choose() {
	w, random := s.dataset, s.random
	s.close()
	s.state, s.earlier, s.started = emptyFold(), nil, true
	c := []*model.Collection{w.books, w.notes.notes, w.notes.notes, w.links}[random.IntN(4)]
	version := w.versions[random.IntN(len(w.versions))]
	if version.Of(c).IsAbsent() {
		version = w.schema
	}
	s.shape = Shape{Schema: version, Path: reads.Path{Collection: version.Of(c)}}
	switch random.IntN(7) {
	case 3, 4:
		s.shape.Path.By = w.permit("reader", "ada")
	case 5:
		s.shape.Path.By = w.permit("child", "eve")
	case 0:
		s.shape.Path.By = w.permit("admin", "root")
	case 1:
		s.shape.Path.By = w.permit("user", "ada")
	case 2:
		s.shape.Path.By = w.permit("user", "eve")
	}
	if c == w.notes.notes && random.IntN(3) == 0 {
		parent := smallID(random, 3)
		s.shape.Path.Parent = &parent
	}
	if random.IntN(6) == 0 {
		id := smallID(random, 5)
		s.shape.ID = &id
	}
	filters := map[string][]string{
		"books": {"", "filter[name]=a", "filter[owner][null]=true"},
		"notes": {"", "filter[open]", "filter[title][starts_with]=a&filter[open][ne]=true", "filter[title][in]=a,b", "filter[owner]=ada", "filter[title][gt]=a", "search=a", "search=s", "search=B&filter[open]"},
		"links": {"", "filter[rank][gte]=1", "filter[note_id][null]=false", "filter[label][contains]=b", "filter[rank][not_in]=1,2", "filter[label]=a&filter[label]=c"},
	}[c.Name]
	visible := s.shape.Path.By.Visible(s.shape.Path.Collection)
	q, err := query.Parse(query.OfList, c, filters[random.IntN(len(filters))], query.Limits{Visible: visible})
	switch {
	case err == nil:
		s.shape.Filter = q.Filter
	case visible == nil || version == w.schema: // else the version does not have the attribute
		w.t.Error(err)
	}
}

func (s *subscriber) String() string {
	return fmt.Sprintf("%s of version %d, parent %v, id %v, filter %+v", s.shape.Path.Collection.Name, s.shape.Schema.Versions().Newest, s.shape.Path.Parent, s.shape.ID, s.shape.Filter)
}

func (s *subscriber) close() {
	if s.stream != nil {
		s.stream.Close()
		s.stream = nil
	}
}

// act does something that a client might do.
func (s *subscriber) act() {
	switch action := s.random.IntN(40); {
	case !s.started || action == 0:
		s.choose()
	case s.stream == nil:
		s.connect()
	case action < 4: // the connection is lost
		s.close()
	case action < 8: // it falls behind
		time.Sleep(time.Duration(s.random.IntN(4)) * time.Millisecond)
	case action < 12 && s.state.synced:
		if event, ok := s.stream.Bookmark(); ok {
			s.state.position = event.Position
		}
	case action < 14 && s.state.synced && s.state.position != "":
		s.earlier = append(s.earlier, s.state.clone())
	case action < 15 && len(s.earlier) > 0: // it goes on from an earlier state
		s.close()
		s.state = s.earlier[s.random.IntN(len(s.earlier))].clone()
	default:
		ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
		s.read(ctx)
		cancel()
	}
}

// connect subscribes, from the last position if there is one. What does not exist for the
// caller is given up.
func (s *subscriber) connect() {
	if !s.state.synced {
		s.state = emptyFold() // an incomplete snapshot is worth nothing
	}
	stream, err := s.dataset.feed.Subscribe(context.Background(), s.shape, s.state.position, "")
	switch {
	case fault.Is(err, problem.CodeNotFound):
		s.choose()
	case err != nil:
		s.dataset.t.Error(err)
		s.choose()
	default:
		s.stream = stream
	}
}

func (s *subscriber) read(ctx context.Context) {
	events, err := s.stream.Next(ctx)
	for _, event := range events {
		if problem := s.state.apply(event, s.shape.Path.By.Visible(s.shape.Path.Collection) != nil); problem != "" {
			s.dataset.t.Errorf("%s: %s %s: %s; known is %s", s, event.Kind, event.Data, problem, s.state.resources[event.ID])
		}
	}
	var end *End
	switch {
	case err == nil, errors.Is(err, context.DeadlineExceeded):
	case errors.As(err, &end) && (end.Cause == ResourceDeleted || end.Cause == ResourceLeft):
		if len(s.state.resources) > 0 {
			s.dataset.t.Errorf("the stream ended by %s, and there is still %v", end.Cause, s.state.resources)
		}
		s.choose()
	case errors.As(err, &end) && end.Cause == Gone: // the parent, or the resource
		s.choose()
	default:
		s.dataset.t.Error(err)
		s.choose()
	}
}

var updatedAt = regexp.MustCompile(`,"updated_at":"[^"]*"`)

// apply adds an event to what is known. It says what does not fit, or nothing.
func (f *fold) apply(event Event, partial bool) string {
	content := struct {
		Data     json.RawMessage
		Previous map[string]json.RawMessage
		Change   struct{ Revision int64 }
	}{}
	if err := json.Unmarshal(event.Data, &content); err != nil {
		return err.Error()
	}
	known, exists := f.resources[event.ID]
	if event.Position != "" {
		f.position = event.Position
	}
	if content.Change.Revision != 0 {
		if content.Change.Revision <= f.revisions[event.ID] {
			return fmt.Sprintf("its revision is not after %d", f.revisions[event.ID])
		}
		f.revisions[event.ID] = content.Change.Revision
	}
	text := string(content.Data)
	switch event.Kind {
	case Reset:
		position := f.position
		*f = emptyFold()
		f.position = position
	case Synced:
		f.synced = true
	case Listed, Created, Entered:
		if exists {
			return "it is known already"
		}
		f.resources[event.ID] = text
	case Updated:
		if !exists {
			return "it is unknown"
		}
		f.resources[event.ID] = text
		return checkPrevious(known, content.Previous)
	case Deleted:
		delete(f.resources, event.ID)
		if partial { // others change hidden attributes, and with them the time
			known, text = updatedAt.ReplaceAllString(known, ""), updatedAt.ReplaceAllString(text, "")
		}
		if !exists || known != text {
			return "it is not what was deleted"
		}
	case Left:
		if !exists {
			return "it is unknown"
		}
		delete(f.resources, event.ID)
	default:
		return "unexpected"
	}
	return ""
}

func checkPrevious(known string, previous map[string]json.RawMessage) string {
	values := map[string]json.RawMessage{}
	if err := json.Unmarshal([]byte(known), &values); err != nil {
		return err.Error()
	}
	if len(previous) == 0 {
		return "it has no previous values"
	}
	for name, value := range previous {
		if string(values[name]) != string(value) {
			return fmt.Sprintf("the previous %s is not %s", name, values[name])
		}
	}
	return ""
}

// compare reads up to the end of the log, and compares what is known with the list.
func (s *subscriber) compare(last int64) {
	deadline := time.Now().Add(maxWait)
	for !s.started || s.stream == nil || !s.state.synced || s.stream.point.Number < last || len(s.stream.pending) > 0 || s.stream.snapshot != nil {
		if time.Now().After(deadline) {
			s.dataset.t.Fatalf("the end of the log, %d, is not reached", last)
		}
		switch {
		case !s.started:
			s.choose()
		case s.stream == nil:
			s.connect()
		default:
			ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
			s.read(ctx)
			cancel()
			if s.stream != nil {
				s.stream.Bookmark()
			}
		}
	}
	listed, exists := s.dataset.list(s.dataset.t, s.shape)
	if !exists {
		s.dataset.t.Errorf("the stream of %+v goes on, and its parent does not exist", s.shape)
	}
	known := maps.Clone(s.state.resources)
	if s.shape.Path.By.Visible(s.shape.Path.Collection) != nil {
		for _, all := range []map[model.ID]string{listed, known} {
			for id, text := range all {
				all[id] = updatedAt.ReplaceAllString(text, "")
			}
		}
	}
	if !maps.Equal(listed, known) {
		s.dataset.t.Errorf("%s:\nknown  %v\nlisted %v", s, known, listed)
	}
}
