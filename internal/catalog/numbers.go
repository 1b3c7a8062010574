package catalog

import (
	"encoding/json"
	"fmt"

	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/model"
)

// Numbering gives numbers to collections and attributes, by which the change log names them. A
// renamed one keeps its number, and no number is given twice, so that an old entry always means
// what it meant.
type Numbering struct {
	Next        int64                         `json:"next"`
	Collections map[string]NumberedCollection `json:"collections"`
}

// NumberedCollection is the number of a collection, with those of its attributes.
type NumberedCollection struct {
	Number     int64                        `json:"number"`
	Attributes map[string]NumberedAttribute `json:"attributes"`
}

// NumberedAttribute is the number of an attribute. If a migration added it, or computed its values anew, AddedAfter is the last
// revision before that, and Fill what existing resources got; empty: null, unless a rule computes it.
type NumberedAttribute struct {
	Number     int64           `json:"number"`
	AddedAfter int64           `json:"since,omitempty"`
	Fill       json.RawMessage `json:"fill,omitempty"`
}

// The numbers of the columns that are no attributes.
const (
	createdNumber = iota + 1
	updatedNumber
	callerNumber
	firstNumber // that is given
)

// Assign gives the next number.
func (n *Numbering) Assign() int64 {
	n.Next++
	return n.Next - 1
}

// Add numbers a new collection.
func (n *Numbering) Add(c *model.Collection) {
	numbered := NumberedCollection{Number: n.Assign(), Attributes: map[string]NumberedAttribute{}}
	for i := range c.Attributes {
		numbered.Attributes[c.Attributes[i].Name] = NumberedAttribute{Number: n.Assign()}
	}
	n.Collections[c.Name] = numbered
}

// ReadNumbering reads the numbering of the current schema.
func ReadNumbering(c db.Conn) (*Numbering, error) {
	var text []byte
	if _, err := db.One(c, func(row model.Row) { text = row.AppendText(nil, 0) }, "SELECT numbers FROM "+db.SchemasTable+" ORDER BY version DESC LIMIT 1"); err != nil {
		return nil, err
	}
	n := &Numbering{}
	if err := json.Unmarshal(text, n); err != nil {
		return nil, fmt.Errorf("the numbers of collections and attributes in the database cannot be read: %w", err)
	}
	return n, nil
}

// NumberedColumn is how the change log names a column.
type NumberedColumn struct {
	Number int64
	// Up to AddedAfter, the column did not exist, and has this value in the history, unless a rule computes it.
	AddedAfter int64
	Fill       model.Value
}

// NumberedTable is how the change log names a collection and its columns. The id and the
// revision have no number.
type NumberedTable struct {
	Number  int64
	Columns []NumberedColumn
}

// ReadNumbers reads how the change log names the collections of the current schema.
func ReadNumbers(c db.Conn, s *model.Schema) (map[*model.Collection]*NumberedTable, error) {
	n, err := ReadNumbering(c)
	if err != nil {
		return nil, err
	}
	tables := map[*model.Collection]*NumberedTable{}
	for _, collection := range s.All() {
		if tables[collection], err = n.table(collection); err != nil {
			return nil, err
		}
	}
	return tables, nil
}

func (n *Numbering) table(c *model.Collection) (*NumberedTable, error) {
	numbered, ok := n.Collections[c.Name]
	if !ok {
		return nil, fmt.Errorf("the collection %s has no number in the database", c.Name)
	}
	t := &NumberedTable{Number: numbered.Number, Columns: make([]NumberedColumn, len(c.Columns()))}
	for i, column := range c.Columns() {
		switch {
		case column.Attribute != nil:
			a, ok := numbered.Attributes[column.Name]
			if !ok {
				return nil, fmt.Errorf("the attribute %s of %s has no number in the database", column.Name, c.Name)
			}
			t.Columns[i] = NumberedColumn{Number: a.Number, AddedAfter: a.AddedAfter}
			if len(a.Fill) > 0 {
				var err error
				if t.Columns[i].Fill, err = column.Kind.ParseValue(a.Fill); err != nil {
					return nil, fmt.Errorf("the value of %s of %s before it was added cannot be read: %w", column.Name, c.Name, err)
				}
			}
		case i == c.CreatedColumn():
			t.Columns[i].Number = createdNumber
		case i == c.UpdatedColumn():
			t.Columns[i].Number = updatedNumber
		case column.Name == model.CallerName:
			t.Columns[i].Number = callerNumber
		}
	}
	return t, nil
}
