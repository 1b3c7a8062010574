package bodies

import (
	"fmt"
	"io"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/plural-go/plural/internal/limit"
)

// TestBrokenBodiesLeaveTheirMemory: clients that disconnect one after the other do not make bodies take more memory
// than the budget, also if no garbage is collected.
func TestBrokenBodiesLeaveTheirMemory(t *testing.T) {
	const size, clients = 1 << 20, 64
	budget := limit.NewBudget(4*size, size)
	begin := func() *limit.Reservation { return budget.Begin("", func() {}) }
	text := strings.Repeat(" ", size-1)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range clients {
		r := httptest.NewRequest("POST", "/users", io.MultiReader(strings.NewReader(text), iotest.ErrReader(io.ErrUnexpectedEOF)))
		r.ContentLength = size
		held := begin()
		if _, err := Read(httptest.NewRecorder(), r, held, size); err == nil || !strings.Contains(err.Error(), "could not be read completely") {
			t.Fatalf("a body that broke off: %v", err)
		}
		held.End()
	}
	runtime.ReadMemStats(&after)
	// Some buffers are lost to the collector, and to the race detector.
	if allocated := after.TotalAlloc - before.TotalAlloc; allocated > clients*size/2 {
		t.Errorf("%d bodies of %d bytes that broke off allocated %d bytes", clients, size, allocated)
	}
	// A body that arrives is complete, whatever the buffer had before.
	r := httptest.NewRequest("POST", "/users", strings.NewReader(strings.Repeat("x", size/2+1)))
	body, err := Read(httptest.NewRecorder(), r, begin(), size)
	if want := strings.Repeat("x", size/2+1); err != nil || string(body) != want {
		t.Errorf("read %d bytes (%v), want %d times x", len(body), err, len(want))
	}
}

// TestBodiesLongerThanTheirLength: a handler before this one may replace a body, for example by one that it decompresses, and
// forget its length. Reading it ends.
func TestBodiesLongerThanTheirLength(t *testing.T) {
	const size = 1 << 20
	for _, length := range []int64{0, 10, firstPiece - 1, firstPiece, firstPiece + 1, 3 * firstPiece} {
		for longer := range int64(3) {
			held := limit.NewBudget(4*size, size).Begin("", func() {})
			r := httptest.NewRequest("POST", "/users", io.NopCloser(strings.NewReader(strings.Repeat("x", int(length+longer)))))
			r.ContentLength = length
			ended := make(chan error, 1)
			go func() {
				body, err := Read(httptest.NewRecorder(), r, held, size)
				if err == nil && int64(len(body)) != length {
					err = fmt.Errorf("read %d bytes", len(body))
				}
				ended <- err
			}()
			select {
			case err := <-ended:
				if (err != nil) != (longer > 0) {
					t.Errorf("a body of %d bytes that has %d more: %v", length, longer, err)
				}
			case <-time.After(5 * time.Minute):
				t.Fatalf("a body of %d bytes that has %d more is read forever", length, longer)
			}
			held.End()
		}
	}
}
