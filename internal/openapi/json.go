package openapi

import (
	v1 "encoding/json"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
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

// get is the value of a member, nil if there is none.
func (o object) get(name string) any {
	for _, each := range o {
		if each.name == name {
			return each.value
		}
	}
	return nil
}

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

// MarshalJSONTo writes the members in their order.
func (o object) MarshalJSONTo(e *jsontext.Encoder) error {
	err := e.WriteToken(jsontext.BeginObject)
	for i := 0; i < len(o) && err == nil; i++ {
		if err = e.WriteToken(jsontext.String(o[i].name)); err == nil {
			err = json.MarshalEncode(e, o[i].value)
		}
	}
	if err != nil {
		return err
	}
	return e.WriteToken(jsontext.EndObject)
}

// numbers writes the numbers of the schema as they were given.
var numbers = json.WithMarshalers(json.MarshalToFunc(func(e *jsontext.Encoder, n v1.Number) error {
	return e.WriteValue(jsontext.Value(n))
}))

// marshal encodes a value of the kinds that a document is made of.
func marshal(value any) []byte {
	text, err := json.Marshal(value, numbers)
	if err != nil {
		panic(err) // a document has no place for such a value
	}
	return text
}
