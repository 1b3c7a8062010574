package api

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/plural-go/plural/internal/auth"
	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/resource"
	"github.com/plural-go/plural/problem"
)

const maxIdempotencyKey = 255

// idempotentRequestOf reads the Idempotency-Key of a request. It returns nil if there is none.
func (a *API) idempotentRequestOf(r *http.Request, by *auth.Permit, dryRun bool, fingerprint func() string) (*resource.IdempotentRequest, error) {
	given := r.Header.Values("Idempotency-Key")
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
func (a *API) fingerprint(request resource.Request, query string) string {
	return fingerprintOf(query,
		[]byte(request.Method), []byte(a.collectionAddress(request.Path)), request.ID[:],
		[]byte(strings.Join(request.IfMatch, ",")), []byte(strings.Join(request.IfNoneMatch, ",")), request.Body)
}

// fingerprintOf identifies a request by its query and the other parts of its content.
func fingerprintOf(query string, parts ...[]byte) string {
	if query != "" { // without one, records of earlier versions stay valid
		parts = append(parts, []byte(query))
	}
	hash := sha256.New()
	for _, part := range parts {
		fmt.Fprintf(hash, "%d:", len(part))
		hash.Write(part)
	}
	return hex.EncodeToString(hash.Sum(nil))
}

// finalStatuses are the statuses of errors that are stored in an idempotency record.
var finalStatuses = []int{http.StatusNotFound, http.StatusConflict, http.StatusPreconditionFailed, http.StatusUnprocessableEntity}

func isFinal(err error) bool { return slices.Contains(finalStatuses, fault.From(err)[0].Status()) }

// recordOf is the idempotency record of a reply.
func recordOf(reply *reply) *resource.IdempotencyRecord {
	stored := &resource.IdempotencyRecord{Status: reply.status, Header: map[string]string{}, Body: reply.body}
	for name := range reply.header {
		stored.Header[name] = reply.header.Get(name)
	}
	if reply.provisional > 0 {
		stored.Until = model.FormatTime(time.Now().Add(reply.provisional))
	}
	return stored
}

// replayOf is the reply of an idempotency record, marked as replayed.
func replayOf(stored *resource.IdempotencyRecord) *reply {
	if stored == nil {
		return nil
	}
	reply := replyOf(stored)
	reply.header.Set("Idempotency-Replayed", "true")
	return reply
}

// replyOf is the reply of an idempotency record.
func replyOf(stored *resource.IdempotencyRecord) *reply {
	reply := &reply{status: stored.Status, header: http.Header{}, body: stored.Body}
	for name, value := range stored.Header {
		reply.header.Set(name, value)
	}
	return reply
}
