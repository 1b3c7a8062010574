package suite

import (
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// At is the position in the reference of the resource that the server returns at an offset.
func (p *Probe) At(offset int) int {
	r := p.List(fmt.Sprintf("offset=%d&limit=1", offset))
	found := p.PositionsOf(p.OK(r).Resources())
	p.FailIf(len(found) != 1, r, "one resource", "%s", Describe(found))
	return found[0]
}

const TotalHeader = "X-Total-Count"

// Total fails unless X-Total-Count has a value. If it is missing, total.present fails, and this check
// is skipped.
func (p *Probe) Total(r *Reply, want int) {
	got := r.Header.Get(TotalHeader)
	p.SkipIf(got == "", "there is no %s (see total.present)", TotalHeader)
	p.FailIf(got != strconv.Itoa(want), r, fmt.Sprintf("%s: %d", TotalHeader, want), "%s", got)
}

// linkForm is the target of a link, and its parameters.
var linkForm = regexp.MustCompile(`<([^>]*)>([^<]*)`)

// Links parses a Link header (RFC 8288), as far as the convention uses it.
func Links(r *Reply) map[string]string {
	found := map[string]string{}
	for _, link := range linkForm.FindAllStringSubmatch(strings.Join(r.Header.Values("Link"), ", "), -1) {
		for parameter := range strings.SplitSeq(link[2], ";") {
			name, value, _ := strings.Cut(strings.Trim(parameter, " ,"), "=")
			if strings.TrimSpace(name) == "rel" {
				for relation := range strings.FieldsSeq(strings.Trim(strings.TrimSpace(value), `"`)) {
					found[relation] = link[1]
				}
			}
		}
	}
	return found
}

// Follow requests the target of a relation.
func (p *Probe) Follow(r *Reply, relation string) *Reply {
	target, has := Links(p.OK(r))[relation]
	p.FailIf(!has, r, "a Link with the relation "+relation, "%q", r.Header.Get("Link"))
	return p.Get(r.Target(target))
}

func (p *Probe) NoLink(r *Reply, relation string) {
	target, has := Links(r)[relation]
	p.FailIf(has, r, "no Link with the relation "+relation, "%s", target)
}

// Parameters fails unless the target of a relation has certain parameters. Other checks fail if
// the relation is missing.
func (p *Probe) Parameters(r *Reply, relation, want string) {
	target, has := Links(r)[relation]
	p.SkipIf(!has, "there is no %s (see link.%s)", relation, relation)
	parsed, err := url.Parse(target)
	p.FailIf(err != nil || !parsed.Query().Has(want), r, relation+" with the parameter "+want, "%s", target)
}

// Walk follows a relation to its end.
func (p *Probe) Walk(query, relation string) {
	r := p.OK(p.List(query))
	_, has := Links(r)[relation]
	p.SkipIf(!has, "there is no %s to follow (see link.%s)", relation, relation)
	var visited []int
	for range len(p.Reference) + 1 { // a walk in circles ends too
		page := p.PositionsOf(p.OK(r).Resources())
		if relation == "next" {
			visited = append(visited, page...)
		} else {
			slices.Sort(page)
			visited = slices.Concat(page, visited)
		}
		if _, has := Links(r)[relation]; !has {
			break
		}
		r = p.Follow(r, relation)
	}
	want := Span(0, len(p.Reference))
	p.FailIf(!slices.Equal(visited, want), r, "on the way "+Describe(want), "%s", Describe(visited))
}

// Downwards is the positions in the descending order of ids. read.order checks that the collection
// is in ascending order.
func (p *Probe) Downwards() []int {
	positions := Span(0, len(p.Reference))
	slices.SortFunc(positions, func(a, b int) int { return strings.Compare(p.Reference[b].ID(), p.Reference[a].ID()) })
	return positions
}

// Sortable is an attribute whose values are not already in this order: otherwise a sort without
// effect would not be noticed.
func (p *Probe) Sortable(direction int) Attribute {
	return p.Attribute("string, number or boolean attribute whose values are not sorted by themselves", func(a Attribute) bool {
		return (Ordered(a) || a.Type == "boolean") && !slices.IsSortedFunc(values(a, p.Reference), order(a, direction))
	})
}

// Repeated is a sortable attribute in which some resources are equal.
func (p *Probe) Repeated() Attribute {
	return p.Attribute("attribute in which resources are equal", func(a Attribute) bool {
		seen := map[string]bool{}
		return a.Type != "object" && a.Type != "array" && slices.ContainsFunc(p.Reference, func(each Resource) bool {
			value := EncodeJSON(each.Members[a.Name])
			before := seen[value]
			seen[value] = true
			return before && each.Has(a.Name)
		})
	})
}

func (p *Probe) Sorted(a Attribute, query string, direction int) {
	got := values(a, p.All(query))
	if !slices.IsSortedFunc(got, order(a, direction)) {
		p.Fail(p.List(query), map[int]string{1: "ascending", -1: "descending"}[direction]+" values of "+a.Name, "%s", Shorten(EncodeJSON(got)))
	}
}

// values are those that are not null: sort.null checks null.
func values(a Attribute, resources []Resource) []any {
	var values []any
	for _, each := range resources {
		if value := each.Members[a.Name]; !IsNull(value) {
			values = append(values, value)
		}
	}
	return values
}

func order(a Attribute, direction int) func(x, y any) int {
	return func(x, y any) int {
		if a.Type == "boolean" { // false is before true, also as text
			x, y = strconv.FormatBool(IsTrue(x)), strconv.FormatBool(IsTrue(y))
		}
		return direction * Compare(x, y)
	}
}

func IsTrue(value any) bool { return value == true }

func IsNull(value any) bool { return value == nil }

// Ordered: a string without a format or a number, whose order needs no
// knowledge of a format.
func Ordered(a Attribute) bool {
	return a.Type == "string" && a.Format == "" && a.References == "" || a.Type == "integer" || a.Type == "number"
}

func Compare(a, b any) int {
	if text, isText := a.(string); isText {
		other, _ := b.(string)
		return strings.Compare(text, other)
	}
	x, okX := a.(json.Number)
	y, okY := b.(json.Number)
	left, okLeft := rational(x)
	right, okRight := rational(y)
	if !okX || !okY || !okLeft || !okRight {
		return 0
	}
	return left.Cmp(right)
}

func AnyOf(a Attribute, values ...any) func(Resource) bool {
	return func(each Resource) bool {
		return slices.ContainsFunc(values, func(value any) bool { return EqualJSON(each.Members[a.Name], value) })
	}
}

// Divided is an attribute for which a condition holds in some resources and not in others:
// otherwise a filter without effect would not be noticed.
func (p *Probe) Divided(what string, fits func(Attribute) bool, is func(any) bool) Attribute {
	return p.Attribute(what, func(a Attribute) bool {
		if !fits(a) {
			return false
		}
		count := len(p.Where(func(each Resource) bool { return each.Has(a.Name) && is(each.Members[a.Name]) }))
		return count > 0 && count < len(p.Reference)
	})
}

// Valued is an attribute with a value that some resources have and others do not.
func (p *Probe) Valued(what string, fits func(Attribute) bool) (Attribute, any) {
	var value any
	a := p.Attribute(what+" attribute with different values", func(a Attribute) bool {
		if fits(a) {
			value = p.someValue(a, nil)
		}
		return value != nil
	})
	return a, value
}

func (p *Probe) TwoValues() (a Attribute, first, second any) {
	a = p.Attribute("string or number attribute with three different values", func(a Attribute) bool {
		if !Ordered(a) {
			return false
		}
		if first = p.someValue(a, nil); first == nil {
			return false
		}
		second = p.someValue(a, first)
		return second != nil && len(p.Where(AnyOf(a, first, second))) < len(p.Reference)
	})
	return a, first, second
}

// someValue is a value from the middle of the collection that not every
// resource has, other than one. Values that would have to be quoted are left out.
func (p *Probe) someValue(a Attribute, other any) any {
	for i := range p.Reference {
		value := p.Reference[(i+len(p.Reference)/2)%len(p.Reference)].Members[a.Name]
		if text, isText := value.(string); isText && (text == "" || strings.ContainsAny(text, `,\`)) {
			continue
		}
		if IsNull(value) || EqualJSON(value, other) {
			continue
		}
		if len(p.Where(AnyOf(a, value))) < len(p.Reference) {
			return value
		}
	}
	return nil
}

// Filtered is the positions of the resources that a filter selects.
func (p *Probe) Filtered(query string) []int {
	return p.PositionsOf(p.All(query))
}

// Selects fails unless a filter selects exactly the resources that fit.
func (p *Probe) Selects(query string, fits func(Resource) bool) {
	got, want := p.Filtered(query), p.Where(fits)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		p.Fail(p.List(query), Describe(want), "%s", Describe(got))
	}
}

// Divide finds an attribute, one of its parts, and a value of that part that some resources have, and
// others do not.
func (p *Probe) Divide(parts func(Attribute) []string, of func(value any, part string) any) (name, part string, value any) {
	for _, a := range p.Collection.Attributes {
		for _, part := range parts(a) {
			for _, each := range p.Reference {
				value := of(each.Members[a.Name], part)
				text, isText := value.(string)
				if value == nil || isText && text == "" {
					continue
				}
				count := len(p.Where(func(other Resource) bool { return EqualJSON(of(other.Members[a.Name], part), value) }))
				if count < len(p.Reference) {
					return a.Name, part, value
				}
			}
		}
	}
	p.Skip("the collection has no attribute for this, with different values")
	return "", "", nil
}

// plainWords is text whose words everybody sees alike.
var plainWords = regexp.MustCompile(`^[A-Za-z0-9 ]*$`)

// Words are those of the searched attributes, in lower case.
func (p *Probe) Words(each Resource) (words []string) {
	for _, name := range p.Collection.Search {
		words = append(words, p.WordsOf(each, name)...)
	}
	return words
}

// WordsOf are those of one attribute.
func (p *Probe) WordsOf(each Resource, name string) []string {
	text := each.Text(name)
	p.SkipIf(!plainWords.MatchString(text), "the values of %s are not plain words", name)
	return strings.Fields(strings.ToLower(text))
}

// Groups asks for groups of the collection.
func (p *Probe) Groups(query string) *Reply {
	return p.OK(p.Get("/-/groups" + p.Collection.Path() + "?" + query))
}
