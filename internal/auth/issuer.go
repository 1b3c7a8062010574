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

// issuerKeys caches the public keys of an issuer. They are refreshed regularly, so that a
// withdrawn key is not trusted forever, and remain in use for a while when the issuer is down.
type issuerKeys struct {
	issuer    string
	transport http.RoundTripper // for all requests to the issuer
	client    *http.Client      // for discovery
	pause     time.Duration     // between two fetches of one URL

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
	return &http.Client{Timeout: fetchTime, Transport: &throttle{next: transport, last: map[string]time.Time{}, failed: map[string]error{}, pause: pause}}
}

// newKeySet returns a key set that is not fetched yet. Each has its own client: requests with
// unknown keys that make one set fetch must not block the next set.
func (k *issuerKeys) newKeySet(ctx context.Context) *oidc.RemoteKeySet {
	return oidc.NewRemoteKeySet(oidc.ClientContext(ctx, newClient(k.transport, k.pause)), k.url)
}

// discover asks the issuer for the URL of its keys.
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
	// A refresh benefits the next token.
	waiting, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	k.refresh(waiting, token)
	keys, age := k.inUse()
	if age > trustedFor {
		return nil, markUnreachable(ctx, fmt.Errorf("%w since %s", errUnreachable, age.Round(time.Minute)))
	}
	payload, err := keys.VerifySignature(waiting, token)
	if isUnfetched(err) {
		return nil, markUnreachable(ctx, err)
	}
	return payload, err
}

// refresh fetches the keys again, if it is time.
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
			k.mutex.Lock()
			defer k.mutex.Unlock()
			k.current, k.fetched = fresh, time.Now()
		}
	}()
	select {
	case <-done:
	case <-ctx.Done():
	}
}

// isUnfetched reports whether a signature could not be verified because the keys could not be
// fetched: then the error wraps the cause. A wrong signature wraps nothing.
func isUnfetched(err error) bool {
	return errors.Unwrap(err) != nil && !errors.Is(err, errAskedBefore)
}

// markUnreachable records in the context that the token may be valid.
func markUnreachable(ctx context.Context, err error) error {
	if unreachable, ok := ctx.Value(unreachableKey{}).(*error); ok {
		*unreachable = err
	}
	return err
}

// shouldRefresh reports whether it is time to fetch the keys, and records the attempt.
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

func (k *issuerKeys) inUse() (keys *oidc.RemoteKeySet, age time.Duration) {
	k.mutex.Lock()
	defer k.mutex.Unlock()
	return k.current, time.Since(k.fetched)
}

// throttle bounds how often a URL is fetched, and distinguishes an issuer that is down from
// one that refuses.
type throttle struct {
	next   http.RoundTripper
	mutex  sync.Mutex
	last   map[string]time.Time
	failed map[string]error // result of the last fetch
	pause  time.Duration
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
		err = readBounded(response)
	}
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("it answers with %s", response.Status)
	}
	if err != nil {
		response, err = nil, fmt.Errorf("%w: %w", errUnreachable, err)
	}
	t.mutex.Lock()
	defer t.mutex.Unlock()
	t.failed[url] = err
	return response, err
}

// maxAnswer bounds the response of an issuer. Keys take a few KiB.
const maxAnswer = 1 << 20

// readBounded reads a response into memory, unless it is too long.
func readBounded(response *http.Response) error {
	body, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer+1))
	_ = response.Body.Close()
	if err == nil && len(body) > maxAnswer {
		err = fmt.Errorf("its response has more than %d bytes", maxAnswer)
	}
	response.Body = io.NopCloser(bytes.NewReader(body))
	return err
}

// begin returns an error if the URL was fetched a moment ago: that of the fetch, if it failed.
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
