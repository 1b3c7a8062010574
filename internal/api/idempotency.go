package api

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"strings"

	"github.com/plural-go/plural/internal/auth"
	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/internal/resource"
	"github.com/plural-go/plural/problem"
)

const maxIdempotencyKey = 255

// idempotentRequestOf reads the Idempotency-Key of a request. It returns nil if there is none.
func idempotentRequestOf(r *http.Request, by *auth.Permit, dryRun bool, fingerprint func() string) (*resource.IdempotentRequest, error) {
	given := r.Header["Idempotency-Key"]
	if len(given) == 0 {
		return nil, nil
	}
	key := given[0]
	printable := func(c rune) bool { return c >= ' ' && c <= '~' }
	if len(given) > 1 || key == "" || len(key) > maxIdempotencyKey || strings.ContainsFunc(key, func(c rune) bool { return !printable(c) }) {
		return nil, fault.Header("Idempotency-Key", problem.CodeMalformedRequest, "Send one Idempotency-Key with 1 to %d printable ASCII characters, such as a UUID.", maxIdempotencyKey)
	}
	if dryRun {
		return nil, fault.Parameter("dry_run", problem.CodeInvalidParameter, "A dry run has no effect that a key could repeat. Leave out dry_run or Idempotency-Key.")
	}
	idempotent := &resource.IdempotentRequest{Key: resource.IdempotencyKey{Value: key}, Fingerprint: fingerprint()}
	if by != nil {
		idempotent.Key.Caller = by.Caller.ID
	}
	return idempotent, nil
}

// fingerprint identifies the content of a request, without preferences about its reply.
func (a *API) fingerprint(r *http.Request, step *resource.Step) string {
	return fingerprintOf(r,
		[]byte(step.Method), []byte(a.collectionAddress(step.Path)), step.ID[:],
		[]byte(strings.Join(step.IfMatch, ",")), []byte(strings.Join(step.IfNoneMatch, ",")), step.Body)
}

// fingerprintOf identifies a request by its version, as it was sent, its query and the other parts of its content.
func fingerprintOf(r *http.Request, parts ...[]byte) string {
	hash := sha256.New()
	for _, part := range append(parts, []byte(r.URL.RawQuery), []byte(r.Header.Get(versionHeader))) {
		fmt.Fprintf(hash, "%d:", len(part))
		hash.Write(part)
	}
	return hex.EncodeToString(hash.Sum(nil))
}
