package store

import (
	"slices"

	"github.com/plural-go/plural/internal/changelog"
	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/search"
	"github.com/plural-go/plural/internal/tracing"
	"github.com/plural-go/plural/problem"
)

// Insert stores a resource and returns its representation. A conflict with another resource is
// a problem.Errors of 409, with pointers into the resource, and words that the search index has no
// room for are one of 422; the transaction can go on.
func (t *Tx) Insert(c *model.Collection, record model.Record) ([]byte, error) {
	representations, conflicts, err := t.InsertAll(c, []model.Record{record})
	if err != nil {
		return nil, err
	}
	return representations[0], conflicts[0].Err()
}

// InsertAll stores resources in their order, as Insert does. Each has a representation or conflicts.
func (t *Tx) InsertAll(c *model.Collection, records []model.Record) (representations [][]byte, conflicts []problem.Errors, err error) {
	representations, conflicts = make([][]byte, len(records)), search.TooLong(t.texts, c, nil, records)
	tooLong := conflicts != nil
	if !tooLong {
		conflicts = make([]problem.Errors, len(records))
	}
	if err := t.announceAll(c, recordIDs(records)...); err != nil {
		return nil, nil, err
	}
	t.minted = true // Store.NewID may have made the ids before the transaction
	table := t.bound.table(c)
	insertion := &db.Insertion{SQL: table.insert, Collection: table.Collection, Records: records, At: t.at, Caller: model.TextValue(tracing.Join(t.trace, t.caller)), New: true}
	for i, record := range records {
		if len(conflicts[i]) > 0 {
			continue
		}
		id := record.ID(model.IDColumn)
		_, isNew := slices.BinarySearchFunc(t.newIDs, id, model.ID.Compare)
		insertion.New = insertion.New && isNew
	}
	if tooLong {
		insertion.Records = nil
		for i, record := range records {
			if len(conflicts[i]) == 0 {
				insertion.Records = append(insertion.Records, record)
			}
		}
	}
	if err := t.conn.Insert(insertion); err != nil {
		return nil, nil, t.fault(err)
	}
	var created []model.Record // whose words are stored
	var last model.Record
	for i, record := range records {
		if len(conflicts[i]) > 0 {
			continue
		}
		if record.Null(c.RevisionColumn()) {
			if conflicts[i], err = t.conflictsOf(c, record); err != nil {
				return nil, nil, err
			}
			continue
		}
		representations[i] = c.Represent(record)
		t.addDelta(c, record, 1)
		if table.words != "" {
			created = append(created, record)
		}
		last = record
	}
	if last != nil {
		t.last = t.entry(c, changelog.Created, last.ID(model.IDColumn))
		t.last.Revision = last.Int(c.RevisionColumn())
	}
	return representations, conflicts, t.fault(t.putWords(c, nil, created))
}
