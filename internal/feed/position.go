package feed

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"hash"
	"math"
	"sync"

	"github.com/plural-go/plural/internal/changelog"
	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/query"
	"github.com/plural-go/plural/problem"
)

// position says which changes of the log a subscriber of a shape has received.
type position struct {
	history     [historyBytes]byte // see tailOf
	fingerprint fingerprint        // of the shape
	point       changelog.Point
}

const (
	positionFormat = 1
	historyBytes   = 6
	signatureBytes = 8
	maxPosition    = 8192 // characters
)

// signer signs positions with the secret of the database. A caller without the right to see
// changes could otherwise go back in the log by a position that nobody gave them.
type signer struct {
	macs *sync.Pool // each link of a list is signed: most of the time goes into the key otherwise
}

func newSigner(secret []byte) signer {
	return signer{&sync.Pool{New: func() any { return hmac.New(sha256.New, secret) }}}
}

// appendSignature appends the signature of a text.
func (k signer) appendSignature(dst, text []byte) []byte {
	mac := k.macs.Get().(hash.Hash)
	defer k.macs.Put(mac)
	mac.Reset()
	mac.Write(text)
	return mac.Sum(dst)[:len(dst)+signatureBytes]
}

// text is the position as clients get it: opaque, with characters that a URL and a header
// may contain.
func (k signer) text(p position) string {
	text := make([]byte, 0, 80)
	text = append(text, positionFormat)
	text = append(text, p.history[:]...)
	text = append(text, p.fingerprint[:]...)
	text = binary.AppendUvarint(text, uint64(p.point.Number)) // #nosec G115 -- never negative
	if seen := p.point.Seen; p.point.MaySeeUnnumbered() {
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
	text = k.appendSignature(text, text)
	return base64.RawURLEncoding.EncodeToString(text)
}

// errPosition is the error for a text that is no position. Its place is known to the caller.
func errPosition() error {
	return fault.New(problem.CodeInvalidParameter, "%s", query.NoPosition)
}

// errSignature: a position is signed with another secret, such as that of another database.
var errSignature = errors.New("the position was not signed by this database")

// parse reads what text wrote. The error is errSignature, or says that the text is no position.
func (k signer) parse(text string) (p position, err error) {
	if len(text) > maxPosition {
		return p, fault.New(problem.CodeInvalidParameter, "This is not a position: it has %d characters, and a position has at most %d. Send one that this server gave you, unchanged.", len(text), maxPosition)
	}
	decoded, err := base64.RawURLEncoding.Strict().DecodeString(text)
	end := len(decoded) - signatureBytes
	if err != nil || end < 1+historyBytes+len(p.fingerprint)+1 || decoded[0] != positionFormat {
		return p, errPosition()
	}
	if !hmac.Equal(decoded[end:], k.appendSignature(nil, decoded[:end])) {
		return p, errSignature
	}
	r := decoder{rest: decoded[1:end]}
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

// decoder reads the parts of a position.
type decoder struct {
	rest   []byte
	failed bool
}

func (r *decoder) take(n int) []byte {
	taken := r.rest[:n]
	r.rest = r.rest[n:]
	return taken
}

func (r *decoder) number() uint64 {
	n, length := binary.Uvarint(r.rest)
	if length <= 0 {
		r.failed, r.rest = true, nil
		return 0
	}
	r.rest = r.rest[length:]
	return n
}

// signed reads a number that is not negative.
func (r *decoder) signed() int64 {
	n := r.number()
	r.failed = r.failed || n > math.MaxInt64
	return int64(n) // #nosec G115 -- checked
}

func (r *decoder) snapshot() (s db.Snapshot) {
	s.Min = r.number()
	s.Max = s.Min + r.number()
	last := s.Min
	for range min(r.number(), maxPosition) {
		last += r.number()
		s.Running = append(s.Running, last)
	}
	return s
}

// tailOf is the part of a history id that positions contain. The end of an id is random in all versions of UUIDs; the start
// may be a time.
func tailOf(history model.ID) (tail [historyBytes]byte) {
	copy(tail[:], history[len(history)-historyBytes:])
	return tail
}
