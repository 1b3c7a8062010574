package changelog

import (
	"fmt"
	"strconv"

	"github.com/plural-go/plural/internal/catalog"
	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/suggest"
)

// Check compares the change log with the resources, and returns what is wrong. Where the log begins anew, what was before
// is not known.
func Check(c db.Conn, d db.Dialect, s *model.Schema) (findings []string, err error) {
	if _, err := db.ReadHistory(c); err != nil {
		return nil, err
	}
	floor, err := db.ReadFloor(c)
	if err != nil {
		return nil, err
	}
	state, err := catalog.ReadState(c)
	if err != nil {
		return nil, err
	}
	numbers, err := state.Numbers.Tables(s)
	if err != nil {
		return nil, err
	}
	for _, collection := range s.All() {
		found, err := examineChanges(c, db.NewTable(d, collection), numbers[collection].Number, floor)
		if err != nil {
			return nil, err
		}
		findings = append(findings, found...)
	}
	return findings, nil
}

// examineChanges looks for resources whose last change is not in the log, and for changes whose
// resource is not there.
func examineChanges(c db.Conn, t *db.Table, number int64, floor db.Floor) (findings []string, err error) {
	id, revision := t.Columns[model.IDColumn], t.Columns[t.Collection.RevisionColumn()]
	of := ".collection = " + strconv.FormatInt(number, 10)
	changes := "SELECT 1 FROM " + db.ChangesTable + " AS c WHERE c" + of + " AND c.id = r." + id
	for _, check := range []struct{ sql, problem string }{
		{"SELECT r." + id + " FROM " + t.Name + " AS r WHERE (r." + revision + " > " + strconv.FormatInt(floor.Revision, 10) + " AND NOT EXISTS (" + changes + " AND c.revision = r." + revision + " AND c.kind <> '" + db.Deleted + "'))" +
			" OR EXISTS (" + changes + " AND c.revision > r." + revision + ")",
			"their last change is not in the change log, or not the last one there"},
		{"SELECT c.id FROM " + db.ChangesTable + " AS c WHERE c" + of + " AND c.kind <> '" + db.Deleted + "'" +
			" AND NOT EXISTS (SELECT 1 FROM " + t.Name + " AS r WHERE r." + id + " = c.id)" +
			" AND NOT EXISTS (SELECT 1 FROM " + db.ChangesTable + " AS later WHERE later" + of + " AND later.id = c.id AND later.revision > c.revision)",
			"they are not there, and the change log has no deletion"},
	} {
		var example model.ID
		wrong := int64(0)
		err := db.Each(c, func(row model.Row) {
			if wrong++; wrong == 1 {
				example = row.ID(0)
			}
		}, check.sql)
		if err != nil {
			return nil, err
		}
		if wrong > 0 {
			findings = append(findings, fmt.Sprintf("%s: %s, for example %s: %s", t.Collection.Name, suggest.Counted(wrong, "resource"), example, check.problem))
		}
	}
	return findings, nil
}
