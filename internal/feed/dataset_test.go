package feed

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"os"
	"testing"
	"time"

	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/pgtest"
	"github.com/plural-go/plural/internal/query"
	"github.com/plural-go/plural/internal/reads"
	"github.com/plural-go/plural/internal/resource"
	"github.com/plural-go/plural/problem"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Run(m)) }

// maxWait is how long tests wait for what must happen.
const maxWait = 20 * time.Minute

// eachDatabase runs a test with a running feed on each database.
func eachDatabase(t *testing.T, options func() Options, test func(*testing.T, *notes)) {
	eachDatabaseURL(t, func(t *testing.T, url string) {
		n := openNotes(t, url, options())
		n.run(t)
		test(t, n)
	})
}

// eachDatabaseURL runs a test with the URL of an empty database of each kind.
func eachDatabaseURL(t *testing.T, test func(t *testing.T, url string)) {
	for name, database := range pgtest.Databases() {
		t.Run(name, func(t *testing.T) { test(t, database(t)) })
	}
}

func waitFor(t *testing.T, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(maxWait); !holds(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("it does not happen")
		}
	}
}

// run runs the feed until the test ends.
func (n *notes) run(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		n.feed.Run(ctx)
	}()
	t.Cleanup(func() {
		cancel()
		<-ended
	})
}

// do writes as a request without access control does.
func (n *notes) do(method string, c *model.Collection, id model.ID, body any) error {
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	step := resource.Step{Method: method, Path: reads.Path{Collection: c}, ID: id, BodyLimits: resource.BodyLimits{Depth: 10, Items: 10}}
	if method != http.MethodDelete {
		step.Body = text
	}
	return resource.New(n.feed.store).Execute(context.Background(), resource.Request{Steps: []resource.Step{step}}).Err
}

func (n *notes) mustDo(t *testing.T, method string, c *model.Collection, id model.ID, body map[string]any) {
	t.Helper()
	if method == http.MethodPost {
		body["id"] = id.String()
	}
	if err := n.do(method, c, id, body); err != nil {
		t.Fatal(method, c.Name, id, err)
	}
}

// list is what a shape selects now, by id, as the caller sees it.
func (n *notes) list(t testing.TB, shape Shape) (map[model.ID]string, bool) {
	t.Helper()
	q := query.Query{Filter: query.Both(shape.Filter, ofID(shape.ID)), Visible: shape.Path.By.Visible(shape.Path.Collection), Range: query.Range{Limit: math.MaxInt64}}
	listing, err := n.feed.resources.List(context.Background(), shape.Path, q, false)
	if fault.Is(err, problem.CodeNotFound) {
		return nil, false
	}
	if err != nil {
		t.Fatal(err)
	}
	defer listing.Close()
	all := map[model.ID]string{}
	for {
		text, more, err := listing.Append(nil)
		if err != nil {
			t.Fatal(err)
		}
		if !more {
			return all, true
		}
		all[listing.ID()] = string(text)
	}
}

func (n *notes) subscribe(t *testing.T, shape Shape, position string) *Subscription {
	t.Helper()
	s, err := n.feed.Subscribe(context.Background(), shape, position, "test")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// next returns the next n events, each as its kind and data; fewer if the stream ends.
func next(t *testing.T, s *Subscription, n int) (lines []string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), maxWait)
	defer cancel()
	for len(lines) < n {
		events, err := s.Next(ctx)
		if err != nil {
			return append(lines, err.Error())
		}
		for _, event := range events {
			lines = append(lines, fmt.Sprintf("%s %s", event.Kind, event.Data))
		}
	}
	return lines
}
