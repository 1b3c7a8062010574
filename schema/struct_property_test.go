package schema

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/plural-go/plural/internal/model"
)

// drawType draws a type that an attribute can be declared by, or a field inside one.
func drawType(t *rapid.T, depth int) reflect.Type {
	simple := []reflect.Type{
		reflect.TypeFor[string](), reflect.TypeFor[bool](), reflect.TypeFor[int8](), reflect.TypeFor[int](), reflect.TypeFor[uint16](),
		reflect.TypeFor[uint64](), reflect.TypeFor[float32](), reflect.TypeFor[float64](), reflect.TypeFor[time.Time](), reflect.TypeFor[[]byte](),
		reflect.TypeFor[map[string]any](), reflect.TypeFor[[]any](), reflect.TypeFor[*int32](), reflect.TypeFor[json.RawMessage](),
	}
	kind := rapid.IntRange(0, 8).Draw(t, "kind")
	if depth == 0 || kind < 5 {
		return rapid.SampledFrom(simple).Draw(t, "simple")
	}
	switch kind {
	case 5:
		return reflect.SliceOf(drawType(t, depth-1))
	case 6:
		return reflect.ArrayOf(rapid.IntRange(1, 3).Draw(t, "length"), drawType(t, depth-1))
	}
	return drawStruct(t, depth-1)
}

// drawStruct draws a struct whose fields are written only if they are not empty: null is no
// value inside an attribute.
func drawStruct(t *rapid.T, depth int) reflect.Type {
	var fields []reflect.StructField
	for i := range rapid.IntRange(1, 4).Draw(t, "fields") {
		fields = append(fields, reflect.StructField{
			Name: fmt.Sprintf("F%d", i), Type: drawType(t, depth), Tag: reflect.StructTag(fmt.Sprintf(`json:"f%d,omitempty"`, i)),
		})
	}
	return reflect.StructOf(fields)
}

// fill draws a value for what can be set.
func fill(t *rapid.T, value reflect.Value) {
	switch into := value.Addr().Interface().(type) {
	case *time.Time:
		*into = time.UnixMilli(rapid.Int64Range(0, 4e12).Draw(t, "time")).UTC()
		return
	case *[]byte:
		*into = rapid.SliceOfN(rapid.Byte(), 0, 5).Draw(t, "bytes")
		return
	case *map[string]any:
		*into = map[string]any{"A": rapid.StringMatching("[a-zé\"]*").Draw(t, "text"), "n": 1.5}
		return
	case *[]any:
		*into = []any{"x", 1.0, nil, map[string]any{"f0": true}}
		return
	case *json.RawMessage:
		*into = json.RawMessage(`{"f0":[1,null]}`)
		return
	}
	switch value.Kind() {
	case reflect.String:
		value.SetString(rapid.StringMatching(`[a-zA-Z0-9é"\\<]{0,6}`).Draw(t, "string"))
	case reflect.Bool:
		value.SetBool(rapid.Bool().Draw(t, "bool"))
	case reflect.Int, reflect.Int8, reflect.Int32:
		value.SetInt(rapid.SampledFrom([]int64{-128, -1, 0, 127}).Draw(t, "int"))
	case reflect.Uint16, reflect.Uint64:
		value.SetUint(rapid.SampledFrom([]uint64{0, 1, 65535}).Draw(t, "uint"))
	case reflect.Float32, reflect.Float64:
		value.SetFloat(rapid.SampledFrom([]float64{0, -1.5, 0.25, 1e30, 3}).Draw(t, "float"))
	case reflect.Pointer:
		if rapid.Bool().Draw(t, "given") {
			value.Set(reflect.New(value.Type().Elem()))
			fill(t, value.Elem())
		}
	case reflect.Slice:
		value.Set(reflect.MakeSlice(value.Type(), rapid.IntRange(0, 2).Draw(t, "length"), 2))
		for i := range value.Len() {
			fill(t, value.Index(i))
		}
	case reflect.Array:
		for i := range value.Len() {
			fill(t, value.Index(i))
		}
	case reflect.Struct:
		for i := range value.NumField() {
			fill(t, value.Field(i))
		}
	}
}

// collectionOfFields declares a collection by the fields of a struct without a name.
func collectionOfFields(t *rapid.T, of reflect.Type) *model.Collection {
	s, err := DeclareFields("things", of)
	if err != nil {
		t.Fatalf("%s: %v", of, err)
	}
	return s.Collection("things")
}

// stored is what is stored of a body, if it is valid.
func stored(c *model.Collection, body []byte) (representation []byte, err error) {
	inputs, many, err := c.Decode(body, model.DecodeOptions{Mode: model.Create, MaxDepth: 64, MaxItems: 1})
	if err != nil || many {
		return nil, errors.Join(err, errors.New("not one resource"))
	}
	record := inputs[0].Values
	record[model.IDColumn] = model.IDValue(model.ID{1})
	return c.Append(nil, record), nil
}

// What is made of a struct is stored, and is the same when it is read into one again.
func TestStructRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		of := drawStruct(t, 3)
		c := collectionOfFields(t, of)
		value := reflect.New(of)
		fill(t, value.Elem())
		body, err := json.Marshal(value.Interface())
		if err != nil {
			t.Fatal(err)
		}
		representation, err := stored(c, body)
		if err != nil {
			if hasNullItem(value.Elem()) {
				t.Skip("nil in an array is null, which is no item")
			}
			t.Fatalf("%s\n%s\n%v", of, body, err)
		}
		back := reflect.New(of)
		if err := json.Unmarshal(representation, back.Interface()); err != nil {
			t.Fatalf("%s\n%s\n%v", of, representation, err)
		}
		again, err := json.Marshal(back.Interface())
		if err != nil || string(again) != string(body) {
			t.Fatalf("%s\ngot  %s\nwant %s\n%v", of, again, body, err)
		}
	})
}

// hasNullItem reports whether a slice or array has an item that is nil.
func hasNullItem(value reflect.Value) bool {
	switch value.Kind() {
	case reflect.Struct:
		if value.Type() == reflect.TypeFor[time.Time]() {
			return false
		}
		for i := range value.NumField() {
			if hasNullItem(value.Field(i)) {
				return true
			}
		}
	case reflect.Slice, reflect.Array:
		for i := range value.Len() {
			item := value.Index(i)
			switch item.Kind() {
			case reflect.Pointer, reflect.Slice, reflect.Map:
				if item.IsNil() {
					return true
				}
			}
			if hasNullItem(item) {
				return true
			}
		}
	}
	return false
}

// mutate changes a value somewhere: a name that differs by case only, or a value of another kind.
func mutate(t *rapid.T, value any) any {
	odd := []any{nil, "x", "AQI", true, 300, -1, 1.5, 1e39, []any{}, []any{1, "x"}, map[string]any{"f0": 1, "F0": "x"}}
	switch value := value.(type) {
	case map[string]any:
		names := slices.Sorted(maps.Keys(value))
		if len(names) == 0 {
			break
		}
		name := rapid.SampledFrom(names).Draw(t, "name")
		if rapid.Bool().Draw(t, "rename") {
			value[strings.ToUpper(name)] = rapid.SampledFrom(odd).Draw(t, "other")
		} else {
			value[name] = mutate(t, value[name])
		}
		return value
	case []any:
		if len(value) > 0 && rapid.Bool().Draw(t, "inside") {
			at := rapid.IntRange(0, len(value)-1).Draw(t, "at")
			value[at] = mutate(t, value[at])
			return value
		}
		return append(value, rapid.SampledFrom(odd).Draw(t, "more"))
	}
	return rapid.SampledFrom(odd).Draw(t, "odd")
}

// Whatever body is valid fits into the struct, also one that no struct was marshalled to.
func TestStoredValuesFitTheStruct(t *testing.T) {
	accepted := 0
	rapid.Check(t, func(t *rapid.T) {
		of := drawStruct(t, 3)
		c := collectionOfFields(t, of)
		value := reflect.New(of)
		fill(t, value.Elem())
		text, err := json.Marshal(value.Interface())
		if err != nil {
			t.Fatal(err)
		}
		var body any
		if err := json.Unmarshal(text, &body); err != nil {
			t.Fatal(err)
		}
		for range rapid.IntRange(1, 3).Draw(t, "mutations") {
			body = mutate(t, body)
		}
		if text, err = json.Marshal(body); err != nil {
			t.Fatal(err)
		}
		representation, err := stored(c, text)
		if err != nil {
			return
		}
		accepted++
		if err := json.Unmarshal(representation, reflect.New(of).Interface()); err != nil {
			t.Fatalf("%s\n%s\n%v", of, representation, err)
		}
	})
	if accepted == 0 {
		t.Error("no body was accepted, so that nothing was tested")
	}
}
