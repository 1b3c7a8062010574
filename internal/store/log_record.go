package store

import "github.com/plural-go/plural/internal/model"

// Record is the change as filters of Schema.Changes see it.
func (e *LogEntry) Record(s *model.Schema) model.Record {
	return s.ChangeRecord(model.Change{Collection: e.Collection.Name, Resource: e.ID, Kind: string(e.Kind), By: e.Caller, At: e.At})
}
