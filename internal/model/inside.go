package model

import (
	"bytes"

	"github.com/go-json-experiment/json/jsontext"
)

// Kind is how values of the attribute are stored and compared.
func (a *Attribute) Kind() Kind { return a.compiled.Kind }

// Scalar reports whether values of the attribute are neither objects nor arrays.
func (a *Attribute) Scalar() bool { return a.compiled.Kind != KindJSON }

// ScalarItems is the definition of the items of an array whose items are declared, and are neither
// objects nor arrays. Nil: it is no such array.
func (a *Attribute) ScalarItems() *Attribute {
	if a == nil || a.Type != Array || a.Items == nil || !a.Items.Scalar() {
		return nil
	}
	return a.Items
}

// Inside is the kind of values that are inside an object or an array. JSON has ids and times as
// texts, which are equal, and in the same order, as the values that they stand for.
func (k Kind) Inside() Kind {
	switch k {
	case KindUUID, KindDate, KindDateTime:
		return KindText
	}
	return k
}

// ToInside converts a value of the kind to one of the kind Inside.
func (k Kind) ToInside(v Value) Value {
	switch k {
	case KindUUID:
		return TextValue(v.ID().String())
	case KindDateTime:
		return TextValue(v.Text())
	}
	return v
}

// Item is the kind of the items of an array: decimals are texts, too, as they are only compared for
// equality.
func (k Kind) Item() Kind {
	if k.IsDecimal() {
		return KindText
	}
	return k.Inside()
}

// ToItem converts a value of the kind to one of the kind Item.
func (k Kind) ToItem(v Value) Value {
	if k.IsDecimal() {
		return TextValue(string(k.appendDecimal(nil, v.Int())))
	}
	return k.ToInside(v)
}

// Inside is the value of a kind at a path of members in an object, or null if there is none.
func (v Value) Inside(path []string, kind Kind) Value {
	if v.IsNull() {
		return Null
	}
	text := []byte(v.Text())
	for _, name := range path {
		if text = member(text, name); text == nil {
			return Null
		}
	}
	value, err := kind.ParseValue(text)
	if err != nil {
		return Null // of another type: it was stored before the property was declared
	}
	return value
}

// enter reads the first token of an object or an array. It returns nil if the text is something else.
func enter(text []byte, kind jsontext.Kind) *jsontext.Decoder {
	if jsontext.Value(text).Kind() != kind {
		return nil
	}
	d := jsontext.NewDecoder(bytes.NewBuffer(text))
	if _, err := d.ReadToken(); err != nil {
		return nil
	}
	return d
}

// member finds a member of a JSON object, nil if there is none.
func member(text []byte, name string) []byte {
	d := enter(text, '{')
	for d != nil && d.PeekKind() != '}' {
		token, err := d.ReadToken()
		if err != nil {
			return nil
		}
		found := token.String() == name
		value, err := d.ReadValue()
		if err != nil {
			return nil
		}
		if found {
			return value
		}
	}
	return nil
}

// Items lists the items of a kind that a JSON array has.
func (v Value) Items(kind Kind) (items []Value) {
	d := enter([]byte(v.Text()), '[')
	for d != nil && d.PeekKind() != ']' {
		item, err := d.ReadValue()
		if err != nil {
			return nil
		}
		if value, err := kind.ParseValue(item); err == nil {
			items = append(items, value)
		}
	}
	return items
}
