package query

import (
	"strings"

	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/problem"
)

// Condition is one filter of a program: filter[Field][Op], with unescaped values. Only in and not_in
// take several.
type Condition struct {
	Field, Op string
	Values    []string
}

// Request is what a program wants of a collection.
type Request struct {
	Conditions []Condition // all must hold
	Search     string      // words; empty: none
	Sort       []string    // names of fields, with a minus to sort downwards
	Range      Range
}

// Build makes a Query as Parse does from text, with the same checks.
// The limits say what the caller may see; those of ranges do not apply.
func Build(c *model.Collection, request Request, limits Limits) (Query, error) {
	return build(ofList, c, request, limits)
}

// BuildStream is Build for a stream.
func BuildStream(c *model.Collection, request Request, limits Limits) (Query, error) {
	return build(ofStream, c, request, limits)
}

func build(mode mode, c *model.Collection, request Request, limits Limits) (Query, error) {
	p := parser{mode: mode, collection: c, limits: limits, seen: map[string]string{}}
	p.query.Range = request.Range
	for _, condition := range request.Conditions {
		p.condition(condition)
	}
	if request.Search != "" {
		p.search(parameter{name: "search", value: request.Search})
	}
	if len(request.Sort) > 0 {
		p.sort(parameter{name: "sort", value: strings.Join(request.Sort, ",")})
	}
	p.finish()
	return p.query, p.faults.Err()
}

func (p *parser) condition(condition Condition) {
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
		filter = p.hasCondition(to, p.listValues(given, to, condition.Values), condition.Op == "has_all")
	case isList && to.field.Kind != model.KindJSON:
		filter = p.listCondition(listFilter{target: to, op: condition.Op, values: p.listValues(given, to, condition.Values)})
	default:
		given.value = condition.Values[0]
		filter = p.operatorCondition(&p.conditions, given, to, condition.Op)
	}
	if filter != nil {
		p.conditions.others = append(p.conditions.others, to.condition(filter))
	}
}
