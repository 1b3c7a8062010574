package query

import (
	"math"
	"strings"

	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/problem"
)

// Condition is one filter of a program: filter[Field][Op], with unescaped values. Only in, not_in, has and
// has_all take several.
type Condition struct {
	Field, Op string
	Values    []string
}

// Request is what a program wants of a collection.
type Request struct {
	Conditions []Condition   // all must hold
	Any        [][]Condition // all of one of these must hold; nil: there are no alternatives
	Search     string        // words; empty: none
	Sort       []string      // names of fields, with a minus to sort downwards
	Range      Range

	Fields   []string // that are shown; nil: all
	Includes []IncludeRequest

	// Of groups: what they are made by, and what is computed of each.
	By     []string
	Values map[Function][]string
}

// IncludeRequest is a relation that a program wants embedded.
type IncludeRequest struct {
	Path   string   // names of relations, with dots between them
	Fields []string // that are shown; nil: all

	// Of a relation to many resources.
	Conditions []Condition
	Any        [][]Condition
	Sort       []string
	Limit      *int64 // nil: the default
	Total      bool
}

// hasOptions reports whether the request has what only a relation to many resources has.
func (r *IncludeRequest) hasOptions() bool {
	return r.Conditions != nil || r.Any != nil || r.Sort != nil || r.Limit != nil || r.Total
}

// Shows reports whether the request says what is shown of each resource.
func (r *Request) Shows() bool { return r.Fields != nil || r.Includes != nil }

// Groups reports whether the request has parts that only groups have.
func (r *Request) Groups() bool { return r.By != nil || r.Values != nil }

// Build makes a Query as Parse does from text, with the same checks. The limits say what the caller may see; those of
// ranges do not apply. Of the request for one resource, only what is shown counts.
func Build(mode Mode, c *model.Collection, request Request, limits Limits) (Query, error) {
	if mode == OfOne {
		request = Request{Fields: request.Fields, Includes: request.Includes}
	}
	p := parser{mode: mode, collection: c, limits: limits, seen: map[string]string{}, requested: map[string]*IncludeRequest{}}
	p.query.Range = request.Range
	if request.Range.Anchor != AtEdge || request.Range.Limit != math.MaxInt64 {
		p.seen["limit"] = "limit" // a write needs a range or a filter
	}
	p.buildConditions(request.Conditions, request.Any)
	if request.Search != "" {
		p.seen["search"] = "search"
		p.search(parameter{name: "search", value: request.Search})
	}
	if mode == OfGroups {
		p.buildGroups(request)
	} else if len(request.Sort) > 0 {
		p.sort(parameter{name: "sort", value: strings.Join(request.Sort, ",")})
	}
	p.buildShown(request)
	p.finish()
	return p.query, p.faults.Err()
}

// BuildConflict finds the columns of a unique group by the names of its attributes.
func BuildConflict(c *model.Collection, names []string, limits Limits) ([]int, error) {
	p := parser{mode: OfCreate, collection: c, limits: limits}
	p.onConflict(parameter{name: "on_conflict", value: strings.Join(names, ",")})
	return p.query.OnConflict, p.faults.Err()
}

// buildConditions reads conditions of a program, and alternatives.
func (p *parser) buildConditions(all []Condition, any [][]Condition) {
	for _, condition := range all {
		p.condition(&p.conditions, condition)
	}
	for i, alternative := range any {
		group := p.alternative(i)
		for _, condition := range alternative {
			p.condition(group, condition)
		}
	}
}

func (p *parser) buildGroups(request Request) {
	p.query.Groups = &Groups{}
	if len(request.By) > 0 {
		p.grouping(parameter{name: "by", value: strings.Join(request.By, ",")})
	}
	for _, function := range Functions {
		if names := request.Values[function]; len(names) > 0 {
			p.grouping(parameter{name: string(function), value: strings.Join(names, ",")})
		}
	}
	if len(request.Sort) > 0 {
		p.groupSorts = []parameter{{name: "sort", value: strings.Join(request.Sort, ",")}}
	}
}

// buildShown reads what a program wants to be shown.
func (p *parser) buildShown(request Request) {
	list := func(path, name string, names []string) {
		if names != nil {
			p.fieldLists = append(p.fieldLists, fieldList{parameter{name: name, value: strings.Join(names, ",")}, path})
		}
	}
	list("", "fields", request.Fields)
	for i := range request.Includes {
		each := &request.Includes[i]
		p.included = append(p.included, parameter{name: "include", value: each.Path})
		p.requested[each.Path] = each
		list(each.Path, "fields["+each.Path+"]", each.Fields)
	}
}

// buildOptions applies the options of a relation.
func (p *parser) buildOptions(request *IncludeRequest) {
	p.buildConditions(request.Conditions, request.Any)
	if len(request.Sort) > 0 {
		p.sort(parameter{name: "sort", value: strings.Join(request.Sort, ",")})
	}
	if request.Limit != nil {
		p.query.Range.Limit = *request.Limit
	}
	p.total = request.Total
}

func (p *parser) condition(group *conditions, condition Condition) {
	p.filters++
	given := parameter{name: "filter[" + condition.Field + "][" + condition.Op + "]"}
	to := p.filterTarget(given, condition.Field)
	if to == nil {
		return
	}
	var filter Filter
	isList := condition.Op == "in" || condition.Op == "not_in"
	isHas := isHas(condition.Op) && to.attribute.ScalarItems() != nil
	switch {
	case len(condition.Values) == 0, len(condition.Values) > 1 && !isList && !isHas:
		p.fail(given, problem.CodeInvalidParameter, "The operator %s does not allow %d values.", condition.Op, len(condition.Values))
	case isHas:
		filter = to.has(p.listValues(given, to, condition.Values), condition.Op == "has_all")
	case isList && to.field.Kind != model.KindJSON:
		filter = listFilter{target: to, op: condition.Op, values: p.listValues(given, to, condition.Values)}.condition()
	default:
		given.value = condition.Values[0]
		filter = p.operatorCondition(group, given, to, condition.Op)
	}
	if filter != nil {
		group.others = append(group.others, to.condition(filter))
	}
}
