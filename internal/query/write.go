package query

import (
	"slices"
	"strings"

	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/problem"
)

// writes reports whether the request is a write.
func (m Mode) writes() bool { return m == OfWrite || m == OfCreate || m == OfStep || m == OfRange }

// onConflict reads the names of a unique group, in any order. The id is unique as well.
func (p *parser) onConflict(given parameter) {
	var columns []int
	for name := range strings.SplitSeq(given.value, ",") {
		field := p.field(name)
		if field == nil || field.Column == model.NoColumn || slices.Contains(columns, field.Column) {
			columns = nil
			break
		}
		columns = append(columns, field.Column)
	}
	same := func(group []int) bool {
		return len(group) == len(columns) && !slices.ContainsFunc(group, func(column int) bool { return !slices.Contains(columns, column) })
	}
	groups := p.conflictGroups()
	if at := slices.IndexFunc(groups, same); at >= 0 {
		p.query.OnConflict = groups[at]
		return
	}
	names := make([]string, len(groups))
	for i, group := range groups {
		names[i] = p.namesOf(group)
	}
	p.fail(given, problem.CodeInvalidParameter, "Must name an attribute that is unique, or all attributes of a unique group, separated by commas. In %s that is %s.", p.collection.Name, strings.Join(names, " or "))
}

// conflictGroups lists the unique groups that the caller may see.
func (p *parser) conflictGroups() [][]int {
	groups := [][]int{{model.IDColumn}}
	for _, group := range p.collection.GivenGroups() {
		if !slices.ContainsFunc(group, func(column int) bool { return !p.limits.Visible.Has(column) }) {
			groups = append(groups, group)
		}
	}
	return groups
}

func (p *parser) namesOf(group []int) string {
	names := make([]string, len(group))
	for i, column := range group {
		names[i] = p.collection.Columns()[column].Name
	}
	return strings.Join(names, ",")
}

// finishWrite refuses a write to a range that selects nothing in particular.
func (p *parser) finishWrite() {
	given := func(name string) bool { return p.seen[name] != "" }
	if p.mode != OfRange || p.filters > 0 || slices.ContainsFunc([]string{"offset", "limit", "cursor", "search"}, given) {
		return
	}
	p.faults.Add(fault.New(problem.CodeFilterRequired, "This would concern the whole collection. Send a filter or a range, such as filter[id][in] or limit. For a single resource, add its id to the path."))
}
