package model

import (
	"fmt"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// ParseValue reads a value that AppendValue has written. It is not validated: the schema may
// have become stricter since.
func (k Kind) ParseValue(text []byte) (Value, error) {
	value := jsontext.Value(text)
	switch {
	case value.Kind() == 'n':
		return Null, nil
	case k == KindJSON:
		return TextValue(string(text)), nil
	case k == KindBoolean && value.Kind() != 't' && value.Kind() != 'f':
		return Null, fmt.Errorf("%s is no boolean", text)
	case k == KindBoolean:
		return BoolValue(value.Kind() == 't'), nil
	case k == KindInteger:
		n, err := strconv.ParseInt(string(text), 10, 64)
		return IntValue(n), err
	case k == KindNumber:
		f, err := strconv.ParseFloat(string(text), 64)
		return FloatValue(f), err
	}
	unquoted, err := jsontext.AppendUnquote(nil, text)
	if err != nil {
		return Null, err
	}
	switch {
	case k == KindUUID:
		id, ok := ParseID(unquoted)
		if !ok {
			return Null, fmt.Errorf("%s is no id", text)
		}
		return IDValue(id), nil
	case k == KindDateTime:
		return TimeValue(string(unquoted)), nil
	case k.IsDecimal():
		n, problem := k.parseDecimal(string(unquoted))
		if problem != decimalFits {
			return Null, fmt.Errorf("%s is no %v", text, k)
		}
		return IntValue(n), nil
	}
	return TextValue(string(unquoted)), nil
}
