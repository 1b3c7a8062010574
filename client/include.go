package client

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// include is a relation whose resources are embedded, with its options.
type include struct {
	path    string
	options query
}

// Include embeds the resources that a relation leads to, as a member of each resource with the name of the
// relation, or those of a relation of related resources: "comments.author". The type of the collection
// needs a field for it: a pointer for one resource, which is null if there is none, and a slice for several.
//
// A relation to several resources has the first 10. Options change that: filters, Asc and Desc, Limit, which may be
// negative for the last ones, and CountExact, which adds a member such as comments_total. Fields selects
// attributes of any related resource.
func Include(path string, options ...Param) Param {
	return func(q *query) error {
		inner, err := parse(options)
		switch {
		case err != nil:
			return err
		case !relationPath.MatchString(path):
			return fmt.Errorf("%q is not the name of a relation, or of several with dots between them", path)
		case slices.ContainsFunc(q.includes, func(i include) bool { return i.path == path }):
			return fmt.Errorf("the relation %s is included twice", path)
		case len(inner.includes) > 0:
			return fmt.Errorf("a relation of related resources is included by its path: Include(%q)", path+"."+inner.includes[0].path)
		case inner.offset != nil || inner.cursor != "" || inner.since != "" || inner.search != "" || inner.ofGroups() || inner.fromNow || inner.onConnection != nil:
			return fmt.Errorf("the options of the relation %s are filters, Asc, Desc, Limit, CountExact and Fields", path)
		}
		q.includes = append(q.includes, include{path, *inner})
		return nil
	}
}

// Fields selects the attributes that are shown of each resource, in addition to its id and its type. It can be given once.
func Fields(names ...string) Param {
	return func(q *query) error {
		if len(names) == 0 || q.fields != nil {
			return fmt.Errorf("Fields must be given once, with all names")
		}
		for _, name := range names {
			if err := checkField(fieldName, name); err != nil {
				return err
			}
		}
		q.fields = names
		return nil
	}
}

// relationPath is names of relations. Those of sub-collections may have dashes.
var relationPath = regexp.MustCompile(`^[a-z][a-z0-9_-]{0,62}(\.[a-z][a-z0-9_-]{0,62}){0,2}$`)

// shows reports whether a query says what is shown of each resource.
func (q *query) shows() bool { return len(q.includes)+len(q.fields)+len(q.parts) > 0 }

// encodeParts is the parameters include and fields.
func (q *query) encodeParts() (parts []string) {
	if len(q.includes) > 0 {
		paths := make([]string, len(q.includes))
		for i, each := range q.includes {
			paths[i] = each.path
		}
		parts = append(parts, "include="+strings.Join(paths, ","))
	}
	if len(q.fields) > 0 {
		parts = append(parts, "fields="+strings.Join(q.fields, ","))
	}
	for _, each := range q.includes {
		parts = append(parts, each.encode()...)
	}
	return append(parts, q.parts...)
}

// encode is the options of a relation.
func (i include) encode() (parts []string) {
	name, q := "include["+i.path+"]", i.options
	for _, filter := range q.filters {
		parts = append(parts, name+"[filter]"+filter)
	}
	if len(q.sort) > 0 {
		parts = append(parts, name+"[sort]="+strings.Join(q.sort, ","))
	}
	if q.limit != nil {
		parts = append(parts, name+"[limit]="+strconv.FormatInt(*q.limit, 10))
	}
	if q.exact {
		parts = append(parts, name+"[total]=true")
	}
	if len(q.fields) > 0 {
		parts = append(parts, "fields["+i.path+"]="+strings.Join(q.fields, ","))
	}
	return append(parts, q.parts...)
}

// itemQuery is the query string of a read of one resource.
func itemQuery(params []Param) (string, error) {
	q, err := parse(params)
	if err != nil {
		return "", err
	}
	text := strings.Join(q.encodeParts(), "&")
	if q.encode() != text || q.exact || q.fromNow || q.onConnection != nil {
		return "", fmt.Errorf("one resource is read with Include and Fields, and no filter, sort or range")
	}
	return text, nil
}
