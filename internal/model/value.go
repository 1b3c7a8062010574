package model

import (
	"cmp"
	"encoding/binary"
	"math"
	"strconv"
)

// Kind is how values of a field are stored and compared.
type Kind uint8

// The kinds. Text, Date and DateTime values are strings that sort by code
// point; a DateTime is always in the fixed-width form of FormatTime.
const (
	KindText Kind = iota + 1
	KindInteger
	KindNumber
	KindBoolean
	KindUUID
	KindDate
	KindDateTime
	KindJSON // objects and arrays, as compact JSON text

	// kindDecimal and the kinds after it are decimals, one for each scale: a decimal is
	// an integer of its smallest units, and what these are belongs to its kind.
	kindDecimal Kind = 64
)

// MaxDecimalDigits is how many digits a decimal has at most, those after the point
// included: as many as fit into an int64 in every case.
const MaxDecimalDigits = 18

// MaxDecimalUnits is the largest decimal, in its smallest units.
const MaxDecimalUnits = 999_999_999_999_999_999

// DecimalKind is the kind of decimals with so many digits after the point.
func DecimalKind(scale int) Kind { return kindDecimal + Kind(scale) } // #nosec G115 -- 18 at most

// IsDecimal reports whether values are decimals.
func (k Kind) IsDecimal() bool { return k >= kindDecimal }

// Scale is how many digits decimals of the kind have after the point.
func (k Kind) Scale() int { return int(k - kindDecimal) }

var kindNames = [...]string{
	KindText: "text", KindInteger: "integer", KindNumber: "number", KindBoolean: "boolean",
	KindUUID: "uuid", KindDate: "date", KindDateTime: "date-time", KindJSON: "json",
}

// String is the name of the kind.
func (k Kind) String() string {
	if k.IsDecimal() {
		return "decimal of scale " + strconv.Itoa(k.Scale())
	}
	return kindNames[k]
}

// Value is one value of a field: null, or a value of the field's kind. The
// zero Value is null. Values are comparable with ==.
type Value struct {
	form form
	bits uint64 // bool, int64 or float64
	text string // text, or the 16 bytes of an id
}

type form uint8

const (
	formNull form = iota
	formBool
	formInt
	formFloat
	formID
	formTime
	formText
)

// Null is the absence of a value.
var Null = Value{}

// BoolValue makes a boolean value.
func BoolValue(b bool) Value {
	if b {
		return Value{form: formBool, bits: 1}
	}
	return Value{form: formBool}
}

// IntValue makes an integer value, or a decimal of so many of its smallest units.
func IntValue(n int64) Value { return Value{form: formInt, bits: uint64(n)} } // #nosec G115 -- the same bits

// FloatValue makes a number value. Negative zero becomes zero.
func FloatValue(f float64) Value {
	return Value{form: formFloat, bits: math.Float64bits(f + 0)}
}

// IDValue makes a UUID value.
func IDValue(id ID) Value { return Value{form: formID, text: string(id[:])} }

// TimeValue makes a date-time value of a text in the form of FormatTime.
func TimeValue(formatted string) Value { return Value{form: formTime, text: formatted} }

// TextValue makes a value that is stored as text: a string, a date or JSON.
func TextValue(s string) Value { return Value{form: formText, text: s} }

// IsNull reports whether there is no value.
func (v Value) IsNull() bool { return v.form == formNull }

// Bool is the value of a boolean.
func (v Value) Bool() bool { return v.bits == 1 }

// Int is the value of an integer, or of a decimal in its smallest units.
func (v Value) Int() int64 { return int64(v.bits) } // #nosec G115 -- the same bits

// Float is the value of a number.
func (v Value) Float() float64 { return math.Float64frombits(v.bits) }

// ID is the value of a UUID.
func (v Value) ID() ID { return ID([]byte(v.text)) }

// Text is the value of anything stored as text.
func (v Value) Text() string { return v.text }

// Binder takes a value into a database statement.
type Binder interface {
	BindNull()
	BindBool(bool)
	BindInt(int64)
	BindFloat(float64)
	BindID(ID)
	BindTime(formatted string)
	BindText(string)
}

// Bind calls the one method of the binder that fits the value.
func (v Value) Bind(b Binder) {
	switch v.form {
	case formNull:
		b.BindNull()
	case formBool:
		b.BindBool(v.Bool())
	case formInt:
		b.BindInt(v.Int())
	case formFloat:
		b.BindFloat(v.Float())
	case formID:
		b.BindID(v.ID())
	case formTime:
		b.BindTime(v.text)
	case formText:
		b.BindText(v.text)
	}
}

// AppendDistinct appends a text that no other value has: the form of the value, and its text with the length.
func (v Value) AppendDistinct(dst []byte) []byte {
	switch v.form {
	case formNull:
		return append(dst, 'n')
	case formBool:
		return strconv.AppendBool(append(dst, 'b'), v.Bool())
	case formInt:
		return strconv.AppendInt(append(dst, 'i'), v.Int(), 10)
	case formFloat:
		return strconv.AppendFloat(append(dst, 'f'), v.Float(), 'g', -1, 64)
	case formID:
		return append(append(dst, 'u'), v.text...)
	case formTime:
		dst = append(dst, 't')
	case formText:
		dst = append(dst, 's')
	}
	return append(binary.AppendUvarint(dst, uint64(len(v.text))), v.text...)
}

// Compare orders two values of one kind: null is smallest, false is before
// true, ids go by their bytes and text by code point.
func Compare(a, b Value) int {
	if a.form != b.form {
		return cmp.Compare(a.form, b.form)
	}
	switch a.form {
	case formBool:
		return cmp.Compare(a.bits, b.bits)
	case formInt:
		return cmp.Compare(a.Int(), b.Int())
	case formFloat:
		return cmp.Compare(a.Float(), b.Float())
	default:
		return cmp.Compare(a.text, b.text)
	}
}

// Record is one stored resource in memory: a value for every column of its
// collection, in the order of Collection.Columns.
type Record []Value

// Row is one stored resource as a database hands it out, column by column in
// the order of Collection.Columns. A getter is called only for a column of its
// kind that is not null. A Record is a Row too.
type Row interface {
	Null(column int) bool
	Bool(column int) bool
	Int(column int) int64
	Float(column int) float64
	ID(column int) ID
	// AppendText appends text, date, JSON, or the fixed-width form of a date-time.
	AppendText(dst []byte, column int) []byte
	// Text is the same as a string.
	Text(column int) string
}

// Size is about how many bytes of memory the record takes.
func (r Record) Size() (bytes int) { return len(r)*valueSize + r.TextSize() }

// valueSize is how many bytes a Value takes without its text.
const valueSize = 32

// TextSize is how many bytes the texts of the record have.
func (r Record) TextSize() (bytes int) { return r.TextSizeOf(nil) }

// TextSizeOf is how many bytes the texts in some columns have.
func (r Record) TextSizeOf(some ColumnSet) (bytes int) {
	for i := range r {
		if some.Has(i) {
			bytes += len(r[i].text)
		}
	}
	return bytes
}

// Null reports whether the column has no value.
func (r Record) Null(column int) bool { return r[column].IsNull() }

// Bool is the boolean in the column.
func (r Record) Bool(column int) bool { return r[column].Bool() }

// Int is the integer in the column.
func (r Record) Int(column int) int64 { return r[column].Int() }

// Float is the number in the column.
func (r Record) Float(column int) float64 { return r[column].Float() }

// ID is the UUID in the column.
func (r Record) ID(column int) ID { return r[column].ID() }

// AppendText appends the text in the column.
func (r Record) AppendText(dst []byte, column int) []byte { return append(dst, r[column].text...) }

func (r Record) Text(column int) string { return r[column].text }

// Read takes one value out of a row.
func (k Kind) Read(row Row, column int) Value {
	if row.Null(column) {
		return Null
	}
	if k.IsDecimal() {
		return IntValue(row.Int(column))
	}
	switch k {
	case KindBoolean:
		return BoolValue(row.Bool(column))
	case KindInteger:
		return IntValue(row.Int(column))
	case KindNumber:
		return FloatValue(row.Float(column))
	case KindUUID:
		return IDValue(row.ID(column))
	case KindDateTime:
		return TimeValue(row.Text(column))
	default:
		return TextValue(row.Text(column))
	}
}
