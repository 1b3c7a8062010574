package expression

import (
	"slices"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"

	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/suggest"
)

// Attribute is a column in an expression: of the resource, of its stored state, or of a resource that it refers to.
type Attribute struct {
	Name       string            // after resource or previous: project.owner_id
	Previous   bool              // whether it is of the stored state
	Steps      []*model.Relation // references that lead to it
	Collection *model.Collection // that has the column
	Column     int
	Inside     []string // of a property: its name in the object of the column, and those of the objects that lead to it
	Kind       model.Kind
	Nullable   bool // itself, or a reference that leads to it
}

// Variable is the name of the attribute in the expression.
func (a Attribute) Variable() string {
	if a.Previous {
		return previousName + "." + a.Name
	}
	return resourceName + "." + a.Name
}

// celTypes maps columns to CEL types. Decimals are not among them: see decimalType.
var celTypes = map[model.Kind]*cel.Type{
	model.KindText: cel.StringType, model.KindUUID: cel.StringType, model.KindDate: cel.StringType, model.KindInteger: cel.IntType,
	model.KindNumber: cel.DoubleType, model.KindBoolean: cel.BoolType, model.KindDateTime: cel.TimestampType, model.KindJSON: cel.DynType,
}

// typeOf is the CEL type of a kind.
func typeOf(kind model.Kind) *cel.Type {
	if kind.IsDecimal() {
		return decimalType
	}
	return celTypes[kind]
}

// variables declares the attributes that the expression names.
func (e *Expression) variables() (options []cel.EnvOption) {
	for name, a := range e.attributes {
		kind := typeOf(a.Kind)
		if a.Nullable && !a.Kind.IsDecimal() && kind != cel.DynType { // which can be null anyway, like all that is not built into CEL
			kind = cel.NullableType(kind)
		}
		options = append(options, cel.Variable(name, kind))
	}
	return options
}

// names finds the attributes that the expression names, and reports unknown names: the message of cel-go would be
// misleading, as it says that resource itself is not declared.
func (e *Expression) names(root ast.Expr) {
	inner := map[int64]bool{}    // names that another one goes on from
	compared := map[int64]bool{} // names that are compared with null
	Visit(root, func(part ast.Expr) {
		switch part.Kind() {
		case ast.SelectKind:
			inner[part.AsSelect().Operand().ID()] = true
		case ast.CallKind:
			if name := part.AsCall().FunctionName(); name == operators.Equals || name == operators.NotEquals {
				args := part.AsCall().Args()
				compared[args[0].ID()], compared[args[1].ID()] = isNull(args[1]), isNull(args[0])
			}
		}
	})
	Visit(root, func(part ast.Expr) {
		if part.Kind() != ast.SelectKind && part.Kind() != ast.IdentKind || inner[part.ID()] {
			return
		}
		names, tested := chain(part)
		if len(names) == 0 {
			return
		}
		of := names[0] == resourceName || names[0] == previousName && e.Scope.Data
		e.previous = e.previous || of && names[0] == previousName
		switch {
		case names[0] == "auth" && len(names) > 1 && !slices.Contains(callerNames, names[1]):
			e.refuse(part, "auth has no "+names[1]+": use auth.sub, auth.role or auth.claims")
		case of && len(names) > 1:
			e.resolve(part, names[0], names[1:], tested)
		case of && names[0] == previousName && !compared[part.ID()]:
			e.refuse(part, "previous can only be compared with null, or followed by an attribute, as in previous.ATTRIBUTE")
		}
	})
}

var callerNames = []string{"sub", "role", "claims"}

func isNull(part ast.Expr) bool {
	return part.Kind() == ast.LiteralKind && part.AsLiteral() == types.NullValue
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
	names = append(names, Identifier(e))
	slices.Reverse(names)
	return names, tested
}

// resolve finds the attribute that the names after resource or previous lead to, or reports why there is none. Tested:
// they are the argument of has().
func (e *Expression) resolve(part ast.Expr, owner string, names []string, tested bool) {
	a := Attribute{Name: strings.Join(names, "."), Previous: owner == previousName, Collection: e.Scope.Collection}
	for i, name := range names {
		field := a.Collection.Field(name)
		if field != nil {
			by := slices.IndexFunc(a.Collection.Relations(), func(r *model.Relation) bool { return r.One && r.Column == field.Column })
			switch members := names[i+1:]; {
			case by >= 0 && len(members) > 0:
				e.refuse(part, e.afterID(a.Collection.Relations()[by], name))
			case tested && (field.Kind != model.KindJSON || len(members) == 0):
				e.refuse(part, "every resource has every attribute: compare with null instead of using has()")
			case e.usable(part, a, field):
				declared := a.Collection.Columns()[field.Column]
				a.Name = strings.Join(names[:i+1], ".")
				a.Column, a.Kind, a.Nullable = field.Column, field.Kind, a.Nullable || !declared.NotNull
				if a.Kind == model.KindJSON {
					a = e.inside(part, a, declared.Attribute, members, tested)
				}
				e.attributes[a.Variable()] = a
			}
			return // other members after it are for cel-go to refuse
		}
		relation := a.Collection.Relation(name)
		switch {
		case relation == nil && len(a.Steps) == 0 && len(names) > 1:
			e.refuse(part, e.Scope.Collection.Name+" has no attribute or reference "+name+e.nearest(a.Collection, name))
			return
		case relation == nil:
			e.refuse(part, a.Collection.Name+" has no attribute "+name+e.nearest(a.Collection, name))
			return
		case !relation.One:
			e.refuse(part, name+" leads to several resources: a rule can only read through references, each of which leads to one")
			return
		case e.Scope.MaxSteps == 0:
			e.refuse(part, onlyItself(relation, name+" is another resource"))
			return
		case len(a.Steps) == e.Scope.MaxSteps:
			e.refuse(part, "a rule can read through at most two references")
			return
		}
		a.Nullable = a.Nullable || !a.Collection.Columns()[relation.Column].NotNull
		a.Steps, a.Collection = append(a.Steps, relation), relation.To
	}
	last := a.Steps[len(a.Steps)-1]
	e.refuse(part, names[len(names)-1]+" is a resource: compare one of its attributes, or the reference itself, "+last.From.Columns()[last.Column].Name)
}

// afterID says what to write instead of a path through the id in a reference.
func (e *Expression) afterID(relation *model.Relation, name string) string {
	if e.Scope.MaxSteps == 0 {
		return onlyItself(relation, name+" is the id of another resource")
	}
	return name + " is an id, which has no members: write " + relation.Name + " to read the resource that it refers to"
}

// onlyItself says that a rule of the data cannot read what is another resource.
func onlyItself(relation *model.Relation, what string) string {
	return what + ", and this rule reads only the resource itself: use an attribute of " + relation.From.Name + ", such as the reference " + relation.From.Columns()[relation.Column].Name
}

// inside finds the declared property that the names after an object lead to, which is like an attribute: it has a type.
// What else is inside is found by its name when the expression is evaluated.
func (e *Expression) inside(part ast.Expr, a Attribute, at *model.Attribute, members []string, tested bool) Attribute {
	for i, name := range members {
		property := at.Property(name)
		switch {
		case at == nil || property == nil && at.Type == model.Object && !at.Closed:
			return a
		case at.Type != model.Object:
			e.refuse(part, at.Name+" is an array, which has no members: use size(), in, all(), exists() or [0]")
			return a
		case property == nil:
			e.refuse(part, at.Name+" has no member "+name+suggest.DidYouMean(name, at.PropertyNames()))
			return a
		case property.Scalar() && (!tested || i < len(members)-1):
			a.Inside, a.Kind, a.Nullable = members[:i+1], property.Kind(), true
			a.Name += "." + strings.Join(a.Inside, ".")
			return a
		}
		at = property
	}
	return a
}

// nearest asks for the attribute that a name was probably meant to be.
func (e *Expression) nearest(c *model.Collection, name string) string {
	return suggest.DidYouMean(name, e.usableNames(c))
}

// usableNames lists the attributes that the expression can use.
func (e *Expression) usableNames(c *model.Collection) []string {
	return slices.DeleteFunc(c.FieldNames(), func(name string) bool {
		field := c.Field(name)
		return field.Column == model.NoColumn || field.Kind == model.KindJSON && !e.Scope.Data
	})
}

// usable reports whether an expression can use a field.
func (e *Expression) usable(part ast.Expr, a Attribute, field *model.Field) bool {
	switch c := a.Collection; {
	case field.Kind == model.KindJSON && !e.Scope.Data:
		e.refuse(part, field.Name+" is an object or array, which a rule cannot use")
	case field.Column == model.NoColumn:
		e.refuse(part, "the type of every resource here is "+c.Name+": a rule cannot use it")
	case e.Scope.Data && !a.Previous && field.Column == c.UpdatedColumn():
		e.refuse(part, "updated_at changes with every write: use now, which is the same time")
	default:
		return true
	}
	return false
}
