package model

import (
	"math/big"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/internal/suggest"
	"github.com/plural-go/plural/problem"
)

func (d *decoder) checkText(a *Attribute, text string) {
	d.checkNullCharacter(text)
	if a.MinLength > 0 || a.MaxLength > 0 {
		length := utf8.RuneCountInString(text)
		if length < a.MinLength {
			d.fail(problem.CodeMinLength, "Must be at least %s long, but has %d.", suggest.Counted(a.MinLength, "character"), length)
		}
		if a.MaxLength > 0 && length > a.MaxLength {
			d.fail(problem.CodeMaxLength, "Must be at most %s long, but has %d.", suggest.Counted(a.MaxLength, "character"), length)
		}
	}
	if a.compiled.Pattern != nil && !a.compiled.Pattern.MatchString(text) {
		d.fail(problem.CodePattern, "Must match the pattern %s.", a.Pattern)
	}
}

func (d *decoder) checkNullCharacter(text string) {
	if strings.IndexByte(text, 0) >= 0 {
		d.fail(problem.CodeNullCharacter, "Strings can hold any character but U+0000.")
	}
}

func (d *decoder) checkInteger(a *Attribute, n int64) {
	if n < a.compiled.MinInt {
		d.failMinimum(a)
	}
	if n > a.compiled.MaxInt {
		d.failMaximum(a)
	}
	if a.compiled.Multiple != nil && !new(big.Rat).Quo(new(big.Rat).SetInt64(n), a.compiled.Multiple).IsInt() {
		d.fail(problem.CodeMultipleOf, "Must be a multiple of %s.", a.MultipleOf)
	}
}

func (d *decoder) checkNumber(a *Attribute, f float64) {
	if f < a.compiled.Min || a.compiled.MinOpen && f == a.compiled.Min {
		d.failMinimum(a)
	}
	if f > a.compiled.Max || a.compiled.MaxOpen && f == a.compiled.Max {
		d.failMaximum(a)
	}
	if a.compiled.Multiple != nil {
		// The decimal that people read decides, so that 0.3 is a multiple of 0.1.
		decimal, _ := new(big.Rat).SetString(strconv.FormatFloat(f, 'g', -1, 64))
		if !decimal.Quo(decimal, a.compiled.Multiple).IsInt() {
			d.fail(problem.CodeMultipleOf, "Must be a multiple of %s.", a.MultipleOf)
		}
	}
}

func (d *decoder) failMinimum(a *Attribute) {
	d.fail(problem.CodeMinimum, "Must be %s.", bounds("at least", a.Minimum.String(), "more than", a.ExclusiveMinimum.String()))
}

func (d *decoder) failMaximum(a *Attribute) {
	d.fail(problem.CodeMaximum, "Must be %s.", bounds("at most", a.Maximum.String(), "less than", a.ExclusiveMaximum.String()))
}

func bounds(closed, limit, open, exclusive string) string {
	var parts []string
	if limit != "" {
		parts = append(parts, closed+" "+limit)
	}
	if exclusive != "" {
		parts = append(parts, open+" "+exclusive)
	}
	return strings.Join(parts, " and ")
}

func (d *decoder) checkEnum(a *Attribute, value Value) {
	if len(a.compiled.Enum) == 0 || slices.Contains(a.compiled.Enum, value) {
		return
	}
	var allowed []byte
	for i, choice := range a.compiled.Enum {
		if i > 0 {
			allowed = append(allowed, ", "...)
		}
		allowed = a.compiled.Kind.AppendValue(allowed, Record{choice}, 0)
	}
	d.fail(problem.CodeEnum, "Must be one of %s.", allowed)
}

func (d *decoder) checkMembers(a *Attribute, seen []string) {
	if a == nil {
		return
	}
	for i := range a.Properties {
		if name := a.Properties[i].Name; a.Properties[i].Required && !slices.Contains(seen, name) {
			pointer := string(d.json.StackPointer().AppendToken(name))
			d.faults.Add(fault.At(pointer, problem.CodeRequired, "The member %q is required.", name))
		}
	}
}

func (d *decoder) checkItems(a *Attribute, count int) {
	if a == nil {
		return
	}
	if count < a.MinItems {
		d.fail(problem.CodeMinItems, "Must have at least %s, but has %d.", suggest.Counted(a.MinItems, "item"), count)
	}
	if a.MaxItems > 0 && count > a.MaxItems {
		d.fail(problem.CodeMaxItems, "Must have at most %s, but has %d.", suggest.Counted(a.MaxItems, "item"), count)
	}
}
