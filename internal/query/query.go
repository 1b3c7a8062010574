// Package query parses the parameters of a URL into a Query on a collection: range, filter and
// sort. It does no I/O, and no later code reads the text of a parameter.
package query

import (
	"math"
	"net/url"
	"strconv"

	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/problem"
)

// Query is a checked request for a part of a collection.
type Query struct {
	Range  Range
	Filter Filter    // nil: none given
	Sort   []SortKey // empty: by id

	// Visible is the columns that are shown: those that the caller may see, or those of them that are
	// selected. Nil: all.
	Visible  model.ColumnSet
	Includes []*Include // embedded relations

	// Groups says how the resources are grouped; nil: they are not.
	Groups *Groups

	// Since is a position in the change log, of a stream or a list of changes; empty: none given.
	Since string

	// DryRun and OnConflict, the columns of a unique group, are parameters of writes.
	DryRun     bool
	OnConflict []int

	// linkParameters is what links to other pages keep; filterParameters is what a stream takes.
	linkParameters, filterParameters []string
}

// SortKey is one value to sort by. Null is smallest. Ties are ordered by id.
type SortKey struct {
	Operand
	Descending bool
}

// SortBy sorts by a column.
func SortBy(column int, descending bool) SortKey {
	return SortKey{Operand: Operand{Column: column}, Descending: descending}
}

// Limits bounds what a query may ask for.
type Limits struct {
	DefaultLimit int64 // of resources, when none is given
	MaxLimit     int64 // of resources; 0 is no maximum
	InBody       bool  // the parameters were in a body, which may have more

	Visible model.ColumnSet     // fields that the caller may see
	Choices map[string][]string // by field: the only values that it can have

	// Related is what the caller may see of the collection that a relation leads to: its columns and
	// its resources. False: the relation does not exist for the caller. Nil: everything.
	Related func(*model.Relation) (visible model.ColumnSet, scope Filter, may bool)
}

// Mode is the kind of request that has the parameters. It decides which there are.
type Mode int

// The modes.
const (
	OfList    Mode = iota // a range of a collection
	OfChanges             // a range of the change log; the collection is that of changes
	OfStream              // changes of a collection as they happen: filters, fields and since
	OfOne                 // one resource: fields and included relations
	OfWrite               // a write to one resource: dry_run. The collection may be nil
	OfCreate              // a write that creates: dry_run and on_conflict
	OfStep                // a step of a transaction: on_conflict if it creates. Otherwise the collection is nil
	OfRange               // a write to a range of a collection, which must select something, and has no default limit
	OfGroups              // a range of the groups of a collection
	ofInclude             // an embedded relation
)

// Bounds of a query. They are larger than people need, and smaller than databases allow.
const (
	MaxFilters  = 100  // different parameters that filter
	MaxValues   = 1000 // values of all filters; in a body MaxValuesInBody
	MaxSortKeys = 16

	MaxValuesInBody = 10_000

	// A substring search cannot be interrupted: its time for one resource grows with both lengths.
	MaxPart     = 256 // characters of contains and starts_with
	MaxContains = 10  // filters with contains
	MaxSearch   = 256 // characters of search
	MaxWords    = 16  // of search

	MaxSteps   = 2  // relations in the name of a filter or a sort key
	MaxRelated = 10 // filters and sort keys through relations
)

// Parse reads the raw query string of a request for a collection. All mistakes
// are reported together, as a problem.Errors.
func Parse(mode Mode, c *model.Collection, raw string, limits Limits) (Query, error) {
	p := parser{mode: mode, collection: c, limits: limits, seen: map[string]string{}}
	p.query.Range.Limit = limits.DefaultLimit
	switch mode {
	case OfRange:
		p.query.Range.Limit = math.MaxInt64
	case OfGroups:
		p.query.Groups = &Groups{}
	}
	for parameter := range p.split(raw) {
		p.parameter(parameter)
	}
	p.finish()
	return p.query, p.faults.Err()
}

// ParseNone checks the query string of a request that takes no parameters.
func ParseNone(raw string) error {
	var p parser
	for parameter := range p.split(raw) {
		if parameter.name == "since" {
			p.sinceOfList(parameter)
			continue
		}
		p.fail(parameter, problem.CodeUnknownParameter, "This request has no query parameters. Leave them out.")
	}
	return p.faults.Err()
}

// ParseStreamOfOne does the same for a stream of one resource: fields and since.
func ParseStreamOfOne(c *model.Collection, raw string, limits Limits) (Query, error) {
	p := parser{mode: OfStream, collection: c, limits: limits}
	for parameter := range p.split(raw) {
		switch {
		case p.takeInclude(parameter):
		case parameter.name != "since":
			p.fail(parameter, problem.CodeUnknownParameter, "A stream of one resource has no parameters but fields and since. Leave it out.")
		case p.query.Since != "":
			p.fail(parameter, problem.CodeDuplicateParameter, "The parameter since is given twice.")
		default:
			p.since(parameter)
		}
	}
	p.finish()
	return p.query, p.faults.Err()
}

// AppendLink appends the query string of another range with the same filters and sort.
func (q Query) AppendLink(dst []byte, r Range) []byte {
	dst = appendParameters(dst, q.linkParameters)
	switch r.Anchor {
	case AtOffset:
		dst = append(strconv.AppendInt(append(dst, "offset="...), r.Offset, 10), '&')
	case AtCursor:
		dst = append(r.Cursor.Append(append(dst, "cursor="...)), '&')
	case AtPosition:
		dst = append(append(append(dst, "since="...), url.QueryEscape(r.Position)...), '&')
	}
	return strconv.AppendInt(append(dst, "limit="...), r.Limit, 10)
}

// AppendChangesLink appends the query string of a stream with the same filters, from a position on.
func (q Query) AppendChangesLink(dst []byte, position string) []byte {
	dst = append(appendParameters(dst, q.filterParameters), "since="...)
	return append(dst, url.QueryEscape(position)...)
}

// appendParameters appends parameters of a query string that others follow.
func appendParameters(dst []byte, parameters []string) []byte {
	for _, each := range parameters {
		dst = append(append(dst, each...), '&')
	}
	return dst
}
