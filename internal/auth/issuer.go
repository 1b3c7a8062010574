package auth

import (
	"cmp"
	"context"
	"crypto"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/go-jose/go-jose/v4"
)

// issuerKeys are the public keys of an issuer. They are fetched regularly, so that a withdrawn key is not trusted forever, and
// when none of them has signed a token. They remain in use for a while when the issuer is down.
//
// The RemoteKeySet of go-oidc does not fit: it keeps withdrawn keys, and any token with an unknown key makes it fetch.
type issuerKeys struct {
	issuer    string
	transport http.RoundTripper // for all requests to the issuer
	pause     time.Duration     // between two fetches that tokens with unknown keys cause

	mutex    sync.Mutex    // of the rest
	fetching chan struct{} // closed when the fetch in progress ends; nil: none
	set      oidc.KeySet   // nil: not fetched yet
	fetched  time.Time     // when the set was received
	tried    time.Time     // when the set was last due, and a fetch in progress
	asked    time.Time     // when a token with an unknown key last caused a fetch
	err      error         // of the last fetch that has ended
}

const (
	freshFor   = 10 * time.Minute // keys are not fetched again
	trustedFor = 24 * time.Hour   // keys are used without an issuer to ask
	retryAfter = time.Minute      // an issuer that was down is asked again
	fetchPause = 10 * time.Second // anybody can send tokens with unknown keys
	fetchTime  = 10 * time.Second
)

var errUnreachable = errors.New("the issuer cannot be reached")

type unreachableKey struct{}

// markUnreachable records in the context that the token may be valid.
func markUnreachable(ctx context.Context, err error) error {
	if unreachable, ok := ctx.Value(unreachableKey{}).(*error); ok {
		*unreachable = err
	}
	return err
}

// VerifySignature is that of an oidc.KeySet.
func (k *issuerKeys) VerifySignature(ctx context.Context, token string) ([]byte, error) {
	waiting, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	err := k.refresh(waiting, k.isStale)
	keys, age := k.inUse()
	if age > trustedFor { // or none were ever fetched
		return nil, markUnreachable(ctx, cmp.Or(err, errUnreachable))
	}
	payload, err := keys.VerifySignature(ctx, token)
	if err == nil {
		return payload, nil
	}
	if err := k.refresh(waiting, k.mayAsk); err != nil {
		return nil, markUnreachable(ctx, err)
	}
	keys, _ = k.inUse()
	return keys.VerifySignature(ctx, token)
}

// inUse returns the keys, and how long ago they were fetched.
func (k *issuerKeys) inUse() (keys oidc.KeySet, age time.Duration) {
	k.mutex.Lock()
	defer k.mutex.Unlock()
	return k.set, time.Since(k.fetched)
}

// isStale reports whether the keys must be fetched, and records the attempt.
func (k *issuerKeys) isStale(now time.Time) bool {
	pause := retryAfter
	if k.set == nil {
		pause = k.pause
	}
	if now.Sub(k.fetched) <= freshFor || now.Sub(k.tried) < pause {
		return false
	}
	k.tried = now
	return true
}

// mayAsk reports whether a token with an unknown key may wait for a fetch, and records that it causes one.
func (k *issuerKeys) mayAsk(now time.Time) bool {
	if k.fetching != nil {
		return true // tokens of a new key come together
	}
	if now.Sub(k.asked) < k.pause {
		return false
	}
	k.asked = now
	return true
}

// refresh waits for a fetch of the keys if one is due. The error is that of the last fetch.
func (k *issuerKeys) refresh(ctx context.Context, due func(now time.Time) bool) error {
	k.mutex.Lock()
	defer k.mutex.Unlock()
	if !due(time.Now()) && (k.set != nil || k.fetching == nil) {
		return k.err
	}
	if k.fetching == nil {
		k.fetching = make(chan struct{})
		go k.replace()
	}
	fetching := k.fetching
	k.mutex.Unlock()
	var late error
	select {
	case <-fetching:
	case <-ctx.Done():
		late = fmt.Errorf("%w: it has not answered yet", errUnreachable)
	}
	k.mutex.Lock()
	return cmp.Or(late, k.err)
}

// replace fetches the keys. If that fails, those that are known stay in use.
func (k *issuerKeys) replace() {
	ctx, cancel := context.WithTimeout(context.Background(), fetchTime)
	defer cancel()
	set, err := k.fetch(ctx)
	k.mutex.Lock()
	defer k.mutex.Unlock()
	if err == nil {
		k.set, k.fetched, k.err = set, time.Now(), nil
	} else {
		k.err = fmt.Errorf("%w: %w", errUnreachable, err)
	}
	close(k.fetching)
	k.fetching = nil
}

// fetch discovers where the issuer has its keys, and reads those that can be used.
func (k *issuerKeys) fetch(ctx context.Context) (oidc.KeySet, error) {
	var provider struct {
		Issuer  string `json:"issuer"`
		JWKSURL string `json:"jwks_uri"`
	}
	if err := k.get(ctx, strings.TrimSuffix(k.issuer, "/")+"/.well-known/openid-configuration", &provider); err != nil {
		return nil, err
	}
	if provider.Issuer != k.issuer {
		return nil, fmt.Errorf("it says that it is %q, and not %q", provider.Issuer, k.issuer)
	}
	var keys struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err := k.get(ctx, provider.JWKSURL, &keys); err != nil {
		return nil, err
	}
	var usable []crypto.PublicKey
	for _, text := range keys.Keys {
		var key jose.JSONWebKey
		if key.UnmarshalJSON(text) == nil && algorithmsOf(key.Key) != nil {
			usable = append(usable, key.Key)
		}
	}
	if len(usable) == 0 && len(keys.Keys) > 0 {
		return nil, errors.New("it has no key that can be used")
	}
	return &oidc.StaticKeySet{PublicKeys: usable}, nil
}

// maxAnswer bounds the response of an issuer. Keys take a few KiB.
const maxAnswer = 1 << 20

// get reads JSON from the issuer. It follows no redirects.
func (k *issuerKeys) get(ctx context.Context, url string, into any) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	response, err := k.transport.RoundTrip(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("it answers with %s", response.Status)
	}
	body, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer+1))
	if err != nil {
		return err
	}
	if len(body) > maxAnswer {
		return fmt.Errorf("its response has more than %d bytes", maxAnswer)
	}
	return json.Unmarshal(body, into)
}
