package auth

import (
	"slices"

	"github.com/plural-go/plural/internal/expression"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/query"
)

// attribute is a column in a rule: of the resource, or of one that it refers to.
type attribute struct{ expression.Attribute }

// through makes a filter on the collection of the column one on the resource. If a reference on the
// way is null, so is the column. What the caller may see of other resources does not matter: the rule
// is that of the schema.
func (a attribute) through(f query.Filter) query.Filter {
	for _, relation := range slices.Backward(a.Steps) {
		f = query.Through(relation, nil, f)
	}
	return f
}

func (a attribute) compare(op query.Op, value model.Value) query.Filter {
	return a.through(query.Compare{Column: a.Column, Op: op, Value: value})
}

func (a attribute) isNull() query.Filter { return a.through(query.IsNull{Column: a.Column}) }
