package client

import (
	"encoding/json"
	"reflect"
	"time"
)

// marshal encodes the attributes of a resource, whose times have milliseconds at most. What
// is within an attribute has no times, but JSON of any kind, and is left alone.
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
			copied = copied.Addr() // as it was given, since methods can differ
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

// truncated is a value, which if it is a time has milliseconds at most.
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
