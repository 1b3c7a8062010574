package model

import "encoding/binary"

// ChangesName is the collection of changes, which every schema has and which has no table: its
// resources are made from the change log.
const ChangesName = "changes"

// Fields of a change that only filters use, in columns after those of the representation.
const (
	ChangeCollection = "collection"
	ChangeResourceID = "resource.id"
)

// layOutChanges lays out the collection of changes.
func (c *Collection) layOutChanges() {
	c.layOut()
	c.builtIn = true
	// A change is never updated. The columns of filters take the place of updated_at and the revision.
	c.updated = NoColumn
	c.shown = c.created + 1
	c.columns = append(c.columns[:c.shown:c.shown],
		Column{Name: ChangeCollection, Kind: KindText, NotNull: true},
		Column{Name: ChangeResourceID, Kind: KindUUID, NotNull: true})
	c.names = c.names[:c.shown]
	c.fields = map[string]*Field{}
	for i, column := range c.columns {
		switch column.Name {
		case "kind", "by", "created_at", ChangeCollection, ChangeResourceID:
			c.fields[column.Name] = &Field{Name: column.Name, Kind: column.Kind, Column: i}
		}
	}
}

// Changes is the collection of changes. It is not among All, as it has no table.
func (s *Schema) Changes() *Collection { return s.changes }

// Change is what filters of the collection of changes compare.
type Change struct {
	Collection string
	Resource   ID
	Kind, By   string
	At         Value
}

// ChangeRecord is a change as filters of the collection of changes see it.
func (s *Schema) ChangeRecord(change Change) Record {
	c := s.changes
	record := make(Record, len(c.columns))
	record[c.fields["kind"].Column] = TextValue(change.Kind)
	if change.By != "" {
		record[c.fields["by"].Column] = TextValue(change.By)
	}
	record[c.created] = change.At
	record[c.fields[ChangeCollection].Column] = TextValue(change.Collection)
	record[c.fields[ChangeResourceID].Column] = IDValue(change.Resource)
	return record
}

// maxNumber is the largest number that the id of a change can hold.
const maxNumber = 1<<60 - 1

// ChangeID is the id of the change at a number: a UUIDv8 with the number first, so that ids
// ascend in the order of the log, and a part of the id of the history.
func ChangeID(history ID, number int64) ID {
	var id ID
	copy(id[8:], history[8:])
	binary.BigEndian.PutUint64(id[:8], uint64(number)<<4&^0xffff|uint64(number)&0xfff) // #nosec G115 -- numbers are not negative
	id[6] = id[6]&0x0f | 0x80
	id[8] = id[8]&0x3f | 0x80
	return id
}

// IsChangeID reports whether an id can be that of a change, of any history.
func IsChangeID(id ID) bool { return id[6]>>4 == 8 && id[8]>>6 == 2 }

// ChangeNumber is the number of the change with an id. False means that the id is none of
// this history.
func ChangeNumber(history, id ID) (number int64, ok bool) {
	bits := binary.BigEndian.Uint64(id[:8])
	number = int64(bits>>16<<12 | bits&0xfff) // #nosec G115 -- at most 60 bits
	return number, number > 0 && number <= maxNumber && ChangeID(history, number) == id
}
