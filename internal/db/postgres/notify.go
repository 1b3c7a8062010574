package postgres

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
)

const (
	// The pause before a lost connection is made again grows from one to the other.
	minListenPause = 100 * time.Millisecond
	maxListenPause = 10 * time.Second

	// notifyPause bounds how often a server notifies others. Without it, almost every transaction of a busy server
	// would be followed by another one that only notifies.
	notifyPause = 5 * time.Millisecond
)

// Notify: servers notify each other of their commits, and each gives the changes their numbers. If a pooler
// does not deliver that, only the transactions of this server are noticed.
func (b *Database) Notify(ctx context.Context, changed func()) error {
	ctx, cancel := context.WithCancel(ctx)
	var listening sync.WaitGroup
	defer listening.Wait()
	defer cancel()
	listening.Go(func() { b.listen(ctx) })
	listening.Go(func() { b.notifyOthers(ctx) })
	b.changed.Each(ctx, changed)
	return nil
}

// notifyOthers notifies other servers of commits, outside of their transactions: a transaction that notifies
// commits alone. The commits during a notification and the pause after it are one. If it is lost, others notice at their
// next poll.
func (b *Database) notifyOthers(ctx context.Context) {
	b.ownCommits.Each(ctx, func() {
		_, _ = b.pool.Exec(ctx, "NOTIFY "+channel)
		select {
		case <-ctx.Done():
		case <-time.After(notifyPause):
		}
	})
}

// listen receives the notifications of other servers, on a connection of its own.
func (b *Database) listen(ctx context.Context) {
	for pause := minListenPause; ctx.Err() == nil; pause = min(2*pause, maxListenPause) {
		if b.listenOnce(ctx) {
			pause = minListenPause
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause/2 + rand.N(pause/2)): // #nosec G404 -- no secret
		}
	}
}

// listenOnce listens until the connection is lost, and reports whether there was one.
func (b *Database) listenOnce(ctx context.Context) bool {
	c, err := pgx.ConnectConfig(ctx, b.listener.Copy())
	if err != nil {
		return false
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		_ = c.Close(ctx)
	}()
	if _, err := c.Exec(ctx, "LISTEN "+channel); err != nil {
		return false
	}
	b.changed.Send() // earlier notifications are lost
	for {
		if _, err := c.WaitForNotification(ctx); err != nil {
			return true
		}
		b.changed.Send()
	}
}
