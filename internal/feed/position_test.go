package feed

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/plural-go/plural/internal/changelog"
	"github.com/plural-go/plural/internal/db"
)

func drawPosition(t *rapid.T) position {
	var p position
	copy(p.history[:], rapid.SliceOfN(rapid.Byte(), historyBytes, historyBytes).Draw(t, "history"))
	copy(p.fingerprint[:], rapid.SliceOfN(rapid.Byte(), len(p.fingerprint), len(p.fingerprint)).Draw(t, "fingerprint"))
	p.point.Number = rapid.Int64Range(0, 1<<60).Draw(t, "number")
	if rapid.Bool().Draw(t, "seen") {
		p.point.Revision = rapid.Int64Range(0, 1<<62).Draw(t, "revision")
		p.point.Seen.Min = rapid.Uint64Range(1, 1<<60).Draw(t, "min")
		at := p.point.Seen.Min
		for _, step := range rapid.SliceOfN(rapid.Uint64Range(1, 1000), 0, 20).Draw(t, "running") {
			p.point.Seen.Running = append(p.point.Seen.Running, at)
			at += step
		}
		p.point.Seen.Max = at + 1
	}
	return p
}

func samePoint(a, b changelog.Point) bool {
	if a.Number != b.Number || a.Revision != b.Revision || a.Seen.Min != b.Seen.Min || a.Seen.Max != b.Seen.Max || len(a.Seen.Running) != len(b.Seen.Running) {
		return false
	}
	for i := range a.Seen.Running {
		if a.Seen.Running[i] != b.Seen.Running[i] {
			return false
		}
	}
	return true
}

func TestPositionsAreReadAsTheyWereWritten(t *testing.T) {
	k := newSigner([]byte("secret"))
	rapid.Check(t, func(t *rapid.T) {
		p := drawPosition(t)
		text := k.text(p)
		if strings.Trim(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_") != "" {
			t.Fatalf("%q is not safe in a URL", text)
		}
		got, err := k.parse(text)
		if err != nil || got.history != p.history || got.fingerprint != p.fingerprint || !samePoint(got.point, p.point) {
			t.Fatalf("%s: got %+v, %v, want %+v", text, got, err, p)
		}
		cut := text[:rapid.IntRange(0, len(text)-1).Draw(t, "cut")]
		if _, err := k.parse(cut); err == nil {
			t.Fatalf("%s was cut to %s and is still a position", text, cut)
		}
	})
}

func TestTextsThatAreNoPositions(t *testing.T) {
	k := newSigner([]byte("secret"))
	plain := position{point: changelog.Point{Number: 5, Seen: db.Snapshot{Min: 3, Max: 9, Running: []uint64{4, 7}}}}
	good, forged := k.text(plain), newSigner([]byte("another")).text(plain)
	for _, text := range []string{"", "1", "x y", "0", "-1", strings.Repeat("A", 9000), good + "A", good + "="} {
		if _, err := k.parse(text); err == nil || !strings.HasPrefix(err.Error(), "invalid_parameter: This is not a position") {
			t.Errorf("%.50q: %v", text, err)
		}
	}
	if _, err := k.parse(forged); err != errSignature {
		t.Errorf("a position of another database: %v", err)
	}
}
