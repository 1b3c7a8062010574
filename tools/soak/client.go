//go:build linux

package soak

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/plural-go/plural/tools/soak/ledger"
)

// maxAnswer is how long a response may take. A server that has ended is noticed at once. One that
// hangs must not count as ended, because it could continue later.
var maxAnswer = time.Minute

// client sends requests to one process of the server, or to one node.
type client struct {
	base             atomic.Value // a string: a node that comes back does so elsewhere
	http             *http.Client
	mayBeUnavailable bool // for a while, and say so
	watch            watch

	// dying is set when the crash begins. A server whose disk has lost power may still
	// respond for a moment; with a real power cut, no client would receive that.
	dying atomic.Bool
}

func newClient(base string, connections int) *client {
	c := &client{http: &http.Client{
		Timeout:   maxAnswer,
		Transport: &http.Transport{MaxIdleConnsPerHost: connections},
	}}
	c.base.Store(base)
	return c
}

// message is a request as it is sent.
type message struct {
	method, path string
	body         string
	header       map[string]string
}

func (m message) String() string {
	s := m.method + " " + m.path
	for name, value := range m.header {
		s += " " + name + ": " + value
	}
	return s + " " + ledger.Shortened(m.body)
}

// errHangs is fatal: a server that neither responds nor ends cannot be checked.
var errHangs = errors.New("no answer in time")

var (
	errDied = errors.New("the server has crashed")
	errAway = errors.New("the server is unavailable at the moment")
	errSlow = errors.New("the answer is not waited for any longer")
)

// send sends a message. An error means that there was no complete response.
func (c *client) send(ctx context.Context, m message) (ledger.Answer, http.Header, error) {
	sent := time.Now()
	answer, header, err := c.exchange(ctx, m)
	if ctx.Err() == nil {
		c.watch.note(sent, m, answer, header, err)
	}
	return answer, header, err
}

func (c *client) exchange(ctx context.Context, m message) (ledger.Answer, http.Header, error) {
	var body io.Reader
	if m.body != "" {
		// net/http cannot send a reader of this type again. Otherwise it would repeat
		// requests by itself, unnoticed.
		body = io.NopCloser(strings.NewReader(m.body))
	}
	request, err := http.NewRequestWithContext(ctx, m.method, c.base.Load().(string)+m.path, body)
	if err != nil {
		return ledger.Answer{}, nil, err
	}
	request.ContentLength = int64(len(m.body))
	if m.body != "" {
		request.Header.Set("Content-Type", "application/json")
	}
	for name, value := range m.header {
		request.Header.Set(name, value)
	}
	response, err := c.http.Do(request)
	if err != nil {
		return ledger.Answer{}, nil, hanging(ctx, err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return ledger.Answer{}, nil, hanging(ctx, err)
	}
	if response.StatusCode >= 500 && c.dying.Load() {
		return ledger.Answer{}, nil, errDied
	}
	return ledger.Answer{
		Status:   response.StatusCode,
		Location: response.Header.Get("Location"),
		ETag:     response.Header.Get("ETag"),
		Body:     string(text),
		Replayed: response.Header.Get("Idempotency-Replayed") == "true",
	}, response.Header, nil
}

func hanging(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return errSlow
	}
	var timeout interface{ Timeout() bool }
	if errors.As(err, &timeout) && timeout.Timeout() {
		return fmt.Errorf("%w: %w", errHangs, err)
	}
	return err
}

// missing is the error of a read that must succeed and got another status than 200.
type missing struct {
	status int
	text   string
}

func (e *missing) Error() string { return e.text }

// isGone reports whether the server says that a resource does not exist.
func isGone(err error) bool {
	var gone *missing
	return errors.As(err, &gone) && gone.status == http.StatusNotFound
}

// get reads a path that must exist. If the node may be unavailable, it repeats the request for a
// while.
func (c *client) get(ctx context.Context, path string) (ledger.Answer, http.Header, error) {
	for deadline := time.Now().Add(maxRecovery); ; {
		answer, header, err := c.send(ctx, message{method: "GET", path: path})
		away := c.mayBeUnavailable && answer.Status == http.StatusServiceUnavailable
		switch {
		case err != nil || answer.Status == http.StatusOK:
			return answer, header, err
		case !away:
			return answer, header, &missing{answer.Status, fmt.Sprintf("GET %s: %d %s", path, answer.Status, ledger.Shortened(answer.Body))}
		case time.Now().After(deadline):
			return answer, header, errAway
		}
		if err := sleep(ctx, 50*time.Millisecond); err != nil {
			return answer, header, err
		}
	}
}

// list reads a whole collection.
func (c *client) list(ctx context.Context, path string) ([]json.RawMessage, http.Header, error) {
	answer, header, err := c.get(ctx, path)
	if err != nil {
		return nil, nil, err
	}
	var envelope struct{ Data []json.RawMessage }
	err = json.Unmarshal([]byte(answer.Body), &envelope)
	return envelope.Data, header, err
}
