package changelog

import (
	"bytes"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/plural-go/plural/internal/catalog"
	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/rules"
)

// table is how the change log stores the former values of a collection: a JSON object of
// numbers of columns and values.
type table struct {
	*catalog.NumberedTable
	collection *model.Collection
	rows       *db.Table      // of the current states
	keys       [][]byte       // of each column, nil for id and revision
	column     map[string]int // by number
	rules      *rules.Set     // of the collection
	others     [][]byte       // of each column that the collection does not have, likewise
}

func newTable(d db.Dialect, c *model.Collection, numbers *catalog.NumberedTable, layout *catalog.Layout) *table {
	l := &table{NumberedTable: numbers, collection: c, rows: layout.Table(d, c), keys: make([][]byte, len(c.Columns())), column: map[string]int{}, rules: rules.Of(c)}
	for i, column := range numbers.Columns {
		if column.Number != 0 {
			number := strconv.FormatInt(column.Number, 10)
			l.keys[i], l.column[number] = []byte(`"`+number+`":`), i
		}
	}
	for _, other := range l.rows.Others {
		var key []byte
		if number := layout.OtherNumber(l.rows, other); number != 0 {
			key = []byte(`"` + strconv.FormatInt(number, 10) + `":`)
		}
		l.others = append(l.others, key)
	}
	return l
}

// previous is what the log keeps of the state before a change.
func (l *table) previous(e *Entry) []byte {
	whole := e.Kind == Deleted || storesWhole(e.Before.Int(l.collection.RevisionColumn()))
	return l.encode(e.Before, func(column int) bool { return whole || e.Before[column] != e.After[column] })
}

// storesWhole reports whether an update of a resource with a revision stores all former values,
// so that a reader of an earlier state can stop there. It is one in 16 by a hash of the
// revision: two resources that are updated in turns would have revisions of which those of one
// are all odd.
func storesWhole(revision int64) bool {
	return db.BitsOf(revision)*0x9E3779B97F4A7C15>>60 == 0
}

func (l *table) encode(record model.Record, has func(column int) bool) []byte {
	dst := append(make([]byte, 0, 128), '{') // enough for most changes
	for i, key := range l.keys {
		if key == nil || !has(i) {
			continue
		}
		if len(dst) > 1 {
			dst = append(dst, ',')
		}
		dst = l.collection.Columns()[i].Kind.AppendValue(append(dst, key...), record, i)
	}
	return append(dst, '}')
}

// decode calls visit with the columns and values of an entry that is no creation. Columns that the
// collection no longer has are left out.
func (l *table) decode(previous []byte, visit func(column int, value model.Value)) error {
	if len(previous) == 0 {
		return errEmpty
	}
	d := jsontext.NewDecoder(bytes.NewBuffer(previous), jsontext.AllowDuplicateNames(true))
	if _, err := d.ReadToken(); err != nil {
		return err
	}
	for d.PeekKind() != '}' {
		number, err := d.ReadToken()
		if err != nil {
			return err
		}
		column, ok := l.column[number.String()]
		text, err := d.ReadValue()
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		value, err := l.collection.Columns()[column].Kind.ParseValue(text)
		if err != nil {
			return err
		}
		visit(column, value)
	}
	return nil
}

// blank is a state in which every column is what a migration that added it would have filled in.
func (l *table) blank(id model.ID) model.Record {
	record := make(model.Record, len(l.Columns))
	for i, column := range l.Columns {
		record[i] = column.Fill
	}
	record[model.IDColumn] = model.IDValue(id)
	return record
}

// undo makes the state after a change the one before it, whose revision is not known.
func (l *table) undo(record model.Record, revision int64, previous []byte) error {
	err := l.decode(previous, func(column int, value model.Value) { record[column] = value })
	l.fill(record, revision)
	record[l.collection.RevisionColumn()] = model.Null
	return l.unreadable(record.ID(model.IDColumn), revision, err)
}

// fill gives the columns that were added after a revision the values that they got then, or those that a rule computes of the
// state.
func (l *table) fill(record model.Record, revision int64) {
	for i, column := range l.Columns {
		if revision <= column.AddedAfter {
			record[i] = column.Fill
		}
	}
	// The log has no values of an attribute that was not computed then, or those of another rule. One that cannot be computed is null.
	_ = l.rules.Fill(record, func(column int) bool { return revision <= l.Columns[column].AddedAfter })
}
