package admin

import (
	"context"

	"github.com/plural-go/plural/internal/maintain"
)

// CopyProgress is the progress of a copy. Every row is copied, and then checked.
type CopyProgress struct {
	Stage    string // copying, indexing or checking
	Table    string // empty while indexing
	Rows     int64  // of the table
	Finished bool   // the table, or the indexing, is finished
	Done, Of int64  // of all rows, each of which counts twice
}

// Copied is the result of Copy.
type Copied struct {
	Tables []CopiedTable
	// Newer is how many revisions the source has given since it was read. What they
	// changed, if anything, is not in the copy.
	Newer int64
}

// CopiedTable is a table that has the same rows on both sides.
type CopiedTable struct {
	Name     string
	Rows     int64
	Checksum string // SHA-256 of the rows, independent of the kind of database
}

// Copy copies a database to another place, which may be of the other kind: from SQLite to
// PostgreSQL, back, or within one of them. A server on the copy answers as one on the source
// did, including idempotency records, operations and cursors, and executes what the source had
// accepted. ETags and positions differ: the copy has a history of its own.
//
// The source is read from one snapshot, and not written to. The target must have no tables. It
// is filled in one transaction, which is committed once all rows were read back and found to
// be equal; if anything fails, it remains empty. Progress may be nil.
func Copy(ctx context.Context, from, to string, progress func(CopyProgress)) (*Copied, error) {
	copied, err := maintain.Copy(ctx, from, to, func(p maintain.Progress) {
		if progress != nil {
			progress(CopyProgress(p))
		}
	})
	if err != nil {
		return nil, err
	}
	public := &Copied{Newer: copied.Newer}
	for _, table := range copied.Tables {
		public.Tables = append(public.Tables, CopiedTable(table))
	}
	return public, nil
}
