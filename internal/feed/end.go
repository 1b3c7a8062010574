package feed

import (
	"context"
	"io"
	"strings"

	"github.com/plural-go/plural/internal/auth"
	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/problem"
)

// End is the error of a stream that ends although nothing is wrong. Except after ResourceDeleted,
// ResourceLeft and Gone, a client can go on from its last position.
type End struct{ Cause Cause }

// Cause is why a stream ends.
type Cause string

// The causes.
const (
	Aged            Cause = "age"      // it has been open for long
	Expired         Cause = "expired"  // the credentials have expired
	Revoked         Cause = "revoked"  // the API key was revoked
	SchemaChanged   Cause = "schema"   // the schema was changed
	HistoryChanged  Cause = "history"  // the database has another history
	Behind          Cause = "behind"   // the server could not follow the log
	Shutdown        Cause = "shutdown" // the server stops
	ResourceDeleted Cause = "deleted"  // its one resource was deleted
	ResourceLeft    Cause = "left"     // its one resource is not visible any more
	Gone            Cause = "gone"     // it had to begin again, and its parent or its one resource is not there
)

var endDetails = map[Cause]string{
	Aged:            "it has been open for long enough; connect again",
	Expired:         "the credentials have expired",
	Revoked:         "the API key was revoked",
	SchemaChanged:   "the schema was changed; connect again",
	HistoryChanged:  "the database has a new history; connect again",
	Behind:          "the server could not follow the log; connect again",
	Shutdown:        "the server is shutting down; connect again",
	ResourceDeleted: "the resource was deleted",
	ResourceLeft:    "the resource is not visible any more",
	Gone:            "its path does not exist any more",
}

// Error says why the stream ended.
func (e *End) Error() string { return "the stream ended: " + endDetails[e.Cause] }

// Is makes an End the end of a stream for those who do not need the cause.
func (e *End) Is(target error) bool { return target == io.EOF }

// stop ends a stream at its next call of Next, or while that waits, unless it has ended before.
func (s *Subscription) stop(cause Cause) { s.endLife(&End{Cause: cause}) }

// endAll ends all streams that a condition holds for.
func (f *Feed) endAll(cause Cause, holds func(*Subscription) bool) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	for s := range f.subscriptions {
		if holds(s) {
			s.stop(cause)
		}
	}
}

// endOld ends streams that are open for too long, or whose credentials have expired.
func (f *Feed) endOld() {
	now := f.options.Now()
	f.mutex.Lock()
	defer f.mutex.Unlock()
	for s := range f.subscriptions {
		switch {
		case s.deadline.IsZero() || now.Before(s.deadline):
		case s.expires:
			s.stop(Expired)
		default:
			s.stop(Aged)
		}
	}
}

// endInvalid ends streams whose API key was revoked, or that began with another schema.
func (f *Feed) endInvalid(ctx context.Context) {
	keys := map[string]*auth.Permit{}
	f.mutex.Lock()
	none := len(f.subscriptions) == 0
	for s := range f.subscriptions {
		if s.by != nil && strings.HasPrefix(s.by.Caller.ID, auth.KeyCaller) {
			keys[s.by.Caller.ID] = s.by
		}
	}
	f.mutex.Unlock()
	if none {
		return
	}
	for id, by := range keys {
		if err := f.options.Revoked(ctx, by); fault.Is(err, problem.CodeInvalidCredentials) {
			f.endAll(Revoked, func(s *Subscription) bool { return s.by != nil && s.by.Caller.ID == id })
		}
	}
	if tx, err := f.store.Read(ctx); err == nil {
		_, _ = tx.Point() // which finds out the version of the schema, also if it fails
		tx.Close()
	}
	f.endOtherSchemas()
}

// endOtherSchemas ends streams that began with another version of the schema.
func (f *Feed) endOtherSchemas() {
	version := f.store.SchemaVersion()
	f.endAll(SchemaChanged, func(s *Subscription) bool { return s.version != version })
}
