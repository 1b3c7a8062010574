package query

import (
	"cmp"
	"iter"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/problem"
)

// parameter is one decoded parameter as the client wrote it.
type parameter struct {
	name, value string
	bare        bool // without "="
	encoded     string
}

type parser struct {
	mode       Mode
	collection *model.Collection
	limits     Limits
	query      Query
	faults     problem.Errors
	seen       map[string]string // long name -> name as written
	groups     []*conditions     // of filters
	filters    int               // different parameters so far
	values     int               // of all filters
	contains   int               // filters with contains or search
	related    []string          // filters and sort keys through relations
	sortKeys   map[string]bool

	included       []parameter // include=…
	includeOptions []includeOption
	includes       map[string]*Include // by path
	includePaths   []string            // in the order of the request
	fieldLists     []fieldList
	selected       map[string][]string // names of fields, by path; those of the collection itself under ""
	total          bool                // include[path][total]

	groupSorts, having []parameter // of groups, to be read when all others are

	tooMany []string // what failOnce has reported
	failed  int      // how often something was reported
}

// pieces splits a text. It ends when more errors were found than a response lists: a body can have half a million pieces, and to
// say what is wrong with one takes longer than to read it.
func (p *parser) pieces(text, separator string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for piece := range strings.SplitSeq(text, separator) {
			if p.failed > problem.MaxErrors || !yield(piece) {
				return
			}
		}
	}
}

// split splits and decodes a query string, strictly.
func (p *parser) split(raw string) iter.Seq[parameter] {
	return func(yield func(parameter) bool) {
		for piece := range p.pieces(raw, "&") {
			if parameter, ok := p.decode(piece); ok && !yield(parameter) {
				return
			}
		}
	}
}

// decode decodes a parameter. False: there is none, or it was reported.
func (p *parser) decode(piece string) (decoded parameter, ok bool) {
	if piece == "" {
		return decoded, false
	}
	given := parameter{name: piece}
	if strings.Contains(piece, ";") {
		p.fail(given, problem.CodeMalformedQuery, "Parameters are separated by &, not by a semicolon. Write a semicolon within a value as %%3B.")
		return decoded, false
	}
	name, value, hasValue := strings.Cut(piece, "=")
	decodedName, wrongName := decode(name)
	decodedValue, wrongValue := decode(value)
	if wrong := cmp.Or(wrongName, wrongValue); wrong != "" {
		given.name = cmp.Or(decodedName, name)
		p.fail(given, problem.CodeMalformedQuery, "The parameter %s.", wrong)
		return decoded, false
	}
	decoded = parameter{name: decodedName, value: decodedValue, bare: !hasValue}
	if p.limits.InBody { // no link has it
		return decoded, true
	}
	decoded.encoded = url.QueryEscape(decodedName)
	if hasValue {
		decoded.encoded += "=" + url.QueryEscape(decodedValue)
	}
	return decoded, true
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
	if p.mode == OfOne {
		p.refuseOfOne(given)
		return
	}
	long := cmp.Or(longNames[given.name], given.name)
	if (p.mode == OfWrite || p.mode == OfCreate) && !p.has(long) {
		p.fail(given, problem.CodeUnknownParameter, "This request has no such parameter. It has %s.", strings.Join(p.parameterNames(), " and "))
		return
	}
	if p.mode == OfStep && (!p.has(long) || p.collection == nil) {
		p.fail(given, problem.CodeUnknownParameter, "A step has no parameter but on_conflict of POST. Send dry_run with the transaction.")
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
	case long == "dry_run" && p.has(long):
		p.query.DryRun, _ = p.boolean(given)
	case long == "on_conflict" && p.has(long):
		p.onConflict(given)
	case long == "search" && p.mode != ofInclude:
		p.search(given)
	case long == "since":
		p.since(given)
	case slices.Contains(rangeNames, long) && !p.has(long):
		p.refuse(given, long)
	case long == "offset":
		p.offset(given)
	case long == "limit":
		p.limit(given)
	case long == "cursor":
		p.cursor(given)
	case long == "sort" && p.mode == OfGroups:
		p.query.linkParameters = append(p.query.linkParameters, given.encoded)
		p.groupSorts = append(p.groupSorts, given)
	case long == "sort":
		p.sort(given)
	case p.mode == OfGroups && isGrouping(long):
		p.grouping(given)
	case p.mode == OfGroups && isHaving(long):
		p.filters++
		p.query.linkParameters = append(p.query.linkParameters, given.encoded)
		p.having = append(p.having, given)
	case long == "total" && p.mode == ofInclude:
		p.total, _ = p.boolean(given)
	default:
		p.fail(given, problem.CodeUnknownParameter, "There is no parameter of this name. There are %s, and filter[field] or filter[field][operator].%s", strings.Join(p.parameterNames(), ", "), p.parameterHint(given.name))
	}
}

// longNames are the parameters that have a short name.
var longNames = map[string]string{"o": "offset", "l": "limit"}

// namesByMode are the parameters of each mode, apart from filters and search.
var namesByMode = [...][]string{
	OfList:    {"offset", "limit", "cursor", "sort", "include", "fields"},
	OfChanges: {"limit", "cursor", "since"},
	OfStream:  {"fields", "since"},
	OfOne:     {"include", "fields"},
	OfWrite:   {"dry_run"},
	OfCreate:  {"dry_run", "on_conflict"},
	OfStep:    {"on_conflict"},
	OfRange:   {"offset", "limit", "cursor", "sort", "dry_run"},
	OfGroups:  {"by", "sum", "avg", "min", "max", "distinct", "having[count][operator]", "include", "offset", "limit", "sort"},
	ofInclude: {"limit", "sort", "total"},
}

// has reports whether the mode has a parameter.
func (p *parser) has(name string) bool { return slices.Contains(namesByMode[p.mode], name) }

// parameterNames lists the parameters apart from filters.
func (p *parser) parameterNames() []string {
	names := slices.Clip(namesByMode[p.mode])
	if p.mode != OfWrite && p.mode != OfCreate && p.mode != ofInclude && len(p.searchColumns()) > 0 {
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
	if p.failed++; p.failed <= problem.MaxErrors+1 {
		p.faults.Add(fault.Parameter(given.name, code, format, args...))
	}
}

// failOnce reports that there are too many of something, and does so only once.
func (p *parser) failOnce(given parameter, format string, most int) {
	if !slices.Contains(p.tooMany, format) {
		p.tooMany = append(p.tooMany, format)
		p.fail(given, problem.CodeTooManyValues, format, most)
	}
}

// boolean reads true or false.
func (p *parser) boolean(given parameter) (value, ok bool) {
	if given.value != "true" && given.value != "false" {
		p.fail(given, problem.CodeInvalidParameter, "Must be true or false.")
		return false, false
	}
	return given.value == "true", true
}

// field finds a field by its name. One that the caller may not see does not exist.
func (p *parser) field(name string) *model.Field {
	return visibleField(p.collection, p.limits.Visible, name)
}

// finish checks parameters against each other.
func (p *parser) finish() {
	if written, ok := p.seen["cursor"]; ok {
		if _, both := p.seen["since"]; both && p.mode == OfChanges {
			p.faults.Add(fault.Parameter(written, problem.CodeConflictingRange, "Give either a cursor or since: both say where the range starts."))
		}
		if _, both := p.seen["offset"]; both && (p.mode == OfList || p.mode == OfRange) {
			p.faults.Add(fault.Parameter(written, problem.CodeConflictingRange, "Give either a cursor or an offset: both say where the range starts."))
		}
		p.query.Range.Anchor = AtCursor
	}
	// Sort keys after an id have no effect, and ascending ids are the default order.
	if at := slices.IndexFunc(p.query.Sort, func(k SortKey) bool { return k.Is(model.IDColumn) }); at >= 0 {
		p.query.Sort = p.query.Sort[:at+1]
		if !p.query.Sort[at].Descending {
			p.query.Sort = p.query.Sort[:at]
		}
	}
	if p.mode == OfGroups {
		p.finishGroups()
	}
	p.finishFilters()
	if p.mode.writes() {
		p.finishWrite()
	} else if p.mode != ofInclude {
		p.finishRelated()
	}
}
