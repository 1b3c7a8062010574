//go:build linux

package bench

import (
	"testing"
	"time"
)

func TestSpentBy(t *testing.T) {
	const line = "17 (a ) b) S 12 17 17 0 -1 4194560 9 0 0 0 123 45 6 7 20 0 5 0 1000\n"
	for _, c := range []struct {
		line, pid string
		want      time.Duration
		wantErr   string
	}{
		{line, "17", 1680 * time.Millisecond, ""},
		{line, "12", 1680 * time.Millisecond, ""}, // its parent
		{line, "1", 0, ""},
		{"17 (a) S 12\n", "17", 0, `"17 (a) S 12\n" is no line of a process`},
	} {
		got, err := spentBy(c.line, c.pid)
		text := ""
		if err != nil {
			text = err.Error()
		}
		if got != c.want || text != c.wantErr {
			t.Errorf("%s: got %v and %q, want %v and %q", c.pid, got, text, c.want, c.wantErr)
		}
	}
}
