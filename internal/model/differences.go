package model

// AppendAttributes appends an object with the columns of a row that are in a set, without its
// id and type.
func (c *Collection) AppendAttributes(dst []byte, row Row, some ColumnSet) []byte {
	start := len(dst)
	if dst = c.appendColumns(dst, row, some); len(dst) == start {
		return append(dst, "{}"...)
	}
	dst[start] = '{' // in place of the first comma
	return append(dst, '}')
}

// Differences is the columns of two states of a resource that differ and are in a set, without
// updated_at, nil if there are none.
func (c *Collection) Differences(before, after Record, some ColumnSet) ColumnSet {
	var found ColumnSet
	for column := 1; column < c.shown; column++ {
		if column == c.updated || before[column] == after[column] || !some.Has(column) {
			continue
		}
		if found == nil {
			found = make(ColumnSet, len(c.columns))
		}
		found[column] = true
	}
	return found
}
