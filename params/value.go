package params

import (
	"encoding"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"time"
)

var errNil = errors.New("nothing is compared with nil: use Null or NotNull")

// valueText is a value as the query string of a URL has it, without escaping.
func valueText(op string, value any) (string, error) {
	switch value := value.(type) {
	case nil:
		return "", errNil
	case time.Time:
		return timeText(op, value), nil
	case encoding.TextMarshaler:
		if v := reflect.ValueOf(value); v.Kind() == reflect.Pointer && v.IsNil() {
			return "", errNil
		}
		text, err := value.MarshalText()
		return string(text), err
	}
	switch v := reflect.ValueOf(value); v.Kind() {
	case reflect.String:
		return v.String(), nil
	case reflect.Bool:
		return strconv.FormatBool(v.Bool()), nil
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return strconv.FormatInt(v.Int(), 10), nil
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return strconv.FormatUint(v.Uint(), 10), nil
	case reflect.Float32, reflect.Float64:
		if math.IsNaN(v.Float()) || math.IsInf(v.Float(), 0) {
			return "", fmt.Errorf("%v is not a number that a field can hold", value)
		}
		return strconv.FormatFloat(v.Float(), 'g', -1, v.Type().Bits()), nil
	case reflect.Pointer:
		if !v.IsNil() {
			return valueText(op, v.Elem().Interface())
		}
		return "", errNil
	}
	return "", fmt.Errorf("a %T cannot be compared with a field: use a string, number, boolean or time", value)
}

// timeText is a time with the milliseconds that a field has. If the time lies between two milliseconds, less than it
// means less than the later one. Equality compares with the earlier one, to which the client truncates times that it writes.
func timeText(op string, at time.Time) string {
	whole := at.Truncate(time.Millisecond)
	if (op == "lt" || op == "gte") && whole.Before(at) {
		whole = whole.Add(time.Millisecond)
	}
	return whole.UTC().Format("2006-01-02T15:04:05.000Z")
}
