package schema

import (
	"encoding"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
)

// setType derives the type of an attribute, or of what is inside one, as
// encoding/json writes it. Around are the types that it is inside of.
func (a *Attribute) setType(t reflect.Type, around ...reflect.Type) error {
	kind, inItself := t.Kind(), slices.Contains(around, t)
	around = append(around, t)
	switch {
	case inItself && kind == reflect.Slice:
		a.Type = Array // of arrays of arrays, as deep as it goes
	case t == reflect.TypeFor[time.Time]():
		a.Type, a.Format = String, DateTime
	case t == reflect.TypeFor[json.RawMessage]():
		a.Type = Object
	case t == reflect.TypeFor[json.Number]():
		a.Type = Number
	case kind == reflect.Pointer && !inItself:
		return a.setType(t.Elem(), around...)
	case ownForm(t) != "":
		return fmt.Errorf("%s writes its own JSON, by %s: say what that is by type=… in its plural tag, type=string for example", t, ownForm(t))
	case kind == reflect.String:
		a.Type = String
	case kind == reflect.Bool:
		a.Type = Boolean
	case kind >= reflect.Int && kind <= reflect.Uint64:
		a.Type = Integer
		a.Minimum, a.Maximum = integerBounds(t)
	case kind == reflect.Float32:
		a.Type = Number
		a.Minimum, a.Maximum = "-"+maxFloat32, maxFloat32
	case kind == reflect.Float64:
		a.Type = Number
	case kind == reflect.Map && isKey(t.Key()) || kind == reflect.Struct:
		a.Type = Object
	case kind == reflect.Slice && t.Elem().Kind() == reflect.Uint8 && ownForm(t.Elem()) == "":
		return fmt.Errorf("%s is text in JSON, in base64: use a string, or say type=string in its plural tag", t)
	case kind == reflect.Slice || kind == reflect.Array:
		return a.setArray(t, around)
	default:
		return fmt.Errorf("no attribute can hold a %s", t)
	}
	return nil
}

func (a *Attribute) setArray(t reflect.Type, around []reflect.Type) error {
	a.Type, a.Items = Array, &Attribute{}
	if t.Kind() == reflect.Array { // encoding/json drops what is too much, and says nothing
		a.MinItems, a.MaxItems = t.Len(), t.Len()
	}
	if err := a.Items.setType(t.Elem(), around...); err != nil {
		return err
	}
	if a.Items.Type == Object || a.Items.Type == Array {
		a.Items = nil // what is inside is the struct's business
	}
	return nil
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

// isKey reports whether encoding/json makes the names of members of a type.
func isKey(t reflect.Type) bool {
	return t.Kind() == reflect.String || t.Kind() >= reflect.Int && t.Kind() <= reflect.Uint64 || ownForm(t) != ""
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
func (a *Attribute) keepBounds(ofType Attribute, goType reflect.Type) error {
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
			return fmt.Errorf("%s=%s is more than a %s can hold: it can be %s at the utmost", b.keyword, *b.given, goType, b.limit)
		}
		beside := 0
		if a.Type == Integer {
			beside = b.sign // what is left out may be just outside
		}
		if b.exceeds(*b.givenExcl, beside) {
			return fmt.Errorf("%s=%s is more than a %s can hold: use %s=%s", b.exclusive, *b.givenExcl, goType, b.keyword, b.limit)
		}
	}
	return nil
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
