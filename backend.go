package plural

import (
	"context"
	"slices"

	"github.com/plural-go/plural/internal/auth"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/query"
	"github.com/plural-go/plural/internal/reads"
	"github.com/plural-go/plural/internal/resource"
	"github.com/plural-go/plural/schema"
)

// call runs a call of the program like a request: Stop waits for it. The path gets the rights
// of the caller of the context, which must include one of the verbs.
func (s *Server) call(ctx context.Context, path *reads.Path, verbs []schema.AccessVerb, fn func() error) error {
	return s.callAs(ctx, func(by *auth.Permit) error {
		path.By = by
		if !slices.ContainsFunc(verbs, func(verb schema.AccessVerb) bool { return path.Require(verb) == nil }) {
			return callError(path.Require(verbs[0]))
		}
		return callError(fn())
	})
}

// callAs runs a call of the program with the rights of the caller of the context.
func (s *Server) callAs(ctx context.Context, fn func(by *auth.Permit) error) error {
	if err := s.beginCall(ctx, false); err != nil {
		return callError(err)
	}
	defer s.endCall()
	by, _, err := s.guard.FromContext(ctx)
	if err != nil {
		return err
	}
	return fn(by)
}

// The verbs of reads.
var (
	mayRead = []schema.AccessVerb{schema.MayRead}
	mayList = []schema.AccessVerb{schema.MayList}
)

func (s *Server) get(ctx context.Context, c *model.Collection, id model.ID, wanted string) (found reads.Resource, err error) {
	path := reads.Path{Collection: c}
	err = s.call(ctx, &path, mayRead, func() error {
		q, err := path.Parse(query.OfOne, wanted, 0)
		if err == nil {
			found, err = s.resources.Get(ctx, path, id, q)
		}
		return err
	})
	return found, err
}

func (s *Server) list(ctx context.Context, c *model.Collection, wanted string, limit int64, visit func(reads.Resource) error) error {
	path := reads.Path{Collection: c}
	return s.call(ctx, &path, mayList, func() error {
		q, err := path.Parse(query.OfList, wanted, limit)
		if err != nil {
			return err
		}
		page, err := s.resources.List(ctx, path, q, false)
		if err != nil {
			return err
		}
		defer page.Close()
		if err := page.Extend(); err != nil { // the program takes its time
			return err
		}
		return page.Each(func(found reads.Resource) error {
			if s.abandoned.Err() != nil {
				return ErrStopped
			}
			return visit(found)
		})
	})
}

func (s *Server) count(ctx context.Context, c *model.Collection, wanted string) (total int64, err error) {
	path := reads.Path{Collection: c}
	err = s.call(ctx, &path, mayList, func() error {
		q, err := path.Parse(query.OfList, wanted, 0)
		if err != nil {
			return err
		}
		page, err := s.resources.List(ctx, path, q, true)
		if err == nil {
			total = page.Total
			page.Close()
		}
		return err
	})
	return total, err
}

// verbsOf is the access verbs of which a write requires one. What an upsert requires depends on what it does.
func verbsOf(w write) []schema.AccessVerb {
	if w.onConflict != nil {
		return []schema.AccessVerb{schema.MayCreate, schema.MayUpdate}
	}
	return []schema.AccessVerb{resource.VerbOf(w.Method)}
}

func (s *Server) do(ctx context.Context, w write) ([]reads.Resource, error) {
	outcome := s.execute(ctx, w, false)
	return outcome.Results, outcome.Err
}

// execute executes a write of a typed call, under the rules of calls: see call.
func (s *Server) execute(ctx context.Context, w write, dryRun bool) (outcome resource.Outcome) {
	err := s.call(ctx, &w.Path, verbsOf(w), func() error {
		step, err := w.resolve(w.Path.Limits())
		if err != nil {
			return err
		}
		memory := s.resources.HoldMemory(w.Path.By)
		defer memory.End()
		outcome = s.resources.Execute(ctx, resource.Request{Steps: []resource.Step{step}, DryRun: dryRun, Memory: memory})
		return outcome.Err
	})
	outcome.Err = err // as an error of a call
	return outcome
}

// dryRun is a server whose writes are undone.
type dryRun struct {
	*Server
	affected map[string]int64
}

func (d *dryRun) do(ctx context.Context, w write) ([]reads.Resource, error) {
	outcome := d.execute(ctx, w, true)
	for _, each := range outcome.Affected {
		d.affected[each.Collection.Name] = int64(each.Count)
	}
	return outcome.Results, outcome.Err
}
