package model

import (
	"crypto/sha256"
	"encoding/binary"
	"slices"
	"strconv"
)

// ColumnSet is some of the columns of a collection, by their index: those that
// a caller may see, or set. Nil is all of them.
type ColumnSet []bool

// Has reports whether a column is in the set. A field without a column always is.
func (s ColumnSet) Has(column int) bool { return s == nil || column == NoColumn || s[column] }

// Add adds the columns of another set of the collection to this one. Neither is nil.
func (s ColumnSet) Add(other ColumnSet) {
	for column, has := range other {
		s[column] = s[column] || has
	}
}

// ColumnsWhere is the columns that pass, nil if all do.
func (c *Collection) ColumnsWhere(passes func(i int, column Column) bool) ColumnSet {
	set := make(ColumnSet, len(c.columns))
	for i, column := range c.columns {
		set[i] = passes(i, column)
	}
	if !slices.Contains(set, false) {
		return nil
	}
	return set
}

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
