package client

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"

	"github.com/plural-go/plural/problem"
)

// lostError is the error of a request or a response that was lost. It is unknown whether the
// request was executed.
type lostError struct{ err error }

func (e *lostError) Error() string { return e.err.Error() }
func (e *lostError) Unwrap() error { return e.err }

// unsentError is the error of a request for which there was no connection: it was not
// executed.
type unsentError struct{ err error }

func (e *unsentError) Error() string { return e.err.Error() }
func (e *unsentError) Unwrap() error { return e.err }

// IsLost reports whether no response came, so that it is unknown whether the request was
// executed. Send a write again with the same IdempotencyKey to find out. It is false if there
// was no connection to the server at all.
func IsLost(err error) bool {
	return errors.As(err, new(*lostError))
}

// retry sends a request until it has a final response, or there were enough attempts. Read
// is called with the response, and closes it.
func (c *Client) retry(ctx context.Context, request *Request, read func(*http.Response) error) (tries int, err error) {
	request.complete(ctx)
	lost := false // an attempt was lost
	for tries = 1; ; tries++ {
		if ctx.Err() != nil && !lost {
			return tries - 1, &unsentError{ctx.Err()}
		}
		answer, err := c.try(ctx, request)
		if err == nil {
			err = read(answer)
		}
		if err == nil {
			return tries, nil
		}
		lost = lost || IsLost(err)
		if unsent := (*unsentError)(nil); lost && errors.As(err, &unsent) {
			err = &lostError{unsent.err} // the result of the lost attempt is still unknown
		}
		if refused := (*Error)(nil); errors.As(err, &refused) {
			refused.Tries = tries
		}
		pause, again := c.pause(err, tries)
		again = again && (!request.Once || isUnexecuted(err))
		if ctx.Err() == nil && !again {
			return tries, err
		}
		if !sleep(ctx, pause) {
			return tries, ended(ctx, err)
		}
	}
}

// ended is the error of a call whose context ended after a failed attempt.
func ended(ctx context.Context, err error) error {
	if errors.Is(err, ctx.Err()) {
		return err
	}
	return fmt.Errorf("%w after %w", ctx.Err(), err)
}

// firstPause is the longest pause before the second attempt. It doubles with every attempt.
const firstPause = 100 * time.Millisecond

// pause returns how long to wait before another attempt. False means that there is none.
func (c *Client) pause(err error, tries int) (pause time.Duration, again bool) {
	if tries > c.options.Retries || !isPassing(err) || askedFor(err) > c.options.MaxWait {
		return 0, false
	}
	return c.backoff(err, 0, tries), true
}

// askedFor is the Retry-After of an error; zero if there is none.
func askedFor(err error) time.Duration {
	if refused := (*Error)(nil); errors.As(err, &refused) {
		return refused.RetryAfter
	}
	return 0
}

// backoff is a random pause after a number of failed attempts, but no shorter than the server has
// asked for. It is random so that clients that got the same Retry-After do not return together.
func (c *Client) backoff(err error, least time.Duration, tries int) time.Duration {
	if asked := askedFor(err); asked > 0 {
		return asked + rand.N(asked/10+1) // #nosec G404 -- nothing secret
	}
	longest := max(firstPause, least)
	for range tries - 1 {
		longest = min(2*longest, c.options.MaxWait)
	}
	return least + rand.N(min(longest, c.options.MaxWait)+1) // #nosec G404 -- nothing secret
}

// isPassing reports whether the next attempt may have another result.
func isPassing(err error) bool {
	var refused *Error
	if !errors.As(err, &refused) {
		return (IsLost(err) || errors.As(err, new(*unsentError))) && !errors.As(err, new(*tls.CertificateVerificationError))
	}
	switch refused.Status {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusGatewayTimeout:
		return true
	case http.StatusServiceUnavailable:
		return refused.Code() != problem.CodeTooExpensive && refused.Code() != problem.CodeStorageFull // the next attempt would fail too
	}
	return refused.Code() == problem.CodeKeyInUse // an earlier attempt is still being executed
}

// isUnexecuted reports whether a request was certainly not executed.
func isUnexecuted(err error) bool {
	return errors.As(err, new(*unsentError)) || hasStatus(err, http.StatusTooManyRequests)
}

// sleep waits, unless the context ends first.
func sleep(ctx context.Context, pause time.Duration) bool {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// retryAfter reads the header: seconds, or a date.
func retryAfter(text string, now time.Time) time.Duration {
	if seconds, err := strconv.ParseInt(text, 10, 32); err == nil && seconds >= 0 {
		return time.Duration(seconds) * time.Second
	}
	if at, err := http.ParseTime(text); err == nil {
		return max(0, at.Sub(now))
	}
	return 0
}
