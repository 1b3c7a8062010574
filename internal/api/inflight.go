package api

import (
	"sync"

	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/problem"
)

// inFlight counts the requests in progress, in all and by address. An address may have half of them, so that
// one client with slow requests does not keep all others out.
type inFlight struct {
	most int64 // in all; 0 is no bound

	mutex sync.Mutex
	all   int64
	by    map[string]int64
}

func newInFlight(most int64) *inFlight { return &inFlight{most: most, by: map[string]int64{}} }

// enter counts a request, until leave is called. It returns an error if there are too many.
func (f *inFlight) enter(address string) error {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	f.all++
	f.by[address]++
	switch share := max(1, f.most/2); {
	case f.most <= 0:
		return nil
	case f.all > f.most:
		return fault.New(problem.CodeOverloaded, "More than %d requests are being answered. Try again later.", f.most)
	case f.by[address] > share:
		return fault.New(problem.CodeTooManyRequests, "More than %d requests from your address are being answered. Wait until some are finished.", share)
	}
	return nil
}

func (f *inFlight) leave(address string) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	f.all--
	if f.by[address]--; f.by[address] == 0 {
		delete(f.by, address)
	}
}
