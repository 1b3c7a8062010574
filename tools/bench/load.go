//go:build linux

package bench

import (
	"cmp"
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"
)

// load is what is sent to one server.
type load struct {
	address     string
	static      bool
	next        func(*caller)
	bytes       bool // what counts is bytes, not requests
	connections int
	users, rows int
	serial      *atomic.Int64
	clock       clock
}

// run sends requests over all connections for a while, each as soon as the last
// is answered, and returns how much was answered in a second of the clock. Any answer that
// is not as it should be is an error.
func (l load) run(ctx context.Context, duration time.Duration) (perSecond float64, err error) {
	clients := make([]*client, l.connections)
	callers := make([]*caller, l.connections)
	for i := range clients {
		if clients[i], err = dial(l.address, l.static); err != nil {
			return 0, err
		}
		defer clients[i].conn.Close()
		callers[i] = newCaller(l.users, l.rows, rand.Uint64(), l.serial)
	}
	// Once through before the clock starts: connections are new, statements not
	// prepared. An export is warm by itself.
	if !l.bytes {
		if _, err := l.turn(clients, callers, time.Now()); err != nil {
			return 0, err
		}
	}
	stop := context.AfterFunc(ctx, func() {
		for _, client := range clients {
			client.conn.Close()
		}
	})
	defer stop()
	before, err := l.clock()
	if err != nil {
		return 0, err
	}
	done, err := l.turn(clients, callers, time.Now().Add(duration))
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	if err != nil {
		return 0, err
	}
	after, err := l.clock()
	if err == nil && after == before {
		err = errors.New("the turn was too short to measure its processor time: use a longer -duration")
	}
	return float64(done) / (after - before).Seconds(), err
}

// each reads rows from the first on, one after the other, over all connections.
func (l load) each(ctx context.Context, rows int) error {
	var row atomic.Int64
	var connections sync.WaitGroup
	errs := make([]error, l.connections)
	for i := range l.connections {
		connections.Go(func() {
			client, err := dial(l.address, l.static)
			if errs[i] = err; err != nil {
				return
			}
			defer client.conn.Close()
			caller := newCaller(l.users, l.rows, 1, l.serial)
			for next := row.Add(1) - 1; next < int64(rows) && errs[i] == nil; next = row.Add(1) - 1 {
				caller.getRow(int(next))
				errs[i] = cmp.Or(client.do(&caller.call), ctx.Err())
			}
		})
	}
	connections.Wait()
	return cmp.Or(errs...)
}

// turn lets every connection send requests until a time, but one at least, and
// returns how much was answered.
func (l load) turn(clients []*client, callers []*caller, until time.Time) (done int64, err error) {
	var (
		waiting sync.WaitGroup
		total   atomic.Int64
		errs    = make([]error, len(clients))
	)
	for i, client := range clients {
		caller := callers[i]
		waiting.Go(func() {
			_ = client.conn.SetDeadline(until.Add(maxAnswer)) // of a connection that is open
			var mine int64
			for {
				l.next(caller)
				if errs[i] = client.do(&caller.call); errs[i] != nil {
					break
				}
				if mine++; !time.Now().Before(until) {
					break
				}
			}
			if l.bytes {
				mine *= int64(caller.length)
			}
			total.Add(mine)
		})
	}
	waiting.Wait()
	return total.Load(), cmp.Or(errs...)
}
