package catalog

import (
	"encoding/json"
	"fmt"

	"github.com/plural-go/plural/internal/model"
)

// Numbering gives numbers to collections and attributes, by which the change log names them. A
// renamed one keeps its number, and no number is given twice, so that an old entry always means
// what it meant.
type Numbering struct {
	Next        int64                         `json:"next"`
	Collections map[string]NumberedCollection `json:"collections"`
	Target      *Target                       `json:"target,omitempty"` // nil: the database is not expanded

	// Ended has the versions of the interface that have ended, and why. What has ended does not come back.
	Ended map[int][]Reason `json:"ended,omitempty"`
}

// Reason is one difference from which a version of the interface cannot be derived.
type Reason struct {
	Collection string `json:"collection,omitempty"`
	Attribute  string `json:"attribute,omitempty"` // empty: the whole collection
	Text       string `json:"text"`                // the rest of the sentence
}

// String is the whole sentence.
func (r Reason) String() string {
	switch {
	case r.Collection == "":
		return r.Text
	case r.Attribute == "":
		return r.Collection + " " + r.Text
	}
	return r.Collection + "." + r.Attribute + " " + r.Text
}

// Target is the schema for which a database is expanded, as it was given to the migration. The numbers are under its own names: those
// that it shares with the stored schema are the same tables and columns.
type Target struct {
	Document    string                        `json:"document"`
	Collections map[string]NumberedCollection `json:"collections"`
}

// OfTarget is the numbers of an expanded database under the names of the schema that it is expanded for.
func (n *Numbering) OfTarget() *Numbering {
	return &Numbering{Next: n.Next, Collections: n.Target.Collections}
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

// NewNumbering is the numbering of a database without a schema.
func NewNumbering() *Numbering {
	return &Numbering{Next: firstNumber, Collections: map[string]NumberedCollection{}}
}

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

// ParseNumbering reads a numbering that was stored with a schema.
func ParseNumbering(text []byte) (*Numbering, error) {
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

// Tables is how the change log names the collections of a schema.
func (n *Numbering) Tables(s *model.Schema) (tables map[*model.Collection]*NumberedTable, err error) {
	tables = map[*model.Collection]*NumberedTable{}
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
