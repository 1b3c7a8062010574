package store

import "github.com/plural-go/plural/internal/model"

// Schema is the schema that the store was opened with.
func (s *Store) Schema() *model.Schema { return s.schema }

// SchemaVersion is the version of the schema that the database had when it was last read.
func (s *Store) SchemaVersion() int64 { return s.compatible.Load().Number }
