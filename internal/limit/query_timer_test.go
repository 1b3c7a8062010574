package limit

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/plural-go/plural/problem"
)

// TestEndOfReads: a read ends with its parent, after its time, some time after its client has left, and when it is over, whether
// something waits for the end from the beginning, later, or only looks.
func TestEndOfReads(t *testing.T) {
	const limit, grace = 10 * time.Second, time.Second
	late := &problem.Error{Code: problem.CodeTooExpensive}
	stopped := errors.New("stopped")
	for name, c := range map[string]struct {
		do    func(timer *QueryTimer, stop context.CancelCauseFunc, leave func())
		after time.Duration // that the read ends, from then on; zero: it does not
		want  error
	}{
		"time":   {func(*QueryTimer, context.CancelCauseFunc, func()) {}, limit, late},
		"stop":   {func(_ *QueryTimer, stop context.CancelCauseFunc, _ func()) { stop(stopped) }, time.Nanosecond, stopped},
		"client": {func(_ *QueryTimer, _ context.CancelCauseFunc, leave func()) { leave() }, grace, context.Canceled},
		"end":    {func(timer *QueryTimer, _ context.CancelCauseFunc, _ func()) { timer.End() }, time.Nanosecond, context.Canceled},
		"pause":  {func(timer *QueryTimer, _ context.CancelCauseFunc, _ func()) { timer.Pause() }, 0, nil},
		"restart": {func(timer *QueryTimer, _ context.CancelCauseFunc, _ func()) {
			timer.Pause()
			time.Sleep(2 * limit)
			timer.Restart()
		}, limit, late},
	} {
		for _, waits := range []string{"first", "then", "never"} {
			synctest.Test(t, func(t *testing.T) {
				parent, stop := context.WithCancelCause(t.Context())
				client, leave := context.WithCancel(t.Context())
				defer leave()
				timer := NewQueryTimer(parent, &Reader{Limit: limit})
				timer.EndAfter(client, grace)
				if waits == "first" {
					timer.Done()
				}
				c.do(timer, stop, leave)
				synctest.Wait()
				if waits == "then" {
					timer.Done()
				} else if waits == "never" {
					_ = timer.Err() // as each read transaction does
				}
				if c.after == 0 {
					time.Sleep(2 * limit)
					if err := timer.Err(); err != nil {
						t.Errorf("%s, waits %s: ended with %v", name, waits, err)
					}
				} else {
					time.Sleep(c.after - time.Nanosecond)
					synctest.Wait()
					if err := timer.Err(); c.after > time.Nanosecond && err != nil {
						t.Errorf("%s, waits %s: ended too early with %v", name, waits, err)
					}
					time.Sleep(time.Nanosecond)
					synctest.Wait()
					if got, want := fmt.Sprint(timer.Err(), context.Cause(timer)), fmt.Sprint(context.Canceled, c.want); got != want {
						t.Errorf("%s, waits %s: got %s, want %s", name, waits, got, want)
					}
					select {
					case <-timer.Done():
					default:
						t.Errorf("%s, waits %s: those who wait are not told", name, waits)
					}
				}
				timer.End()
				stop(nil)
			})
		}
	}
}
