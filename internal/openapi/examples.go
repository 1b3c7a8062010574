package openapi

import (
	"cmp"
	"encoding/json"
	"hash/fnv"
	"math/big"
	"slices"
	"strings"

	"github.com/plural-go/plural/internal/model"
)

// exampleID and exampleTime are in all examples.
const (
	exampleID   = "01936f2e-7d3c-7a4b-9c5d-0123456789ab"
	exampleTime = "2026-11-14T09:30:00.123Z"
)

// idOf is the id of the example of a collection. References to what the reader does not
// know have one that tells nothing.
func (b *builder) idOf(c *model.Collection) string {
	if !b.By.MayKnow(c) {
		return exampleID
	}
	hash := fnv.New64a()
	_, _ = hash.Write([]byte(c.Name)) // cannot fail
	id, _ := model.ParseID(exampleID)
	copy(id[11:], hash.Sum(nil)[:5])
	return id.String()
}

// example is a resource of a collection in a variant, or nil if none can be found. One
// attribute may be given by the path.
func (b *builder) example(c *model.Collection, v variant, givenByPath string) any {
	example := object{}
	if v == readVariant {
		example = object{{"id", b.idOf(c)}, {"type", c.Name}}
	}
	for i := range c.Attributes {
		a := &c.Attributes[i]
		if !b.has(c, a.Name, v) || a.Name == givenByPath || v != readVariant && (!b.By.Writable(c).Has(c.Field(a.Name).Column) || v == patchVariant && a.WriteOnce) {
			continue
		}
		if v == patchVariant && len(example) == 1 {
			break // one is enough to see how it is done
		}
		value := b.exampleOf(c, a)
		if c.ReadOnly() && a.Name == "errors" {
			value = nil // it went well
		}
		if value == nil && a.InVersion().Required {
			return nil
		}
		example.add(a.Name, value)
	}
	if v == readVariant && b.timestamps(c) {
		example = append(example, member{"created_at", exampleTime}, member{"updated_at", exampleTime})
	}
	return example
}

// exampleOf is a valid value of an attribute, as it is stored, or nil if none is found.
// A resource refers to another one of its collection, not to itself.
func (b *builder) exampleOf(c *model.Collection, a *model.Attribute) any {
	if a.References != nil && a.References.Collection == c.Name {
		return exampleID
	}
	if a.References != nil {
		return b.idOf(b.schema.Collection(a.References.Collection))
	}
	return firstValid(a)
}

// firstValid is the best candidate that is valid, or nil if none is.
func firstValid(a *model.Attribute) any {
	for _, candidate := range candidates(a.InVersion()) {
		text := json.RawMessage(marshal(candidate))
		if isValid(a, text) {
			return text
		}
	}
	return nil
}

// candidates are values that may be valid, the best first.
func candidates(a *model.Attribute) list {
	all := list{}
	if a.Default != nil {
		all = append(all, model.MustMarshal(a.Default))
	}
	if stored := choices(a, true, false); len(stored) > 0 {
		return append(all, stored...)
	}
	switch a.Type {
	case model.String:
		return append(all, textCandidates(a)...)
	case model.Integer, model.Number:
		return append(all, numberCandidates(a)...)
	case model.Boolean:
		return append(all, true, false)
	case model.Array:
		return append(all, arrayCandidate(a))
	}
	return append(all, objectCandidate(a))
}

// sayings are examples of what attributes of these names hold.
var sayings = map[string]string{
	"name": "Ada Lovelace", "first_name": "Ada", "last_name": "Lovelace", "title": "Notes on the Analytical Engine",
	"body": "The Analytical Engine weaves algebraic patterns.", "text": "The Analytical Engine weaves algebraic patterns.",
	"description": "What it is about, in a sentence.", "city": "London", "country": "GB", "language": "en", "currency": "EUR",
	"phone": "+44 20 7946 0018", "url": "https://example.com/", "color": "blue", "colour": "blue",
}

func textCandidates(a *model.Attribute) list {
	switch a.Format {
	case model.UUID:
		return list{exampleID}
	case model.Email:
		return list{"ada@example.com", "a@b.co"}
	case model.URI:
		return list{"https://example.com/", "urn:x"}
	case model.Date:
		return list{"2026-11-14"}
	case model.DateTime:
		return list{exampleTime}
	case model.Decimal:
		return decimalCandidates(a)
	}
	if a.Pattern != "" {
		return list{sayings[a.Name], matching(a.Pattern, 1), matching(a.Pattern, a.MinLength), matching(a.Pattern, a.MaxLength)}
	}
	text := cmp.Or(sayings[a.Name], capital(spaced("some_"+a.Name)))
	text += strings.Repeat("x", max(0, a.MinLength-len(text)))
	if a.MaxLength > 0 && len(text) > a.MaxLength {
		text = text[:a.MaxLength]
	}
	return list{text}
}

// decimalCandidates are decimals around the bounds, with all the digits of the scale.
func decimalCandidates(a *model.Attribute) list {
	all := list{}
	if a.MultipleOf == "" {
		price := big.NewRat(1999, 100)
		all = append(all, price.FloatString(a.Scale))
	}
	for _, candidate := range numberCandidates(a) {
		number, _ := candidate.(json.RawMessage)
		if value, ok := new(big.Rat).SetString(string(number)); ok {
			all = append(all, value.FloatString(a.Scale))
		}
	}
	return all
}

// numberCandidates are numbers around the bounds.
func numberCandidates(a *model.Attribute) list {
	step := big.NewRat(1, 1)
	if a.MultipleOf != "" {
		step, _ = new(big.Rat).SetString(a.MultipleOf.String())
	}
	all := list{}
	add := func(value *big.Rat) {
		if value.IsInt() {
			all = append(all, json.RawMessage(value.Num().String()))
		} else {
			all = append(all, json.RawMessage(strings.TrimRight(value.FloatString(20), "0")))
		}
	}
	around := func(bound json.Number) {
		value, ok := new(big.Rat).SetString(bound.String())
		if !ok {
			return
		}
		quotient := new(big.Rat).Quo(value, step)
		whole := new(big.Int).Div(quotient.Num(), quotient.Denom())
		for _, shift := range []int64{0, 1, -1} {
			add(new(big.Rat).Mul(step, new(big.Rat).SetInt(new(big.Int).Add(whole, big.NewInt(shift)))))
		}
		add(value)
	}
	for _, n := range []int64{42, 10, 1, 0} {
		add(new(big.Rat).Mul(step, big.NewRat(n, 1)))
	}
	for _, bound := range []json.Number{a.Minimum, a.ExclusiveMinimum, a.Maximum, a.ExclusiveMaximum} {
		around(bound)
	}
	// Between the bounds, if they are closer together than a step.
	low, lowOK := new(big.Rat).SetString(string(a.Minimum + a.ExclusiveMinimum))
	high, highOK := new(big.Rat).SetString(string(a.Maximum + a.ExclusiveMaximum))
	if lowOK && highOK {
		add(new(big.Rat).Mul(big.NewRat(1, 2), new(big.Rat).Add(low, high)))
	}
	return all
}

func arrayCandidate(a *model.Attribute) list {
	item := any("a")
	if a.Items != nil {
		item = firstValid(a.Items)
	}
	return slices.Repeat(list{item}, max(a.MinItems, 1))
}

func objectCandidate(a *model.Attribute) object {
	members := object{}
	for i := range a.Properties {
		if value := firstValid(&a.Properties[i]); value != nil {
			members.add(a.Properties[i].Name, value)
		}
	}
	return members
}
