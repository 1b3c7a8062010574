package query

import (
	"cmp"
	"slices"
	"strings"

	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/suggest"
	"github.com/plural-go/plural/problem"
)

// Include is a relation whose resources are embedded.
type Include struct {
	Relation *model.Relation
	Visible  model.ColumnSet // columns that are shown; nil: all
	Scope    Filter          // of what the caller may see; nil: all
	Includes []*Include      // relations of the embedded resources

	// Of a relation to many resources.
	Filter Filter // of the request; nil: none
	Sort   []SortKey
	Limit  int64 // negative: the last ones
	Total  bool  // their number is added
}

// Size is the number of resources of one relation of one resource at most.
func (i *Include) Size() int64 {
	if i.Relation.One {
		return 1
	}
	return Range{Limit: i.Limit}.Size()
}

// Bounds of includes.
const (
	MaxIncludes     = 10   // relations of one request
	MaxIncludeDepth = 3    // levels
	MaxIncluded     = 1000 // resources along a path
	DefaultIncluded = 10   // resources of a relation
)

// includeOption is include[path][option]=value.
type includeOption struct {
	given        parameter
	path, option string
}

// fieldList is fields=… or fields[path]=….
type fieldList struct {
	given parameter
	path  string
}

// bracketed takes name[path]rest apart. The path is empty if there are no brackets.
func bracketed(given, name string) (path, rest string, ok bool) {
	after, found := strings.CutPrefix(given, name)
	if !found || after == "" {
		return "", "", found
	}
	if after[0] != '[' {
		return "", "", false
	}
	path, rest, ok = strings.Cut(after[1:], "]")
	return path, rest, ok && path != ""
}

// takeInclude keeps a parameter if it is include or fields, and reports whether it is one of them.
// They are checked when all are known.
func (p *parser) takeInclude(given parameter) bool {
	if p.mode == OfChanges || p.mode == ofInclude || p.mode.writes() || p.mode == OfGroups && given.name == "fields" {
		return false
	}
	if path, rest, ok := bracketed(given.name, "include"); ok {
		if p.mode == OfStream {
			p.fail(given, problem.CodeUnknownParameter, "A stream has no included resources. Leave this out, and follow the other collections too.")
			return true
		}
		p.query.linkParameters = append(p.query.linkParameters, given.encoded)
		switch inner := strings.TrimSuffix(strings.TrimPrefix(rest, "["), "]"); {
		case path == "":
			p.included = append(p.included, given)
		case inner == "" || "["+inner+"]" != rest:
			p.fail(given, problem.CodeUnknownParameter, "To include %s, write include=%s. Its options are include[%s][limit], [sort], [filter][field] and [total].", fault.Quote(path), short(path), short(path))
		default:
			option, more, hasMore := strings.Cut(inner, "][")
			if hasMore {
				option += "[" + more + "]"
			}
			p.includeOptions = append(p.includeOptions, includeOption{given, path, option})
		}
		return true
	}
	if path, rest, ok := bracketed(given.name, "fields"); ok && rest == "" {
		p.query.linkParameters = append(p.query.linkParameters, given.encoded)
		if path == "" {
			p.query.filterParameters = append(p.query.filterParameters, given.encoded)
		}
		p.fieldLists = append(p.fieldLists, fieldList{given, path})
		return true
	}
	return false
}

// short is a part of a request that a hint repeats.
func short(text string) string {
	if len(text) > maxShown {
		return "relation"
	}
	return text
}

// finishRelated makes the includes and the fields of the query.
func (p *parser) finishRelated() {
	seen := map[string]bool{}
	for _, given := range p.included {
		for path := range p.pieces(given.value, ",") {
			if seen[path] {
				p.fail(given, problem.CodeInvalidParameter, "The relation %s is given twice.", fault.Quote(path))
				continue
			}
			seen[path] = true
			p.include(given, path)
		}
	}
	p.finishOptions()
	for _, list := range p.fieldLists {
		p.fields(list)
	}
	p.query.Visible = cut(p.collection, p.limits.Visible, p.selected[""])
	for _, path := range p.includePaths {
		include := p.includes[path]
		include.Visible = cut(include.Relation.To, include.Visible, p.selected[path])
	}
	p.boundIncluded(p.query.Includes, "", 1)
}

// include adds the relations of a path.
func (p *parser) include(given parameter, path string) {
	steps := strings.Split(path, ".")
	if len(steps) > MaxIncludeDepth {
		p.fail(given, problem.CodeTooManyValues, "The path %s has %d relations. At most %d levels can be included.", fault.Quote(path), len(steps), MaxIncludeDepth)
		return
	}
	c, list := p.collection, &p.query.Includes
	for i, name := range steps {
		upTo := strings.Join(steps[:i+1], ".")
		found := p.includes[upTo]
		if found == nil {
			if found = p.newInclude(given, c, name, i == 0); found == nil {
				return
			}
			if p.includes == nil {
				p.includes = map[string]*Include{}
			}
			p.includes[upTo] = found
			p.includePaths = append(p.includePaths, upTo)
			*list = append(*list, found)
		}
		c, list = found.Relation.To, &found.Includes
	}
}

// newInclude includes a relation of a collection. Nil: that cannot be, and is reported.
func (p *parser) newInclude(given parameter, c *model.Collection, name string, isFirst bool) *Include {
	relation := c.Relation(name)
	visible, scope, may := p.seenThrough(relation)
	switch {
	case name == "":
		p.fail(given, problem.CodeInvalidParameter, "Must be names of relations, separated by commas, each after those that lead to it: author,comments.author.")
	case !may:
		p.fail(given, problem.CodeInvalidParameter, "The collection %s has no relation %s to include.%s", c.Name, fault.Quote(name), p.relationHint(c, name))
	case p.mode == OfGroups && isFirst && !p.belongsToGroups(given, relation): // which belongsToGroups has reported
	case len(p.includePaths) == MaxIncludes:
		p.failOnce(given, "At most %d relations can be included.", MaxIncludes)
	default:
		include := &Include{Relation: relation, Visible: visible, Scope: scope}
		if !relation.One {
			include.Limit = DefaultIncluded
			if most := p.limits.MaxLimit; most > 0 {
				include.Limit = min(include.Limit, most)
			}
		}
		return include
	}
	return nil
}

// relationHint lists the relations that the caller may include.
func (p *parser) relationHint(c *model.Collection, name string) string {
	var names []string
	for _, relation := range p.relations(c) {
		names = append(names, relation.Name)
	}
	if len(names) == 0 {
		return " It has none."
	}
	return cmp.Or(suggested(suggest.Nearest(name, names)), " Use "+suggest.OneOf(names)+".")
}

// finishOptions applies the options of each relation.
func (p *parser) finishOptions() {
	byPath := map[string][]parameter{}
	for _, option := range p.includeOptions {
		include := p.includes[option.path]
		switch {
		case include == nil:
			p.fail(option.given, problem.CodeInvalidParameter, "The relation %s is not included. Add it to include, or leave this out.", fault.Quote(option.path))
		case include.Relation.One:
			p.fail(option.given, problem.CodeInvalidParameter, "The relation %q leads to one resource, which has no limit, sort, filter or total. Leave this out.", option.path)
		default:
			given := option.given
			given.name = option.option
			byPath[option.path] = append(byPath[option.path], given)
		}
	}
	for _, path := range p.includePaths {
		if options := byPath[path]; options != nil {
			p.applyOptions(p.includes[path], path, options)
		}
	}
}

// applyOptions parses the options of a relation as the parameters of a list of the other collection.
func (p *parser) applyOptions(include *Include, path string, options []parameter) {
	limits := p.limits
	limits.Visible, limits.Choices = include.Visible, nil
	inner := parser{
		mode: ofInclude, collection: include.Relation.To, limits: limits, seen: map[string]string{},
		filters: p.filters, values: p.values, contains: p.contains, related: p.related,
	}
	inner.query.Range.Limit = include.Limit
	for _, option := range options {
		inner.parameter(option)
	}
	inner.finish()
	p.filters, p.values, p.contains, p.related = inner.filters, inner.values, inner.contains, inner.related
	for _, wrong := range inner.faults {
		p.faults.Add(within(wrong, path))
	}
	include.Filter, include.Sort, include.Limit, include.Total = inner.query.Filter, inner.query.Sort, inner.query.Range.Limit, inner.total
	c, name := include.Relation.From, include.Relation.TotalName()
	if include.Total && (c.Field(name) != nil || c.Relation(name) != nil) {
		p.faults.Add(fault.Parameter("include["+path+"][total]", problem.CodeInvalidParameter, "The total would be the member %s, but %s has something else with this name. Leave the total out. The relation gets another name by inverse beside the references of %s in %s.",
			name, c.Name, include.Relation.To.Columns()[include.Relation.Column].Name, include.Relation.To.Name))
	}
}

// within is the error of an option, with its parameter as the client wrote it.
func within(wrong *problem.Error, path string) *problem.Error {
	moved := *wrong
	if name, rest, found := strings.Cut(wrong.Source.Parameter, "["); found {
		moved.Source.Parameter = "include[" + path + "][" + name + "][" + rest
	} else {
		moved.Source.Parameter = "include[" + path + "][" + name + "]"
	}
	moved.Detail = strings.ReplaceAll(wrong.Detail, "filter[", "include["+short(path)+"][filter][")
	return &moved
}

// fields adds the names of a list to those that are selected.
func (p *parser) fields(list fieldList) {
	c, visible := p.collection, p.limits.Visible
	if list.path != "" {
		include := p.includes[list.path]
		if include == nil {
			p.fail(list.given, problem.CodeInvalidParameter, "The relation %s is not included. Add it to include, or leave this out.", fault.Quote(list.path))
			return
		}
		c, visible = include.Relation.To, include.Visible
	}
	if p.selected == nil {
		p.selected = map[string][]string{}
	}
	for name := range p.pieces(list.given.value, ",") {
		field := c.Field(name)
		switch {
		case name == "":
			p.fail(list.given, problem.CodeInvalidParameter, "Must be names of attributes, separated by commas: name,created_at. For only id and type, write id.")
		case field == nil || !visible.Has(field.Column):
			p.fail(list.given, problem.CodeInvalidParameter, "The collection %s has no attribute %s.%s", c.Name, fault.Quote(name), fieldsHint(c, visible, name))
		case slices.Contains(p.selected[list.path], name):
			p.fail(list.given, problem.CodeInvalidParameter, "The attribute %q is given twice.", name)
		default:
			p.selected[list.path] = append(p.selected[list.path], name)
		}
	}
}

func fieldsHint(c *model.Collection, visible model.ColumnSet, name string) string {
	if relation := c.Relation(name); relation != nil && relation.One && visible.Has(relation.Column) {
		return " To get the resource that it refers to, write include=" + name + "."
	}
	var names []string
	for _, each := range c.FieldNames() {
		if visible.Has(c.Field(each).Column) {
			names = append(names, each)
		}
	}
	return suggested(suggest.Nearest(name, names))
}

// cut leaves those of the visible columns that are selected, and all if none are.
func cut(c *model.Collection, visible model.ColumnSet, selected []string) model.ColumnSet {
	if selected == nil {
		return visible
	}
	return c.ColumnsWhere(func(i int, column model.Column) bool {
		// The id is always shown, and columns that no field has are never shown.
		return i == model.IDColumn || c.Field(column.Name) == nil || slices.Contains(selected, column.Name)
	})
}

// boundIncluded bounds how many resources one resource can bring by the relations that follow a path.
func (p *parser) boundIncluded(includes []*Include, after string, before int64) {
	for _, include := range includes {
		size, path := include.Size(), after+include.Relation.Name
		if size > 0 && before > MaxIncluded/size {
			p.faults.Add(fault.Parameter(p.limitName(path), problem.CodeLimitTooLarge, "The limits along the path %s multiply to more than %d. Give smaller ones, such as include[%s][limit]=3.", path, MaxIncluded, path))
			continue
		}
		p.boundIncluded(include.Includes, path+".", before*max(size, 1))
	}
}

// limitName is the parameter that sets the limit of a relation, or else the one that includes it.
func (p *parser) limitName(path string) string {
	for _, option := range p.includeOptions {
		if option.path == path && option.option == "limit" {
			return option.given.name
		}
	}
	return "include"
}
