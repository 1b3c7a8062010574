package openapi

import (
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/suggest"
)

// Patterns of texts whose form the formats of JSON Schema leave open.
const (
	idOut       = "^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$"
	dateTimeOut = `^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-5][0-9]\.[0-9]{3}Z$`
	dateTimeIn  = `^[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt][0-9]{2}:[0-9]{2}:[0-5][0-9](\.[0-9]{1,3})?([Zz]|[+-][0-9]{2}:[0-9]{2})$`
)

// decimalPattern is how decimals of a scale are written: by clients with so many digits
// after the point or fewer, by the server with all of them.
func decimalPattern(scale int, stored bool) string {
	whole := "0"
	if digits := model.MaxDecimalDigits - scale; digits > 0 {
		whole = "(0|[1-9][0-9]{0," + strconv.Itoa(digits-1) + "})"
	}
	fraction := `(\.[0-9]{1,` + strconv.Itoa(scale) + "})?"
	switch {
	case scale == 0:
		fraction = ""
	case stored:
		fraction = `\.[0-9]{` + strconv.Itoa(scale) + "}"
	}
	return "^-?" + whole + fraction + "$"
}

// exactMultiple reports whether a validator that calculates with doubles finds multiples as
// the server does, which looks at the decimal digits: 0.29 / 0.01 is no integer there. So it
// is for powers of two, and for integers that are small enough to be doubles.
func exactMultiple(a *model.Attribute) bool {
	step, ok := new(big.Rat).SetString(a.MultipleOf.String())
	if !ok {
		return false
	}
	isPower := func(n *big.Int) bool { return n.TrailingZeroBits()+1 == uint(n.BitLen()) } // #nosec G115 -- a length
	small := func(bounds ...json.Number) bool {
		return slices.ContainsFunc(bounds, func(bound json.Number) bool {
			value, ok := new(big.Rat).SetString(bound.String())
			return ok && value.Abs(value).Cmp(big.NewRat(1<<53, 1)) <= 0
		})
	}
	if isPower(step.Num()) && isPower(step.Denom()) {
		return true
	}
	return step.IsInt() && small(a.Minimum, a.ExclusiveMinimum) && small(a.Maximum, a.ExclusiveMaximum)
}

// variant is one of the four JSON Schemas of a collection: of resources as they are read, and of
// the bodies that create, replace and change them.
type variant int

const (
	readVariant variant = iota
	createVariant
	replaceVariant
	patchVariant
)

// variantSuffixes are the ends of the names of variants: User, UserCreate and so on.
var variantSuffixes = []string{readVariant: "", createVariant: "Create", replaceVariant: "Replace", patchVariant: "Patch"}

// isVariantOf reports whether a name is that of a variant of the collection with another name.
func isVariantOf(name, of string) bool {
	suffix, found := strings.CutPrefix(strings.ToLower(name), strings.ToLower(of))
	return found && suffix != "" && slices.ContainsFunc(variantSuffixes, func(each string) bool { return strings.ToLower(each) == suffix })
}

// schemaOf refers to a variant of the collection at a place, and adds it to the document.
func (b *builder) schemaOf(p place, v variant) object {
	name, givenByPath := b.titles[p.collection].one+variantSuffixes[v], ""
	if p.parent != nil && (v == createVariant || v == replaceVariant) {
		if parent := p.parentAttribute(); parent.Required && parent.Default == nil {
			wanted := name + "Below" + b.titles[p.parent.To].one // the body need not say what the path says
			name, _ = b.name(b.componentNames, "name of "+p.collection.Name+" "+wanted, wanted)
			givenByPath = parent.Name
		}
	}
	if b.isNew("schema " + name) {
		b.schemas.add(name, b.resourceSchema(p.collection, v, givenByPath))
	}
	return reference("schemas", name)
}

// resourceSchema is a JSON Schema of resources. One attribute may be given by the path, and
// so is not required.
func (b *builder) resourceSchema(c *model.Collection, v variant, givenByPath string) object {
	properties, required := object{}, list{}
	switch v {
	case readVariant:
		properties.add("id", object{{"type", "string"}, {"format", "uuid"}, {"pattern", idOut}, {"description", "The key of the resource, its place in the collection, and a cursor."}})
		required = append(required, "id", "type")
	case createVariant:
		properties.add("id", object{{"type", "string"}, {"format", "uuid"}, {"description", "An id of the client's. Without one, the server makes it."}})
	default:
		properties.add("id", object{{"type", "string"}, {"format", "uuid"}, {"description", "May be sent back as it is; it cannot change."}})
	}
	properties.add("type", object{{"type", "string"}, {"const", c.Name}, {"description", "The name of the collection."}})
	for i := range c.Attributes {
		a := &c.Attributes[i]
		if !b.has(c, a.Name, v) {
			continue
		}
		properties.add(a.Name, b.attributeSchema(c, a, v))
		if v == readVariant || (v == createVariant || v == replaceVariant) && b.mustBeGiven(c, a) && a.Name != givenByPath {
			required = append(required, a.Name)
		}
	}
	if b.timestamps(c) && v != createVariant {
		for _, each := range [][2]string{{"created_at", "When it was created."}, {"updated_at", "When it last changed."}} {
			properties.add(each[0], timestampSchema(each[1], v))
			if v == readVariant {
				required = append(required, each[0])
			}
		}
	}
	if v == readVariant {
		b.addRelations(&properties, c)
	}
	return closedObject(b.describeVariant(c, v), properties, required)
}

func (b *builder) describeVariant(c *model.Collection, v variant) string {
	one := suggest.Article(spaced(c.Singular))
	switch v {
	case readVariant:
		return capital(one) + ", whole. Every attribute is there, and null if it has no value."
	case createVariant:
		return "What " + one + " is created from. An attribute that is left out has its default, or is null."
	case replaceVariant:
		return "All of " + one + ". An attribute that is left out goes to its default, or to null. What was read can be sent back."
	}
	return "The attributes of " + one + " to change. Null clears one; defaults play no part."
}

func timestampSchema(description string, v variant) object {
	if v == readVariant {
		return object{{"type", "string"}, {"format", "date-time"}, {"pattern", dateTimeOut}, {"description", description}}
	}
	return object{{"type", "string"}, {"format", "date-time"}, {"pattern", dateTimeIn}, {"description", description + " May be sent back; it cannot be set."}}
}

// has reports whether a variant has an attribute, for the reader of the document. Attributes
// that they can only read can be sent back.
func (b *builder) has(c *model.Collection, attribute string, v variant) bool {
	column := c.Field(attribute).Column
	seen, set := b.By.Visible(c).Has(column), b.By.Writable(c).Has(column)
	switch v {
	case readVariant:
		return seen
	case createVariant:
		return set
	}
	return seen || set
}

func (b *builder) mustBeGiven(c *model.Collection, a *model.Attribute) bool {
	return a.InVersion().Required && a.Default == nil && b.By.Writable(c).Has(c.Field(a.Name).Column)
}

// onlySentBack reports whether an attribute can be part of what is sent, but not be changed by it.
func (b *builder) onlySentBack(c *model.Collection, a *model.Attribute, v variant) bool {
	return (v == replaceVariant || v == patchVariant) && !b.By.Writable(c).Has(c.Field(a.Name).Column)
}

// attributeSchema is the definition of an attribute of a collection.
func (b *builder) attributeSchema(c *model.Collection, a *model.Attribute, v variant) object {
	if c.ReadOnly() && a.Name == "errors" {
		return object{{"type", list{"array", "null"}}, {"description", a.Description}, {"items", reference("schemas", errorSchema)}}
	}
	d := defineIn(a, v)
	description := b.describeAttribute(c, a, v)
	d.addIf(description != "", "description", description)
	d.addIf(a.IsComputed() || b.onlySentBack(c, a, v), "readOnly", true)
	d.addIf(a.Default != nil && (v == createVariant || v == replaceVariant), "default", model.MustMarshal(a.Default))
	b.addRules(&d, c, a)
	return d
}

func (b *builder) describeAttribute(c *model.Collection, a *model.Attribute, v variant) string {
	text := a.Description
	if a.References != nil {
		if to := b.schema.Collection(a.References.Collection); b.By.MayKnow(to) {
			text += " The id of a resource of " + to.Name + "."
		} else {
			text += " The id of another resource."
		}
	}
	text += describeSent(a, v) + b.describeRules(c, a)
	if b.onlySentBack(c, a, v) {
		text += " May be sent back as it was read; it cannot be set."
	}
	return strings.TrimSpace(text)
}

// describeRest says what is required of a value that a JSON Schema cannot have.
func describeRest(a *model.Attribute) string {
	text := ""
	for _, k := range model.SchemaKeywords {
		if k.Sentence != "" && k.Given(a) && !expressible(k, a) {
			text += " " + fmt.Sprintf(k.Sentence, k.Value(a))
		}
	}
	return text
}

// expressible reports whether JSON Schema means by a keyword what the server does.
func expressible(k model.Keyword, a *model.Attribute) bool {
	switch {
	case k.Decimals && a.Format == model.Decimal: // it says nothing of strings
		return false
	case k.Name == "pattern":
		return portable.MatchString(a.Pattern)
	case k.Name == "multipleOf":
		return exactMultiple(a)
	}
	return true
}

// define is an attribute, or a value within one, as a JSON Schema: of what is sent, or of
// what is stored.
func define(a *model.Attribute, stored, nullable bool) object {
	d := object{}
	if nullable {
		d.add("type", list{string(a.Type), "null"})
	} else {
		d.add("type", string(a.Type))
	}
	switch a.Type {
	case model.Integer:
		d.add("format", "int64")
	case model.Number:
		d.add("format", "double")
	}
	d.addIf(a.Format != "", "format", string(a.Format))
	normalised := a.Format == model.UUID || a.Format == model.DateTime
	pattern := a.Pattern
	if !portable.MatchString(pattern) {
		pattern = ""
	}
	switch {
	case a.Format == model.Decimal:
		d.add("pattern", decimalPattern(a.Scale, stored))
	case stored && a.Format == model.UUID:
		d.add("pattern", idOut)
	case stored && a.Format == model.DateTime:
		d.add("pattern", dateTimeOut)
	case a.Format == model.DateTime && pattern != "":
		d.add("allOf", list{object{{"pattern", dateTimeIn}}, object{{"pattern", pattern}}})
	case a.Format == model.DateTime:
		d.add("pattern", dateTimeIn)
	default:
		d.addIf(pattern != "", "pattern", pattern)
	}
	for _, k := range model.SchemaKeywords {
		switch k.Name {
		case "type", "format", "scale", "pattern": // above
		case "description", "default": // what else there is to say depends on the place
		case "items":
			items := object{}
			if a.Items != nil {
				items = defineInner(a.Items, stored)
			}
			d.addIf(a.Type == model.Array, k.Name, items)
		case "properties":
			properties := object{}
			for i := range a.Properties {
				properties.add(a.Properties[i].Name, defineInner(&a.Properties[i], stored))
			}
			d.addIf(len(properties) > 0, k.Name, properties)
		case "required":
			required := list{}
			for i := range a.Properties {
				if a.Properties[i].Required {
					required = append(required, a.Properties[i].Name)
				}
			}
			d.addIf(len(required) > 0, k.Name, required)
		case "enum":
			if enum := choices(a, stored, nullable); enum != nil {
				d.add(k.Name, enum)
			}
		default:
			longer := k.NoDecimals && stored && normalised // what is sent may be written in a longer form
			if k.Given(a) && expressible(k, a) && !longer {
				d.add(k.Name, k.Value(a))
			}
		}
	}
	return d
}

// defineInner is a value within an attribute, which is never null.
func defineInner(a *model.Attribute, stored bool) object {
	d := define(a, stored, false)
	description := strings.TrimSpace(a.Description + describeRest(a))
	d.addIf(description != "", "description", description)
	return d
}

// choices is the enumeration of an attribute, nil if there is none that holds for the text:
// of ids and date-times what is sent may be written in several ways. Of decimals there are few.
func choices(a *model.Attribute, stored, nullable bool) list {
	normalised := a.Format == model.UUID || a.Format == model.DateTime || a.Format == model.Decimal
	decimal := a.Format == model.Decimal
	if len(a.Enum) == 0 || normalised && !stored && !decimal {
		return nil
	}
	all := list{}
	for _, each := range a.Enum {
		text := model.MustMarshal(each)
		if value, err := a.DecodeJSON(text); err == nil && normalised {
			switch a.Format {
			case model.UUID:
				text = model.MustMarshal(value.ID().String())
			case model.Decimal:
				shown := model.DecimalKind(a.Scale).DecimalText(value)
				if !stored {
					all = append(all, shorter(shown)...)
				}
				text = model.MustMarshal(shown)
			default:
				text = model.MustMarshal(value.Text())
			}
		}
		all = append(all, text)
	}
	if nullable {
		all = append(all, nil)
	}
	return all
}

// shorter lists the other ways to write a decimal: with fewer zeros after the point, and
// zero with a minus.
func shorter(decimal string) list {
	all := list{}
	if strings.Trim(decimal, "0.") == "" {
		all = append(append(list{"-" + decimal}, shorter("-"+decimal)...), all...)
	}
	for strings.Contains(decimal, ".") && (strings.HasSuffix(decimal, "0") || strings.HasSuffix(decimal, ".")) {
		decimal = strings.TrimSuffix(strings.TrimSuffix(decimal, "0"), ".")
		all = append(all, decimal)
	}
	return all
}

// The names of schemas that every document has.
const (
	errorSchema      = "ErrorObject"
	collectionSchema = "CollectionDescription"
	stateSchema      = "ServerState"
)

var ownSchemas = []string{errorSchema, collectionSchema, stateSchema, changeSchema}

func (b *builder) commonSchemas() object {
	schemas := object{
		{errorSchema, b.errorObject()},
		{collectionSchema, b.collectionDescription()},
		{stateSchema, closedObject("How the server is.", object{
			{"status", object{{"type", "string"}, {"enum", list{"ok", "ready", "failed", "unavailable"}}}},
			{"detail", object{{"type", "string"}, {"description", "Why it is not well, if that can be told."}}},
		}, list{"status"})},
	}
	schemas.addIf(b.By.MayKnow(b.schema.Changes()), changeSchema, b.changeObject())
	return schemas
}

func (b *builder) errorObject() object {
	var table strings.Builder
	table.WriteString("One thing that is wrong. Codes are stable:\n\n| Code | Status | Title |\n|---|---|---|\n")
	codes := allCodes()
	statuses := list{}
	for _, code := range codes {
		table.WriteString("| `" + string(code) + "` | " + strconv.Itoa(code.Status()) + " | " + code.Title() + " |\n")
		statuses = append(statuses, code.Status())
	}
	place := func(name, description string) object {
		return fixedObject("", object{{name, object{{"type", "string"}, {"description", description}}}})
	}
	return closedObject(table.String(), object{
		{"status", object{{"type", "integer"}, {"enum", slices.Compact(statuses)}, {"description", "The HTTP status."}}},
		{"code", object{{"type", "string"}, {"enum", texts(codes)}, {"description", "What kind of error this is, for programs."}}},
		{"title", object{{"type", "string"}, {"description", "The code in a few words."}}},
		{"detail", object{{"type", "string"}, {"description", "What is wrong here and what would be right, for people."}}},
		{"source", object{{"description", "The part of the request that is to blame, if it is one."}, {"oneOf", list{
			place("pointer", "A JSON Pointer into the body."), place("parameter", "The name of a query parameter, as it was written."), place("header", "The name of a header."),
		}}}},
	}, list{"status", "code", "title", "detail"})
}

func (b *builder) collectionDescription() object {
	return closedObject("A collection, as a resource.", object{
		{"id", object{{"type", "string"}, {"format", "uuid"}, {"pattern", idOut}}},
		{"type", object{{"type", "string"}, {"const", "collections"}}},
		{"name", object{{"type", "string"}, {"description", "What its path is called."}}},
		{"singular", object{{"type", "string"}}},
		{"total", object{{"type", list{"integer", "null"}}, {"minimum", 0}, {"description", "How many resources it holds. Null if the caller may not list it, or if a rule decides which of them the caller sees."}}},
		{"attributes", object{{"type", "array"}, {"description", "Its attributes in order, each with its name, whether it is required, what it refers to, and its JSON Schema."}, {"items", object{
			{"type", "object"},
			{"properties", object{
				{"name", object{{"type", "string"}}}, {"required", object{{"type", "boolean"}}},
				{"references", object{{"type", "string"}, {"description", "The collection that it refers to."}}},
				{"transitions", object{{"type", "object"}, {"description", "Of a lifecycle: the states that each state may change to."}, {"additionalProperties", arrayOf(object{{"type", "string"}})}}},
				{"initial", object{{"type", "array"}, {"description", "Of a lifecycle: the states that a new resource may have."}, {"items", object{{"type", "string"}}}}},
				{"computed", object{{"type", list{"string", "null"}}, {"description", "The expression by which the server sets the value. Null if it reads what the caller does not see."}}},
				{"when", object{{"type", "string"}, {"const", model.WhenCreate}, {"description", "The value is computed once, when the resource is created."}}},
				{"write_once", object{{"type", "boolean"}, {"const", true}, {"description", "The value is set by the create, and does not change."}}},
				{"type", object{{"type", "string"}}},
			}},
			{"required", list{"name", "required", "type"}}, {"additionalProperties", true},
		}}}},
		{"relations", object{{"type", "array"}, {"description", "Its relations, which `include` can name."}, {"items", fixedObject("", object{
			{"name", object{{"type", "string"}}}, {"collection", object{{"type", "string"}, {"description", "The collection of the related resources."}}},
			{"many", object{{"type", "boolean"}}}, {"attribute", object{{"type", "string"}, {"description", "The attribute that refers to the other resource."}}},
		})}}},
		{"search", object{{"type", "array"}, {"description", "The attributes that `search` finds words in. Left out if there are none."}, {"items", object{{"type", "string"}}}}},
		{"label", object{{"type", "string"}, {"description", "The attribute that names a resource to people. Left out if there is none."}}},
		{"checks", object{{"type", "array"}, {"description", "The rules that every resource must meet, as far as the caller sees what they read. Left out if there are none."}, {"items", closedObject("", object{
			{"rule", object{{"type", "string"}}}, {"message", object{{"type", "string"}, {"description", "What the error says."}}},
			{"attribute", object{{"type", "string"}, {"description", "The attribute that the error points at, if any."}}},
		}, list{"rule", "message"})}}},
	}, list{"id", "type", "name", "singular", "total", "attributes", "relations"})
}
