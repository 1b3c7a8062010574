package plural

import (
	"errors"
	"fmt"
	"slices"

	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/query"
)

// Param is a part of what a list is asked for: a Filter, or what Sort, Limit, Offset, Cursor, Include and
// Fields return. A mistake in one is an error of the call that it is given to.
type Param interface {
	apply(*parameters) error
}

// parameters is what a list is asked for.
type parameters struct {
	request  query.Request
	hasLimit bool
	total    bool   // of an included relation
	since    string // position to watch from
}

// param is a Param that is no filter.
type param func(*parameters) error

func (apply param) apply(p *parameters) error { return apply(p) }

// Sort orders a list by fields, the smallest value first and null before it; a minus in
// front of a name reverses that: Sort("-created_at", "name"). What is equal in all of them is
// in the order of ids.
func Sort(fields ...string) Param {
	return givenOnce(func(r *query.Request) *[]string { return &r.Sort }, fields, "Sort must be given once, with all fields")
}

// givenOnce sets a list of names, which can be given once.
func givenOnce(list func(*query.Request) *[]string, given []string, refusal string) Param {
	return param(func(p *parameters) error {
		to := list(&p.request)
		if len(given) == 0 || *to != nil {
			return errors.New(refusal)
		}
		*to = given
		return nil
	})
}

// Limit is how many resources a list has at most. A negative limit counts back from the
// offset or the cursor, or else from the end: Limit(-5) alone is the last five.
func Limit(count int64) Param {
	return param(func(p *parameters) error {
		if p.hasLimit {
			return errors.New("a list has one Limit at most")
		}
		p.hasLimit, p.request.Range.Limit = true, count
		return nil
	})
}

// Offset begins a list at a position. The first is 0.
func Offset(position int64) Param {
	return param(func(p *parameters) error {
		switch {
		case position < 0:
			return fmt.Errorf("an Offset cannot be negative, but is %d", position)
		case p.request.Range.Anchor != query.AtEdge:
			return errors.New("a list begins at one Offset or Cursor")
		}
		p.request.Range.Anchor, p.request.Range.Offset = query.AtOffset, position
		return nil
	})
}

// Cursor begins a list at the resource with an id. With a negative Limit, the list ends before
// it.
func Cursor(id string) Param {
	return param(func(p *parameters) error {
		key, ok := model.ParseID(id)
		switch {
		case !ok:
			return fmt.Errorf("a Cursor is the id of a resource, but is %q", id)
		case p.request.Range.Anchor != query.AtEdge:
			return errors.New("a list begins at one Offset or Cursor")
		}
		p.request.Range.Anchor, p.request.Range.Cursor = query.AtCursor, key
		return nil
	})
}

// Fields selects the attributes that are shown of each resource, in addition to its id and its type. The fields of T for
// the others stay empty.
func Fields(names ...string) Param {
	return givenOnce(func(r *query.Request) *[]string { return &r.Fields }, names, "Fields must be given once, with all names")
}

// Include embeds the resources that a relation leads to, or those of a relation of related resources:
// Include("comments.author"). T needs a field for it that is no attribute, with the tag plural:"related":
//
//	Author   *Person   `json:"author,omitempty" plural:"related"`
//	Comments []Comment `json:"comments,omitempty" plural:"related"`
//
// A relation to several resources has the first 10. Options change that: filters, Sort, Limit, which may be negative for
// the last ones, and WithTotal. Fields selects attributes of any related resource.
func Include(path string, options ...Param) Param {
	return param(func(p *parameters) error {
		inner, err := parse(options)
		if err != nil {
			return err
		}
		request := inner.request
		if inner.since != "" || request.Search != "" || request.Range.Anchor != query.AtEdge || request.Includes != nil || request.Groups() {
			return fmt.Errorf("the options of the relation %s are filters, Sort, Limit, Fields and WithTotal: include relations of related resources by their paths", path)
		}
		if slices.ContainsFunc(p.request.Includes, func(each query.IncludeRequest) bool { return each.Path == path }) {
			return fmt.Errorf("the relation %s is included twice", path)
		}
		include := query.IncludeRequest{Path: path, Fields: request.Fields, Conditions: request.Conditions, Any: request.Any, Sort: request.Sort, Total: inner.total}
		if inner.hasLimit {
			include.Limit = &request.Range.Limit
		}
		p.request.Includes = append(p.request.Includes, include)
		return nil
	})
}

// WithTotal adds the number of all related resources that match, as a member such as comments_total. It is an option of
// Include.
func WithTotal() Param {
	return param(func(p *parameters) error {
		p.total = true
		return nil
	})
}

// wanted is what parameters ask for. The limit is used if they have none.
func wanted[P Param](params []P, limit int64) (query.Request, error) {
	p, err := parse(params)
	switch {
	case err != nil:
	case p.since != "":
		err = errors.New("Since is for Watch: a list is as it is now")
	case p.total:
		err = errors.New("WithTotal is an option of Include")
	case p.request.Groups():
		err = errors.New("By, Sum, Avg, Min and Max are for Groups")
	}
	if err != nil {
		return query.Request{}, callError(err)
	}
	if !p.hasLimit {
		p.request.Range.Limit = limit
	}
	return p.request, nil
}

func parse[P Param](params []P) (p parameters, err error) {
	for _, each := range params {
		if err := each.apply(&p); err != nil {
			return p, err
		}
	}
	return p, nil
}

// shown is what parameters ask to be shown of one resource.
func shown(params []Param) (query.Request, error) {
	request, err := wanted(params, 0)
	if err == nil && (request.Conditions != nil || request.Any != nil || request.Search != "" || request.Sort != nil || request.Range != (query.Range{})) {
		err = callError(errors.New("one resource is read with Include and Fields, and no filter, Sort or range"))
	}
	return request, err
}
