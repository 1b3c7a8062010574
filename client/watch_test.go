package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/plural-go/plural/client"
	"github.com/plural-go/plural/params"
)

// TestWatchEvents: every kind of event, and everything that may stand in a stream.
func TestWatchEvents(t *testing.T) {
	const change = `{"id":"c1","by":"key:ada","at":"2026-11-16T09:30:00.123Z","revision":7,"traceparent":"00-1-2-01"}`
	text := ": welcome\nretry: 250\n\n" +
		event("listed", "", resource("Ada")) +
		event("synced", "p1", "{}") +
		event("created", "p2", fmt.Sprintf(`{"data":{"id":%q,"type":"users","name":"Bob"},"change":%s}`, otherID, change)) +
		event("unheard-of", "p3", `{"new":true}`) + event("unheard-of", "", "not even JSON") +
		"event:updated\r\nid:p4\r\ndata:{\"data\":{\"id\":\"" + noID + "\",\"type\":\"users\",\"name\":\"Eve\"},\r\ndata: \"previous\":{\"name\":\"Ada\"},\"change\":{\"id\":\"c2\",\"by\":null,\"at\":\"2026-11-16T09:30:01.000Z\",\"revision\":8}}\r\n\r\n" +
		"id: p5\nunknown: field\nretry: soon\n\n" +
		event("left", "p6", fmt.Sprintf(`{"data":{"id":%q,"type":"users"}}`, noID)) +
		event("entered", "p7", `{"data":{"id":"`+noID+`","type":"users","name":"Eve"},"previous":null,"change":`+change+`}`) +
		event("deleted", "p8", `{"data":{"id":"`+noID+`","type":"users","name":"Eve"},"change":`+change+`}`) +
		": still here\n\n" + event("bookmark", "p9", "{}") +
		event("reset", "", "{}") + event("listed", "", resource("Ada")) + event("synced", "p10", "{}")
	s := &script{answers: []func(*http.Request) (*http.Response, error){stream(text, nil)}}
	got, err := watched(t, s, 11, watchAll(params.Where("active").Is(true)))
	if err != nil {
		t.Fatal(err)
	}
	made := &client.EventChange{ID: "c1", By: "key:ada", At: time.Date(2026, 11, 16, 9, 30, 0, 123e6, time.UTC), Revision: 7, Traceparent: "00-1-2-01"}
	expect(t, s, got, []client.Event[named]{
		{Kind: client.EventListed, ID: noID, Resource: ada("Ada")},
		{Kind: client.EventSynced, Position: "p1"},
		{Kind: client.EventCreated, ID: otherID, Resource: named{otherID, "users", "Bob"}, Change: made, Position: "p2"},
		{Kind: client.EventUpdated, ID: noID, Resource: ada("Eve"), Previous: map[string]json.RawMessage{"name": json.RawMessage(`"Ada"`)}, Position: "p4",
			Change: &client.EventChange{ID: "c2", At: time.Date(2026, 11, 16, 9, 30, 1, 0, time.UTC), Revision: 8}},
		{Kind: client.EventLeft, ID: noID, Resource: ada(""), Position: "p6"},
		{Kind: client.EventEntered, ID: noID, Resource: ada("Eve"), Change: made, Position: "p7"},
		{Kind: client.EventDeleted, ID: noID, Resource: ada("Eve"), Change: made, Position: "p8"},
		{Kind: client.EventBookmark, Position: "p9"},
		{Kind: client.EventReset},
		{Kind: client.EventListed, ID: noID, Resource: ada("Ada")},
		{Kind: client.EventSynced, Position: "p10"},
	}, "/users?filter[active][eq]=true")
}

// TestWatchResumes: whatever ends a connection, the watch continues behind the last event, and
// gives none twice.
func TestWatchResumes(t *testing.T) {
	first := event("listed", "", resource("Ada")) + event("synced", "p/1", "{}") + event("updated", "p/2", resource("Bob"))
	second := event("updated", "p/4", resource("Eve"))
	want := []client.Event[named]{
		{Kind: client.EventListed, ID: noID, Resource: ada("Ada")},
		{Kind: client.EventSynced, Position: "p/1"},
		{Kind: client.EventUpdated, ID: noID, Resource: ada("Bob"), Position: "p/2"},
		{Kind: client.EventUpdated, ID: noID, Resource: ada("Eve"), Position: "p/4"},
	}
	const again = "/users?since=p%2F2"
	for name, test := range map[string]struct {
		answers  []func(*http.Request) (*http.Response, error)
		requests []string
		least    time.Duration // between the first connection and the last
	}{
		"the stream ends":                {answers: []func(*http.Request) (*http.Response, error){stream(first, io.EOF)}, requests: []string{again}},
		"cut between lines of an event":  {answers: []func(*http.Request) (*http.Response, error){stream(first+"event: updated\nid: p/3\n", io.ErrUnexpectedEOF)}, requests: []string{again}},
		"cut within a line":              {answers: []func(*http.Request) (*http.Response, error){stream(first+"event: updated\nid: p/3\ndata: {\"da", errors.New("reset by peer"))}, requests: []string{again}},
		"cut ahead of the empty line":    {answers: []func(*http.Request) (*http.Response, error){stream(first+strings.TrimSuffix(second, "\n"), io.EOF)}, requests: []string{again}},
		"silence":                        {answers: []func(*http.Request) (*http.Response, error){stream(first, nil)}, requests: []string{again}, least: time.Minute},
		"an unknown event has come":      {answers: []func(*http.Request) (*http.Response, error){stream(first+event("novel", "p/3", "{}"), io.EOF)}, requests: []string{"/users?since=p%2F3"}},
		"the server asks for a pause":    {answers: []func(*http.Request) (*http.Response, error){stream(first+"retry: 5000\n", io.EOF)}, requests: []string{again}, least: 5 * time.Second},
		"a pause that nobody would wait": {answers: []func(*http.Request) (*http.Response, error){stream(first+"retry: 2147483647\n", io.EOF)}, requests: []string{again}, least: 30 * time.Second},
		"a restart takes a while": {
			answers: []func(*http.Request) (*http.Response, error){stream(first, io.EOF), unreachable, unreachable, refuse(502, ""), refuse(503, "unavailable"), unreachable,
				unreachable, unreachable, unreachable, unreachable, unreachable},
			requests: slices.Repeat([]string{again}, 11),
		},
		"too many requests": {
			answers:  []func(*http.Request) (*http.Response, error){stream(first, io.EOF), refuse(429, "too_many_requests", "Retry-After", "7")},
			requests: []string{again, again}, least: 7 * time.Second,
		},
		"unavailable for longer than MaxWait": {
			answers:  []func(*http.Request) (*http.Response, error){stream(first, io.EOF), refuse(503, "unavailable", "Retry-After", "3600")},
			requests: []string{again, again}, least: time.Hour,
		},
		"streams without events": {
			answers:  []func(*http.Request) (*http.Response, error){stream(first, io.EOF), stream("", io.EOF), stream(": hello\n\n", io.EOF), stream("event: updated\n", io.EOF)},
			requests: []string{again, again, again, again},
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &script{answers: append(test.answers, stream(second, nil))}
				got, err := watched(t, s, len(want), watchAll())
				if err != nil {
					t.Fatal(err)
				}
				expect(t, s, got, want, append([]string{"/users"}, test.requests...)...)
				if took := s.at[len(s.at)-1].Sub(s.at[0]); took < test.least {
					t.Errorf("the last connection came after %v", took)
				}
			})
		})
	}
}

// TestWatchBeginsAnew: a snapshot that was not complete, and a position that the server does not know.
func TestWatchBeginsAnew(t *testing.T) {
	whole := event("listed", "", resource("Bob")) + event("synced", "p1", "{}")
	listed := func(name string) client.Event[named] {
		return client.Event[named]{Kind: client.EventListed, ID: noID, Resource: ada(name)}
	}
	reset, synced := client.Event[named]{Kind: client.EventReset}, client.Event[named]{Kind: client.EventSynced, Position: "p1"}
	for name, test := range map[string]struct {
		first    []func(*http.Request) (*http.Response, error)
		given    []params.Param
		want     []client.Event[named]
		requests []string
	}{
		"cut in the snapshot": {
			first:    []func(*http.Request) (*http.Response, error){stream(event("listed", "", resource("Ada")), io.EOF), unreachable, stream("event: listed\n", io.EOF)},
			want:     []client.Event[named]{listed("Ada"), reset, listed("Bob"), synced},
			requests: []string{"/users", "/users", "/users", "/users"},
		},
		"cut ahead of the first resource": {
			first:    []func(*http.Request) (*http.Response, error){stream(": hello\n", io.EOF)},
			want:     []client.Event[named]{listed("Bob"), synced},
			requests: []string{"/users", "/users"},
		},
		"cut in the snapshot behind a reset": {
			first:    []func(*http.Request) (*http.Response, error){stream(event("reset", "", "{}")+event("listed", "", resource("Ada")), io.EOF)},
			given:    []params.Param{params.Since("p0")},
			want:     []client.Event[named]{reset, listed("Ada"), reset, listed("Bob"), synced},
			requests: []string{"/users?since=p0", "/users"},
		},
		"cut right behind a reset": {
			first:    []func(*http.Request) (*http.Response, error){stream(event("reset", "", "{}"), io.EOF)},
			given:    []params.Param{params.Since("p0"), params.Where("name").Is("Bob")},
			want:     []client.Event[named]{reset, listed("Bob"), synced},
			requests: []string{"/users?filter[name][eq]=Bob&since=p0", "/users?filter[name][eq]=Bob"},
		},
		"gone": {
			first:    []func(*http.Request) (*http.Response, error){refuse(410, "position_gone")},
			given:    []params.Param{params.Since("p0")},
			want:     []client.Event[named]{reset, listed("Bob"), synced},
			requests: []string{"/users?since=p0", "/users"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &script{answers: append(test.first, stream(whole, nil))}
				got, err := watched(t, s, len(test.want), watchAll(test.given...))
				if err != nil {
					t.Fatal(err)
				}
				expect(t, s, got, test.want, test.requests...)
			})
		})
	}
}

// TestWatchEnds: refusals that another try cannot change are the last thing that a watch gives, at
// the beginning and later.
func TestWatchEnds(t *testing.T) {
	synced := event("synced", "p1", "{}")
	for _, test := range []struct {
		answer func(*http.Request) (*http.Response, error)
		want   string
	}{
		{refuse(400, "invalid_parameter"), "GET /users: 400 invalid_parameter: D."},
		{refuse(401, "unauthenticated"), "GET /users: 401 unauthenticated: D."},
		{refuse(403, "forbidden"), "GET /users: 403 forbidden: D."},
		{refuse(404, "not_found"), "GET /users: 404 not_found: D."},
		{refuse(406, "not_acceptable"), "GET /users: 406 not_acceptable: D."},
		{refuse(200, "", "Content-Type", "application/json;charset=utf-8"), `the answer to GET /users is "application/json", and not a stream of events: does the server have them?`},
		{stream(event("updated", "p2", `{"data":{"id":"1"}}`), nil), `an event "updated" of users: an id is a UUID, but this is "1"`},
		{stream(event("updated", "p2", `{"data`), nil), `an event "updated" of users: unexpected end of JSON input`},
		{stream(event("updated", "p2", `{"data":{"id":"`+noID+`","name":1}}`), nil), `an event "updated" of users: json: cannot unmarshal number into Go struct field named.name of type string`},
		{stream("data: "+strings.Repeat("x", 65<<20), nil), "the server has sent an event of more than 64 MiB"},
		{stream(strings.Repeat("data: "+strings.Repeat("x", 1<<20)+"\n", 65), nil), "the server has sent an event of more than 64 MiB"},
	} {
		for _, before := range []int{0, 1} {
			synctest.Test(t, func(t *testing.T) {
				s := &script{answers: append([]func(*http.Request) (*http.Response, error){stream(synced, io.EOF)}[:before], test.answer)}
				got, err := watched(t, s, 9, watchAll())
				if err == nil || err.Error() != test.want {
					t.Errorf("got %v\nwant %v", err, test.want)
				}
				if len(got) != before || len(s.requests) != before+1 {
					t.Errorf("%d events of %d requests", len(got), len(s.requests))
				}
			})
		}
	}
}

// TestWatchFirstConnection: a server that was never there is no reason to wait forever.
func TestWatchFirstConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{answers: []func(*http.Request) (*http.Response, error){unreachable}}
		got, err := watched(t, s, 9, watchAll())
		if len(got) != 0 || err == nil || !strings.Contains(err.Error(), "no route to host") || len(s.requests) != 6 {
			t.Errorf("got %v, %v after %d requests", got, err, len(s.requests))
		}
	})
}

// TestWatchBackoff: a server that stays away is asked more and more rarely, and not by all at once.
func TestWatchBackoff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{answers: []func(*http.Request) (*http.Response, error){stream(event("synced", "p1", "{}"), io.EOF), unreachable}}
		c := connect(t, "http://script", func(o *client.Options) { o.HTTPClient = &http.Client{Transport: s} })
		ctx, cancel := context.WithTimeout(t.Context(), 24*time.Hour)
		defer cancel()
		_, err := taken(client.Of[named](c, "users").Watch(ctx), 9)
		// A pause is 15 s on average, and never more than 30 s.
		if tries := len(s.at); !errors.Is(err, context.DeadlineExceeded) || tries < 2880 || tries > 4*2880 {
			t.Errorf("%v after %d tries", err, tries)
		}
		pauses := map[time.Duration]bool{}
		for i := range s.at[1:] {
			pause := s.at[i+1].Sub(s.at[i])
			if longest := 100 * time.Millisecond << min(i, 10); pause > min(longest, 30*time.Second) {
				t.Errorf("pause %d took %v", i, pause)
			}
			pauses[pause] = true
		}
		if len(pauses) < 1000 {
			t.Errorf("there are only %d different pauses", len(pauses))
		}
	})
}

// TestWatchToken: when the token has expired the stream ends, and the next connection has another token.
func TestWatchToken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{answers: []func(*http.Request) (*http.Response, error){
			stream(event("synced", "p1", "{}"), io.EOF), stream(event("bookmark", "p2", "{}"), io.EOF), refuse(401, "unauthenticated"),
		}}
		tokens := 0
		c := connect(t, "http://script", func(o *client.Options) {
			o.HTTPClient = &http.Client{Transport: s}
			o.Token = func(context.Context) (string, error) { tokens++; return fmt.Sprint("token", tokens), nil }
		})
		got, err := taken(client.Of[named](c, "users").Watch(t.Context()), 9)
		if !client.IsUnauthenticated(err) {
			t.Errorf("got %v", err)
		}
		expect(t, s, got, []client.Event[named]{{Kind: client.EventSynced, Position: "p1"}, {Kind: client.EventBookmark, Position: "p2"}},
			"/users", "/users?since=p1", "/users?since=p2")
		if want := []string{"Bearer token1", "Bearer token2", "Bearer token3"}; !slices.Equal(s.bearers, want) {
			t.Errorf("got %q", s.bearers)
		}
	})
}

// TestWatchSlowLoop: the time that the loop takes is no silence of the server.
func TestWatchSlowLoop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{answers: []func(*http.Request) (*http.Response, error){stream(event("listed", "", resource("Ada"))+event("synced", "p1", "{}"), nil)}}
		c := connect(t, "http://script", func(o *client.Options) { o.HTTPClient = &http.Client{Transport: s} })
		for event, err := range client.Of[named](c, "users").Watch(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Hour)
			if event.Kind == client.EventSynced {
				break
			}
		}
		expect(t, s, nil, nil, "/users")
	})
}

// TestWatchContext: the context ends a watch wherever it is.
func TestWatchContext(t *testing.T) {
	synced := event("synced", "p1", "{}")
	for name, answers := range map[string][]func(*http.Request) (*http.Response, error){
		"in a stream": {stream(synced, nil)},
		"in a pause":  {stream(synced, io.EOF), refuse(503, "unavailable", "Retry-After", "3600")},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := &script{answers: answers}
			c := connect(t, "http://script", func(o *client.Options) { o.HTTPClient = &http.Client{Transport: s} })
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
			defer cancel()
			began := time.Now()
			got, err := taken(client.Of[named](c, "users").Watch(ctx), 9)
			if len(got) != 1 || !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != 30*time.Second {
				t.Errorf("%s: got %v, %v after %v", name, got, err, time.Since(began))
			}
		})
	}
}

// TestWatchFromNow: the position of an empty list takes the place of the snapshot. Where the server gives no
// position, the snapshot is read and not given.
func TestWatchFromNow(t *testing.T) {
	list := func(link string) func(*http.Request) (*http.Response, error) {
		return func(r *http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: 200, Header: http.Header{"Link": {link}}, Body: io.NopCloser(strings.NewReader(`{"data":[]}`)), Request: r}, nil
		}
	}
	changed := event("updated", "p2", resource("Eve"))
	snapshot := event("listed", "", resource("Ada")) + event("synced", "p1", "{}") + changed
	synced := client.Event[named]{Kind: client.EventSynced, Position: "p1"}
	want := []client.Event[named]{synced, {Kind: client.EventUpdated, ID: noID, Resource: ada("Eve"), Position: "p2"}}
	filtered := watchAll(params.FromNow(), params.Where("name").Is("a&b"))

	s := &script{answers: []func(*http.Request) (*http.Response, error){list(`</users?filter%5Bname%5D=a%26b&since=p1>; rel="changes"`), stream(changed, nil)}}
	got, err := watched(t, s, 2, filtered)
	if err != nil {
		t.Fatal(err)
	}
	expect(t, s, got, want, "/users?filter[name][eq]=a%26b&limit=0", "/users?filter[name][eq]=a%26b&since=p1")

	s = &script{answers: []func(*http.Request) (*http.Response, error){list(`</users?limit=1>; rel="next"`), stream(event("listed", "", resource("Ada")), io.EOF), stream(snapshot, nil)}}
	if got, err = watched(t, s, 2, filtered); err != nil {
		t.Fatal(err)
	}
	expect(t, s, got, want, "/users?filter[name][eq]=a%26b&limit=0", "/users?filter[name][eq]=a%26b", "/users?filter[name][eq]=a%26b")

	s = &script{answers: []func(*http.Request) (*http.Response, error){stream(snapshot, nil)}}
	got, err = watched(t, s, 2, func(ctx context.Context, users *client.Collection[named]) iter.Seq2[client.Event[named], error] {
		return users.WatchOne(ctx, noID, params.FromNow())
	})
	if err != nil {
		t.Fatal(err)
	}
	expect(t, s, got, want, "/users/"+noID)
}

// TestWatchOne: the watch of a resource ends with it.
func TestWatchOne(t *testing.T) {
	s := &script{answers: []func(*http.Request) (*http.Response, error){
		stream(event("listed", "", resource("Ada"))+event("synced", "p1", "{}"), io.EOF), stream(event("deleted", "p2", resource("Ada")), io.EOF),
	}}
	got, err := watched(t, s, 9, func(ctx context.Context, users *client.Collection[named]) iter.Seq2[client.Event[named], error] {
		return users.WatchOne(ctx, noID)
	})
	if err != nil {
		t.Fatal(err)
	}
	expect(t, s, got, []client.Event[named]{
		{Kind: client.EventListed, ID: noID, Resource: ada("Ada")}, {Kind: client.EventSynced, Position: "p1"}, {Kind: client.EventDeleted, ID: noID, Resource: ada("Ada"), Position: "p2"},
	}, "/users/"+noID, "/users/"+noID+"?since=p1")
}

// TestWatchParameters: what a watch cannot be asked for is an error, and nothing is sent.
func TestWatchParameters(t *testing.T) {
	const filters = "a watch has filters, Search and Fields, and no Sort, Offset, Limit, Cursor or WithTotal"
	for _, test := range []struct {
		given []params.Param
		want  string
	}{
		{[]params.Param{params.Limit(1)}, filters},
		{[]params.Param{params.Offset(1)}, filters},
		{[]params.Param{params.Cursor(noID)}, filters},
		{[]params.Param{params.Sort("-name")}, filters},
		{[]params.Param{params.WithTotal()}, filters},
		{[]params.Param{params.Raw("filter[name]=Ada&limit=1")}, filters},
		{[]params.Param{params.Since("")}, "Since needs the Position of an event or of a list"},
		{[]params.Param{params.Since("p1"), params.FromNow()}, "a watch begins at a position or now, and not at both: give Since or FromNow"},
	} {
		s := &script{}
		if got, err := watched(t, s, 9, watchAll(test.given...)); err == nil || err.Error() != test.want || len(got)+len(s.requests) > 0 {
			t.Errorf("got %v, %v\nwant %s", got, err, test.want)
		}
	}
	users := client.Of[named](connect(t, "http://script"), "users")
	if _, err := taken(users.WatchOne(t.Context(), "1"), 9); err == nil || err.Error() != `an id is a UUID, but this is "1"` {
		t.Errorf("got %v", err)
	}
	if _, err := taken(client.Of[named](connect(t, "http://script"), "Users").Watch(t.Context()), 9); err == nil || err.Error() != `"Users" is not the name of a collection` {
		t.Errorf("got %v", err)
	}
	const forWatch = "a list has no FromNow and no OnConnection: they are for Watch"
	for _, test := range []struct {
		param params.Param
		want  string
	}{
		{params.FromNow(), forWatch},
		{params.OnConnection(func(error) {}), forWatch},
		{params.Since("p1"), "a list has no Since: it is for Watch, and for lists of changes"},
	} {
		if _, err := users.List(t.Context(), test.param); err == nil || err.Error() != test.want {
			t.Errorf("got %v", err)
		}
		for _, err := range users.All(t.Context(), test.param) {
			if err == nil || err.Error() != test.want {
				t.Errorf("got %v", err)
			}
		}
	}
}

// endless is a stream of so many resources, that are made while it is read.
type endless struct {
	left  int
	event *strings.Reader
}

func (e *endless) Read(p []byte) (int, error) {
	if e.event.Len() == 0 {
		if e.left == 0 {
			return 0, io.EOF
		}
		e.left--
		e.event.Reset(event("listed", "", resource(strings.Repeat("x", 1000))))
	}
	return e.event.Read(p)
}

// TestWatchMemory: memory does not grow with the number of resources.
func TestWatchMemory(t *testing.T) {
	const resources = 40_000
	s := &script{answers: []func(*http.Request) (*http.Response, error){func(r *http.Request) (*http.Response, error) {
		answer, err := stream("", io.EOF)(r)
		answer.Body = io.NopCloser(&endless{resources, strings.NewReader("")})
		return answer, err
	}}}
	c := connect(t, "http://script", func(o *client.Options) { o.HTTPClient = &http.Client{Transport: s} })
	heap := func() int64 {
		var memory runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&memory)
		return int64(memory.HeapAlloc) // #nosec G115 -- far smaller
	}
	count, before, after := 0, int64(0), int64(0)
	for _, err := range client.Of[named](c, "users").Watch(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if count++; count == 1000 {
			before = heap()
		}
		if count == resources {
			after = heap()
			break
		}
	}
	if after-before > 1<<20 { // of 40 MB
		t.Errorf("%d resources took %d bytes", resources, after-before)
	}
}
