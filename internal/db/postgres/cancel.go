package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// canceller ends a statement whose context has ended. For a read, it asks the database to cancel
// the statement, and the connection stays in use until the database has confirmed. The default of
// pgx closes the connection at once: then the pool would open another one while the database still
// executes the first statement, and the number of running statements would have no limit.
//
// A write is not cancelled: a commit that waits for a standby would take effect without it. Its
// connection is closed.
type canceller struct {
	conn *pgconn.PgConn
	done chan struct{} // closed when the cancel request was sent; nil: none was sent
}

// cancelTimeout is how long the database may take to cancel a statement. After that the connection
// is closed.
const cancelTimeout = 10 * time.Second

type readingKey struct{}

// cancellable is a context whose end cancels statements.
func cancellable(ctx context.Context) context.Context {
	return context.WithValue(ctx, readingKey{}, true)
}

// HandleCancel is called when the context ends.
func (c *canceller) HandleCancel(ended context.Context) {
	if c.done = nil; ended.Value(readingKey{}) == nil {
		_ = c.conn.Conn().SetDeadline(time.Unix(1, 0)) // in the past
		return
	}
	c.done = make(chan struct{})
	deadline := time.Now().Add(cancelTimeout)
	_ = c.conn.Conn().SetDeadline(deadline)
	go func() {
		defer close(c.done)
		ctx, cancel := context.WithDeadline(context.Background(), deadline)
		defer cancel()
		_ = c.conn.CancelRequest(ctx) // if it fails, the deadline ends the wait
	}()
}

// HandleUnwatchAfterCancel is called when the statement has ended. It waits until the cancel request
// was sent, so that it cannot cancel the next statement.
func (c *canceller) HandleUnwatchAfterCancel() {
	if c.done != nil {
		<-c.done
	}
	_ = c.conn.Conn().SetDeadline(time.Time{})
}
