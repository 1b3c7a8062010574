package plural

import (
	"context"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/plural-go/plural/internal/observe"
	"github.com/plural-go/plural/internal/reads"
	"github.com/plural-go/plural/internal/resource"
)

// slowLists logs lists that take long: each shape at most once a minute, and a limited number of shapes.
type slowLists struct {
	limit       time.Duration // for the database to find a piece of a list, or a relation for it
	explainTime time.Duration // for the database to make a plan
	resources   *resource.Resources
	observer    *observe.Observer
	now         func() time.Time

	mutex  sync.Mutex
	logged map[string]time.Time // by shape
}

func newSlowLists(config Config, resources *resource.Resources, observer *observe.Observer) *slowLists {
	return &slowLists{
		limit: config.SlowQuery, explainTime: explainTime(config.QueryTimeout),
		resources: resources, observer: observer, now: time.Now, logged: map[string]time.Time{},
	}
}

// explainTime is how long the database may take to make a plan. The client waits meanwhile: it is a small part of the time for a
// query, but at least a second, also if that time has no limit.
func explainTime(queryTimeout time.Duration) time.Duration { return max(time.Second, queryTimeout/30) }

const (
	slowEach      = time.Minute // between two lines of the same shape
	maxSlowShapes = 1000
	maxSlowText   = 4 << 10 // bytes of a statement or a plan in the log
)

// due reports whether a shape is to be logged, and remembers that it was.
func (s *slowLists) due(shape string) bool {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	now := s.now()
	if last, ok := s.logged[shape]; ok && now.Sub(last) < slowEach {
		return false
	}
	if len(s.logged) >= maxSlowShapes {
		for other, last := range s.logged {
			if now.Sub(last) >= slowEach {
				delete(s.logged, other)
			}
		}
	}
	if len(s.logged) >= maxSlowShapes {
		return false
	}
	s.logged[shape] = now
	return true
}

// note logs a part of a list for which the database took too long, with the plan of its statement.
func (s *slowLists) note(ctx context.Context, origin observe.Origin, part reads.ListPart) {
	if s.limit <= 0 || part.Took < s.limit {
		return
	}
	filter, sort := part.Describe()
	slow := observe.SlowList{
		Origin: origin, Collection: part.Collection().Name, List: part.Path.Collection.Name, Relation: part.Relation(), Piece: part.Piece,
		Filter: strings.Join(filter, ","), Sort: strings.Join(sort, ","), Duration: part.Took,
	}
	shape := []string{slow.Collection, slow.List, slow.Relation, slow.Filter, slow.Sort, strconv.FormatBool(slow.Piece > 1)}
	if !s.due(strings.Join(shape, "?")) {
		return
	}
	// The client may be gone.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.explainTime)
	defer cancel()
	sql, plan, err := s.resources.Explain(ctx, part)
	if err != nil {
		plan = []string{"unknown"} // the database is busy
	}
	for i, step := range plan {
		plan[i] = strings.TrimSpace(step)
	}
	slow.SQL, slow.Plan = cut(sql), cut(strings.Join(plan, "; "))
	s.observer.SlowList(slow)
}

func cut(text string) string {
	if len(text) > maxSlowText {
		return text[:maxSlowText] + "…"
	}
	return text
}
