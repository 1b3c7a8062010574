package client_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/plural-go/plural/client"
)

// proxy stands between a client and a server, and does what networks do.
type proxy struct {
	http.Handler
	t       *testing.T
	mutex   sync.Mutex
	keys    []string // Idempotency-Keys, in the order in which they came
	trouble func(w http.ResponseWriter, r *http.Request, forward func(http.ResponseWriter))
}

// between puts trouble between a client and a server.
func between(t *testing.T, server string, trouble func(w http.ResponseWriter, r *http.Request, forward func(http.ResponseWriter))) (*proxy, string) {
	t.Helper()
	target := must(url.Parse(server))(t)
	forward := httputil.NewSingleHostReverseProxy(target)
	forward.FlushInterval = -1
	p := &proxy{t: t, trouble: trouble}
	over := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.mutex.Lock()
		p.keys = append(p.keys, r.Header.Get("Idempotency-Key"))
		p.mutex.Unlock()
		p.trouble(w, r, func(w http.ResponseWriter) { forward.ServeHTTP(w, r) })
	}))
	t.Cleanup(over.Close)
	return p, over.URL
}

// TestLostResponses: every request comes through, and every first and second answer is
// lost, its end or all of it. Nothing is done twice all the same.
func TestLostResponses(t *testing.T) {
	eachStore(t, func(t *testing.T, server string) {
		ctx := context.Background()
		var sent atomic.Int64
		p, url := between(t, server, func(w http.ResponseWriter, r *http.Request, forward func(http.ResponseWriter)) {
			switch sent.Add(1) % 3 {
			case 1: // carried out, and then the connection is gone
				forward(httptest.NewRecorder())
				panic(http.ErrAbortHandler)
			case 2: // the answer breaks off in the middle
				cutAnswer(w, forward, func(length int) int { return length / 2 })
			default:
				forward(w)
			}
		})
		users := client.Of[User](connect(t, url), "users")
		ada := must(users.Create(ctx, User{Name: "Ada", Email: "ada@example.com"}))(t)
		if !ada.Replayed || ada.Value.Name != "Ada" {
			t.Errorf("got %+v", ada)
		}
		if first := p.keys[0]; first == "" || !slices.Equal(p.keys, []string{first, first, first}) {
			t.Errorf("the keys are %q", p.keys)
		}
		must(users.CreateMany(ctx, []User{{Name: "B", Email: "b@example.com"}, {Name: "C", Email: "c@example.com"}}))(t)
		patched := must(users.Update(ctx, ada.ID, map[string]any{"name": "A"}, client.IfMatch(ada.ETag)))(t)
		if patched.Value.Name != "A" {
			t.Errorf("got %+v", patched)
		}
		must(users.Delete(ctx, ada.ID, client.IfMatch(patched.ETag)))(t)
		page := must(client.Of[User](connect(t, server), "users").List(ctx))(t)
		if len(page.Items) != 2 || page.Items[0].Name != "B" || page.Items[1].Name != "C" {
			t.Errorf("got %+v", page.Items)
		}
		if len(p.keys) != 12 {
			t.Errorf("%d requests were sent", len(p.keys))
		}
	})
}

// TestRetries: what passes is waited for, as long as the server asks for, and anything
// else is not sent again.
func TestRetries(t *testing.T) {
	refusal := func(status int, code, after string) func(http.ResponseWriter) {
		return func(w http.ResponseWriter) {
			if after != "" {
				w.Header().Set("Retry-After", after)
			}
			w.WriteHeader(status)
			if code != "" {
				fmt.Fprintf(w, `{"errors":[{"status":%d,"code":%q,"title":"T","detail":"D."}]}`, status, code)
			}
		}
	}
	for _, test := range []struct {
		name  string
		first func(http.ResponseWriter)
		tries int64
		least time.Duration
	}{
		{"unavailable", refusal(503, "unavailable", ""), 2, 0},
		{"rate limit", refusal(429, "too_many_requests", "1"), 2, time.Second},
		{"a proxy's", refusal(502, "", ""), 2, 0},
		{"still going on", refusal(409, "idempotency_key_in_use", ""), 2, 0},
		{"gone", func(http.ResponseWriter) { panic(http.ErrAbortHandler) }, 2, 0},
		{"too long to wait", refusal(503, "unavailable", "3600"), 1, 0},
		{"too expensive", refusal(503, "too_expensive", ""), 1, 0},
		{"full", refusal(503, "storage_full", "5"), 1, 0},
		{"internal", refusal(500, "internal", ""), 1, 0},
		{"conflict", refusal(409, "id_exists", ""), 1, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			var tries atomic.Int64
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if tries.Add(1) == 1 {
					test.first(w)
					return
				}
				fmt.Fprintf(w, `{"data":{"id":%q,"type":"users","name":"Ada"}}`, noID)
			}))
			defer server.Close()
			began := time.Now()
			got, err := client.Of[User](connect(t, server.URL), "users").Get(context.Background(), noID)
			if took := time.Since(began); tries.Load() != test.tries || took < test.least {
				t.Errorf("%d tries in %s", tries.Load(), took)
			}
			if want := test.tries == 2; (err == nil) != want || want && got.Value.Name != "Ada" {
				t.Errorf("got %+v, %v", got, err)
			}
		})
	}
}

func TestRetriesEnd(t *testing.T) {
	var tries atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		tries.Add(1)
		panic(http.ErrAbortHandler)
	}))
	defer server.Close()
	users := client.Of[User](connect(t, server.URL, func(o *client.Options) { o.Retries = 2 }), "users")
	if _, err := users.Create(context.Background(), User{}); !client.IsLost(err) || tries.Load() != 3 {
		t.Errorf("%d tries, and then %v", tries.Load(), err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := users.Create(ctx, User{}); !errors.Is(err, context.Canceled) || tries.Load() != 3 {
		t.Errorf("%d tries, and then %v", tries.Load(), err)
	}
}

// TestCredentialsAreSent: the bearer is asked for with every try, and another server is not told.
func TestCredentialsAreSent(t *testing.T) {
	var got []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = append(got, r.Header.Get("Authorization"))
		if len(got) == 1 {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		fmt.Fprint(w, `{"data":[]}`)
	}))
	defer server.Close()
	asked := 0
	c := connect(t, server.URL, func(o *client.Options) {
		o.Token = func(context.Context) (string, error) { asked++; return fmt.Sprint("token", asked), nil }
	})
	must(c.Collections(context.Background()))(t)
	must(connect(t, server.URL, func(o *client.Options) { o.Key = "key" }).Collections(context.Background()))(t)
	if want := []string{"Bearer token1", "Bearer token2", "Bearer key"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	failing := connect(t, server.URL, func(o *client.Options) {
		o.Token = func(context.Context) (string, error) { return "", errors.New("no token today") }
	})
	if _, err := failing.Collections(context.Background()); err == nil || err.Error() != "no token for the request: no token today" {
		t.Errorf("got %v", err)
	}
}

// TestUnsentRequestsAreNotLost: what surely was not carried out is not lost.
func TestUnsentRequestsAreNotLost(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	server.Close()
	once := func(o *client.Options) { o.Retries = -1 }
	_, err := client.Of[User](connect(t, server.URL, once), "users").Get(context.Background(), noID)
	if err == nil || client.IsLost(err) {
		t.Errorf("refused: got %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err = client.Of[User](connect(t, server.URL), "users").Get(ctx, noID)
	if !errors.Is(err, context.Canceled) || client.IsLost(err) || err.Error() != "context canceled" {
		t.Errorf("cancelled: got %v", err)
	}
	const wrong = "the key or token has characters that are not printable ASCII: is there a line end behind it?"
	if _, err := client.New(server.URL, client.Options{Key: "a\nb"}); err == nil || err.Error() != wrong {
		t.Errorf("a key of two lines: got %v", err)
	}
	token := func(context.Context) (string, error) { return "a\n", nil }
	_, err = client.Of[User](connect(t, server.URL, func(o *client.Options) { o.Token = token }), "users").Get(context.Background(), noID)
	if err == nil || err.Error() != wrong {
		t.Errorf("a token of two lines: got %v", err)
	}
}

// TestLostResponseThenUnreachableServer: a try whose answer was lost stays lost when the server is gone.
func TestLostResponseThenUnreachableServer(t *testing.T) {
	var server *httptest.Server
	server = httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		server.Listener.Close()
		panic(http.ErrAbortHandler)
	}))
	defer server.Close()
	_, err := client.Of[User](connect(t, server.URL, func(o *client.Options) { o.Retries = 2 }), "users").Create(context.Background(), User{})
	if !client.IsLost(err) || !strings.Contains(err.Error(), "refused") {
		t.Errorf("got %v", err)
	}
}
