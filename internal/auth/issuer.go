package auth

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
)

// issuerKeys is the keys of an issuer. They are fetched anew now and then, so that one
// that was withdrawn is not trusted for ever, and stay in use while the issuer is
// down, for a while.
type issuerKeys struct {
	issuer string
	client *http.Client
	now    func() time.Time

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

func newIssuerKeys(issuer string) *issuerKeys {
	return &issuerKeys{
		issuer: issuer, now: time.Now,
		client: &http.Client{Timeout: fetchTime, Transport: newThrottle(fetchPause)},
	}
}

func (k *issuerKeys) context(ctx context.Context) context.Context {
	return oidc.ClientContext(context.WithoutCancel(ctx), k.client)
}

// discover asks the issuer where its keys are.
func (k *issuerKeys) discover(ctx context.Context) error {
	provider, err := oidc.NewProvider(k.context(ctx), k.issuer)
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
	k.current = oidc.NewRemoteKeySet(k.context(ctx), k.url)
	k.fetched = k.now()
	return nil
}

type unreachableKey struct{}

// VerifySignature is that of an oidc.KeySet.
func (k *issuerKeys) VerifySignature(ctx context.Context, token string) ([]byte, error) {
	if fresh := k.due(ctx); fresh != nil {
		payload, err := fresh.VerifySignature(ctx, token)
		if !isUnreachable(err) && !errors.Is(err, errAskedBefore) {
			k.renew(fresh)
			return payload, err
		}
	}
	keys, age := k.inUse()
	if age > trustedFor {
		return nil, k.note(ctx, fmt.Errorf("%w since %s", errUnreachable, age.Round(time.Minute)))
	}
	// What is fetched meanwhile is there for the next one.
	waiting, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	payload, err := keys.VerifySignature(waiting, token)
	if isUnreachable(err) {
		return nil, k.note(ctx, err)
	}
	return payload, err
}

// isUnreachable: also an issuer that does not answer in time cannot be reached.
func isUnreachable(err error) bool {
	return errors.Is(err, errUnreachable) || errors.Is(err, context.DeadlineExceeded)
}

// note tells whoever checks the token that it may be a good one.
func (k *issuerKeys) note(ctx context.Context, err error) error {
	if unreachable, ok := ctx.Value(unreachableKey{}).(*error); ok {
		*unreachable = err
	}
	return err
}

// due is a set of keys that has to be fetched, if it is time for that.
func (k *issuerKeys) due(ctx context.Context) *oidc.RemoteKeySet {
	k.mutex.Lock()
	defer k.mutex.Unlock()
	if now := k.now(); now.Sub(k.fetched) > freshFor && now.Sub(k.tried) > retryAfter {
		k.tried = now
		return oidc.NewRemoteKeySet(k.context(ctx), k.url)
	}
	return nil
}

func (k *issuerKeys) renew(fresh *oidc.RemoteKeySet) {
	k.mutex.Lock()
	defer k.mutex.Unlock()
	k.current, k.fetched = fresh, k.now()
}

func (k *issuerKeys) inUse() (keys *oidc.RemoteKeySet, age time.Duration) {
	k.mutex.Lock()
	defer k.mutex.Unlock()
	return k.current, k.now().Sub(k.fetched)
}

// throttle bounds how often the same thing is fetched, and tells an issuer that is
// down from one that says no.
type throttle struct {
	mutex  sync.Mutex
	last   map[string]time.Time
	failed map[string]error // what came of it then
	pause  time.Duration
}

func newThrottle(pause time.Duration) *throttle {
	return &throttle{last: map[string]time.Time{}, failed: map[string]error{}, pause: pause}
}

var errAskedBefore = errors.New("the issuer was asked for this a moment ago")

// RoundTrip is that of an http.RoundTripper.
func (t *throttle) RoundTrip(r *http.Request) (*http.Response, error) {
	url := r.URL.String()
	if err := t.enter(url); err != nil {
		return nil, err
	}
	response, err := http.DefaultTransport.RoundTrip(r)
	if err == nil && response.StatusCode != http.StatusOK {
		_ = response.Body.Close()
		response, err = nil, fmt.Errorf("it answers with %s", response.Status)
	}
	if err != nil {
		response, err = nil, fmt.Errorf("%w: %w", errUnreachable, err)
	}
	t.leave(url, err)
	return response, err
}

func (t *throttle) enter(url string) error {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	now := time.Now()
	if now.Sub(t.last[url]) < t.pause {
		return cmp.Or(t.failed[url], errAskedBefore)
	}
	t.last[url] = now
	return nil
}

func (t *throttle) leave(url string, failed error) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	t.failed[url] = failed
}
