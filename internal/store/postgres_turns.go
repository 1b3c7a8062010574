package store

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/plural-go/plural/internal/model"
)

// Those who write to one resource at the same time cannot all succeed at once: a transaction
// sees the resource as it was when it began, and fails if another has changed it since. Who
// has failed takes turns with the others who have, so that the next run is the last
// one. On one server they stand in a line, and the first of each server waits for a
// lock of the database: ahead of its transaction, which so begins behind the one before.
type turns struct {
	mutex sync.Mutex
	lines map[contested]*line
}

// contested is a resource that several write to.
type contested struct {
	collection string
	id         model.ID
}

// line is all who wait for their turn or have it.
type line struct {
	length int
	first  chan struct{} // has room for one
}

// turn is the place in a line of who has come to its front. Nil is none, as of who
// has not lost yet.
type turn struct {
	turns  *turns
	about  contested
	locked bool
	alone  bool // without the lock
}

var (
	// errOutOfTurn: others wait for their turn to write to a resource.
	errOutOfTurn = errors.New("others are waiting to write to the resource")
	// errNotLocked: another server does not give its lock back.
	errNotLocked = fmt.Errorf("another server has the turn: %w", errOutOfTurn)
)

// join waits for a turn, which must be left. There is none if it is not known what the race
// was about.
func (t *turns) join(ctx context.Context, about contested, until time.Time) (*turn, error) {
	if about == (contested{}) {
		return nil, nil
	}
	t.mutex.Lock()
	l := t.lines[about]
	if l == nil {
		l = &line{first: make(chan struct{}, 1)}
		if t.lines == nil {
			t.lines = map[contested]*line{}
		}
		t.lines[about] = l
	}
	l.length++
	t.mutex.Unlock()
	patience := time.NewTimer(time.Until(until))
	defer patience.Stop()
	var err error
	select {
	case l.first <- struct{}{}:
		return &turn{turns: t, about: about}, nil
	case <-patience.C:
		err = errOutOfTurn
	case <-ctx.Done():
		err = ctx.Err()
	}
	t.left(about)
	return nil, err
}

func (t *turns) left(about contested) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	l := t.lines[about]
	if l.length--; l.length == 0 {
		delete(t.lines, about)
	}
}

// waiting reports whether anybody takes turns about a resource.
func (t *turns) waiting(about contested) bool {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	return t.lines[about] != nil
}

// leave lets the next one have its turn.
func (t *turn) leave() {
	if t == nil {
		return
	}
	t.turns.mutex.Lock()
	l := t.turns.lines[t.about]
	t.turns.mutex.Unlock()
	<-l.first
	t.turns.left(t.about)
}

// text is what the lock is on: that of no Idempotency-Key.
func (c contested) text() string { return "\x1f" + c.collection + "\x1f" + c.id.String() }

// lock waits until no other server has the turn. It is the session's, as a lock of the
// transaction would be waited for with its snapshot already taken. So a server that hangs may
// keep it for any time, and nobody waits for long: the lock only spares them losing again.
func (t *turn) lock(c *postgresConn) error {
	if t == nil || t.alone {
		return nil
	}
	ctx, cancel := context.WithTimeout(c.ctx, c.patience/4)
	defer cancel()
	t.locked = true
	_, err := c.raw.Exec(ctx, "SELECT pg_advisory_lock(hashtextextended($1, 0))", t.about.text())
	if err != nil {
		t.unlock(c)
	}
	if errors.Is(err, context.DeadlineExceeded) {
		t.alone = true
		return errNotLocked
	}
	return err
}

// unlock gives the lock back, with the connection if that is what it takes.
func (t *turn) unlock(c *postgresConn) {
	if t == nil || !t.locked {
		return
	}
	t.locked = false
	ctx, cancel := c.wait()
	defer cancel()
	var unlocked bool
	if err := c.raw.QueryRow(ctx, "SELECT pg_advisory_unlock(hashtextextended($1, 0))", t.about.text()).Scan(&unlocked); err != nil || !unlocked {
		_ = c.raw.Close(ctx) // whoever takes it back sees that it is of no more use
	}
}

// claims tells which resource is about to be written to. Who has not lost yet leaves it to
// those who have.
func (c *postgresConn) claims(collection string, id model.ID) error {
	if c.turns == nil {
		return nil
	}
	c.about = contested{collection, id}
	if c.turn == nil && c.turns.waiting(c.about) {
		c.outOfTurn = true // also if nobody looks at the error
		return errOutOfTurn
	}
	return nil
}
