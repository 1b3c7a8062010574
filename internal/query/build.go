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
	Sort       []string    // names of fields, with a minus to sort downwards
	Range      Range
}

// Build makes a Query as Parse does from text, with the same checks.
// Visible is the fields that the caller may see.
func Build(c *model.Collection, request Request, visible model.ColumnSet) (Query, error) {
	p := parser{collection: c, limits: Limits{Visible: visible}, seen: map[string]string{}}
	p.query.Range = request.Range
	for _, condition := range request.Conditions {
		p.condition(condition)
	}
	if len(request.Sort) > 0 {
		p.sort(parameter{name: "sort", value: strings.Join(request.Sort, ",")})
	}
	p.finish()
	return p.query, p.faults.Err()
}

func (p *parser) condition(condition Condition) {
	given := parameter{name: "filter[" + condition.Field + "][" + condition.Op + "]"}
	field := p.filterField(given, condition.Field)
	if field == nil {
		return
	}
	var filter Filter
	isList := condition.Op == "in" || condition.Op == "not_in"
	switch {
	case len(condition.Values) == 0, len(condition.Values) > 1 && !isList:
		p.fail(given, problem.CodeInvalidParameter, "The operator %s does not allow %d values.", condition.Op, len(condition.Values))
	case isList && field.Kind != model.KindJSON:
		filter = p.listCondition(listFilter{field: field, op: condition.Op, values: p.listValues(given, field, condition.Values)})
	default:
		given.value = condition.Values[0]
		filter = p.operatorCondition(given, field, condition.Op)
	}
	if filter != nil {
		p.conditions = append(p.conditions, filter)
	}
}
