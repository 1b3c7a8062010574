package plural

import (
	"context"

	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/query"
	"github.com/plural-go/plural/internal/resource"
	"github.com/plural-go/plural/schema"
)

// call runs a call of the program like a request: Stop waits for it. The path gets the rights
// of the caller of the context, which must include a verb.
func (s *Server) call(ctx context.Context, path *resource.Path, verb schema.AccessVerb, fn func() error) error {
	if err := s.beginCall(ctx); err != nil {
		return callError(err)
	}
	defer s.endCall()
	by, _, err := s.guard.FromContext(ctx)
	if err != nil {
		return err
	}
	path.By = by
	if err := path.Allowed(verb); err != nil {
		return callError(err)
	}
	return callError(fn())
}

func (s *Server) get(ctx context.Context, c *model.Collection, id model.ID) (found resource.Resource, err error) {
	path := resource.Path{Collection: c}
	err = s.call(ctx, &path, schema.MayRead, func() (err error) {
		found, err = s.resources.Read(ctx, path, id)
		return err
	})
	return found, err
}

func (s *Server) list(ctx context.Context, c *model.Collection, request query.Request, visit func(resource.Resource) error) error {
	path := resource.Path{Collection: c}
	return s.call(ctx, &path, schema.MayList, func() error {
		q, err := query.Build(c, request, path.By.Visible(c))
		if err != nil {
			return err
		}
		page, err := s.resources.List(ctx, path, q, resource.ListOptions{})
		if err != nil {
			return err
		}
		defer page.Close()
		if err := page.Extend(); err != nil { // the program takes its time
			return err
		}
		for {
			if s.isAbandoned() {
				return ErrStopped
			}
			row, err := page.Next()
			if err != nil || row == nil {
				return err
			}
			if err := visit(s.resources.Show(path, row)); err != nil {
				return err
			}
		}
	})
}

func (s *Server) count(ctx context.Context, c *model.Collection, request query.Request) (total int64, err error) {
	path := resource.Path{Collection: c}
	err = s.call(ctx, &path, schema.MayList, func() error {
		q, err := query.Build(c, request, path.By.Visible(c))
		if err != nil {
			return err
		}
		page, err := s.resources.List(ctx, path, q, resource.ListOptions{Exact: true})
		if err == nil {
			total = page.Total
			page.Close()
		}
		return err
	})
	return total, err
}

// verbs is the access verb that the method of a write requires.
var verbs = map[string]schema.AccessVerb{"POST": schema.MayCreate, "PUT": schema.MayUpdate, "PATCH": schema.MayUpdate, "DELETE": schema.MayDelete}

func (s *Server) do(ctx context.Context, request resource.Request) (results []resource.Resource, err error) {
	err = s.call(ctx, &request.Path, verbs[request.Method], func() error {
		write, err := s.resources.Decode(ctx, request)
		if err == nil {
			results, err = s.resources.Do(ctx, write)
		}
		return err
	})
	return results, err
}
