package db_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/schema"
)

// TestInsert: rows are stored in their order with the revisions of their entries in the change log,
// whoever has made their ids. Nothing is left of a row that is in conflict with another one, which may be among
// the rows of the same call.
func TestInsert(t *testing.T) {
	users := (*model.Schema)(schema.Example()).Collection("users")
	last := users.RevisionColumn()
	at := model.TimeValue("2026-01-02T03:04:05.678Z")
	id := func(n int) model.ID { return model.ID{0: 1, 14: byte(n >> 8), 15: byte(n)} }
	user := func(n int, name string) model.Record {
		record := make(model.Record, len(users.Columns()))
		record[model.IDColumn], record[users.Field("name").Column] = model.IDValue(id(n)), model.TextValue(name)
		record[users.Field("email").Column] = model.TextValue("'\"\\{},ü\n")
		if n%2 > 0 { // null otherwise
			record[users.Field("active").Column] = model.BoolValue(true)
		}
		record[users.CreatedColumn()], record[users.UpdatedColumn()] = at, at
		return record
	}
	eachDatabase(t, db.Options{}, func(t *testing.T, d db.Database) {
		sql := d.InsertSQL(db.NewTable(d, users), 7, 1)
		insert := func(isNew bool, records ...model.Record) {
			t.Helper()
			write(t, d, func(c db.Conn) error {
				return c.Insert(&db.Insertion{SQL: sql, Collection: users, Records: records, At: at, Caller: model.TextValue("ada"), New: isNew})
			})
		}
		var want []string
		stored := func(isNew bool, records ...model.Record) {
			t.Helper()
			insert(isNew, records...)
			for i, record := range records {
				if record.Null(last) || i > 0 && record.Int(last) <= records[i-1].Int(last) {
					t.Fatalf("row %d has the revision %v", i, record[last])
				}
				want = append(want, fmt.Sprint(record.Int(last), " ", record.ID(model.IDColumn), " ", record[1].Text()))
			}
		}
		many := func(from, count int) (records []model.Record) {
			for n := range count {
				records = append(records, user(from+n, fmt.Sprint("user ", from+n)))
			}
			return records
		}
		insert(true)
		stored(true, user(1, "one"))
		stored(false, user(2, "two"))
		stored(true, many(10, 77)...)
		stored(false, slices.Concat(many(200, 65), []model.Record{user(3, "a lower id")})...)
		for from, isNew := range map[int]bool{1000: true, 2000: false} {
			records := many(from, 40)
			records[5], records[35], records[39] = user(1, "taken"), user(from+36, "first"), user(from+36, "twice")
			insert(isNew, records...)
			for i, record := range records {
				if conflict := i == 5 || i == 36 || i == 39; record.Null(last) != conflict {
					t.Errorf("row %d: in conflict %v, want %v", i, record.Null(last), conflict)
				} else if !conflict {
					want = append(want, fmt.Sprint(record.Int(last), " ", record.ID(model.IDColumn), " ", record[1].Text()))
				}
			}
		}
		var rows, entries []string
		read := func(to *[]string, query string) {
			write(t, d, func(c db.Conn) error {
				return db.Each(c, func(row model.Row) {
					*to = append(*to, fmt.Sprint(row.Int(0), " ", row.ID(1), " ", row.Text(2)))
				}, query)
			})
		}
		table := db.NewTable(d, users)
		read(&rows, "SELECT "+table.Columns[last]+", id, name FROM "+table.Name+` WHERE email = '''"\{},ü`+"\n' AND (active IS NULL) = (name LIKE '%0' OR name LIKE '%2' OR name LIKE '%4' OR name LIKE '%6' OR name LIKE '%8' OR name IN ('two', 'first')) ORDER BY 1")
		read(&entries, "SELECT revision, log.id, name FROM "+db.ChangesTable+" AS log JOIN "+table.Name+" AS users USING (id) WHERE collection = 7 AND kind = 'created' AND caller = 'ada' AND schema = 1 AND previous = '' AND at = created_at AND at = updated_at ORDER BY 1")
		if len(want) != 1+1+77+66+2*37 {
			t.Errorf("%d rows", len(want))
		}
		slices.SortFunc(want, func(a, b string) int {
			var first, second int64
			fmt.Sscan(a, &first)
			fmt.Sscan(b, &second)
			return int(first - second)
		})
		if !slices.Equal(rows, want) {
			t.Errorf("rows\n%q\nwant\n%q", rows, want)
		}
		if !slices.Equal(entries, want) {
			t.Errorf("entries\n%q\nwant\n%q", entries, want)
		}
		var all []string
		read(&all, "SELECT revision, id, caller FROM "+db.ChangesTable)
		if len(all) != len(want) {
			t.Errorf("%d entries, want %d", len(all), len(want))
		}
	})
}
