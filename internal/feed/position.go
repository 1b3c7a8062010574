package feed

import (
	"encoding/base64"
	"encoding/binary"
	"hash/crc32"
	"math"

	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/query"
	"github.com/plural-go/plural/internal/store"
	"github.com/plural-go/plural/problem"
)

// position is a place in the log, for subscribers of one shape.
type position struct {
	history     [historyBytes]byte // start of the history id
	fingerprint fingerprint        // of the shape
	point       store.Point
}

const (
	positionFormat = 1
	historyBytes   = 6
	maxPosition    = 8192 // characters
)

// String is the position as clients get it: opaque, with characters that a URL and a header
// may contain.
func (p position) String() string {
	text := make([]byte, 0, 48)
	text = append(text, positionFormat)
	text = append(text, p.history[:]...)
	text = append(text, p.fingerprint[:]...)
	text = binary.AppendUvarint(text, uint64(p.point.Number)) // #nosec G115 -- never negative
	if seen := p.point.Seen; seen.Max > 0 {
		text = binary.AppendUvarint(text, uint64(p.point.Revision)) // #nosec G115 -- never negative
		text = binary.AppendUvarint(text, seen.Min)
		text = binary.AppendUvarint(text, seen.Max-seen.Min)
		text = binary.AppendUvarint(text, uint64(len(seen.Running)))
		last := seen.Min
		for _, each := range seen.Running {
			text = binary.AppendUvarint(text, each-last)
			last = each
		}
	}
	text = binary.BigEndian.AppendUint16(text, checksum(text))
	return base64.RawURLEncoding.EncodeToString(text)
}

// checksum finds positions that were cut or mistyped.
func checksum(text []byte) uint16 { return uint16(crc32.ChecksumIEEE(text)) } // #nosec G115 -- its lower half

// errPosition is the error for a text that is no position. Its place is known to the caller.
func errPosition() error {
	return fault.New(problem.CodeInvalidParameter, "%s", query.NoPosition)
}

// parsePosition reads what String wrote.
func parsePosition(text string) (p position, err error) {
	decoded, err := base64.RawURLEncoding.Strict().DecodeString(text)
	end := len(decoded) - 2
	if err != nil || len(text) > maxPosition || end < 1+historyBytes+len(p.fingerprint)+1 || decoded[0] != positionFormat ||
		binary.BigEndian.Uint16(decoded[end:]) != checksum(decoded[:end]) {
		return p, errPosition()
	}
	r := reader{rest: decoded[1:end]}
	copy(p.history[:], r.take(historyBytes))
	copy(p.fingerprint[:], r.take(len(p.fingerprint)))
	p.point.Number = r.signed()
	if len(r.rest) > 0 {
		p.point.Revision, p.point.Seen = r.signed(), r.snapshot()
	}
	if r.failed || len(r.rest) > 0 {
		return position{}, errPosition()
	}
	return p, nil
}

// reader reads the parts of a position.
type reader struct {
	rest   []byte
	failed bool
}

func (r *reader) take(n int) []byte {
	taken := r.rest[:n]
	r.rest = r.rest[n:]
	return taken
}

func (r *reader) number() uint64 {
	n, length := binary.Uvarint(r.rest)
	if length <= 0 {
		r.failed, r.rest = true, nil
		return 0
	}
	r.rest = r.rest[length:]
	return n
}

// signed reads a number that is not negative.
func (r *reader) signed() int64 {
	n := r.number()
	r.failed = r.failed || n > math.MaxInt64
	return int64(n) // #nosec G115 -- checked
}

func (r *reader) snapshot() (s db.Snapshot) {
	s.Min = r.number()
	s.Max = s.Min + r.number()
	last := s.Min
	for range min(r.number(), maxPosition) {
		last += r.number()
		s.Running = append(s.Running, last)
	}
	return s
}

// startOf is the part of a history id that positions contain.
func startOf(history model.ID) (start [historyBytes]byte) {
	// The end of an id is random in all its versions, the start may be a time.
	copy(start[:], history[len(history)-historyBytes:])
	return start
}
