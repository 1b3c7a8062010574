package feed

import "github.com/plural-go/plural/internal/changelog"

// resetReason is why a stream cannot go on from a position, and begins again with a reset and a snapshot. Empty: it goes on. It is a label
// of metrics. A Cause, on the other hand, ends a stream.
type resetReason string

const (
	otherSecret  resetReason = "signature" // the position was not signed by this database
	otherHistory resetReason = "history"   // the position is of another history
	otherShape   resetReason = "shape"     // the schema, the filter, or what the caller may see has changed
	belowFloor   resetReason = "floor"     // the log no longer has what follows
	beyondEnd    resetReason = "end"       // the log has no such position yet
	parentMoved  resetReason = "parent"    // the parent in the path has changed
	damagedLog   resetReason = "damaged"   // a change cannot be read

	relatedChanged resetReason = "related" // a resource that a rule reads through a reference has changed
	matchFailed    resetReason = "failed"  // such a resource could not be read
)

// whyReset returns why a stream of a shape cannot go on from the position in the log as it is now; empty: it can.
func (p position) whyReset(now changelog.Bounds, f fingerprint) resetReason {
	switch {
	case p.history != tailOf(now.History):
		return otherHistory
	case p.fingerprint != f:
		return otherShape
	case p.point.Number < now.Floor:
		return belowFloor
	case p.point.Number > now.Number:
		return beyondEnd
	}
	return ""
}
