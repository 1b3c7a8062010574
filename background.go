package plural

import (
	"context"
	"sync"
	"time"

	"github.com/plural-go/plural/internal/operation"
)

// background is the background work of a server: operations, reading the change log for streams,
// merging deltas and deleting old rows.
type background struct {
	tasks      sync.WaitGroup
	endStreams context.CancelFunc // ends the feed and its streams
	stop       context.CancelFunc // starts nothing new
	abandon    context.CancelFunc // aborts what was begun
}

// mergeEvery is how often deltas are merged into totals and offset indexes.
const mergeEvery = time.Second

// storeUsesEvery is how often it is stored who has used earlier versions of the interface.
const storeUsesEvery = time.Minute

// retentionInterval is how often rows older than age are deleted, so that they do not get much
// older.
func retentionInterval(age time.Duration) time.Duration {
	return min(max(age/10, time.Second), time.Hour)
}

// start starts all background work; the context only provides values.
func (b *background) start(ctx context.Context, s *Server, operations *operation.Operations) {
	ctx = context.WithoutCancel(ctx)
	running, stop := context.WithCancel(ctx)
	unhurried, abandon := context.WithCancel(ctx)
	b.stop, b.abandon = stop, abandon
	following, endStreams := context.WithCancel(running)
	b.endStreams = endStreams
	b.tasks.Go(func() { s.feed.Run(following) })
	if s.config.Workers > 0 {
		b.tasks.Go(func() { operations.Run(running, unhurried) })
	}
	turn := make(chan struct{}, 1) // of the tasks that have time: one at a time needs one connection
	inTurn := func(ctx context.Context, task func(context.Context) error) error {
		select {
		case turn <- struct{}{}:
			defer func() { <-turn }()
			return task(ctx)
		case <-ctx.Done():
			return nil
		}
	}
	for _, forgetting := range []struct {
		age    time.Duration
		forget func(context.Context, time.Duration) error
	}{
		{s.config.ChangeRetention, s.store.DeleteOldChanges},
		{s.config.IdempotencyRetention, s.store.DeleteOldRecords},
		{s.config.OperationRetention, s.store.DeleteOldOperations},
	} {
		if forgetting.age > 0 {
			b.tasks.Go(func() {
				every(running, retentionInterval(forgetting.age), s.observer.MaintenanceFailed, func(ctx context.Context) error {
					return inTurn(ctx, func(ctx context.Context) error { return forgetting.forget(ctx, forgetting.age) })
				})
			})
		}
	}
	b.tasks.Go(func() { every(running, mergeEvery, s.observer.MaintenanceFailed, s.store.MergeDeltas) })
	if len(s.store.Versions()) > 0 {
		b.tasks.Go(func() { every(running, storeUsesEvery, s.observer.MaintenanceFailed, s.storeUses) })
	}
}

// every runs a task at an interval.
func every(ctx context.Context, pause time.Duration, failed func(error), task func(context.Context) error) {
	tick := time.NewTicker(pause)
	defer tick.Stop()
	for {
		if err := task(ctx); err != nil && ctx.Err() == nil {
			failed(err)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// finish waits for the work that was begun until the context ends, and then aborts it. The
// next server continues.
func (b *background) finish(ctx context.Context) {
	b.stop()
	ended := make(chan struct{})
	go func() {
		b.tasks.Wait()
		close(ended)
	}()
	select {
	case <-ended:
	case <-ctx.Done():
	}
	b.abandon()
	<-ended
}
