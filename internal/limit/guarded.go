package limit

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/plural-go/plural/problem"
)

// hookTimeout is the cause of a context that ended a hook.
type hookTimeout struct {
	who   string
	limit time.Duration
}

func (o *hookTimeout) Error() string { return fmt.Sprintf("%s took longer than %s", o.who, o.limit) }

// HookTimeout is the cause of a context that ends code of the embedding program.
func HookTimeout(who string, limit time.Duration) error { return &hookTimeout{who, limit} }

// RunGuarded runs code of the embedding program in its own goroutine, so that neither a panic
// nor a hang affects the caller. Late means that the context or the time limit ended first;
// the error says so.
func RunGuarded(ctx context.Context, who string, limit time.Duration, fn func(context.Context) error) (late bool, err error) {
	if limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, limit, HookTimeout(who, limit))
		defer cancel()
	}
	if ctx.Err() != nil { // other hooks have used up the time
		return true, contextFault(ctx)
	}
	done := make(chan error, 1)
	go func() {
		err := errors.New(who + " ended its goroutine")
		defer func() {
			if reason := recover(); reason != nil {
				err = fmt.Errorf("panic in %s: %v\n%s", who, reason, debug.Stack())
			}
			done <- err
		}()
		err = fn(ctx)
	}()
	select {
	case err := <-done:
		if ctx.Err() != nil && errors.Is(err, ctx.Err()) { // the hook returned the error of its context
			return true, contextFault(ctx)
		}
		return false, err
	case <-ctx.Done():
		return true, contextFault(ctx)
	}
}

// contextFault is the error of a hook whose context ended: its time was over, or the caller no
// longer waits.
func contextFault(ctx context.Context) error {
	cause := context.Cause(ctx)
	if late := (*hookTimeout)(nil); !errors.As(cause, &late) {
		return cause
	}
	return &problem.Error{Code: problem.CodeHookTimeout, Detail: "A hook of this server took too long. Try again later.", Cause: cause}
}
