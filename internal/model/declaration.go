package model

import "reflect"

// Declaration is a deep copy of what the collection declares, without what was compiled: completing the
// copy does not change the original.
func (c *Collection) Declaration() (clone Collection) {
	CopyDeclaration(&clone, *c)
	return clone
}

// CopyDeclaration makes a deep copy of a declaration: of this package, or of package schema, whose
// types have exported fields with the same names.
func CopyDeclaration[To, From any](to *To, from From) {
	copyValue(reflect.ValueOf(to).Elem(), reflect.ValueOf(from))
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
