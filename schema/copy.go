package schema

import "reflect"

// copyDeclaration makes a deep copy of a declaration: from this package to package model, or back. The exported fields of
// their types have the same names.
func copyDeclaration[To, From any](from From) (to To) {
	copyValue(reflect.ValueOf(&to).Elem(), reflect.ValueOf(from))
	return to
}

func copyValue(to, from reflect.Value) {
	switch from.Kind() {
	case reflect.Struct:
		for i := range from.NumField() {
			if field := from.Type().Field(i); field.IsExported() {
				copyValue(to.FieldByName(field.Name), from.Field(i))
			}
		}
	case reflect.Pointer:
		if !from.IsNil() {
			to.Set(reflect.New(to.Type().Elem()))
			copyValue(to.Elem(), from.Elem())
		}
	case reflect.Slice:
		if !from.IsNil() { // an object without properties is not one with none
			to.Set(reflect.MakeSlice(to.Type(), from.Len(), from.Len()))
			for i := range from.Len() {
				copyValue(to.Index(i), from.Index(i))
			}
		}
	case reflect.Map:
		if !from.IsNil() {
			to.Set(reflect.MakeMapWithSize(to.Type(), from.Len()))
			for each := from.MapRange(); each.Next(); {
				value := reflect.New(to.Type().Elem()).Elem()
				copyValue(value, each.Value())
				to.SetMapIndex(each.Key(), value)
			}
		}
	default:
		to.Set(from.Convert(to.Type()))
	}
}
