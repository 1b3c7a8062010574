package versions

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/plural-go/plural/internal/model"
)

// maxUses bounds how many uses are kept in memory. One that does not fit is kept when it comes again after the others were stored.
const maxUses = 1000

// RecentUses is who used which earlier version, and when last, until it is stored.
type RecentUses struct {
	mutex sync.Mutex
	last  map[Use]time.Time // of uses without a time
}

// Note adds a use.
func (u *RecentUses) Note(version int, caller string, at time.Time) {
	u.mutex.Lock()
	defer u.mutex.Unlock()
	if u.last == nil {
		u.last = map[Use]time.Time{}
	}
	use := Use{Version: version, Caller: caller}
	if before, known := u.last[use]; (known || len(u.last) < maxUses) && before.Before(at) {
		u.last[use] = at
	}
}

// take returns the uses in the order of versions and callers, in which every node writes them, so that nodes do not block each other.
func (u *RecentUses) take() []Use {
	u.mutex.Lock()
	defer u.mutex.Unlock()
	list := make([]Use, 0, len(u.last))
	for use, at := range u.last {
		use.At = model.FormatTime(at)
		list = append(list, use)
	}
	clear(u.last)
	slices.SortFunc(list, func(a, b Use) int {
		return cmp.Or(cmp.Compare(a.Version, b.Version), cmp.Compare(a.Caller, b.Caller))
	})
	return list
}

// Store stores which callers have used earlier versions since it was called last. What cannot be stored is stored the next time.
func (u *RecentUses) Store(ctx context.Context, store func(context.Context, []Use) error) error {
	list := u.take()
	if len(list) == 0 {
		return nil
	}
	err := store(ctx, list)
	if err != nil {
		for _, use := range list {
			at, _ := time.Parse(time.RFC3339, use.At)
			u.Note(use.Version, use.Caller, at)
		}
	}
	return err
}
