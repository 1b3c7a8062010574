package auth

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
)

// issuerKeys is the keys of an issuer. They are fetched anew now and then, so that one
// that was withdrawn is not trusted for ever, and stay in use while the issuer is
// down, for a while.
type issuerKeys struct {
	issuer    string
	transport http.RoundTripper // of all requests to the issuer
	client    *http.Client      // to ask where the keys are
	pause     time.Duration     // between two fetches of the same thing

	mutex   sync.Mutex // of the rest
	url     string     // of the keys; empty: not discovered
	current *oidc.RemoteKeySet
	fetched time.Time // when current was known to be right
	tried   time.Time // when newer ones were last asked for
}

const (
	freshFor   = 10 * time.Minute // keys are not asked for again
	trustedFor = 24 * time.Hour   // keys are used without an issuer to ask
	retryAfter = time.Minute      // an issuer that was down is asked again
	fetchPause = 10 * time.Second // between two fetches of the same thing: anybody can send unknown keys
	fetchTime  = 10 * time.Second
)

func newIssuerKeys(issuer string, transport http.RoundTripper) *issuerKeys {
	return &issuerKeys{issuer: issuer, transport: transport, pause: fetchPause, client: newClient(transport, fetchPause)}
}

func newClient(transport http.RoundTripper, pause time.Duration) *http.Client {
	return &http.Client{Timeout: fetchTime, Transport: newThrottle(transport, pause)}
}

// newKeySet is a set of keys that are not fetched yet. Each has a client of its own: those
// who send unknown keys, and so have one set fetched, must not keep us from the next one.
func (k *issuerKeys) newKeySet(ctx context.Context) *oidc.RemoteKeySet {
	return oidc.NewRemoteKeySet(oidc.ClientContext(ctx, newClient(k.transport, k.pause)), k.url)
}

// discover asks the issuer where its keys are.
func (k *issuerKeys) discover(ctx context.Context) error {
	provider, err := oidc.NewProvider(oidc.ClientContext(context.WithoutCancel(ctx), k.client), k.issuer)
	if err != nil {
		return err
	}
	var said struct {
		JWKSURL string `json:"jwks_uri"`
	}
	if err := provider.Claims(&said); err != nil {
		return err
	}
	k.mutex.Lock()
	defer k.mutex.Unlock()
	k.url = said.JWKSURL
	k.current = k.newKeySet(ctx)
	k.fetched = time.Now()
	return nil
}

type unreachableKey struct{}

// VerifySignature is that of an oidc.KeySet.
func (k *issuerKeys) VerifySignature(ctx context.Context, token string) ([]byte, error) {
	// What is fetched meanwhile is there for the next one.
	waiting, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	k.refresh(waiting, token)
	keys, age := k.inUse()
	if age > trustedFor {
		return nil, k.markUnreachable(ctx, fmt.Errorf("%w since %s", errUnreachable, age.Round(time.Minute)))
	}
	payload, err := keys.VerifySignature(waiting, token)
	if isUnfetched(err) {
		return nil, k.markUnreachable(ctx, err)
	}
	return payload, err
}

// refresh has the keys fetched anew, if it is time for that.
func (k *issuerKeys) refresh(ctx context.Context, token string) {
	if !k.shouldRefresh() {
		return
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		fresh := k.newKeySet(ctx)
		_, err := fresh.VerifySignature(context.WithoutCancel(ctx), token) // which fetches them
		if !isUnfetched(err) {
			k.renew(fresh)
		}
	}()
	select {
	case <-done:
	case <-ctx.Done():
	}
}

// isUnfetched reports whether the keys that a signature was to be verified with could not
// be had, in time or in a form that they can be in: then the error wraps why. One that was
// verified, and is wrong, wraps nothing.
func isUnfetched(err error) bool {
	return errors.Unwrap(err) != nil && !errors.Is(err, errAskedBefore)
}

// markUnreachable tells whoever checks the token that it may be a good one.
func (k *issuerKeys) markUnreachable(ctx context.Context, err error) error {
	if unreachable, ok := ctx.Value(unreachableKey{}).(*error); ok {
		*unreachable = err
	}
	return err
}

// shouldRefresh reports whether it is time to fetch the keys, of which it takes note.
func (k *issuerKeys) shouldRefresh() bool {
	k.mutex.Lock()
	defer k.mutex.Unlock()
	now := time.Now()
	if now.Sub(k.fetched) <= freshFor || now.Sub(k.tried) <= retryAfter {
		return false
	}
	k.tried = now
	return true
}

func (k *issuerKeys) renew(fresh *oidc.RemoteKeySet) {
	k.mutex.Lock()
	defer k.mutex.Unlock()
	k.current, k.fetched = fresh, time.Now()
}

func (k *issuerKeys) inUse() (keys *oidc.RemoteKeySet, age time.Duration) {
	k.mutex.Lock()
	defer k.mutex.Unlock()
	return k.current, time.Since(k.fetched)
}

// throttle bounds how often the same thing is fetched, and tells an issuer that is
// down from one that says no.
type throttle struct {
	next   http.RoundTripper
	mutex  sync.Mutex
	last   map[string]time.Time
	failed map[string]error // what came of it then
	pause  time.Duration
}

func newThrottle(next http.RoundTripper, pause time.Duration) *throttle {
	return &throttle{next: next, last: map[string]time.Time{}, failed: map[string]error{}, pause: pause}
}

var errAskedBefore = errors.New("the issuer was asked for this a moment ago")

// RoundTrip is that of an http.RoundTripper.
func (t *throttle) RoundTrip(r *http.Request) (*http.Response, error) {
	url := r.URL.String()
	if err := t.begin(url); err != nil {
		return nil, err
	}
	response, err := t.next.RoundTrip(r)
	if err == nil {
		if err = readBounded(response); err != nil {
			response = nil
		}
	}
	if err == nil && response.StatusCode != http.StatusOK {
		_ = response.Body.Close()
		response, err = nil, fmt.Errorf("it answers with %s", response.Status)
	}
	if err != nil {
		response, err = nil, fmt.Errorf("%w: %w", errUnreachable, err)
	}
	t.end(url, err)
	return response, err
}

// maxAnswer is how much an issuer may answer. Keys take some KiB.
const maxAnswer = 1 << 20

// readBounded reads an answer into memory, if it is not too long.
func readBounded(response *http.Response) error {
	body, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer+1))
	_ = response.Body.Close()
	if err == nil && len(body) > maxAnswer {
		err = fmt.Errorf("its answer has more than %d bytes", maxAnswer)
	}
	response.Body = io.NopCloser(bytes.NewReader(body))
	return err
}

func (t *throttle) begin(url string) error {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	now := time.Now()
	if now.Sub(t.last[url]) < t.pause {
		return cmp.Or(t.failed[url], errAskedBefore)
	}
	t.last[url] = now
	t.failed[url] = fmt.Errorf("%w: it has not answered yet", errUnreachable) // until it has
	return nil
}

func (t *throttle) end(url string, failed error) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	t.failed[url] = failed
}
