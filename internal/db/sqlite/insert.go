package sqlite

import (
	"strconv"
	"strings"

	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/model"
)

// The statements of an insert. Each exists for one row and for insertRows of them: one statement for
// many rows takes less time than many statements.
const (
	oneEntry = iota
	oneRow
	manyEntries
	manyRows
	storedRow
)

// insertRows is how many rows one statement inserts, if its text is short enough to be cached.
const insertRows = 32

// removeEntry removes an entry of the change log again.
const removeEntry = "DELETE FROM " + db.ChangesTable + " WHERE revision = $1"

// InsertSQL: the revisions of rows are numbers of the entries before them.
func (dialect) InsertSQL(t *db.Table, number, version int64) db.InsertSQL {
	entries := func(rows int) string { // ?N: the time and the caller are the first values, but come after an id
		return "INSERT INTO " + db.ChangesTable + " (" + db.EntryColumns + ") VALUES " + tuples(rows, func(i int) string {
			return strconv.FormatInt(number, 10) + ", ?" + strconv.Itoa(i+3) + ", '" + db.Created + "', ?1, ?2, " + strconv.FormatInt(version, 10) + ", ''"
		})
	}
	others, filled := t.Filled()
	resources := func(rows int) string {
		return "INSERT INTO " + t.Name + " (" + t.All + others + ") VALUES " + tuples(rows, func(i int) string {
			placeholders := make([]string, len(t.Columns))
			for column := range placeholders {
				placeholders[column] = "$" + strconv.Itoa(i*len(placeholders)+column+1)
			}
			return strings.Join(placeholders, ", ") + filled
		}) + " ON CONFLICT DO NOTHING"
	}
	sql := db.InsertSQL{
		oneEntry: entries(1), oneRow: resources(1), manyEntries: entries(insertRows), manyRows: resources(insertRows),
		storedRow: "SELECT 1 FROM " + t.Name + " WHERE " + t.Columns[model.IDColumn] + " = $1 AND " + t.Columns[t.Collection.RevisionColumn()] + " = $2",
	}
	if len(sql[manyRows]) > maxCachedSQL {
		sql[manyEntries], sql[manyRows] = "", ""
	}
	return sql
}

func tuples(count int, tuple func(i int) string) string {
	all := make([]string, count)
	for i := range all {
		all[i] = "(" + tuple(i) + ")"
	}
	return strings.Join(all, ", ")
}

func (c *connection) Insert(n *db.Insertion) error {
	for records := n.Records; len(records) > 0; {
		count, entries, rows := 1, n.SQL[oneEntry], n.SQL[oneRow]
		if len(records) >= insertRows && n.SQL[manyRows] != "" {
			count, entries, rows = insertRows, n.SQL[manyEntries], n.SQL[manyRows]
		}
		if err := c.insert(n, entries, rows, records[:count]); err != nil {
			return err
		}
		records = records[count:]
	}
	return nil
}

// insert stores entries and then rows. The numbers of entries are consecutive, as nobody else writes.
func (c *connection) insert(n *db.Insertion, entries, rows string, records []model.Record) error {
	c.values = append(c.values[:0], n.At, n.Caller)
	for _, record := range records {
		c.values = append(c.values, record[model.IDColumn])
	}
	if _, err := c.Exec(entries, c.values...); err != nil {
		return err
	}
	first, revision := c.raw.LastInsertRowID()-int64(len(records))+1, n.Collection.RevisionColumn()
	c.values = c.values[:0]
	for i, record := range records {
		record[revision] = model.IntValue(first + int64(i))
		c.values = append(c.values, record...)
	}
	stored, err := c.Exec(rows, c.values...)
	if err != nil || stored == len(records) {
		return err
	}
	for _, record := range records {
		found, err := db.One(c, nil, n.SQL[storedRow], record[model.IDColumn], record[revision])
		if err == nil && !found {
			_, err = c.Exec(removeEntry, record[revision])
			record[revision] = model.Null
		}
		if err != nil {
			return err
		}
	}
	return nil
}
