package params

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// include is a relation whose resources are embedded, with its options.
type include struct {
	path    string
	options *Query
}

// Include embeds the resources that a relation leads to, as a member of each resource with the name of the relation, or
// those of a relation of related resources: Include("comments.author"). The type of the collection needs a field for it: a
// pointer for one resource, nil if there is none, and a slice for several. In types of the library (plural.Of), the field
// has the tag plural:"related":
//
//	Author   *Person   `json:"author,omitempty" plural:"related"`
//	Comments []Comment `json:"comments,omitempty" plural:"related"`
//
// A relation to several resources has the first 10. Options change that: filters, Sort, Limit, which may be negative for
// the last ones, and WithTotal. Fields selects attributes of any related resource.
func Include(path string, options ...Param) Param {
	return param(func(q *Query) error {
		inner, err := Of(options...)
		switch {
		case err != nil:
			return err
		case path == "" || strings.ContainsAny(path, ",[]"):
			return fmt.Errorf("%q is not the name of a relation, or of several with dots between them", path)
		case slices.ContainsFunc(q.includes, func(each include) bool { return each.path == path }):
			return fmt.Errorf("the relation %s is included twice", path)
		case len(inner.includes) > 0:
			return fmt.Errorf("a relation of related resources is included by its path: Include(%q)", path+"."+inner.includes[0].path)
		case inner.Offset != nil || inner.Cursor != "" || inner.Since != "" || inner.search != "" || inner.Groups() || inner.FromNow || inner.OnConnection != nil || len(inner.raw) > 0:
			return fmt.Errorf("the options of the relation %s are filters, Sort, Limit, Fields and WithTotal", path)
		}
		q.includes = append(q.includes, include{path, inner})
		return nil
	})
}

// encodeShown is the parameters include and fields.
func (q *Query) encodeShown() []string {
	paths := make([]string, len(q.includes))
	for i, each := range q.includes {
		paths[i] = each.path
	}
	parts := append(list("include", paths), list("fields", q.fields)...)
	for _, each := range q.includes {
		parts = append(parts, each.encode()...)
	}
	return append(parts, q.raw...)
}

// encode is the options of a relation.
func (i include) encode() (parts []string) {
	path, q := url.QueryEscape(i.path), i.options
	name := "include[" + path + "]"
	for _, filter := range q.filters {
		parts = append(parts, name+"[filter]"+filter)
	}
	parts = append(parts, list(name+"[sort]", q.sort)...)
	if q.Limit != nil {
		parts = append(parts, name+"[limit]="+strconv.FormatInt(*q.Limit, 10))
	}
	if q.Total {
		parts = append(parts, name+"[total]=true")
	}
	return append(parts, list("fields["+path+"]", q.fields)...)
}
