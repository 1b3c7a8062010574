package admin

import (
	"fmt"

	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/model"
)

// itemIndex is an index on the items of an array.
type itemIndex struct {
	collection *model.Collection
	db.IndexDefinition
}

// checkItems compares the indexes on the items of arrays with the arrays, and returns what is wrong, and
// the indexes that it is wrong of.
func checkItems(c db.Conn, d db.Dialect, s *model.Schema) (findings []string, wrong []itemIndex, err error) {
	for _, collection := range s.All() {
		for _, index := range db.Indexes(collection) {
			sql := db.ItemsDiffer(d, collection, index)
			if sql == "" {
				continue
			}
			_, err := db.One(c, func(row model.Row) {
				if different := row.Int(0); different > 0 {
					findings = append(findings, fmt.Sprintf("%s: the index on the items of %s has other items than %d resources, for example %s",
						collection.Name, index.Columns[0], different, row.ID(1)))
					wrong = append(wrong, itemIndex{collection, index})
				}
			}, sql)
			if err != nil {
				return nil, nil, err
			}
		}
	}
	return findings, wrong, nil
}

// rebuild makes the index again.
func (i itemIndex) rebuild(c db.Conn, d db.Dialect) error {
	if err := db.ExecAll(c, d.DropIndex(i.Name)...); err != nil {
		return err
	}
	return db.ExecAll(c, db.CreateIndex(d, i.collection, i.IndexDefinition)...)
}
