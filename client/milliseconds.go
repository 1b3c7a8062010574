package client

import (
	"encoding/json"
	"reflect"
	"time"
)

// marshal encodes the attributes of a resource, with times truncated to milliseconds. Values
// inside an attribute are any JSON, and are not changed.
func marshal(attributes any) ([]byte, error) {
	value := reflect.ValueOf(attributes)
	for value.Kind() == reflect.Pointer && !value.IsNil() {
		value = value.Elem()
	}
	if _, own := attributes.(json.Marshaler); own || !value.IsValid() {
		return json.Marshal(attributes)
	}
	switch value.Kind() {
	case reflect.Struct:
		copied := reflect.New(value.Type()).Elem()
		copied.Set(value)
		truncateFields(copied)
		if reflect.TypeOf(attributes).Kind() == reflect.Pointer {
			copied = copied.Addr() // a pointer, as it was given, because it may have other methods
		}
		return json.Marshal(copied.Interface())
	case reflect.Map:
		copied := reflect.MakeMapWithSize(value.Type(), value.Len())
		for each := value.MapRange(); each.Next(); {
			copied.SetMapIndex(each.Key(), truncated(each.Value()))
		}
		return json.Marshal(copied.Interface())
	}
	return json.Marshal(attributes)
}

// truncateFields truncates the times of a struct, and of those that are embedded in it.
func truncateFields(value reflect.Value) {
	for i := range value.NumField() {
		field := value.Field(i)
		switch {
		case value.Type().Field(i).Anonymous && field.Kind() == reflect.Struct && field.Type() != timeType:
			truncateFields(field)
		case field.CanSet():
			field.Set(truncated(field))
		}
	}
}

var timeType = reflect.TypeFor[time.Time]()

// truncated is a value; a time is truncated to milliseconds.
func truncated(value reflect.Value) reflect.Value {
	if !value.CanInterface() {
		return value
	}
	switch at := value.Interface().(type) {
	case time.Time:
		return reflect.ValueOf(at.Truncate(time.Millisecond))
	case *time.Time:
		if at != nil {
			short := at.Truncate(time.Millisecond)
			return reflect.ValueOf(&short)
		}
	}
	return value
}
