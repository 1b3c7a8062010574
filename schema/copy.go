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
	default:
		to.Set(from.Convert(to.Type()))
	}
}
