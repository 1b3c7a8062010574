package api

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/versions"
)

// maxUses bounds how many uses are kept in memory. One that does not fit is kept when it comes again after the others were stored.
const maxUses = 1000

// uses is who used which earlier version, and when last, until it is stored.
type uses struct {
	mutex sync.Mutex
	last  map[versions.Use]time.Time // of uses without a time
}

func (u *uses) note(version int, caller string, at time.Time) {
	u.mutex.Lock()
	defer u.mutex.Unlock()
	use := versions.Use{Version: version, Caller: caller}
	if before, known := u.last[use]; (known || len(u.last) < maxUses) && before.Before(at) {
		u.last[use] = at
	}
}

// take returns the uses in the order of versions and callers, in which every node writes them, so that nodes do not block each other.
func (u *uses) take() []versions.Use {
	u.mutex.Lock()
	defer u.mutex.Unlock()
	list := make([]versions.Use, 0, len(u.last))
	for use, at := range u.last {
		use.At = model.FormatTime(at)
		list = append(list, use)
	}
	clear(u.last)
	slices.SortFunc(list, func(a, b versions.Use) int {
		return cmp.Or(cmp.Compare(a.Version, b.Version), cmp.Compare(a.Caller, b.Caller))
	})
	return list
}

// StoreUses stores which callers have used earlier versions since it was called last. What cannot be stored is stored the next time.
func (a *API) StoreUses(ctx context.Context, store func(context.Context, []versions.Use) error) error {
	list := a.uses.take()
	if len(list) == 0 {
		return nil
	}
	err := store(ctx, list)
	if err != nil {
		for _, use := range list {
			at, _ := time.Parse(time.RFC3339, use.At)
			a.uses.note(use.Version, use.Caller, at)
		}
	}
	return err
}
