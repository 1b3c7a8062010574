package schema

import (
	"errors"
	"fmt"
	"go/token"
	"reflect"
	"slices"
	"strings"
	"unicode"
)

// Of declares a collection by a Go struct. Each exported field is an attribute
// under its json name; its type gives the attribute's, and a plural tag the rest:
//
//	type User struct {
//		ID        string    `json:"id"`
//		Name      string    `json:"name" plural:"required,minLength=1"`
//		Email     string    `json:"email" plural:"required,format=email,unique"`
//		Active    *bool     `json:"active,omitempty" plural:"default=true"`
//		TeamID    *string   `json:"team_id" plural:"parent=teams,on_delete=cascade"`
//		CreatedAt time.Time `json:"created_at"`
//	}
//
// The words of a tag are the keywords of the schema file: required, unique and
// index; format, minLength, maxLength, pattern, minimum, maximum,
// exclusiveMinimum, exclusiveMaximum, multipleOf, minItems, maxItems, enum (with
// | between the values), default, description, renamed_from; references or
// parent, with on_delete. A comma within a value is written \,.
//
// A number has the bounds of its Go type, so that whatever is stored fits back
// into the struct. A type that writes its own JSON needs the keyword type in its
// tag: type=string.
//
// The collection is named after the type: User gives users. A field named _ can
// say otherwise: `plural:"name=people,singular=person"`. Fields named id, type,
// created_at and updated_at are the server's; without created_at and updated_at
// the collection has no timestamps. The fields of an embedded struct count as
// those of the struct around it, as they do in JSON.
func Of[T any]() (Collection, error) {
	t := reflect.TypeFor[T]()
	if err := checkStruct(t); err != nil {
		return Collection{}, err
	}
	c := Collection{NoTimestamps: true}
	fields, err := fieldsOf(t, nil)
	if err != nil {
		return Collection{}, fmt.Errorf("%s: %w", t, err)
	}
	for _, field := range fields {
		if err := c.addField(field); err != nil {
			return Collection{}, fmt.Errorf("%s.%s: %w", t, field.Name, err)
		}
	}
	if c.Name, err = CollectionName(t); err != nil {
		return Collection{}, err
	}
	return c, nil
}

// checkStruct refuses what has no fields to declare anything by.
func checkStruct(t reflect.Type) error {
	switch {
	case t.Kind() == reflect.Pointer && t.Elem().Kind() == reflect.Struct:
		return fmt.Errorf("%s is a pointer, and a collection is declared by the struct itself: use %s", t, t.Elem())
	case t.Kind() != reflect.Struct:
		return fmt.Errorf("%s is not a struct", t)
	}
	if method := ownForm(t); method != "" {
		return fmt.Errorf("%s has a method %s, perhaps that of an embedded struct, so that its JSON is not made of its fields: declare a struct without it", t, method)
	}
	return nil
}

// CollectionName is the name of the collection that a struct declares.
func CollectionName(t reflect.Type) (string, error) {
	if err := checkStruct(t); err != nil {
		return "", err
	}
	for i := range t.NumField() {
		if t.Field(i).Name != "_" {
			continue
		}
		for _, word := range tagWords(t.Field(i).Tag.Get("plural")) {
			if name, found := strings.CutPrefix(word, "name="); found {
				return name, nil
			}
		}
	}
	if !token.IsIdentifier(t.Name()) { // it has none, or type parameters in it
		return "", fmt.Errorf("%s has no name to make that of a collection of: give it a field _ struct{} `plural:\"name=…\"`", t)
	}
	return english.Plural(snakeCase(t.Name())), nil
}

// snakeCase makes order_item of OrderItem, and http_server of HTTPServer.
func snakeCase(name string) string {
	var b strings.Builder
	runes := []rune(name)
	for i, r := range runes {
		if i > 0 && unicode.IsUpper(r) && runes[i-1] != '_' {
			wordEnded := !unicode.IsUpper(runes[i-1])
			wordBegins := i+1 < len(runes) && unicode.IsLower(runes[i+1])
			if wordEnded || wordBegins {
				b.WriteByte('_')
			}
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// structField is a field of a struct, or of one that is embedded in it.
type structField struct {
	reflect.StructField
	depth int
}

// fieldsOf lists the fields that encoding/json knows, and those that it does not
// but that have a plural tag. Of several with one name the outermost counts.
func fieldsOf(t reflect.Type, around []reflect.Type) ([]structField, error) {
	var all []structField
	for i := range t.NumField() {
		field := t.Field(i)
		inner, promoted := embedded(field)
		if !promoted {
			all = append(all, structField{field, len(around)})
			continue
		}
		switch {
		case field.Tag.Get("plural") != "":
			return nil, fmt.Errorf("%s is embedded, so that its fields are attributes and its plural tag means nothing: remove the tag", field.Name)
		case field.Type.Kind() == reflect.Pointer && !field.IsExported():
			return nil, fmt.Errorf("%s is an embedded pointer that encoding/json cannot set: embed the struct itself", field.Name)
		case slices.Contains(around, inner) || inner == t:
			return nil, fmt.Errorf("%s is embedded in itself", field.Name)
		}
		promotedFields, err := fieldsOf(inner, append(around, t))
		if err != nil {
			return nil, err
		}
		all = append(all, promotedFields...)
	}
	return outermost(all)
}

// embedded is the struct whose fields a field brings along, if it does.
func embedded(field reflect.StructField) (reflect.Type, bool) {
	t := field.Type
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t, field.Anonymous && t.Kind() == reflect.Struct && jsonName(field) == ""
}

// outermost leaves out the fields that others hide.
func outermost(all []structField) ([]structField, error) {
	depths := map[string]int{}
	for _, field := range all {
		if depth, known := depths[jsonName(field.StructField)]; !known || field.depth < depth {
			depths[jsonName(field.StructField)] = field.depth
		}
	}
	var seen []structField
	named := map[string]string{}
	for _, field := range all {
		name := jsonName(field.StructField)
		if !field.IsExported() || name == "" || name == "-" {
			seen = append(seen, field)
			continue
		}
		if field.depth > depths[name] {
			continue
		}
		if other, taken := named[name]; taken {
			return nil, fmt.Errorf("%s and %s have the same json name, %s: rename one of them", other, field.Name, name)
		}
		named[name] = field.Name
		seen = append(seen, field)
	}
	return seen, nil
}

func jsonName(field reflect.StructField) string {
	name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
	return name
}

func (c *Collection) addField(field structField) error {
	name, tag := jsonName(field.StructField), field.Tag.Get("plural")
	if field.Name == "_" {
		if field.depth > 0 {
			return nil // it is about the embedded struct
		}
		return c.setTag(tag)
	}
	_, options, _ := strings.Cut(field.Tag.Get("json"), ",")
	isServers := slices.Contains([]string{"id", "type", "created_at", "updated_at"}, name)
	isIgnored := !field.IsExported() || field.Tag.Get("json") == "-"
	switch {
	case (isServers || isIgnored) && tag != "":
		return errors.New("it is no attribute, so its plural tag means nothing: remove the tag")
	case isIgnored:
		return nil
	case isServers:
		if strings.HasSuffix(name, "_at") {
			c.NoTimestamps = false
		}
		return checkServers(name, field.Type)
	case name == "":
		return errors.New("it needs a json tag with the name of its attribute")
	}
	a := Attribute{Name: name}
	parent, err := a.setTag(field.Type, slices.Contains(strings.Split(options, ","), "string"), tag)
	if err != nil {
		return err
	}
	if a.Default != nil && !strings.Contains(options, "omit") {
		return errors.New("its default would never be used, as its value is always sent: make it a pointer with omitempty")
	}
	if parent != nil {
		if c.Parent != nil {
			return fmt.Errorf("a collection has one parent, and %s is it already", c.Parent.Attribute)
		}
		parent.Attribute = name
		c.Parent = parent
	}
	c.Attributes = append(c.Attributes, a)
	return nil
}
