package db

import (
	"crypto/rand"
	"encoding/json"
	"fmt"

	"github.com/plural-go/plural/internal/model"
)

// The kinds of changes, as the change log stores them.
const (
	Created = "created"
	Updated = "updated"
	Deleted = "deleted"
)

// LogTables returns statements that create the change log, and then its indexes.
func LogTables(d Dialect) (tables, additions []string) {
	text, id, when, number := d.ColumnType(model.KindText), d.ColumnType(model.KindUUID), d.ColumnType(model.KindDateTime), d.ColumnType(model.KindInteger)
	order, orderIndex, _ := d.ChangeOrder()
	tables = []string{
		// Columns of eight bytes come first: PostgreSQL aligns them.
		"CREATE TABLE " + ChangesTable + " (revision " + d.RevisionType() + ", collection " + number + " NOT NULL, schema " + number + " NOT NULL, at " + when + " NOT NULL" + order +
			", id " + id + " NOT NULL, kind " + text + " NOT NULL, caller " + text + " NOT NULL, previous " + text + " NOT NULL)",
	}
	additions = []string{
		// The history of a resource, and the state of one that is gone.
		"CREATE INDEX " + ChangesTable + "_resource ON " + ChangesTable + " (collection, id, revision)",
	}
	return tables, append(additions, orderIndex...)
}

// Floor is where the change log begins: earlier changes were removed. The zero value: none were.
type Floor struct {
	Number   int64  `json:"number"`   // of the last change that was removed
	Revision int64  `json:"revision"` // highest of the changes that were removed
	At       string `json:"at"`       // of the last change that was removed
}

const (
	floorKey   = "floor"
	historyKey = "history"
)

// ReadFloor reads where the change log begins.
func ReadFloor(c Conn) (f Floor, err error) {
	text, err := ReadMeta(c, floorKey)
	if err != nil || text == "" {
		return f, err
	}
	if err := json.Unmarshal([]byte(text), &f); err != nil {
		return f, fmt.Errorf("the floor of the change log cannot be read: %w", err)
	}
	return f, nil
}

// SaveFloor stores where the change log begins, in the transaction that removes earlier changes.
func SaveFloor(c Conn, f Floor) error {
	text, err := json.Marshal(f)
	if err != nil {
		return err
	}
	return SaveMeta(c, floorKey, string(text))
}

// ClearLog removes the whole change log, while no other process writes.
func ClearLog(c Conn, d Dialect, at model.Value) error {
	floor, err := ReadFloor(c)
	if err != nil {
		return err
	}
	_, _, renumbered := d.ChangeOrder() // so that the floor is after all changes
	if err := ExecAll(c, renumbered...); err != nil {
		return err
	}
	last, err := Int(c, "SELECT coalesce(max(position), 0) FROM "+d.PositionedLog()+" AS log")
	if err != nil {
		return err
	}
	floor.Number = max(floor.Number, last)
	if floor.Revision, err = Int(c, d.LastGiven()); err != nil {
		return err
	}
	if err := ExecAll(c, d.ClearLog()...); err != nil {
		return err
	}
	floor.At = at.Text()
	return SaveFloor(c, floor)
}

// ReadHistory reads the history id.
func ReadHistory(c Conn) (model.ID, error) {
	text, err := ReadMeta(c, historyKey)
	if err != nil {
		return model.ID{}, err
	}
	id, ok := model.ParseID(text)
	if !ok {
		return id, fmt.Errorf("the database has lost its history id: %s has %q for it", MetaTable, text)
	}
	return id, nil
}

// NewHistory gives the database another history id: positions, revisions and ETags that were
// given before are invalid from then on.
func NewHistory(c Conn) error {
	var id model.ID
	if _, err := rand.Read(id[:]); err != nil {
		return err
	}
	id[6], id[8] = id[6]&0x0f|0x40, id[8]&0x3f|0x80 // version 4 of RFC 9562
	return SaveMeta(c, historyKey, id.String())
}
