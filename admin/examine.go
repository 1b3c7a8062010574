package admin

import (
	"context"
	"slices"
	"time"

	"github.com/plural-go/plural/internal/catalog"
	"github.com/plural-go/plural/internal/changelog"
	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/db/databases"
	"github.com/plural-go/plural/internal/lists"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/search"
)

// ExamineOptions says what Examine does. The zero value changes nothing.
type ExamineOptions struct {
	// Repair computes again what is wrong.
	Repair bool
}

// Examine compares derived data with the resources of a database: the totals, the offset indexes of long lists, the words
// for search, the items of indexed arrays, and the change log. It returns what is wrong. A server may be using the database.
// With Repair, it rebuilds what is wrong in the same transaction, and examines the lists of prefixes of search indexes on
// SQLite as well, which needs the write lock. A change log that is wrong is removed, and a new history begins, as with
// RenewHistory.
func Examine(ctx context.Context, database string, options ExamineOptions) (findings []string, err error) {
	run := func(b db.Database, c db.Conn) error {
		findings, err = examine(c, b, options.Repair)
		return err
	}
	if !options.Repair {
		err = databases.Read(ctx, database, run)
		return findings, err
	}
	err = databases.With(ctx, database, func(b db.Database) error {
		// No other process writes during Migrate, so the counts are exact.
		return b.Migrate(ctx, func(c db.Conn) error { return run(b, c) })
	})
	return findings, err
}

func examine(c db.Conn, d db.Dialect, repair bool) ([]string, error) {
	state, err := catalog.Require(c, d)
	if err != nil {
		return nil, err
	}
	stored := state.Schema
	ofLists, err := lists.Check(c, d, stored)
	if err != nil {
		return nil, err
	}
	ofSearch, wrong, err := search.Check(c, d, stored, repair)
	if err != nil {
		return nil, err
	}
	ofItems, wrongItems, err := checkItems(c, d, stored)
	if err != nil {
		return nil, err
	}
	ofLog, err := changelog.Check(c, d, stored)
	for _, collection := range wrong {
		if err == nil && repair {
			err = search.Rebuild(c, d, collection)
		}
	}
	for _, index := range wrongItems {
		if err == nil && repair {
			err = index.rebuild(c, d)
		}
	}
	if err == nil && repair && len(ofLists) > 0 {
		err = lists.Rebuild(c, d, stored)
	}
	if err == nil && repair && len(ofLog) > 0 {
		if err = db.ClearLog(c, d, model.TimeValue(model.FormatTime(time.Now()))); err == nil {
			err = renewHistoryNow(c, d)
		}
	}
	return slices.Concat(ofLists, ofSearch, ofItems, ofLog), err
}
