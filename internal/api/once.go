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

	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/resource"
	"github.com/plural-go/plural/problem"
)

const maxKey = 255

// onceOf reads the Idempotency-Key of a request, nil if it has none.
func (a *API) onceOf(r *http.Request, request resource.Request) (*resource.Once, error) {
	given := r.Header.Values("Idempotency-Key")
	if len(given) == 0 {
		return nil, nil
	}
	key := given[0]
	printable := func(c rune) bool { return c >= ' ' && c <= '~' }
	if len(given) > 1 || key == "" || len(key) > maxKey || strings.ContainsFunc(key, func(c rune) bool { return !printable(c) }) {
		return nil, fault.Header("Idempotency-Key", problem.CodeMalformedRequest, "An Idempotency-Key must be given once, with 1 to %d printable ASCII characters, such as a UUID.", maxKey)
	}
	once := &resource.Once{Key: key, Fingerprint: a.fingerprint(request)}
	if by := request.Path.By; by != nil {
		once.Caller = by.Caller.ID
	}
	return once, nil
}

// fingerprint tells requests apart. How the answer is wanted is no part of it.
func (a *API) fingerprint(request resource.Request) string {
	hash := sha256.New()
	for _, part := range [][]byte{
		[]byte(request.Method), []byte(a.address(request.Path)), request.ID[:],
		[]byte(strings.Join(request.IfMatch, ",")), []byte(strings.Join(request.IfNoneMatch, ",")), request.Body,
	} {
		fmt.Fprintf(hash, "%d:", len(part))
		hash.Write(part)
	}
	return hex.EncodeToString(hash.Sum(nil))
}

// keys is the keys of the requests that are being carried out here.
type keys struct {
	mutex sync.Mutex
	inUse map[[2]string]bool
}

func (k *keys) enter(once *resource.Once) bool {
	k.mutex.Lock()
	defer k.mutex.Unlock()
	key := [2]string{once.Caller, once.Key}
	if k.inUse[key] {
		return false
	}
	k.inUse[key] = true
	return true
}

func (k *keys) leave(once *resource.Once) {
	k.mutex.Lock()
	defer k.mutex.Unlock()
	delete(k.inUse, [2]string{once.Caller, once.Key})
}

// final are the statuses of refusals that a repeated request gets again.
var final = []int{http.StatusNotFound, http.StatusConflict, http.StatusPreconditionFailed, http.StatusUnprocessableEntity}

// settle has a deed take effect. Fresh means that it did so now, and not when the
// request came for the first time.
func (a *API) settle(ctx context.Context, d deed, once *resource.Once) (answer *reply, fresh bool, err error) {
	if once == nil || d.failed != nil && !isFinal(d.failed) {
		if d.failed != nil {
			return nil, false, d.failed
		}
		done, err := false, error(nil)
		if d.alone != nil {
			done, err = d.alone()
		}
		if !done && err == nil {
			err = a.Resources.Transact(ctx, d.effect)
		}
		if err != nil {
			return nil, false, err
		}
		return d.answer(), true, nil
	}
	effect := func(w *resource.Work) error {
		if d.failed != nil {
			return d.failed
		}
		return d.effect(w)
	}
	render := func(failed error) *resource.Answer {
		switch {
		case failed == nil:
			answer = d.answer()
		case isFinal(failed):
			answer = failure(fault.From(failed))
		default:
			return nil
		}
		return kept(answer)
	}
	recorded, repeated, err := a.Resources.Record(ctx, *once, effect, render)
	if err != nil {
		return nil, false, err
	}
	if repeated {
		return replayed(recorded), false, nil
	}
	return answer, true, nil
}

func isFinal(err error) bool { return slices.Contains(final, fault.From(err)[0].Status()) }

// kept is a reply as it is stored, to be given again.
func kept(answer *reply) *resource.Answer {
	stored := &resource.Answer{Status: answer.status, Header: map[string]string{}, Body: answer.body}
	for name := range answer.header {
		stored.Header[name] = answer.header.Get(name)
	}
	if answer.provisional > 0 {
		stored.Until = model.FormatTime(time.Now().Add(answer.provisional))
	}
	return stored
}

// replayed is a reply that was given before.
func replayed(stored *resource.Answer) *reply {
	if stored == nil {
		return nil
	}
	answer := given(stored)
	answer.header.Set("Idempotency-Replayed", "true")
	return answer
}

// given is a reply as it was stored.
func given(stored *resource.Answer) *reply {
	answer := &reply{status: stored.Status, header: http.Header{}, body: stored.Body}
	for name, value := range stored.Header {
		answer.header.Set(name, value)
	}
	return answer
}
