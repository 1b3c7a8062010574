package suite

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// NewTag is a short random text.
func NewTag() string {
	var random [3]byte
	_, _ = rand.Read(random[:]) // it never fails
	return hex.EncodeToString(random[:])
}

func NewUUID() string {
	var random [16]byte
	_, _ = rand.Read(random[:]) // it never fails
	random[6], random[8] = random[6]&0x0f|0x40, random[8]&0x3f|0x80
	text := hex.EncodeToString(random[:])
	return strings.Join([]string{text[:8], text[8:12], text[12:16], text[16:20], text[20:]}, "-")
}

// generator makes values that are valid, and different for each n where the
// definition leaves room for that.
type generator struct{ tag string }

// scattered permutes the numbers below 10007, so that the order of values is not the order of
// creation.
func scattered(n int) int { return n * 7919 % 10007 }

// longest is the maximum length of generated values.
const longest = 1000

// value returns false if it cannot make a value: for an unknown pattern, or a very long text.
func (g generator) value(name string, d definition, n int) (any, bool) {
	if len(d.Enum) > 0 {
		return d.Enum[n%len(d.Enum)], true
	}
	if max(d.MinLength, d.MinItems) > longest {
		return nil, false
	}
	switch d.Type {
	case "string":
		return g.text(name, d, n)
	case "integer", "number":
		return g.number(d, n), true
	case "boolean":
		return n%2 == 0, true
	case "array":
		items := []any{}
		element := definition{Type: "string"}
		if d.Items != nil {
			element = *d.Items
		}
		for i := range max(d.MinItems, 1) {
			item, ok := g.value(name, element, n+i)
			if !ok {
				return nil, false
			}
			items = append(items, item)
		}
		return items, true
	case "object":
		members := map[string]any{}
		for member, property := range d.Properties {
			value, ok := g.value(member, property, n)
			if !ok {
				return nil, false
			}
			members[member] = value
		}
		if len(d.Properties) == 0 {
			members["conform"] = json.Number(strconv.Itoa(n))
		}
		return members, true
	}
	return nil, false
}

var epoch = time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)

func (g generator) text(name string, d definition, n int) (any, bool) {
	if d.Format == "decimal" {
		return g.decimal(d, n), true
	}
	n = scattered(n)
	switch d.Format {
	case "email":
		text := fmt.Sprintf("conform-%05d-%s@example.com", n, g.tag)
		if d.MaxLength > 0 && len(text) > d.MaxLength {
			text = fmt.Sprintf("c%s%s@e.org", strconv.FormatInt(int64(n), 36), g.tag)
		}
		return text, true
	case "uri":
		return fmt.Sprintf("https://example.com/conform/%s/%05d", g.tag, n), true
	case "uuid":
		return NewUUID(), true
	case "date":
		return epoch.AddDate(0, 0, n+d.rank).Format(time.DateOnly), true // what ends is after what starts
	case "date-time":
		at := epoch.Add(time.Duration(n)*time.Minute + time.Duration(d.rank)*time.Hour)
		return at.Format("2006-01-02T15:04:05.000Z"), true
	}
	short := strconv.FormatInt(int64(n), 36)
	candidates := []string{fmt.Sprintf("%s %05d %s", name, n, g.tag), g.tag + short, short}
	if d.Pattern != "" {
		number := strconv.Itoa(n)
		candidates = append(candidates, "A"+number, "a"+number, number, strings.Repeat("a", max(1, d.MinLength)), strings.Repeat("A", max(1, d.MinLength)))
	}
	pattern, err := regexp.Compile(d.Pattern)
	if err != nil {
		return nil, false
	}
	for _, text := range candidates {
		for len(text) < d.MinLength {
			text = "0" + text
		}
		if (d.MaxLength == 0 || len(text) <= d.MaxLength) && pattern.MatchString(text) {
			return text, true
		}
	}
	return nil, false
}

// number counts up from the smallest value in steps, and begins again at the
// largest. Fractions are exact, as multiples of 0.1 are none in binary.
func (g generator) number(d definition, n int) json.Number {
	value := g.exact(d, n)
	if value.IsInt() {
		return json.Number(value.Num().String())
	}
	return json.Number(strings.TrimRight(value.FloatString(12), "0"))
}

// decimal does the same in steps of the last digit.
func (g generator) decimal(d definition, n int) string {
	if d.MultipleOf == "" {
		d.MultipleOf = json.Number("1e-" + strconv.Itoa(d.Scale))
	}
	return g.exact(d, n).FloatString(d.Scale)
}

func (g generator) exact(d definition, n int) *big.Rat {
	step := big.NewRat(1, 1)
	if parsed, ok := rational(d.MultipleOf); ok && parsed.Sign() > 0 {
		step = parsed
	}
	low, hasLow := rational(d.Minimum)
	if bound, ok := rational(d.ExclusiveMinimum); ok {
		low, hasLow = new(big.Rat).Add(bound, step), true
	}
	high, hasHigh := rational(d.Maximum)
	if bound, ok := rational(d.ExclusiveMaximum); ok {
		high, hasHigh = new(big.Rat).Sub(bound, step), true
	}
	// Products of what expressions read fit, and nothing is divided by 0.
	small := d.rank > 0 && !d.Unique
	if small && (!hasLow || low.Sign() <= 0) && (!hasHigh || high.Cmp(step) >= 0) {
		low, hasLow = step, true
	}
	switch {
	case !hasLow && hasHigh:
		low = new(big.Rat).Sub(high, new(big.Rat).Mul(step, big.NewRat(1000, 1)))
	case !hasLow:
		low = new(big.Rat)
	}
	// The first multiple that is not below the smallest value.
	first := new(big.Rat).Quo(low, step)
	multiple := new(big.Int).Div(first.Num(), first.Denom())
	if !first.IsInt() {
		multiple.Add(multiple, big.NewInt(1))
	}
	count := big.NewInt(1 << 40)
	if hasHigh {
		last := new(big.Rat).Quo(high, step)
		count.Sub(new(big.Int).Div(last.Num(), last.Denom()), multiple).Add(count, big.NewInt(1))
		if count.Sign() <= 0 {
			count.SetInt64(1)
		}
	}
	// Far from the values of other runs, where there is room.
	offset, _ := strconv.ParseInt(g.tag, 16, 64)
	place := offset*10007 + int64(scattered(n))
	if small {
		place = int64(n ^ 7) // also not in the order of creation
	}
	position := new(big.Int).Mod(big.NewInt(place), count)
	return new(big.Rat).Mul(new(big.Rat).SetInt(multiple.Add(multiple, position)), step)
}

func rational(text json.Number) (*big.Rat, bool) {
	if text == "" {
		return nil, false
	}
	return new(big.Rat).SetString(text.String())
}

// varied is another value of the same kind as a sample's.
func (g generator) varied(a Attribute, sample any, n int) any {
	text, isText := sample.(string)
	mark := fmt.Sprintf("%05d%s", scattered(n), g.tag)
	switch {
	case len(a.Enum) > 0 || a.Pattern != "" || a.References != "":
		return sample
	case isText && a.Format == "email":
		name, domain, _ := strings.Cut(text, "@")
		return name + "-" + mark + "@" + domain
	case isText && a.Format == "uri":
		return text + mark
	case isText && a.Format == "":
		return text + " " + mark
	}
	switch sample.(type) {
	case nil, map[string]any, []any:
		return sample
	}
	if value, ok := g.value(a.Name, a.definition, n); ok {
		return value
	}
	return sample
}

// Members makes the attributes of a new resource. Every fourth value of an optional attribute is
// null, so that filters by null find something.
func (s *Suite) Members(c Collection) (map[string]any, error) {
	s.counter++
	n := s.counter
	sample := s.samples[c.Name].Members
	members := map[string]any{}
	maps.Copy(members, sample)
	g := generator{s.Tag}
	for i, a := range c.Attributes {
		given, isGiven := sample[a.Name]
		switch {
		case a.Computed:
			delete(members, a.Name)
		case a.Transitions != nil && !isGiven:
			members[a.Name] = a.First()
		case isGiven && s.constant[place{c.Name, a.Name}]:
		case isGiven:
			members[a.Name] = g.varied(a, given, n)
		case !c.Described: // seen in a resource; what values it takes is not known
		case a.References != "" && !c.optional(a):
			id, err := s.parentID(a.References)
			if err != nil {
				return nil, err
			}
			members[a.Name] = id
		case a.References != "":
		case c.optional(a) && (n+i)%4 == 3:
			members[a.Name] = nil
		default:
			value, ok := g.value(a.Name, a.definition, n)
			if !ok && !c.optional(a) {
				return nil, fmt.Errorf("no value for the attribute %s of %s could be made up: give a sample body for it", a.Name, c.Name)
			}
			if ok {
				members[a.Name] = value
			}
		}
	}
	return members, nil
}

// changed is a value that an attribute does not have yet, false if none is known.
func (s *Suite) changed(c Collection, a Attribute, now any) (any, bool) {
	given, isGiven := s.samples[c.Name].Members[a.Name]
	if s.constant[place{c.Name, a.Name}] || !a.free() || a.References != "" || slices.Contains(OwnMembers, a.Name) || !c.Described && !isGiven {
		return nil, false
	}
	for range 3 {
		s.counter++
		value, ok := generator{s.Tag}.value(a.Name, a.definition, s.counter)
		if isGiven {
			value, ok = generator{s.Tag}.varied(a, given, s.counter), true
		}
		if ok && !EqualJSON(value, now) {
			return value, true
		}
	}
	return nil, false
}
