package schema

import (
	"errors"
	"fmt"
	"go/token"
	"reflect"
	"slices"
	"strings"
	"unicode"

	"github.com/plural-go/plural/internal/compile"
	"github.com/plural-go/plural/internal/model"
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
// index; format, scale, minLength, maxLength, pattern, contentMediaType, minimum, maximum,
// exclusiveMinimum, exclusiveMaximum, multipleOf, minItems, maxItems, enum (with
// | between the values), default, description, renamed_from; references or
// parent, with on_delete, as and inverse; computed, when, write_once, until; transitions
// (draft>published|published>archived) and initial. A comma within a value is written \,.
// Checks are added to the Collection that Of returns.
//
// Whatever is stored fits back into the struct: a number has the bounds of its Go
// type, a struct inside is an object with its fields as properties and no others,
// and a slice has items of its element's type. Fields of structs inside may have
// plural tags with constraints too. What no schema can describe is refused: a map
// with values of one type, a type that contains itself. A type that writes its own
// JSON needs the keyword type in its tag, and whatever else its JSON must fulfil:
// type=string,format=uri.
//
// A string with the tags `json:"-" plural:"etag"` is no attribute: typed access
// sets it to the ETag of the resource. Nor is a field with the tag plural:"related", which holds related resources
// that are included.
//
// The collection is named after the type: User gives users. A field named _ can
// say otherwise: `plural:"name=people,singular=person"`. It can also have search, the attributes to
// search with | between them, and label. Fields named id, type,
// created_at and updated_at are the server's; without created_at and updated_at
// the collection has no timestamps. The fields of an embedded struct count as
// those of the struct around it, as they do in JSON.
//
// All mistakes are reported at once, as errors that are joined.
func Of[T any]() (Collection, error) {
	declared, err := declare(reflect.TypeFor[T]())
	return copyDeclaration[Collection](declared), err
}

func declare(t reflect.Type) (model.Collection, error) {
	if err := checkStruct(t); err != nil {
		return model.Collection{}, err
	}
	var wrong mistakes
	c := model.Collection{NoTimestamps: true}
	fields, err := fieldsOf(t, nil)
	wrong.add(t.String(), err)
	for _, field := range fields {
		wrong.add(t.String()+"."+field.Name, addField(&c, field))
	}
	if c.Name, err = collectionName(t); err != nil {
		wrong = append(wrong, err)
	}
	if len(wrong) > 0 {
		return model.Collection{}, errors.Join(wrong...)
	}
	return c, nil
}

// mistakes is all that is wrong with a struct.
type mistakes []error

// mistake is one of them: what is wrong with a field.
type mistake struct {
	field string // with a dot for each struct that it is inside of
	err   error
}

func (m mistake) Error() string { return m.field + ": " + m.err.Error() }
func (m mistake) Unwrap() error { return m.err }

// add adds an error of a field, or each of those that it joins.
func (m *mistakes) add(field string, err error) {
	switch err := err.(type) {
	case nil:
	case mistake:
		*m = append(*m, mistake{field + "." + err.field, err.err})
	case interface{ Unwrap() []error }:
		for _, each := range err.Unwrap() {
			m.add(field, each)
		}
	default:
		*m = append(*m, mistake{field, err})
	}
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

// collectionName is the name of the collection that a struct declares.
func collectionName(t reflect.Type) (string, error) {
	for i := range t.NumField() {
		if name, found := tagValue(t.Field(i).Tag.Get("plural"), "name"); found && t.Field(i).Name == "_" {
			return name, nil
		}
	}
	if !token.IsIdentifier(t.Name()) { // it has none, or type parameters in it
		return "", fmt.Errorf("%s has no name to make that of a collection of: give it a field _ struct{} `plural:\"name=…\"`", t)
	}
	return compile.English.Plural(snakeCase(t.Name())), nil
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
	var wrong []error
	for i := range t.NumField() {
		field := t.Field(i)
		inner, promoted := embedded(field)
		if !promoted {
			all = append(all, structField{field, len(around)})
			continue
		}
		switch {
		case field.Tag.Get("plural") != "":
			wrong = append(wrong, fmt.Errorf("%s is embedded, so that its fields are attributes and its plural tag means nothing: remove the tag", field.Name))
		case field.Type.Kind() == reflect.Pointer && !field.IsExported():
			wrong = append(wrong, fmt.Errorf("%s is an embedded pointer that encoding/json cannot set: embed the struct itself", field.Name))
		case slices.Contains(around, inner) || inner == t:
			wrong = append(wrong, fmt.Errorf("%s is embedded in itself", field.Name))
			continue
		}
		promotedFields, err := fieldsOf(inner, append(around, t))
		all, wrong = append(all, promotedFields...), append(wrong, err)
	}
	seen, err := outermost(all)
	return seen, errors.Join(append(wrong, err)...)
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
		if depth, known := depths[memberName(field)]; field.IsExported() && (!known || field.depth < depth) {
			depths[memberName(field)] = field.depth
		}
	}
	var seen []structField
	var wrong []error
	named := map[string]string{}
	for _, field := range all {
		name := memberName(field)
		if !field.IsExported() || isOmitted(field) {
			seen = append(seen, field)
			continue
		}
		if field.depth > depths[name] {
			continue
		}
		if other, taken := named[name]; taken {
			wrong = append(wrong, fmt.Errorf("%s and %s have the same json name, %s: rename one of them", other, field.Name, name))
			continue
		}
		named[name] = field.Name
		seen = append(seen, field)
	}
	return seen, errors.Join(wrong...)
}

// memberName is the name of the member of an object that encoding/json makes of a field.
func memberName(field structField) string {
	if name := jsonName(field.StructField); name != "" {
		return name
	}
	return field.Name
}

// isOmitted reports whether encoding/json leaves a field out.
func isOmitted(field structField) bool { return field.Tag.Get("json") == "-" }

func jsonName(field reflect.StructField) string {
	name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
	return name
}

// checkRelated checks a field for related resources: as a pointer or a slice it can have none.
func checkRelated(field structField, name string) error {
	if kind := field.Type.Kind(); name == "" || !jsonOption(field, "omitempty") || kind != reflect.Pointer && kind != reflect.Slice && kind != reflect.Int64 {
		return errors.New("a field for related resources has a json tag with the name of the relation and omitempty, and is a pointer or a slice; for their total it is an int64")
	}
	return nil
}

func addField(c *model.Collection, field structField) error {
	name, tag := jsonName(field.StructField), field.Tag.Get("plural")
	if field.Name == "_" {
		if field.depth > 0 {
			return nil // it is about the embedded struct
		}
		return setCollectionTag(c, tag)
	}
	isServers := slices.Contains(compile.AttributeNames.Reserved, name)
	isIgnored := !field.IsExported() || isOmitted(field)
	switch {
	case field.IsExported() && isOmitted(field) && tag == "etag":
		return checkETag(field)
	case field.IsExported() && !isServers && !isOmitted(field) && tag == "related":
		return checkRelated(field, name)
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
	a := model.Attribute{Name: name}
	parent, err := setTag(&a, field.Type, jsonOption(field, "string"), tag, nesting{properties: new(int)})
	wrong := []error{err}
	if a.Default != nil && !jsonOption(field, "omitempty") && !jsonOption(field, "omitzero") {
		wrong = append(wrong, errors.New("its default would never be used, as its value is always sent: make it a pointer with omitempty"))
	}
	if parent != nil {
		if c.Parent != nil {
			wrong = append(wrong, fmt.Errorf("a collection has one parent, and %s is it already", c.Parent.Attribute))
		}
		parent.Attribute = name
		c.Parent = parent
	}
	c.Attributes = append(c.Attributes, a)
	return errors.Join(wrong...)
}

// jsonOption reports whether the json tag of a field has a word after its name.
func jsonOption(field structField, word string) bool {
	_, options, _ := strings.Cut(field.Tag.Get("json"), ",")
	return slices.Contains(strings.Split(options, ","), word)
}

// checkETag checks the field that takes the ETag of a resource.
func checkETag(field structField) error {
	if field.Type.Kind() != reflect.String || field.depth > 0 {
		return errors.New("an ETag is text: use a string field of the struct itself")
	}
	return nil
}
