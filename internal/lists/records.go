package lists

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/model"
)

// The bytes of the idempotency records of each caller are kept as the totals of lists are: writers only record deltas, so that
// they do not wait for each other, and these are merged later. A caller is a list without resources.

// recordsCollection is what stands in the tables in place of a collection. No collection has this name.
const recordsCollection = db.IdempotencyTable

// RecordsOf is the records of a caller. The list is never that of a whole collection, also if the caller has no name.
func RecordsOf(caller string) List { return List{recordsCollection, recordsPrefix + caller} }

const recordsPrefix = "caller "

// RecordBytes is an expression for the bytes of a record, in a statement about its table.
const RecordBytes = "octet_length(key) + octet_length(outcome) + octet_length(body)"

// PendingBytes is a statement that records that the bytes of the list have changed.
func (l List) PendingBytes(change int64) db.Statement {
	return db.Statement{SQL: insertDelta, Args: append(l.Args(), model.IDValue(model.ID{}), model.IntValue(change))}
}

// AddBytes changes the bytes of the list at once, and returns them. Of concurrent transactions that do so, one succeeds: it knows
// the changes of all others that did.
func AddBytes(c db.Conn, l List, change int64) (bytes int64, err error) {
	if _, err = c.Exec(addToTotal, append(l.Args(), model.IntValue(change))...); err != nil {
		return 0, err
	}
	return Total(c, l, nil)
}

const addToTotal = "INSERT INTO " + db.TotalsTable + " (collection, parent, total) VALUES ($1, $2, $3)" + addTotal

// mergeRecords merges the deltas of records, and removes them from those that were given. Nothing is left of callers that have no
// records any more.
func mergeRecords(c db.Conn, deltas map[List][]resourceDelta) error {
	var rows []model.Record
	for _, list := range slices.SortedFunc(maps.Keys(deltas), compareLists) {
		if list.collection != recordsCollection {
			continue
		}
		change := int64(0)
		for _, d := range deltas[list] {
			change += d.change
		}
		rows = append(rows, append(list.Args(), model.IntValue(change)))
		delete(deltas, list)
	}
	if len(rows) == 0 {
		return nil
	}
	if err := db.ExecEach(c, addToTotal, rows); err != nil {
		return err
	}
	_, err := c.Exec("DELETE FROM "+db.TotalsTable+" WHERE collection = $1 AND total = 0", model.TextValue(recordsCollection))
	return err
}

// countRecords computes the bytes of the records of all callers, of which none are kept.
func countRecords(c db.Conn) error {
	_, err := c.Exec("INSERT INTO "+db.TotalsTable+" (collection, parent, total) SELECT CAST($1 AS text), "+selectRecords+" GROUP BY caller", model.TextValue(recordsCollection))
	return err
}

const selectRecords = "'" + recordsPrefix + "' || caller AS parent, CAST(sum(" + RecordBytes + ") AS bigint) AS bytes FROM " + db.IdempotencyTable

// checkRecords compares the bytes that are kept with the records.
func checkRecords(c db.Conn) (wrong []string, err error) {
	return db.All(c, func(row model.Row) string {
		return "the idempotency records of " + strconv.Quote(strings.TrimPrefix(row.Text(0), recordsPrefix)) + " should have " + strconv.FormatInt(row.Int(1), 10) +
			" bytes, but " + strconv.FormatInt(row.Int(2), 10) + " are counted"
	}, "SELECT parent, CAST(sum(bytes) AS bigint), CAST(sum(kept) AS bigint) FROM (SELECT parent, bytes, 0 AS kept FROM (SELECT "+selectRecords+" GROUP BY caller) AS records"+
		" UNION ALL SELECT parent, 0, total FROM "+AllTotals()+" WHERE collection = $1) AS callers GROUP BY parent HAVING sum(bytes) <> sum(kept) ORDER BY parent", model.TextValue(recordsCollection))
}
