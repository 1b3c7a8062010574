package model

import (
	"crypto/sha256"
	"encoding/binary"
	"strconv"
)

// ColumnSet is some of the columns of a collection, by their index: those that
// a caller may see, or set. Nil is all of them.
type ColumnSet []bool

// Has reports whether a column is in the set. A field without a column always is.
func (s ColumnSet) Has(column int) bool { return s == nil || column == NoColumn || s[column] }

// ColumnsTag is a text that differs between sets of columns of a collection, also when the columns
// change. It is empty for all columns.
func (c *Collection) ColumnsTag(s ColumnSet) string {
	if s == nil {
		return ""
	}
	hash := sha256.New()
	for i, column := range c.columns {
		if s[i] {
			hash.Write(append([]byte(column.Name), 0))
		}
	}
	return strconv.FormatUint(binary.BigEndian.Uint64(hash.Sum(nil)), 36)
}

// AppendSome appends the representation of a resource with those of its
// attributes that are in a set.
func (c *Collection) AppendSome(dst []byte, row Row, some ColumnSet) []byte {
	if some == nil {
		return c.Append(dst, row)
	}
	dst = c.appendHead(dst, row)
	for column := 1; column < c.shown; column++ {
		if some[column] {
			dst = append(dst, c.names[column]...)
			dst = c.columns[column].Kind.AppendValue(dst, row, column)
		}
	}
	return append(dst, '}')
}
