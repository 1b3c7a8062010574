package api

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/plural-go/plural/internal/auth"
	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/resource"
	"github.com/plural-go/plural/problem"
)

const maxIdempotencyKey = 255

// idempotencyKeyOf reads the Idempotency-Key of a request, nil if it has none.
func (a *API) idempotencyKeyOf(r *http.Request, by *auth.Permit, dryRun bool, fingerprint func() string) (*resource.IdempotencyKey, error) {
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
	found := &resource.IdempotencyKey{Key: key, Fingerprint: fingerprint()}
	if by != nil {
		found.Caller = by.Caller.ID
	}
	return found, nil
}

// fingerprint identifies the content of a request, without preferences about its reply.
func (a *API) fingerprint(request resource.Request, query string) string {
	parts := [][]byte{
		[]byte(request.Method), []byte(a.address(request.Path)), request.ID[:],
		[]byte(strings.Join(request.IfMatch, ",")), []byte(strings.Join(request.IfNoneMatch, ",")), request.Body,
	}
	if query != "" { // without one, records of earlier versions stay valid
		parts = append(parts, []byte(query))
	}
	return fingerprintOf(parts...)
}

func fingerprintOf(parts ...[]byte) string {
	hash := sha256.New()
	for _, part := range parts {
		fmt.Fprintf(hash, "%d:", len(part))
		hash.Write(part)
	}
	return hex.EncodeToString(hash.Sum(nil))
}

// keysInUse is the idempotency keys of the requests that this server is executing.
type keysInUse struct {
	mutex sync.Mutex
	inUse map[[2]string]bool
}

func (k *keysInUse) enter(key *resource.IdempotencyKey) bool {
	k.mutex.Lock()
	defer k.mutex.Unlock()
	id := [2]string{key.Caller, key.Key}
	if k.inUse[id] {
		return false
	}
	k.inUse[id] = true
	return true
}

func (k *keysInUse) leave(key *resource.IdempotencyKey) {
	k.mutex.Lock()
	defer k.mutex.Unlock()
	delete(k.inUse, [2]string{key.Caller, key.Key})
}

// finalStatuses are the statuses of errors that are stored in an idempotency record.
var finalStatuses = []int{http.StatusNotFound, http.StatusConflict, http.StatusPreconditionFailed, http.StatusUnprocessableEntity}

// execute runs the transaction of a write. Fresh is false if the reply comes from an
// idempotency record.
func (a *API) execute(ctx context.Context, d pendingWrite, key *resource.IdempotencyKey) (reply *reply, fresh bool, err error) {
	if key == nil || d.failed != nil && !isFinal(d.failed) {
		if d.failed != nil {
			return nil, false, d.failed
		}
		if err := a.Resources.Transact(ctx, d.effect); err != nil {
			return nil, false, err
		}
		return d.reply(), true, nil
	}
	effect := func(w *resource.Work) error {
		if d.failed != nil {
			return d.failed
		}
		return d.effect(w)
	}
	render := func(failed error) *resource.IdempotencyRecord {
		switch {
		case failed == nil:
			reply = d.reply()
		case isFinal(failed):
			reply = failure(fault.From(failed))
		default:
			return nil
		}
		return recordOf(reply)
	}
	recorded, repeated, err := a.Resources.RunOnce(ctx, *key, effect, render)
	if err != nil {
		return nil, false, err
	}
	if repeated {
		return replayOf(recorded), false, nil
	}
	return reply, true, nil
}

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
