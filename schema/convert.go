package schema

import (
	"reflect"

	"github.com/plural-go/plural/internal/model"
)

// The declarations are declared twice: here, where go doc shows their fields, and in model,
// which cannot import this package. Their exported fields have the same names.

func toModel(c Collection) (m model.Collection) {
	convert(reflect.ValueOf(&m).Elem(), reflect.ValueOf(c))
	return m
}

func fromModel(m model.Collection) (c Collection) {
	convert(reflect.ValueOf(&c).Elem(), reflect.ValueOf(m))
	return c
}

// convert copies a declaration, or a part of one, to its other type.
func convert(to, from reflect.Value) {
	switch {
	case to.Type() == from.Type():
		to.Set(from)
	case from.Kind() == reflect.Struct:
		for i := range from.NumField() {
			if field := from.Type().Field(i); field.IsExported() {
				convert(to.FieldByName(field.Name), from.Field(i))
			}
		}
	case from.Kind() == reflect.Pointer:
		if !from.IsNil() {
			to.Set(reflect.New(to.Type().Elem()))
			convert(to.Elem(), from.Elem())
		}
	case from.Kind() == reflect.Slice:
		if !from.IsNil() { // an object without properties is not one with none
			to.Set(reflect.MakeSlice(to.Type(), from.Len(), from.Len()))
			for i := range from.Len() {
				convert(to.Index(i), from.Index(i))
			}
		}
	default:
		to.Set(from.Convert(to.Type()))
	}
}
