// Package query parses the parameters of a URL into a Query on a collection: range, filter and
// sort. It does no I/O, and no later code reads the text of a parameter.
package query

import (
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/plural-go/plural/internal/fault"
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

// SortKey is one field to sort by. Null is smallest. Ties are ordered by id.
type SortKey struct {
	Column     int
	Descending bool
}

// Limits bounds what a query may ask for.
type Limits struct {
	DefaultLimit int64 // of resources, when none is given
	MaxLimit     int64 // of resources; 0 is no maximum

	Visible model.ColumnSet     // fields that the caller may see
	Choices map[string][]string // by field: the only values that it can have

	// Related is what the caller may see of the collection that a relation leads to: its columns and
	// its resources. False: the relation does not exist for the caller. Nil: everything.
	Related func(*model.Relation) (visible model.ColumnSet, scope Filter, may bool)
}

// mode is the kind of request that has the parameters.
type mode int

const (
	ofList    mode = iota // a range of a collection
	ofChanges             // a range of the change log
	ofStream              // changes of a collection as they happen
	ofOne                 // one resource
	ofInclude             // an embedded relation
	ofWrite               // a write to one resource
	ofCreate              // a write that creates
	ofRange               // a write to a range of a collection
	ofGroups              // a range of the groups of a collection
)

// Bounds of a query. They are larger than people need, and smaller than databases allow.
const (
	MaxFilters  = 100  // different parameters that filter
	MaxValues   = 1000 // values of all filters
	MaxSortKeys = 16

	// A substring search cannot be interrupted: its time for one resource grows with both lengths.
	MaxPart     = 256 // characters of contains and starts_with
	MaxContains = 10  // filters with contains
	MaxSearch   = 256 // characters of search
	MaxWords    = 16  // of search

	MaxSteps   = 2  // relations in the name of a filter
	MaxRelated = 10 // filters through relations
)

// Parse reads the raw query string of a request for a collection. All mistakes
// are reported together, as a problem.Errors.
func Parse(c *model.Collection, raw string, limits Limits) (Query, error) {
	return parse(ofList, c, raw, limits)
}

// ParseChanges is Parse for a list of changes: a range, since and filters. C is the collection of
// changes.
func ParseChanges(c *model.Collection, raw string, limits Limits) (Query, error) {
	return parse(ofChanges, c, raw, limits)
}

// ParseStream is Parse for a stream of a collection: filters and since.
func ParseStream(c *model.Collection, raw string, limits Limits) (Query, error) {
	return parse(ofStream, c, raw, limits)
}

// ParseRange does the same for a write to a range of a collection, which has no default limit. A
// request that selects nothing in particular is refused.
func ParseRange(c *model.Collection, raw string, limits Limits) (Query, error) {
	limits.DefaultLimit = math.MaxInt64
	return parse(ofRange, c, raw, limits)
}

// ParseCreate does the same for a request that creates resources: dry_run and on_conflict.
func ParseCreate(c *model.Collection, raw string, limits Limits) (Query, error) {
	return parse(ofCreate, c, raw, limits)
}

// ParseWrite does the same for any other write: dry_run.
func ParseWrite(raw string) (Query, error) { return parse(ofWrite, nil, raw, Limits{}) }

func parse(mode mode, c *model.Collection, raw string, limits Limits) (Query, error) {
	p := parser{mode: mode, collection: c, limits: limits, seen: map[string]string{}}
	p.query.Range.Limit = limits.DefaultLimit
	if mode == ofGroups {
		p.query.Groups = &Groups{}
	}
	for _, parameter := range p.split(raw) {
		p.parameter(parameter)
	}
	p.finish()
	return p.query, p.faults.Err()
}

// ParseOne does the same for one resource: fields and included relations.
func ParseOne(c *model.Collection, raw string, limits Limits) (Query, error) {
	return parse(ofOne, c, raw, limits)
}

// ParseNone checks the query string of a request that takes no parameters.
func ParseNone(raw string) error {
	var p parser
	for _, parameter := range p.split(raw) {
		if parameter.name == "since" {
			p.sinceOfList(parameter)
			continue
		}
		p.faults.Add(fault.Parameter(parameter.name, problem.CodeUnknownParameter, "This request has no query parameters. Leave them out."))
	}
	return p.faults.Err()
}

// ParseStreamOfOne does the same as ParseStream for a stream of one resource: fields and since.
func ParseStreamOfOne(c *model.Collection, raw string, limits Limits) (Query, error) {
	p := parser{mode: ofStream, collection: c, limits: limits}
	for _, parameter := range p.split(raw) {
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

// Link is the query string of another range with the same filters and sort.
func (q Query) Link(r Range) string { return string(q.AppendLink(nil, r)) }

// AppendLink appends what Link returns.
func (q Query) AppendLink(dst []byte, r Range) []byte {
	dst = appendParameters(dst, q.linkParameters)
	switch r.Anchor {
	case AtOffset:
		dst = append(strconv.AppendInt(append(dst, "offset="...), r.Offset, 10), '&')
	case AtCursor:
		dst = append(r.Cursor.Append(append(dst, "cursor="...)), '&')
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

// parameter is one decoded parameter as the client wrote it.
type parameter struct {
	name, value string
	bare        bool // without "="
	encoded     string
}

type parser struct {
	mode       mode
	collection *model.Collection
	limits     Limits
	query      Query
	faults     problem.Errors
	seen       map[string]string   // long name -> name as written
	conditions conditions          // that must all hold
	groups     map[int]*conditions // one of which must hold
	filters    int                 // different parameters so far
	values     int                 // of all filters
	contains   int                 // filters with contains
	related    map[string]bool     // filters through relations
	sortKeys   map[string]bool

	included       []parameter // include=…
	includeOptions []includeOption
	requested      map[string]*IncludeRequest // by path, of programs
	includes       map[string]*Include        // by path
	includePaths   []string                   // in the order of the request
	fieldLists     []fieldList
	selected       map[string][]string // names of fields, by path; those of the collection itself under ""
	total          bool                // include[path][total]

	groupSorts []parameter // of groups, to be read when all others are

	tooManyFilters, tooManyKeys, tooManyIncludes, tooManyGroupKeys, tooManyGroupValues bool // reported already
}

// split splits and decodes a query string, strictly.
func (p *parser) split(raw string) []parameter {
	var parameters []parameter
	for piece := range strings.SplitSeq(raw, "&") {
		if piece == "" {
			continue
		}
		if strings.Contains(piece, ";") {
			p.faults.Add(fault.Parameter(piece, problem.CodeMalformedQuery, "Parameters are separated by &, not by a semicolon. Write a semicolon within a value as %%3B."))
			continue
		}
		name, value, hasValue := strings.Cut(piece, "=")
		decodedName, wrong := decode(name)
		decodedValue, valueProblem := decode(value)
		if wrong == "" {
			wrong = valueProblem
		} else {
			decodedName = name
		}
		if wrong != "" {
			p.faults.Add(fault.Parameter(decodedName, problem.CodeMalformedQuery, "The parameter %s.", wrong))
			continue
		}
		encoded := url.QueryEscape(decodedName)
		if hasValue {
			encoded += "=" + url.QueryEscape(decodedValue)
		}
		parameters = append(parameters, parameter{name: decodedName, value: decodedValue, bare: !hasValue, encoded: encoded})
	}
	return parameters
}

func decode(text string) (decoded, wrong string) {
	decoded, err := url.QueryUnescape(text)
	switch {
	case err != nil:
		return "", "has a broken percent-encoding"
	case !utf8.ValidString(decoded):
		return "", "is not valid UTF-8"
	case strings.IndexByte(decoded, 0) >= 0:
		return "", "contains U+0000, which is not allowed in strings"
	}
	return decoded, ""
}

func (p *parser) parameter(given parameter) {
	if p.takeInclude(given) {
		return
	}
	if p.mode == ofOne {
		p.refuseOfOne(given)
		return
	}
	long := given.name
	switch long {
	case "o":
		long = "offset"
	case "l":
		long = "limit"
	}
	if (p.mode == ofWrite || p.mode == ofCreate) && !p.takes(long) {
		p.fail(given, problem.CodeUnknownParameter, "This request has no such parameter. It has %s.", strings.Join(p.parameterNames(), " and "))
		return
	}
	name, isFilter := parseFilterName(given.name)
	first, again := p.seen[long]
	if again && !isList(long, name.op, isFilter) {
		p.fail(given, problem.CodeDuplicateParameter, "The parameter %s is given twice%s.", long, asWritten(first, given.name))
		return
	}
	p.seen[long] = given.name
	if isFilter && !again {
		p.filters++
	}
	switch {
	case isFilter:
		p.filter(given, name)
	case p.takes(long):
		p.writeParameter(given)
	case long == "search" && p.mode != ofInclude:
		p.search(given)
	case long == "since":
		p.since(given)
	case p.refuses(long):
		p.refuse(given, long)
	case long == "offset":
		p.offset(given)
	case long == "limit":
		p.limit(given)
	case long == "cursor":
		p.cursor(given)
	case long == "sort" && p.mode == ofGroups:
		p.query.linkParameters = append(p.query.linkParameters, given.encoded)
		p.groupSorts = append(p.groupSorts, given)
	case long == "sort":
		p.sort(given)
	case p.mode == ofGroups && isGrouping(long):
		p.grouping(given)
	case long == "total" && p.mode == ofInclude:
		p.totalOption(given)
	default:
		p.fail(given, problem.CodeUnknownParameter, "There is no parameter of this name. There are %s, and filter[field] or filter[field][operator].%s", strings.Join(p.parameterNames(), ", "), p.parameterHint(given.name))
	}
}

// parameterNames lists the parameters beside filters.
func (p *parser) parameterNames() []string {
	names := map[mode][]string{
		ofList: {"offset", "limit", "cursor", "sort", "include", "fields"}, ofChanges: {"limit", "cursor", "since"}, ofStream: {"fields", "since"}, ofInclude: {"limit", "sort", "total"},
		ofGroups: {"by", "sum", "avg", "min", "max", "offset", "limit", "sort"}, ofWrite: {"dry_run"}, ofCreate: {"dry_run", "on_conflict"}, ofRange: {"offset", "limit", "cursor", "sort", "dry_run"},
	}[p.mode]
	if p.mode != ofWrite && p.mode != ofCreate && p.mode != ofInclude && len(p.searchColumns()) > 0 {
		names = append(names, "search")
	}
	return names
}

// isList reports whether a parameter has a list, which may be given in several parameters:
// generated clients send lists that way.
func isList(name, op string, isFilter bool) bool {
	if isFilter {
		return op == "" || op == "in" || op == "not_in" || op == "has"
	}
	return name == "sort" || isGrouping(name)
}

func asWritten(first, second string) string {
	if first == second {
		return ""
	}
	return ", as " + first + " and as " + second
}

func (p *parser) fail(given parameter, code problem.Code, format string, args ...any) {
	p.faults.Add(fault.Parameter(given.name, code, format, args...))
}

// field finds a field by its name. One that the caller may not see does not exist.
func (p *parser) field(name string) *model.Field {
	if field := p.collection.Field(name); field != nil && p.limits.Visible.Has(field.Column) {
		return field
	}
	return nil
}

func (p *parser) offset(given parameter) {
	p.query.Range.Anchor = AtOffset
	n, ok := parseInt(given.value)
	if !ok || n < 0 {
		p.fail(given, problem.CodeInvalidParameter, "Must be an integer that is not negative, such as 30.")
		return
	}
	p.query.Range.Offset = n
}

func (p *parser) limit(given parameter) {
	n, ok := parseInt(given.value)
	if !ok {
		p.fail(given, problem.CodeInvalidParameter, "Must be an integer such as 30, or -30 to count backwards.")
		return
	}
	p.query.Range.Limit = n
	if most := p.limits.MaxLimit; most > 0 && p.query.Range.Size() > most {
		p.fail(given, problem.CodeLimitTooLarge, "The limit is too large. This server allows at most %d.", most)
	}
}

// parseInt reads decimal digits with an optional minus. Numbers outside int64 become its smallest or
// largest value: no collection has so many resources.
func parseInt(text string) (int64, bool) {
	digits := strings.TrimPrefix(text, "-")
	if digits == "" || strings.Trim(digits, "0123456789") != "" {
		return 0, false
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil && text[0] == '-' {
		return math.MinInt64, true
	}
	if err != nil {
		return math.MaxInt64, true
	}
	return n, true
}

func (p *parser) cursor(given parameter) {
	id, ok := model.ParseID(given.value)
	if !ok {
		p.fail(given, problem.CodeInvalidParameter, "Must be the id of a resource, a UUID such as 01936f2e-7d3c-7a4b-9c5d-0123456789ab.")
		return
	}
	p.query.Range.Cursor = id
}

func (p *parser) sort(given parameter) {
	p.query.linkParameters = append(p.query.linkParameters, given.encoded)
	if p.sortKeys == nil {
		p.sortKeys = map[string]bool{}
	}
	for text := range strings.SplitSeq(given.value, ",") {
		if len(p.sortKeys) == MaxSortKeys {
			if !p.tooManyKeys {
				p.fail(given, problem.CodeTooManyValues, "At most %d sort keys can be given.", MaxSortKeys)
			}
			p.tooManyKeys = true
			return
		}
		name, descending := strings.CutPrefix(text, "-")
		field := p.field(name)
		switch {
		case name == "":
			p.fail(given, problem.CodeInvalidParameter, "Must be names of fields, separated by commas, each with a minus before it to sort downwards: -created_at,name.")
		case field == nil:
			p.fail(given, problem.CodeInvalidParameter, "The collection %s has no field %s to sort by.%s", p.collection.Name, fault.Quote(name), p.sortHint(text))
		case field.Kind == model.KindJSON:
			p.fail(given, problem.CodeInvalidParameter, "The field %q has objects or arrays, which cannot be sorted.", name)
		case p.sortKeys[name]:
			p.fail(given, problem.CodeInvalidParameter, "The field %q is given twice.", name)
		case field.Column != model.NoColumn:
			p.query.Sort = append(p.query.Sort, SortKey{Column: field.Column, Descending: descending})
		}
		p.sortKeys[name] = true
	}
}

// finish checks parameters against each other.
func (p *parser) finish() {
	if written, ok := p.seen["cursor"]; ok {
		if _, both := p.seen["since"]; both && p.mode == ofChanges {
			p.faults.Add(fault.Parameter(written, problem.CodeConflictingRange, "Give either a cursor or since: both say where the range starts."))
		}
		if _, both := p.seen["offset"]; both && (p.mode == ofList || p.mode == ofRange) {
			p.faults.Add(fault.Parameter(written, problem.CodeConflictingRange, "Give either a cursor or an offset: both say where the range starts."))
		}
		p.query.Range.Anchor = AtCursor
	}
	// Sort keys after an id have no effect, and ascending ids are the default order.
	if at := slices.IndexFunc(p.query.Sort, func(k SortKey) bool { return k.Column == model.IDColumn }); at >= 0 {
		p.query.Sort = p.query.Sort[:at+1]
		if !p.query.Sort[at].Descending {
			p.query.Sort = p.query.Sort[:at]
		}
	}
	if p.mode == ofGroups {
		p.sortGroups()
	}
	p.finishFilters()
	if p.mode.writes() {
		p.finishWrite()
	} else if p.mode != ofInclude {
		p.finishRelated()
	}
}
