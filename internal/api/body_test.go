package api

import (
	"io"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/plural-go/plural/internal/limit"
)

// TestBrokenBodiesLeaveTheirMemory: clients that disconnect one after the other do not make bodies take more memory
// than the budget, also if no garbage is collected.
func TestBrokenBodiesLeaveTheirMemory(t *testing.T) {
	const size, clients = 1 << 20, 64
	a := &API{Config: Config{MaxBody: size}, bodies: limit.NewBudget(4*size, size)}
	text := strings.Repeat(" ", size-1)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range clients {
		r := httptest.NewRequest("POST", "/users", io.MultiReader(strings.NewReader(text), iotest.ErrReader(io.ErrUnexpectedEOF)))
		r.ContentLength = size
		out := &response{ResponseWriter: httptest.NewRecorder()}
		if _, err := a.readBody(r, out); err == nil || !strings.Contains(err.Error(), "could not be read completely") {
			t.Fatalf("a body that broke off: %v", err)
		}
		out.upload.End()
	}
	runtime.ReadMemStats(&after)
	// Some buffers are lost to the collector, and to the race detector.
	if allocated := after.TotalAlloc - before.TotalAlloc; allocated > clients*size/2 {
		t.Errorf("%d bodies of %d bytes that broke off allocated %d bytes", clients, size, allocated)
	}
	// A body that arrives is complete, whatever the buffer had before.
	r := httptest.NewRequest("POST", "/users", strings.NewReader(strings.Repeat("x", size/2+1)))
	out := &response{ResponseWriter: httptest.NewRecorder()}
	body, err := a.readBody(r, out)
	if want := strings.Repeat("x", size/2+1); err != nil || string(body) != want {
		t.Errorf("read %d bytes (%v), want %d times x", len(body), err, len(want))
	}
}
