package limit

import (
	"sync"

	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/problem"
)

// InFlight counts the requests in progress, in all and by address. An address may have half of them, so that
// one client with slow requests does not keep all others out.
type InFlight struct {
	most int64 // in all; 0 is no bound

	mutex sync.Mutex
	all   int64
	by    map[string]int64
}

// NewInFlight returns a counter with a limit.
func NewInFlight(most int64) *InFlight { return &InFlight{most: most, by: map[string]int64{}} }

// Enter counts a request, until Leave is called. It returns an error if there are too many.
func (f *InFlight) Enter(address string) error {
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

// Leave ends the counting of a request.
func (f *InFlight) Leave(address string) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	f.all--
	if f.by[address]--; f.by[address] == 0 {
		delete(f.by, address)
	}
}
