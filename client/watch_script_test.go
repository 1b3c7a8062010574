package client_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/plural-go/plural/client"
	"github.com/plural-go/plural/params"
)

// script is a server of which each connection is written down. It works without a network, so
// that tests can use the clock of testing/synctest.
type script struct {
	answers  []func(*http.Request) (*http.Response, error) // the last one is repeated
	requests []string                                      // path and query
	at       []time.Time
	bearers  []string
}

func (s *script) RoundTrip(r *http.Request) (*http.Response, error) {
	answer := s.answers[min(len(s.requests), len(s.answers)-1)]
	s.requests = append(s.requests, r.URL.RequestURI())
	s.at = append(s.at, time.Now())
	s.bearers = append(s.bearers, r.Header.Get("Authorization"))
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	return answer(r)
}

// stream answers with a stream that has a text and then ends: io.EOF, another error, or nil to remain open
// until the request is given up.
func stream(text string, end error) func(*http.Request) (*http.Response, error) {
	return func(r *http.Request) (*http.Response, error) {
		if got := r.Header.Get("Accept"); got != "text/event-stream" {
			return nil, fmt.Errorf("Accept is %q", got)
		}
		header := http.Header{"Content-Type": {"text/event-stream;charset=utf-8"}}
		return &http.Response{StatusCode: 200, Header: header, Body: io.NopCloser(io.MultiReader(strings.NewReader(text), &ending{r.Context(), end})), Request: r}, nil
	}
}

type ending struct {
	ctx context.Context
	err error
}

func (e *ending) Read([]byte) (int, error) {
	if e.err != nil {
		return 0, e.err
	}
	<-e.ctx.Done()
	return 0, e.ctx.Err()
}

// refuse answers with a status and headers, in pairs.
func refuse(status int, code string, header ...string) func(*http.Request) (*http.Response, error) {
	return func(r *http.Request) (*http.Response, error) {
		body := fmt.Sprintf(`{"errors":[{"status":%d,"code":%q,"title":"T","detail":"D."}]}`, status, code)
		answer := &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body)), Request: r}
		for pair := range slices.Chunk(header, 2) {
			answer.Header.Set(pair[0], pair[1])
		}
		return answer, nil
	}
}

func unreachable(*http.Request) (*http.Response, error) { return nil, errors.New("no route to host") }

const otherID = "0193b0a6-7a2b-7c3d-8e4f-0000000000ff"

type named struct {
	ID   string `json:"id"`
	Type string `json:"type"`
	Name string `json:"name"`
}

// event writes an event as a server sends it. The position is left out if it is empty.
func event(kind, position, data string) string {
	text := "event: " + kind + "\n"
	if position != "" {
		text += "id: " + position + "\n"
	}
	return text + "data: " + data + "\n\n"
}

func resource(name string) string {
	return fmt.Sprintf(`{"data":{"id":%q,"type":"users","name":%q}}`, noID, name)
}

func ada(name string) named { return named{noID, "users", name} }

// watched runs a watch against a script until it has given so many events, or has ended, and returns
// the events with the error.
func watched(t *testing.T, s *script, most int, watch func(context.Context, *client.Collection[named]) iter.Seq2[client.Event[named], error]) (events []client.Event[named], last error) {
	t.Helper()
	c := connect(t, "http://script", func(o *client.Options) { o.HTTPClient = &http.Client{Transport: s} })
	return taken(watch(t.Context(), client.Of[named](c, "users")), most)
}

func taken[T any](events iter.Seq2[client.Event[T], error], most int) (got []client.Event[T], last error) {
	for event, err := range events {
		if err != nil {
			return got, err
		}
		if got = append(got, event); len(got) == most {
			break
		}
	}
	return got, nil
}

func watchAll(params ...params.Param) func(context.Context, *client.Collection[named]) iter.Seq2[client.Event[named], error] {
	return func(ctx context.Context, users *client.Collection[named]) iter.Seq2[client.Event[named], error] {
		return users.Watch(ctx, params...)
	}
}

// expect compares events and requests as a whole.
func expect(t *testing.T, s *script, got, want []client.Event[named], requests ...string) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	if !slices.Equal(s.requests, requests) {
		t.Errorf("the requests are\n%q, and not\n%q", s.requests, requests)
	}
}
