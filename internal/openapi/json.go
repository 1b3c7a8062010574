package openapi

import (
	"encoding/json"
	"strconv"

	"github.com/plural-go/plural/internal/model"
)

// object is a JSON object whose members keep their order.
type object []member

type member struct {
	name  string
	value any
}

// list is a JSON array.
type list []any

// add appends a member.
func (o *object) add(name string, value any) { *o = append(*o, member{name, value}) }

// addIf appends a member if there is something to say.
func (o *object) addIf(there bool, name string, value any) {
	if there {
		o.add(name, value)
	}
}

// reference points to another place of the document.
func reference(kind, name string) object {
	return object{{"$ref", "#/components/" + kind + "/" + name}}
}

// texts is strings as a list.
func texts[T ~string](all []T) list {
	values := list{}
	for _, each := range all {
		values = append(values, string(each))
	}
	return values
}

// appendJSON appends a value of the kinds that a document is made of.
func appendJSON(dst []byte, value any) []byte {
	switch value := value.(type) {
	case object:
		dst = append(dst, '{')
		for i, each := range value {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(model.AppendQuoted(dst, each.name), ':')
			dst = appendJSON(dst, each.value)
		}
		return append(dst, '}')
	case list:
		dst = append(dst, '[')
		for i, each := range value {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendJSON(dst, each)
		}
		return append(dst, ']')
	case string:
		return model.AppendQuoted(dst, value)
	case bool:
		return strconv.AppendBool(dst, value)
	case int:
		return strconv.AppendInt(dst, int64(value), 10)
	case int64:
		return strconv.AppendInt(dst, value, 10)
	case json.Number:
		return append(dst, value...)
	case json.RawMessage:
		return append(dst, value...)
	case nil:
		return append(dst, "null"...)
	}
	panic("openapi: a document has no place for such a value")
}
