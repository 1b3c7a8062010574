package schema

import (
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/plural-go/plural/internal/model"
)

// nesting is where a type is derived: the types that it is inside of, and how many
// properties there are in all. Structs that hold several of the same struct grow fast.
type nesting struct {
	around     []reflect.Type
	properties *int
}

// maxProperties bounds what one attribute is declared by.
const maxProperties = 1000

// base64 is what encoding/json writes of bytes.
const base64 = "^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$"

// setType derives the type of an attribute, or of what is inside one, as
// encoding/json writes it.
func setType(a *model.Attribute, t reflect.Type, in nesting) error {
	kind := t.Kind()
	if slices.Contains(in.around, t) {
		return fmt.Errorf("%s is a recursive type, which a schema cannot express: use json.RawMessage, with type=… in its plural tag if it is not an object", t)
	}
	in.around = append(slices.Clone(in.around), t)
	switch {
	case t == reflect.TypeFor[time.Time]():
		a.Type, a.Format = model.String, model.DateTime
	case t == reflect.TypeFor[json.RawMessage]():
		a.Type = model.Object
	case t == reflect.TypeFor[json.Number]():
		a.Type = model.Number
	case kind == reflect.Pointer:
		return setType(a, t.Elem(), in)
	case ownForm(t) != "":
		return fmt.Errorf("%s writes its own JSON, by %s: say what that is by type=… in its plural tag, type=string for example", t, ownForm(t))
	case kind == reflect.String:
		a.Type = model.String
	case kind == reflect.Bool:
		a.Type = model.Boolean
	case kind >= reflect.Int && kind <= reflect.Uint64:
		a.Type = model.Integer
		a.Minimum, a.Maximum = integerBounds(t)
	case kind == reflect.Float32:
		a.Type = model.Number
		a.Minimum, a.Maximum = "-"+maxFloat32, maxFloat32
	case kind == reflect.Float64:
		a.Type = model.Number
	case kind == reflect.Struct:
		return setObject(a, t, in)
	case kind == reflect.Map:
		a.Type = model.Object
		return checkMap(t)
	case kind == reflect.Slice && t.Elem().Kind() == reflect.Uint8 && ownForm(t.Elem()) == "":
		a.Type, a.Pattern = model.String, base64
	case kind == reflect.Slice || kind == reflect.Array:
		return setArray(a, t, in)
	case isAny(t):
		return fmt.Errorf("%s is anything, and an attribute has one type: say which by type=… in its plural tag", t)
	default:
		return fmt.Errorf("no attribute can hold a %s", t)
	}
	return nil
}

func setArray(a *model.Attribute, t reflect.Type, in nesting) error {
	a.Type = model.Array
	if t.Kind() == reflect.Array { // encoding/json drops what is too much, and says nothing
		a.MinItems, a.MaxItems = t.Len(), t.Len()
	}
	if isAny(t.Elem()) {
		return nil
	}
	a.Items = &model.Attribute{}
	return setType(a.Items, t.Elem(), in)
}

// setObject declares the fields of a struct as properties. There are no others: encoding/json
// would take a member for a field whose name differs by case only.
func setObject(a *model.Attribute, t reflect.Type, in nesting) error {
	a.Type, a.Closed = model.Object, true
	fields, err := fieldsOf(t, nil)
	wrong := []error{err}
	for _, field := range fields {
		if !field.IsExported() || isOmitted(field) {
			if field.Name != "_" && field.Tag.Get("plural") != "" {
				wrong = append(wrong, fmt.Errorf("%s is no property, so its plural tag means nothing: remove the tag", field.Name))
			}
			continue
		}
		if *in.properties++; *in.properties > maxProperties {
			return fmt.Errorf("%s has more than %d properties inside: use json.RawMessage for a part of it", in.around[0], maxProperties)
		}
		property := model.Attribute{Name: memberName(field)}
		var inside mistakes
		inside.add(field.Name, setProperty(&property, field, in))
		wrong = append(wrong, inside...)
		a.Properties = append(a.Properties, property)
	}
	return errors.Join(wrong...)
}

// setProperty declares a field of a struct inside an attribute. Null is no value of a
// property, so what may be nil must be left out then.
func setProperty(a *model.Attribute, field structField, in nesting) error {
	parent, err := setTag(a, field.Type, jsonOption(field, "string"), field.Tag.Get("plural"), in)
	wrong := []error{err}
	if parent != nil {
		wrong = append(wrong, errors.New("a parent belongs to the collection, and not inside its attributes: remove the word"))
	}
	switch field.Type.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map, reflect.Interface:
		if !jsonOption(field, "omitempty") && !jsonOption(field, "omitzero") {
			wrong = append(wrong, errors.New("nil would be written as null, which is no value inside an attribute: add omitempty to its json tag"))
		}
	}
	return errors.Join(wrong...)
}

// checkMap refuses maps whose members cannot all be declared.
func checkMap(t reflect.Type) error {
	switch {
	case t.Key().Kind() != reflect.String || ownForm(t.Key()) != "":
		return fmt.Errorf("the keys of a JSON object are strings: use map[string]any, not %s", t)
	case !isAny(t.Elem()):
		return fmt.Errorf("the members of an object without declared properties can be anything: use map[string]any, or a struct, and not %s", t)
	}
	return nil
}

// isAny reports whether every JSON value fits into a type.
func isAny(t reflect.Type) bool {
	return t == reflect.TypeFor[json.RawMessage]() || t.Kind() == reflect.Interface && t.NumMethod() == 0
}

// checkServers checks a field that the server sets: its value must fit in.
func checkServers(name string, t reflect.Type) error {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	isTime := strings.HasSuffix(name, "_at") && t == reflect.TypeFor[time.Time]()
	if isTime || t.Kind() == reflect.String && ownForm(t) == "" {
		return nil
	}
	if strings.HasSuffix(name, "_at") {
		return fmt.Errorf("%s is a time: use a time.Time or a string, and not %s", name, t)
	}
	return fmt.Errorf("%s is text: use a string, and not %s", name, t)
}

// ownForm names the method by which a type writes or reads JSON in its own way,
// if it has one. Methods of the pointer count: reading uses them.
func ownForm(t reflect.Type) string {
	if t == reflect.TypeFor[time.Time]() || t == reflect.TypeFor[json.RawMessage]() {
		return ""
	}
	for _, form := range []struct {
		method string
		in     reflect.Type
	}{
		{"MarshalJSON", reflect.TypeFor[json.Marshaler]()},
		{"UnmarshalJSON", reflect.TypeFor[json.Unmarshaler]()},
		{"MarshalText", reflect.TypeFor[encoding.TextMarshaler]()},
		{"UnmarshalText", reflect.TypeFor[encoding.TextUnmarshaler]()},
	} {
		if t.Implements(form.in) || reflect.PointerTo(t).Implements(form.in) {
			return form.method
		}
	}
	return ""
}

// integerBounds are those of a Go type, as far as they are narrower than those
// of every integer, which is an int64.
func integerBounds(t reflect.Type) (least, most json.Number) {
	bits := t.Bits()
	if t.Kind() <= reflect.Int64 {
		if bits == 64 {
			return "", ""
		}
		return json.Number(strconv.FormatInt(-1<<(bits-1), 10)), json.Number(strconv.FormatInt(1<<(bits-1)-1, 10))
	}
	if bits < 64 {
		most = json.Number(strconv.FormatInt(1<<bits-1, 10))
	}
	return "0", most
}

var maxFloat32 = json.Number(strconv.FormatFloat(math.MaxFloat32, 'g', -1, 64))

// bound is one end of what a type holds, in the words of a tag.
type bound struct {
	keyword, exclusive string
	limit              json.Number // of the Go type, empty if it has none
	given, givenExcl   *json.Number
	sign               int // of what is outside
}

// keepBounds holds the bounds that a tag gives to those of the Go type, which
// hold where it gives none.
func keepBounds(a *model.Attribute, ofType model.Attribute, goType reflect.Type) error {
	var wrong []error
	for _, b := range []bound{
		{"minimum", "exclusiveMinimum", ofType.Minimum, &a.Minimum, &a.ExclusiveMinimum, -1},
		{"maximum", "exclusiveMaximum", ofType.Maximum, &a.Maximum, &a.ExclusiveMaximum, +1},
	} {
		if b.limit == "" {
			continue
		}
		if *b.given == "" && *b.givenExcl == "" {
			*b.given = b.limit
			continue
		}
		if b.exceeds(*b.given, 0) {
			wrong = append(wrong, fmt.Errorf("%s=%s is more than a %s can hold: it can be %s at the utmost", b.keyword, *b.given, goType, b.limit))
		}
		beside := 0
		if a.Type == model.Integer {
			beside = b.sign // what is left out may be just outside
		}
		if b.exceeds(*b.givenExcl, beside) {
			wrong = append(wrong, fmt.Errorf("%s=%s is more than a %s can hold: use %s=%s", b.exclusive, *b.givenExcl, goType, b.keyword, b.limit))
		}
	}
	return errors.Join(wrong...)
}

// exceeds reports whether a bound of a tag, if there is one, lies outside of the type's by
// more than it may.
func (b bound) exceeds(given json.Number, beside int) bool {
	value, ok := new(big.Rat).SetString(given.String())
	limit, _ := new(big.Rat).SetString(b.limit.String())
	if !ok { // none, or one that the schema will complain about
		return false
	}
	return value.Cmp(limit.Add(limit, big.NewRat(int64(beside), 1))) == b.sign
}
