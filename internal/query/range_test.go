package query

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

func TestSpan(t *testing.T) {
	const most, least = math.MaxInt64, math.MinInt64
	tests := []struct {
		name                 string
		anchor, limit, total int64
		from, to             int64
	}{
		{"seed, rule 1: a range counted from the offset", 10, 30, 100, 10, 40},
		{"seed, rule 2: offset 39, limit -25 starts at 14", 39, -25, 100, 14, 39},
		{"seed, rule 4: offset 5, limit -20 gives 5", 5, -20, 100, 0, 5},
		{"seed, rule 4: more than there is", 90, 30, 100, 90, 100},
		{"limit 0", 7, 0, 100, 7, 7},
		{"offset past the end", 101, 5, 100, 100, 100},
		{"offset past the end, backwards to the end", 101, -5, 100, 96, 100},
		{"offset past the end, backwards but not to the end", 200, -5, 100, 100, 100},
		{"nothing there", 0, 5, 0, 0, 0},
		{"nothing there, backwards", 5, -5, 0, 0, 0},
		{"everything", 0, most, 3, 0, 3},
		{"the sum overflows", most, most, most, most, most},
		{"the sum overflows by one", 1, most, most, 1, most},
		{"everything, backwards from far behind", most, least, 3, 0, 3},
		{"the least limit from the start", 0, least, 3, 0, 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			from, to := Span(test.anchor, test.limit, test.total)
			if from != test.from || to != test.to {
				t.Errorf("Span(%d, %d, %d) = [%d, %d), want [%d, %d)", test.anchor, test.limit, test.total, from, to, test.from, test.to)
			}
		})
	}
}

// TestSpanCountsOneByOne compares with somebody who has the positions in front
// of them, goes to the anchor, and takes one after the other.
func TestSpanCountsOneByOne(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		total := rapid.Int64Range(0, 60).Draw(t, "total")
		anchor := rapid.OneOf(rapid.Int64Range(0, 80), rapid.SampledFrom([]int64{math.MaxInt64, math.MaxInt64 - 1, math.MaxInt64 - 30})).Draw(t, "anchor")
		limit := rapid.OneOf(rapid.Int64Range(-90, 90), rapid.SampledFrom([]int64{math.MinInt64, math.MinInt64 + 1, -math.MaxInt64, math.MaxInt64, math.MaxInt64 - 1})).Draw(t, "limit")

		var want []int64
		for position := range total {
			var steps int64 // from the anchor, in the direction of the limit
			forward := limit > 0
			if forward {
				steps = position - anchor
			} else {
				steps = anchor - 1 - position
			}
			if taken := 0 <= steps && (forward && steps < limit || !forward && -steps > limit); taken {
				want = append(want, position)
			}
		}
		from, to := Span(anchor, limit, total)
		if from < 0 || from > to || to > total {
			t.Fatalf("[%d, %d) is no part of [0, %d)", from, to, total)
		}
		if to-from != int64(len(want)) || len(want) > 0 && from != want[0] {
			t.Fatalf("got [%d, %d), want %v", from, to, want)
		}
	})
}

func TestRangeSize(t *testing.T) {
	for limit, want := range map[int64]int64{0: 0, 7: 7, -7: 7, math.MaxInt64: math.MaxInt64, -math.MaxInt64: math.MaxInt64, math.MinInt64: math.MaxInt64} {
		if got := (Range{Limit: limit}).Size(); got != want {
			t.Errorf("a limit of %d has the size %d, want %d", limit, got, want)
		}
	}
}
