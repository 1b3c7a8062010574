//go:build linux

package soak

import (
	"context"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/plural-go/plural/tools/soak/ledger"
)

// reply is the response to a message, or its error.
type reply struct {
	answer ledger.Answer
	err    error
}

// replies are the replies to one request.
type replies struct {
	coming            int // still
	channel           chan reply
	answers, failures []ledger.Answer
	lost              error // of one that was not answered
}

// collect waits for replies until all are there, or a deadline.
func (r *replies) collect(tooLong <-chan time.Time) {
	for ; r.coming > 0; r.coming-- {
		select {
		case reply := <-r.channel:
			r.add(reply)
		case <-tooLong:
			return
		}
	}
}

func (r *replies) add(reply reply) {
	switch answer := reply.answer; {
	case reply.err != nil:
		r.lost = reply.err
	case answer.InFlight():
	case answer.Status >= 500:
		r.failures = append(r.failures, answer)
	default:
		r.answers = append(r.answers, answer)
	}
}

// note records replies in the ledger.
func (r *Run) note(request *ledger.Request, replies *replies) {
	r.ledger.Update(func() { request.Answer(replies.answers, replies.failures, r.now()) })
	for _, a := range slices.Concat(replies.answers, replies.failures) {
		r.tally.count(a)
	}
}

// takeLate records replies to a request whose writer no longer waits.
func (r *Run) takeLate(request *ledger.Request, replies *replies) {
	replies.answers, replies.failures = nil, nil
	replies.collect(nil)
	r.note(request, replies)
}

// tooLong is when a writer stops waiting for a reply: never, if there is no other node.
func (r *Run) tooLong() <-chan time.Time {
	if r.answerTimeout == 0 {
		return nil
	}
	return time.After(r.answerTimeout)
}

// withTimeout bounds a wait that may be ended early.
func (r *Run) withTimeout(ctx context.Context) (context.Context, context.CancelFunc) {
	if r.answerTimeout == 0 {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, r.answerTimeout)
}

// watch is what a client notices of a failure.
type watch struct {
	mutex       sync.Mutex
	longest     time.Duration // of an answer
	unavailable int           // answers with 503
	unhelpful   int           // of these, without Retry-After
	back        time.Time     // when the failure was over
	acks        int           // of writes that were sent since
	firstAck    time.Time     // when the first of them came
	lastFailed  time.Time     // when the last was sent that failed since
}

// note records the reply to a message.
func (w *watch) note(sent time.Time, m message, answer ledger.Answer, header http.Header, err error) {
	now := time.Now()
	w.mutex.Lock()
	defer w.mutex.Unlock()
	failed := err != nil || answer.Status >= 500
	if err == nil {
		w.longest = max(w.longest, now.Sub(sent))
	}
	if answer.Status == http.StatusServiceUnavailable {
		w.unavailable++
		if header.Get("Retry-After") == "" {
			w.unhelpful++
		}
	}
	switch {
	case w.back.IsZero() || sent.Before(w.back):
	case failed:
		w.lastFailed = sent
	case m.method != http.MethodGet && answer.Status < 300:
		if w.acks++; w.acks == 1 {
			w.firstAck = now
		}
	}
}

// over records the end of the failure.
func (w *watch) over() {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.back, w.acks, w.firstAck, w.lastFailed = time.Now(), 0, time.Time{}, time.Time{}
}

// acknowledged is the number of acknowledged writes that were sent after a time.
func (w *watch) acknowledged() int {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	return w.acks
}

// noticed returns what was noticed of the failure, and resets it.
func (w *watch) noticed() (noticed Impact) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	noticed = Impact{
		Longest: w.longest, Unavailable: w.unavailable, Unhelpful: w.unhelpful,
		// A write must be acknowledged, and all later requests must succeed.
		Recovery: max(w.firstAck.Sub(w.back), w.lastFailed.Sub(w.back)),
	}
	if w.acks == 0 {
		noticed.Recovery = time.Since(w.back)
	}
	w.longest, w.unavailable, w.unhelpful, w.back = 0, 0, 0, time.Time{}
	return noticed
}
