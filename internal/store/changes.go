package store

import (
	"context"
	"time"

	"github.com/plural-go/plural/internal/changelog"
	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/model"
)

// entry is an entry of the change log for a change of this task.
func (t *Tx) entry(c *model.Collection, kind changelog.Kind, id model.ID) *changelog.Entry {
	return &changelog.Entry{Collection: c.Base(), ID: id, Kind: kind, At: t.at, Caller: t.caller, Traceparent: t.trace}
}

// DeleteOldChanges removes the beginning of the change log, up to the first change that is not
// older than age by the clock of the database. Changes without a number stay.
func (s *Store) DeleteOldChanges(ctx context.Context, age time.Duration) error {
	if _, err := s.AssignNumbers(ctx); err != nil {
		return err
	}
	return s.deleteInBatches(ctx, func(t *Tx) (removed int, err error) {
		now, err := s.clock(t.conn)
		if err != nil {
			return 0, err
		}
		return t.RemoveBefore(model.FormatTime(now.Add(-age)), deleteBatch)
	})
}

// deleteBatch bounds how long a cleanup blocks other writers.
const deleteBatch = 1000

// deleteInBatches calls remove, each time in a transaction, until it has removed less than a batch.
func (s *Store) deleteInBatches(ctx context.Context, remove func(*Tx) (removed int, err error)) error {
	for {
		removed := 0
		err := s.Write(ctx, func(t *Tx) (err error) {
			removed, err = remove(t)
			return err
		})
		if err != nil || removed < deleteBatch {
			return err
		}
	}
}

// databaseTime asks the database for the time.
func (s *Store) databaseTime(c db.Conn) (now time.Time, err error) {
	var text []byte
	if _, err = db.One(c, func(row model.Row) { text = row.AppendText(nil, 0) }, s.db.Clock()); err != nil {
		return now, err
	}
	return time.Parse(time.RFC3339Nano, string(text))
}

// AssignNumbers gives a number to every change that was committed before the call, and returns the
// last number of the log. Any number of servers may call it.
func (s *Store) AssignNumbers(ctx context.Context) (last int64, err error) {
	last, err = s.db.AssignNumbers(ctx)
	return last, s.fault(ctx, err)
}

// Notify calls changed soon after changes were committed by this server or another one, until
// the context ends. Calls are coalesced, and some may be missing: callers poll as well.
func (s *Store) Notify(ctx context.Context, changed func()) error { return s.db.Notify(ctx, changed) }
