package auth

import (
	"slices"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"

	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/query"
)

// attribute is a column in a rule: of the resource, or of one that it refers to.
type attribute struct {
	name       string            // after resource: project.owner_id
	steps      []*model.Relation // references that lead to it
	collection *model.Collection // that has the column
	column     int
	kind       model.Kind
	nullable   bool // itself, or a reference that leads to it
}

func (a attribute) variable() string { return resourceName + "." + a.name }

func (a attribute) celType() *cel.Type {
	if a.nullable {
		return cel.NullableType(celTypes[a.kind])
	}
	return celTypes[a.kind]
}

// through makes a filter on the collection of the column one on the resource. If a reference on the
// way is null, so is the column. What the caller may see of other resources does not matter: the rule
// is that of the schema.
func (a attribute) through(f query.Filter) query.Filter {
	for _, relation := range slices.Backward(a.steps) {
		f = query.Through(relation, nil, f)
	}
	return f
}

func (a attribute) compare(op query.Op, value model.Value) query.Filter {
	return a.through(query.Compare{Column: a.column, Op: op, Value: value})
}

func (a attribute) isNull() query.Filter { return a.through(query.IsNull{Column: a.column}) }

// unknownFields reports unknown names, as the message of cel-go would be misleading: it says that
// resource itself is not declared. It finds the attributes that a rule names.
func (t *translation) unknownFields(root ast.Expr) {
	inner := map[int64]bool{} // names that another one goes on from
	visit(root, func(e ast.Expr) {
		if e.Kind() == ast.SelectKind {
			inner[e.AsSelect().Operand().ID()] = true
		}
	})
	visit(root, func(e ast.Expr) {
		if e.Kind() != ast.SelectKind || inner[e.ID()] {
			return
		}
		names, tested := chain(e)
		switch {
		case len(names) == 0:
		case names[0] == "auth" && names[1] != "sub" && names[1] != "role" && names[1] != "claims":
			t.refuse(e, "auth has no "+names[1]+": use auth.sub, auth.role or auth.claims")
		case names[0] != resourceName:
		case tested:
			t.refuse(e, "every resource has every attribute: compare with null instead of using has()")
		default:
			t.resolve(e, names[1:])
		}
	})
}

// chain is a name with members after it, nil if an expression is anything else, and whether it is the
// argument of has().
func chain(e ast.Expr) (names []string, tested bool) {
	for e.Kind() == ast.SelectKind {
		names, tested = append(names, e.AsSelect().FieldName()), tested || e.AsSelect().IsTestOnly()
		e = e.AsSelect().Operand()
	}
	if e.Kind() != ast.IdentKind {
		return nil, false
	}
	names = append(names, identifier(e))
	slices.Reverse(names)
	return names, tested
}

// maxSteps is through how many references a rule reads.
const maxSteps = 2

// resolve finds the attribute that the names after resource lead to, or reports why there is none.
func (t *translation) resolve(e ast.Expr, names []string) {
	a := attribute{name: strings.Join(names, "."), collection: t.collection}
	for i, name := range names {
		field := a.collection.Field(name)
		if field != nil {
			if t.usable(e, a.collection, field) {
				declared := a.collection.Columns()[field.Column]
				a.name = strings.Join(names[:i+1], ".")
				a.column, a.kind, a.nullable = field.Column, field.Kind, a.nullable || !declared.NotNull
				t.attributes[a.variable()] = a
			}
			return // members after it are for cel-go to refuse
		}
		relation := a.collection.Relation(name)
		switch {
		case relation == nil && len(a.steps) == 0 && len(names) > 1:
			t.refuse(e, t.collection.Name+" has no attribute or reference "+name)
			return
		case relation == nil:
			t.refuse(e, a.collection.Name+" has no attribute "+name)
			return
		case !relation.One:
			t.refuse(e, name+" leads to several resources: a rule can only read through references, each of which leads to one")
			return
		case len(a.steps) == maxSteps:
			t.refuse(e, "a rule can read through at most two references")
			return
		}
		a.nullable = a.nullable || !a.collection.Columns()[relation.Column].NotNull
		a.steps, a.collection = append(a.steps, relation), relation.To
	}
	last := a.steps[len(a.steps)-1]
	t.refuse(e, names[len(names)-1]+" is a resource: compare one of its attributes, or the reference itself, "+last.From.Columns()[last.Column].Name)
}

// usable reports whether a rule can use a field.
func (t *translation) usable(e ast.Expr, c *model.Collection, field *model.Field) bool {
	switch {
	case field.Kind == model.KindJSON:
		t.refuse(e, field.Name+" is an object or array, which a rule cannot use")
	case field.Kind.IsDecimal():
		t.refuse(e, field.Name+" is a decimal, which a rule cannot use")
	case field.Column == model.NoColumn:
		t.refuse(e, "the type of every resource here is "+c.Name+": a rule cannot use it")
	default:
		return true
	}
	return false
}

// declareAttributes declares the attributes that the rule names.
func (t *translation) declareAttributes() (err error) {
	var options []cel.EnvOption
	for name, a := range t.attributes {
		options = append(options, cel.Variable(name, a.celType()))
	}
	if len(options) > 0 {
		t.env, err = t.env.Extend(options...)
	}
	return err
}
