package model

import (
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/plural-go/plural/internal/format"
)

// Append appends the representation of a resource: id, type, the attributes in
// the order of the schema, and the timestamps.
func (c *Collection) Append(dst []byte, row Row) []byte {
	return c.AppendSome(dst, row, nil)
}

// AppendSome appends the representation of a resource with those of its attributes that are in a set.
func (c *Collection) AppendSome(dst []byte, row Row, some ColumnSet) []byte {
	dst = append(dst, `{"id":"`...)
	dst = row.ID(IDColumn).Append(dst)
	dst = append(dst, `","type":"`...)
	dst = append(dst, c.Name...)
	dst = append(dst, '"')
	return append(c.appendColumns(dst, row, some), '}')
}

// appendColumns appends the members of the columns in a set, each with a comma before it, without the id.
func (c *Collection) appendColumns(dst []byte, row Row, some ColumnSet) []byte {
	for column := 1; column < c.shown; column++ {
		if some.Has(column) {
			dst = append(dst, c.names[column]...)
			dst = c.columns[column].Kind.AppendValue(dst, row, column)
		}
	}
	return dst
}

// Represent is the representation of a resource in memory.
func (c *Collection) Represent(record Record) []byte {
	const perColumn = 32 // for its name, and for a value that is no text
	return c.Append(make([]byte, 0, len(c.Name)+perColumn*len(record)+record.TextSize()), record)
}

// Scan reads a whole row into memory.
func (c *Collection) Scan(row Row) Record {
	record := make(Record, len(c.columns))
	for i := range record {
		record[i] = c.columns[i].Kind.Read(row, i)
	}
	return record
}

// AppendValue appends one value of a row as JSON. ParseValue reads it.
func (k Kind) AppendValue(dst []byte, row Row, column int) []byte {
	if row.Null(column) {
		return append(dst, "null"...)
	}
	if k.IsDecimal() {
		dst = append(dst, '"')
		return append(k.appendDecimal(dst, row.Int(column)), '"')
	}
	switch k {
	case KindBoolean:
		return strconv.AppendBool(dst, row.Bool(column))
	case KindInteger:
		return strconv.AppendInt(dst, row.Int(column), 10)
	case KindNumber:
		return format.AppendFloat(dst, row.Float(column))
	case KindUUID:
		dst = append(dst, '"')
		return append(row.ID(column).Append(dst), '"')
	case KindDate, KindDateTime:
		dst = append(dst, '"')
		return append(row.AppendText(dst, column), '"')
	case KindJSON:
		return row.AppendText(dst, column)
	default:
		// The text is appended after the output, and then quoted.
		end := len(dst)
		dst = row.AppendText(dst, column)
		return quoteTail(dst, end)
	}
}

// quoteTail makes a JSON string of the bytes after end.
func quoteTail(dst []byte, end int) []byte {
	for _, c := range dst[end:] {
		if c < ' ' || c == '"' || c == '\\' {
			return AppendQuoted(dst[:end], string(dst[end:]))
		}
	}
	// Nothing to escape: move the text by one and put it between quotes.
	dst = append(dst, '"', '"')
	copy(dst[end+1:], dst[end:len(dst)-2])
	dst[end] = '"'
	return dst
}

// AppendQuoted appends a JSON string. The text is valid UTF-8: the decoder
// lets nothing else in.
func AppendQuoted(dst []byte, text string) []byte {
	dst, _ = jsontext.AppendQuote(dst, text)
	return dst
}
