package query

import (
	"strconv"
	"strings"

	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/problem"
)

func (p *parser) offset(given parameter) {
	p.query.Range.Anchor = AtOffset
	n, ok := parseInt(given.value)
	if !ok || n < 0 {
		p.fail(given, problem.CodeInvalidParameter, "Must be an integer that is not negative, such as 30.")
		return
	}
	p.query.Range.Offset = n
}

func (p *parser) limit(given parameter) {
	n, ok := parseInt(given.value)
	if !ok {
		p.fail(given, problem.CodeInvalidParameter, "Must be an integer such as 30, or -30 to count backwards.")
		return
	}
	p.query.Range.Limit = n
	if most := p.limits.MaxLimit; most > 0 && p.query.Range.Size() > most {
		p.fail(given, problem.CodeLimitTooLarge, "The limit is too large. This server allows at most %d.", most)
	}
}

// parseInt reads decimal digits with an optional minus. Numbers outside int64 become its smallest or
// largest value: no collection has so many resources.
func parseInt(text string) (int64, bool) {
	digits := strings.TrimPrefix(text, "-")
	if digits == "" || strings.Trim(digits, "0123456789") != "" {
		return 0, false
	}
	n, _ := strconv.ParseInt(text, 10, 64) // the only error is that of a number outside int64
	return n, true
}

func (p *parser) cursor(given parameter) {
	id, ok := model.ParseID(given.value)
	if !ok {
		p.fail(given, problem.CodeInvalidParameter, "Must be the id of a resource, a UUID such as 01936f2e-7d3c-7a4b-9c5d-0123456789ab.")
		return
	}
	p.query.Range.Cursor = id
}

func (p *parser) sort(given parameter) {
	p.query.linkParameters = append(p.query.linkParameters, given.encoded)
	if p.sortKeys == nil {
		p.sortKeys = map[string]bool{}
	}
	for text := range p.pieces(given.value, ",") {
		if len(p.sortKeys) == MaxSortKeys {
			p.failOnce(given, "At most %d sort keys can be given.", MaxSortKeys)
			return
		}
		name, descending := strings.CutPrefix(text, "-")
		if name == "" {
			p.fail(given, problem.CodeInvalidParameter, "Must be names of fields, separated by commas, each with a minus before it to sort downwards: -created_at,name.")
			continue
		}
		switch to := p.target(given, name, forSort); {
		case to == nil:
		case p.sortKeys[name]:
			p.fail(given, problem.CodeInvalidParameter, "The field %q is given twice.", name)
		case to.field.Kind == model.KindJSON:
			p.failUnsorted(given, to)
		case to.field.Column != model.NoColumn:
			p.query.Sort = append(p.query.Sort, SortKey{Operand: to.operand, Descending: descending})
		case to.operand.Through != nil:
			p.fail(given, problem.CodeInvalidParameter, "The field %q is the same for all resources of %s. Leave it out.", name, to.collection.Name)
		}
		p.sortKeys[name] = true
	}
}

// failUnsorted refuses to sort by objects and arrays.
func (p *parser) failUnsorted(given parameter, to *target) {
	hint := ""
	if names := addressable(to.attribute); len(names) > 0 {
		hint = " Sort by a property, such as " + to.name + "." + names[0] + "."
	}
	p.fail(given, problem.CodeInvalidParameter, "The field %q has objects or arrays, which cannot be sorted.%s", to.name, hint)
}
