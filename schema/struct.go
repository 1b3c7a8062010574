package schema

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// Of declares a collection by a Go struct. Each exported field is an attribute
// under its json name; its type gives the attribute's, and a plural tag the rest:
//
//	type User struct {
//		ID        string    `json:"id"`
//		Name      string    `json:"name" plural:"required,minLength=1"`
//		Email     string    `json:"email" plural:"required,format=email,maxLength=254,unique"`
//		Active    *bool     `json:"active,omitempty" plural:"default=true"`
//		TeamID    *string   `json:"team_id" plural:"parent=teams,on_delete=cascade"`
//		CreatedAt time.Time `json:"created_at"`
//	}
//
// The words of a tag are the keywords of the schema file: required, unique and
// index; format, minLength, maxLength, pattern, minimum, maximum,
// exclusiveMinimum, exclusiveMaximum, multipleOf, minItems, maxItems, enum (with
// | between the values), default, description; references or parent, with
// on_delete. A comma within a value is written \,.
//
// The collection is named after the type: User gives users. A field named _ can
// say otherwise: `plural:"name=people,singular=person"`. Fields named id, type,
// created_at and updated_at are the server's; without created_at and updated_at
// the collection has no timestamps.
func Of[T any]() (Collection, error) {
	t := reflect.TypeFor[T]()
	if t.Kind() != reflect.Struct {
		return Collection{}, fmt.Errorf("%s is not a struct", t)
	}
	c := Collection{Name: CollectionName(t), NoTimestamps: true}
	for i := range t.NumField() {
		if err := c.addField(t.Field(i)); err != nil {
			return Collection{}, fmt.Errorf("%s.%s: %w", t, t.Field(i).Name, err)
		}
	}
	return c, nil
}

// CollectionName is the name of the collection that a struct declares.
func CollectionName(t reflect.Type) string {
	if blank, ok := t.FieldByName("_"); ok {
		for _, word := range tagWords(blank.Tag.Get("plural")) {
			if name, found := strings.CutPrefix(word, "name="); found {
				return name
			}
		}
	}
	return english.Plural(snakeCase(t.Name()))
}

// snakeCase makes order_item of OrderItem.
func snakeCase(name string) string {
	var b strings.Builder
	for i, r := range name {
		if unicode.IsUpper(r) && i > 0 {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

func (c *Collection) addField(field reflect.StructField) error {
	if field.Name == "_" {
		for _, word := range tagWords(field.Tag.Get("plural")) {
			if singular, ok := strings.CutPrefix(word, "singular="); ok {
				c.Singular = singular
			}
		}
		return nil
	}
	name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
	if !field.IsExported() || name == "-" {
		return nil
	}
	switch name {
	case "":
		return fmt.Errorf("it needs a json tag with the name of its attribute")
	case "id", "type":
		return nil
	case "created_at", "updated_at":
		c.NoTimestamps = false
		return nil
	}
	a := Attribute{Name: name}
	if err := a.setType(field.Type); err != nil {
		return err
	}
	parent, err := a.setTag(field.Tag.Get("plural"))
	if err != nil {
		return err
	}
	if _, options, _ := strings.Cut(field.Tag.Get("json"), ","); a.Default != nil && !strings.Contains(options, "omit") {
		return fmt.Errorf("its default would never be used, as its value is always sent: make it a pointer with omitempty")
	}
	if parent != nil {
		parent.Attribute = name
		c.Parent = parent
	}
	c.Attributes = append(c.Attributes, a)
	return nil
}

// setType derives the type of an attribute, or of what is inside one.
func (a *Attribute) setType(t reflect.Type) error {
	switch {
	case t.Kind() == reflect.Pointer:
		return a.setType(t.Elem())
	case t == reflect.TypeFor[time.Time]():
		a.Type, a.Format = String, DateTime
	case t == reflect.TypeFor[json.RawMessage]():
		a.Type = Object
	case t.Kind() == reflect.String:
		a.Type = String
	case t.Kind() == reflect.Bool:
		a.Type = Boolean
	case t.Kind() >= reflect.Int && t.Kind() <= reflect.Uint64:
		a.Type = Integer
	case t.Kind() == reflect.Float32 || t.Kind() == reflect.Float64:
		a.Type = Number
	case t.Kind() == reflect.Map || t.Kind() == reflect.Struct:
		a.Type = Object
	case t.Kind() == reflect.Slice || t.Kind() == reflect.Array:
		a.Type, a.Items = Array, &Attribute{}
		if err := a.Items.setType(t.Elem()); err != nil {
			return err
		}
		if a.Items.Type == Object || a.Items.Type == Array {
			a.Items = nil // what is inside is the struct's business
		}
	default:
		return fmt.Errorf("no attribute can hold a %s", t)
	}
	return nil
}

// tagWords splits a tag at its commas, but for those behind a backslash.
func tagWords(tag string) []string {
	if tag == "" {
		return nil
	}
	const placeholder = "\x00"
	words := strings.Split(strings.ReplaceAll(tag, `\,`, placeholder), ",")
	for i := range words {
		words[i] = strings.ReplaceAll(words[i], placeholder, ",")
	}
	return words
}

// setTag applies the words of a tag. Parent is set when the attribute is that of
// the parent.
func (a *Attribute) setTag(tag string) (parent *Parent, err error) {
	onDelete := OnDelete("")
	for _, word := range tagWords(tag) {
		keyword, value, hasValue := strings.Cut(word, "=")
		switch keyword {
		case "required", "unique", "index":
			if hasValue { // required=false would else require it
				return nil, fmt.Errorf("%s takes no value: leave the word out if it is not meant", keyword)
			}
		}
		switch keyword {
		case "required":
			a.Required = true
		case "unique":
			a.Unique = true
		case "index":
			a.Index = true
		case "references":
			a.References = &Reference{Collection: value}
		case "parent":
			parent = &Parent{Collection: value}
		case "on_delete":
			onDelete = OnDelete(value)
		case "enum":
			for choice := range strings.SplitSeq(value, "|") {
				a.Enum = append(a.Enum, a.constant(choice))
			}
		case "default":
			a.Default = a.constant(value)
		default:
			if err := a.setConstraint(keyword, value); err != nil {
				return nil, err
			}
		}
	}
	if a.References != nil {
		a.References.OnDelete = onDelete
	}
	if parent != nil {
		parent.OnDelete = onDelete
	}
	return parent, nil
}

func (a *Attribute) setConstraint(keyword, value string) (err error) {
	counts := map[string]*int{"minLength": &a.MinLength, "maxLength": &a.MaxLength, "minItems": &a.MinItems, "maxItems": &a.MaxItems}
	bounds := map[string]*json.Number{
		"minimum": &a.Minimum, "maximum": &a.Maximum, "exclusiveMinimum": &a.ExclusiveMinimum,
		"exclusiveMaximum": &a.ExclusiveMaximum, "multipleOf": &a.MultipleOf,
	}
	switch {
	case counts[keyword] != nil:
		if *counts[keyword], err = strconv.Atoi(value); err != nil {
			return fmt.Errorf("%s must be a whole number, but is %q", keyword, value)
		}
	case bounds[keyword] != nil:
		*bounds[keyword] = json.Number(value)
	case keyword == "format":
		a.Format = Format(value)
	case keyword == "pattern":
		a.Pattern = value
	case keyword == "description":
		a.Description = value
	default:
		return fmt.Errorf("there is no keyword %q for a plural tag", keyword)
	}
	return nil
}

// constant is a value of a tag as the attribute's type has it.
func (a *Attribute) constant(text string) any {
	if a.Type == String {
		return text
	}
	return json.RawMessage(text)
}
