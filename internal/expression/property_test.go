package expression_test

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/plural-go/plural/internal/compile"
	"github.com/plural-go/plural/internal/expression"
	"github.com/plural-go/plural/internal/model"
)

// outcome is the value of a part of an expression in the naive model: nil is null, and failed and unknown are no values.
type outcome any

type noValue string

const (
	failed  noValue = "failed"
	unknown noValue = "undecided"
)

// term is a random expression, with its meaning.
type term struct {
	text  string
	scale int // of a decimal
	value func(state *expression.State) outcome
}

// strict is the meaning of an operation that has no value if an operand has none. Null counts as undecided.
func strict(operands []term, operate func(values []outcome) outcome) func(*expression.State) outcome {
	return valued(operands, func(values []outcome) outcome {
		for _, value := range values {
			if value == nil {
				return unknown
			}
		}
		return operate(values)
	})
}

// valued is the meaning of an operation for which null is a value.
func valued(operands []term, operate func(values []outcome) outcome) func(*expression.State) outcome {
	return func(state *expression.State) outcome {
		values, worst := make([]outcome, len(operands)), outcome(nil)
		for i, each := range operands {
			switch values[i] = each.value(state); values[i] {
			case failed:
				return failed
			case unknown:
				worst = unknown
			}
		}
		if worst == unknown {
			return unknown
		}
		return operate(values)
	}
}

func same(a, b outcome) bool {
	if x, ok := a.(*big.Rat); ok {
		y, ok := b.(*big.Rat)
		return ok && x.Cmp(y) == 0
	}
	return a == b
}

// exact is a whole number or a decimal as a fraction.
func exact(value outcome) *big.Rat {
	if whole, ok := value.(int64); ok {
		return new(big.Rat).SetInt64(whole)
	}
	return value.(*big.Rat)
}

// order compares two values of one type.
func order(a, b outcome) int {
	if text, ok := a.(string); ok {
		return strings.Compare(text, b.(string))
	}
	return exact(a).Cmp(exact(b))
}

var orders = map[string]func(order int) bool{
	"<": func(o int) bool { return o < 0 }, "<=": func(o int) bool { return o <= 0 }, ">": func(o int) bool { return o > 0 }, ">=": func(o int) bool { return o >= 0 },
}

// drawing draws the terms of a type, with parts of at most some depth.
type drawing struct {
	*rapid.T
	c *model.Collection
}

func (d drawing) pick(from ...string) string { return rapid.SampledFrom(from).Draw(d.T, "of") }

func (d drawing) chance(n int) bool { return rapid.IntRange(0, n).Draw(d.T, "chance") == 0 }

// attribute draws one of some attributes, of the resource or of its stored state.
func (d drawing) attribute(names ...string) term {
	name := d.pick(names...)
	column := d.c.Field(name).Column
	kind := d.c.Columns()[column].Kind
	read := func(record model.Record) outcome {
		value := record[column]
		switch {
		case value.IsNull():
			return nil
		case kind.IsDecimal():
			units := new(big.Rat).SetInt64(value.Int())
			return units.Quo(units, new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(kind.Scale())), nil)))
		case kind == model.KindInteger:
			return value.Int()
		case kind == model.KindBoolean:
			return value.Bool()
		}
		return value.Text()
	}
	t := term{text: "resource." + name, value: func(state *expression.State) outcome { return read(state.After) }}
	if kind.IsDecimal() {
		t.scale = kind.Scale()
	}
	if d.chance(4) {
		t.text, t.value = "previous."+name, func(state *expression.State) outcome {
			if state.Before == nil {
				return unknown
			}
			return read(state.Before)
		}
	}
	return t
}

func (d drawing) choice(depth int, kind func(depth int) term) term {
	condition, yes, no := d.boolean(depth-1), kind(depth-1), kind(depth-1)
	return term{
		text: "(" + condition.text + " ? " + yes.text + " : " + no.text + ")", scale: max(yes.scale, no.scale),
		value: func(state *expression.State) outcome {
			switch value := condition.value(state); value {
			case true:
				return yes.value(state)
			case false:
				return no.value(state)
			case nil:
				return unknown
			default:
				return value
			}
		},
	}
}

func (d drawing) whole(depth int) term {
	switch {
	case depth == 0 && d.chance(2):
		n := rapid.SampledFrom([]int64{0, 1, 2, -3, math.MaxInt64}).Draw(d.T, "whole")
		return term{text: fmt.Sprint(n), value: func(*expression.State) outcome { return n }}
	case depth == 0:
		return d.attribute("a", "b", "c")
	case d.chance(3):
		return d.choice(depth, d.whole)
	case d.chance(5):
		of := d.text(depth - 1)
		return term{text: "size(" + of.text + ")", value: strict([]term{of}, func(v []outcome) outcome { return int64(len([]rune(v[0].(string)))) })}
	}
	sign, left, right := d.pick("+", "-", "*", "/", "%"), d.whole(depth-1), d.whole(depth-1)
	return term{text: "(" + left.text + " " + sign + " " + right.text + ")", value: strict([]term{left, right}, func(v []outcome) outcome {
		x, y, result := big.NewInt(v[0].(int64)), big.NewInt(v[1].(int64)), new(big.Int)
		switch {
		case sign == "+":
			result.Add(x, y)
		case sign == "-":
			result.Sub(x, y)
		case sign == "*":
			result.Mul(x, y)
		case y.Sign() == 0:
			return failed
		case sign == "/":
			result.Quo(x, y)
		default:
			if x.Int64() == math.MinInt64 && y.Int64() == -1 {
				return failed
			}
			result.Rem(x, y)
		}
		if !result.IsInt64() {
			return failed
		}
		return result.Int64()
	})}
}

// decimal draws a term that has an attribute with a decimal in it.
func (d drawing) decimal(depth int) term {
	switch {
	case depth == 0:
		return d.attribute("p", "q", "r")
	case d.chance(4):
		return d.choice(depth, d.decimal)
	case d.chance(4):
		of := d.decimal(depth - 1)
		return term{text: "(-" + of.text + ")", scale: of.scale, value: strict([]term{of}, func(v []outcome) outcome { return new(big.Rat).Neg(exact(v[0])) })}
	}
	left, right := d.decimal(depth-1), d.number(depth-1)
	if d.chance(1) {
		left, right = right, left
	}
	sign, scale := d.pick("+", "-", "*"), max(left.scale, right.scale)
	if sign == "*" {
		scale = left.scale + right.scale
	}
	return term{text: "(" + left.text + " " + sign + " " + right.text + ")", scale: scale, value: strict([]term{left, right}, func(v []outcome) outcome {
		x, y, result := exact(v[0]), exact(v[1]), new(big.Rat)
		switch sign {
		case "+":
			return result.Add(x, y)
		case "-":
			return result.Sub(x, y)
		}
		return result.Mul(x, y)
	})}
}

// number draws what a decimal can be combined with: a decimal, a literal, or an integer.
func (d drawing) number(depth int) term {
	switch rapid.IntRange(0, 3).Draw(d.T, "number") {
	case 0:
		text := d.pick("0.19", "1.0", "-0.5", "1e-3", "2.50", "0.1", "12345678901234567.89")
		value, _ := new(big.Rat).SetString(text)
		_, fraction, _ := strings.Cut(text, ".")
		scale := len(fraction)
		if text == "1e-3" {
			scale = 3
		}
		return term{text: text, scale: scale, value: func(*expression.State) outcome { return value }}
	case 1:
		// Not an operation: these become operations of decimals, which do not overflow.
		return d.attribute("a", "b", "c")
	default:
		return d.decimal(depth)
	}
}

func (d drawing) text(depth int) term {
	switch {
	case depth == 0 && d.chance(2):
		text := d.pick("", "a", "ä")
		return term{text: "'" + text + "'", value: func(*expression.State) outcome { return text }}
	case depth == 0:
		return d.attribute("s", "t")
	case d.chance(2):
		return d.choice(depth, d.text)
	}
	left, right := d.text(depth-1), d.text(depth-1)
	return term{text: "(" + left.text + " + " + right.text + ")", value: strict([]term{left, right}, func(v []outcome) outcome { return v[0].(string) + v[1].(string) })}
}

func (d drawing) boolean(depth int) term {
	if depth == 0 {
		if d.chance(2) {
			t := d.attribute("a", "p", "s", "f")
			return term{text: "(" + t.text + " == null)", value: valued([]term{t}, func(v []outcome) outcome { return v[0] == nil })}
		}
		return d.attribute("f", "g")
	}
	part := func() term { return d.boolean(depth - 1) }
	switch rapid.IntRange(0, 6).Draw(d.T, "boolean") {
	case 0, 1:
		and, left, right := d.chance(1), part(), part()
		sign := map[bool]string{true: "&&", false: "||"}[and]
		return term{text: "(" + left.text + " " + sign + " " + right.text + ")", value: func(state *expression.State) outcome {
			x, y := left.value(state), right.value(state)
			switch {
			case x == !and || y == !and:
				return !and
			case x == unknown || y == unknown || x == nil || y == nil:
				return unknown
			case x == failed || y == failed:
				return failed
			}
			return and
		}}
	case 2:
		of := part()
		return term{text: "!" + of.text, value: strict([]term{of}, func(v []outcome) outcome { return !v[0].(bool) })}
	case 3:
		return d.choice(depth, d.boolean)
	}
	left, right := d.pair(depth - 1)
	switch sign := d.pick("<", "<=", ">", ">=", "==", "!=", "in"); sign {
	case "in":
		return term{text: "(" + left.text + " in [" + right.text + ", " + right.text + "])", value: valued([]term{left, right}, func(v []outcome) outcome { return same(comparable(v[0]), comparable(v[1])) })}
	case "==", "!=":
		return term{text: "(" + left.text + " " + sign + " " + right.text + ")", value: valued([]term{left, right}, func(v []outcome) outcome { return same(comparable(v[0]), comparable(v[1])) == (sign == "==") })}
	default:
		return term{text: "(" + left.text + " " + sign + " " + right.text + ")", value: strict([]term{left, right}, func(v []outcome) outcome { return orders[sign](order(v[0], v[1])) })}
	}
}

// comparable makes numbers of two types comparable.
func comparable(value outcome) outcome {
	if whole, ok := value.(int64); ok {
		return exact(whole)
	}
	return value
}

// pair draws two terms that can be compared.
func (d drawing) pair(depth int) (left, right term) {
	switch rapid.IntRange(0, 2).Draw(d.T, "pair") {
	case 0:
		return d.whole(depth), d.whole(depth)
	case 1:
		return d.text(depth), d.text(depth)
	}
	return d.decimal(depth), d.number(depth)
}

func (d drawing) record() model.Record {
	record := make(model.Record, len(d.c.Columns()))
	for name, values := range map[string][]model.Value{
		"a": {model.Null, model.IntValue(1), model.IntValue(0)}, "b": {model.Null, model.IntValue(math.MaxInt64), model.IntValue(math.MinInt64), model.IntValue(-1)}, "c": {model.IntValue(7), model.IntValue(2)},
		"p": {model.Null, model.IntValue(150), model.IntValue(model.MaxDecimalUnits), model.IntValue(19)}, "q": {model.Null, model.IntValue(15000), model.IntValue(-1)}, "r": {model.IntValue(0), model.IntValue(3)},
		"s": {model.Null, model.TextValue("a"), model.TextValue("")}, "t": {model.TextValue("ä")}, "f": {model.Null, model.BoolValue(true), model.BoolValue(false)}, "g": {model.BoolValue(true), model.BoolValue(false)},
	} {
		record[d.c.Field(name).Column] = rapid.SampledFrom(values).Draw(d.T, name)
	}
	return record
}

// TestExpressionsMeanWhatTheModelSays compares the evaluation of random expressions with a naive one: nulls, errors,
// integers that overflow, and decimals of any length.
func TestExpressionsMeanWhatTheModelSays(t *testing.T) {
	integer := func(name string) model.Attribute { return model.Attribute{Name: name, Type: model.Integer} }
	decimal := func(name string, scale int) model.Attribute {
		return model.Attribute{Name: name, Type: model.String, Format: model.Decimal, Scale: scale}
	}
	needed := func(a model.Attribute) model.Attribute { a.Required = true; return a }
	s, err := compile.Schema(model.Collection{Name: "things", Attributes: []model.Attribute{
		integer("a"), integer("b"), needed(integer("c")), decimal("p", 2), decimal("q", 4), needed(decimal("r", 0)),
		{Name: "s", Type: model.String}, {Name: "t", Type: model.String, Required: true}, {Name: "f", Type: model.Boolean}, {Name: "g", Type: model.Boolean, Required: true},
	}})
	if err != nil {
		t.Fatal(err)
	}
	c := s.Collection("things")
	rapid.Check(t, func(rt *rapid.T) {
		d := drawing{rt, c}
		state := &expression.State{After: d.record()}
		if d.chance(1) {
			state.Before = d.record()
		}
		depth := rapid.IntRange(1, 4).Draw(rt, "depth")
		if d.chance(1) {
			rule := d.boolean(depth)
			holds, err := program(rt, c, rule.text, model.KindBoolean).Holds(state)
			got := outcome(holds)
			switch {
			case errors.Is(err, expression.ErrUndecided):
				got = unknown
			case err != nil:
				got = failed
			}
			want := rule.value(state)
			if want == nil {
				want = unknown
			}
			if got != want {
				rt.Fatalf("%s\nis %v (%v), and must be %v\nfor %v and %v", rule.text, got, err, want, state.After, state.Before)
			}
			return
		}
		value := d.decimal(depth)
		if value.scale > model.MaxDecimalDigits {
			return
		}
		if value.scale > 0 {
			if _, problems := expression.Compile(model.Rule{Text: value.text}, expression.Scope{Collection: c, Data: true}, model.DecimalKind(value.scale-1)); len(problems) != 1 {
				rt.Fatalf("%s fits into %d digits after the point: %v", value.text, value.scale-1, problems)
			}
		}
		text, err := program(rt, c, value.text, model.DecimalKind(value.scale)).AppendJSON(nil, model.DecimalKind(value.scale), state)
		want, meant := "null", value.value(state)
		switch exact, ok := meant.(*big.Rat); {
		case ok:
			want = `"` + exact.FloatString(value.scale) + `"`
		case meant == failed:
			want = ""
		}
		if (err != nil) != (meant == failed) {
			rt.Fatalf("%s fails with %v, and must be %v", value.text, err, meant)
		}
		if number, ok := new(big.Rat).SetString(strings.Trim(string(text), `"`)); ok {
			text = []byte(`"` + number.FloatString(value.scale) + `"`)
		}
		if string(text) != want {
			rt.Fatalf("%s\nis %s, and must be %s\nfor %v and %v", value.text, text, want, state.After, state.Before)
		}
	})
}

func program(t *rapid.T, c *model.Collection, text string, result model.Kind) *expression.Program {
	checked, problems := expression.Compile(model.Rule{Text: text}, expression.Scope{Collection: c, Data: true}, result)
	if problems != nil {
		t.Fatalf("%s: %v", text, problems)
	}
	compiled, problems := checked.Program()
	if problems != nil {
		t.Fatalf("%s: %v", text, problems)
	}
	return compiled
}
