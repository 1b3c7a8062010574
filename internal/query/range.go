package query

import (
	"math"

	"github.com/plural-go/plural/internal/model"
)

// Anchor is what a range is counted from.
type Anchor int

// The anchors.
const (
	// AtEdge: neither offset nor cursor is given. The range starts at the
	// beginning, or with a negative limit ends at the end.
	AtEdge Anchor = iota
	AtOffset
	AtCursor
	// AtPosition: of a link only. A request has its position in Query.Since.
	AtPosition
)

// Range is the requested part of a collection: limit resources from the anchor on, or before it if
// the limit is negative.
type Range struct {
	Anchor Anchor
	Offset int64
	Cursor model.ID
	// Position is one of the change log; the range begins after it.
	Position string
	Limit    int64
}

// Size is the number of requested resources, in either direction.
func (r Range) Size() int64 {
	if r.Limit >= 0 {
		return r.Limit
	}
	if r.Limit == math.MinInt64 {
		return math.MaxInt64
	}
	return -r.Limit
}

// Span computes every range: the half-open interval of offsets
// between anchor and anchor+limit, whichever is smaller first, cut to the
// number of resources that exist. The anchor is not negative.
func Span(anchor, limit, total int64) (from, to int64) {
	from, to = anchor, anchor+limit
	if limit > 0 && to < 0 {
		to = math.MaxInt64
	}
	if to < from {
		from, to = to, from
	}
	return min(max(from, 0), total), min(max(to, 0), total)
}
