package feed

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/plural-go/plural/internal/changelog"
	"github.com/plural-go/plural/internal/model"
)

const (
	idlePoll   = 10 * time.Second // how often the log is looked at without subscriptions
	idlePause  = time.Second      // after writes that nobody waits for
	retryPause = time.Second      // after an error
	checkOld   = time.Second      // how often the deadlines of streams are checked
	checkValid = 10 * time.Second // how often API keys and the schema are checked

	mostEntries = 500       // that are read at once
	mostBytes   = 4 << 20   // of the states of the changes that the reader reads at once, about
	partBytes   = 256 << 10 // the same of those that are read for one client, which may take long to receive them
)

// Run reads the log until the context ends; then all subscriptions end.
func (f *Feed) Run(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var others sync.WaitGroup
	others.Go(func() { f.endStreams(ctx) })
	others.Go(func() {
		for ctx.Err() == nil {
			if err := f.store.Notify(ctx, func() { f.poke(f.changed) }); err != nil && ctx.Err() == nil {
				f.options.Failed(err)
			}
			sleep(ctx, retryPause)
		}
	})
	for ctx.Err() == nil {
		if err := f.numberAndRead(ctx); err != nil && ctx.Err() == nil {
			f.options.Failed(err)
			sleep(ctx, retryPause)
			continue
		}
		f.pause(ctx)
	}
	f.mutex.Lock()
	f.stopped = true
	f.mutex.Unlock()
	f.endAll(Shutdown, func(*Subscription) bool { return true })
	others.Wait()
}

// endStreams ends streams that must not go on, from time to time.
func (f *Feed) endStreams(ctx context.Context) {
	old, valid := time.NewTicker(checkOld), time.NewTicker(checkValid)
	defer old.Stop()
	defer valid.Stop()
	for {
		select {
		case <-old.C:
			f.endOld()
		case <-valid.C:
			f.endInvalid(ctx)
		case <-ctx.Done():
			return
		}
	}
}

func sleep(ctx context.Context, span time.Duration) {
	select {
	case <-time.After(span):
	case <-ctx.Done():
	}
}

// poke sends a signal, unless one is pending.
func (f *Feed) poke(signal chan struct{}) {
	select {
	case signal <- struct{}{}:
	default:
	}
}

// pause waits until the log must be looked at. While nobody waits for changes, that is seldom:
// changes only need their numbers some time.
func (f *Feed) pause(ctx context.Context) {
	f.mutex.Lock()
	busy := f.attached > 0
	f.mutex.Unlock()
	poll := f.options.Poll
	if !busy {
		poll = idlePoll
	}
	timer := time.NewTimer(poll)
	defer timer.Stop()
	select {
	case <-f.changed:
	case <-f.urgent:
		return
	case <-timer.C:
		return
	case <-ctx.Done():
		return
	}
	if busy {
		return
	}
	timer.Reset(idlePause)
	select {
	case <-f.urgent:
	case <-timer.C:
	case <-ctx.Done():
	}
}

// numberAndRead gives numbers to new changes, and reads them if anybody follows the log.
func (f *Feed) numberAndRead(ctx context.Context) error {
	last, err := f.store.AssignNumbers(ctx)
	if err != nil {
		f.endOtherSchemas() // which may be the reason
		return err
	}
	f.advance(last)
	for ctx.Err() == nil {
		f.mutex.Lock()
		after, due := f.readTo, f.attached > 0 && f.readTo < f.lastNumber
		f.mutex.Unlock()
		if !due {
			return nil
		}
		if err := f.readBatch(ctx, after); err != nil {
			f.endOtherSchemas()
			return err
		}
	}
	return nil
}

// advance notes the last number of the log. One that is before the last one means that the
// database was replaced by an older one. Subscriptions may have read further meanwhile.
func (f *Feed) advance(last int64) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	if last < f.lastNumber {
		f.jump(last, HistoryChanged)
	}
	f.lastNumber = last
	f.measureLag()
}

// measureLag reports how far the reader is behind, while anybody follows the log. The mutex is
// locked.
func (f *Feed) measureLag() {
	lag := int64(0)
	if f.attached > 0 {
		lag = max(0, f.lastNumber-f.chainedTo)
	}
	f.options.Metrics.Lag(lag)
}

// jump moves the reader to another number. Streams cannot go on across the gap: their clients
// connect again, and find out from the database what they have missed. The mutex is locked.
func (f *Feed) jump(to int64, cause Cause) {
	for s := range f.subscriptions {
		s.stop(cause)
	}
	f.readTo, f.chainedTo = to, to
}

// endOtherHistories ends the streams whose positions are not of a history. The mutex is locked.
func (f *Feed) endOtherHistories(history model.ID) {
	for s := range f.subscriptions {
		if s.at != nil && s.history != history {
			s.stop(HistoryChanged)
		}
	}
	f.history, f.mixed = history, false
}

// readBatch reads what the log has after a number and publishes it.
func (f *Feed) readBatch(ctx context.Context, after int64) error {
	tx, err := f.store.Read(ctx)
	if err != nil {
		return err
	}
	defer tx.Close()
	f.endOtherSchemas()
	bounds, err := tx.Bounds()
	if err != nil {
		return err
	}
	f.mutex.Lock()
	if f.readTo < bounds.Floor { // a new subscription may have moved the reader on since
		f.jump(bounds.Floor, Behind)
	}
	if f.history != bounds.History || f.mixed {
		f.endOtherHistories(bounds.History)
	}
	f.mutex.Unlock()
	entries, last, more, err := tx.Log(changelog.Query{After: max(after, bounds.Floor), Most: mostEntries, Bytes: mostBytes})
	if err != nil {
		return err
	}
	if !more {
		last = max(last, bounds.Number) // the last numbers of SQLite may have no change
	}
	f.report(entries)
	if last <= after {
		return fmt.Errorf("the change log has nothing after number %d, although its end is further on", after)
	}
	f.publish(bounds.History, entries, last, tx.States())
	return nil
}

// report logs changes that cannot be read. Only the streams that they concern are affected.
func (f *Feed) report(entries []changelog.Entry) {
	for i := range entries {
		if err := entries[i].Unreadable; err != nil {
			f.options.Failed(err)
		}
	}
}
