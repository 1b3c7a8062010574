package sqlite

import (
	"fmt"
	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/model"
	"maps"
	"strings"
)

// dialect is the SQL of SQLite.
type dialect struct{}

func (dialect) ColumnType(kind model.Kind) string {
	if kind.IsDecimal() {
		return "INTEGER"
	}
	switch kind {
	case model.KindUUID:
		return "BLOB"
	case model.KindInteger, model.KindBoolean:
		return "INTEGER"
	case model.KindNumber:
		return "REAL"
	default:
		return "TEXT"
	}
}

// Reserved: SQLite reserves names that start with sqlite_.
func (dialect) Reserved(name string) bool { return strings.HasPrefix(name, "sqlite_") }

// A table without rowid is stored in the order of its primary key, so a range of ids is in
// consecutive pages.
func (dialect) TableOptions() string { return " STRICT, WITHOUT ROWID" }

func (dialect) RevisionType() string { return "INTEGER PRIMARY KEY AUTOINCREMENT" }

func (dialect) LastRevision() string { return "last_insert_rowid()" }

// One transaction writes at a time, so revisions are committed in their order: they are the
// positions.
func (dialect) ChangeOrder() (columns string, additions, renumbered []string) { return "", nil, nil }

func (dialect) PositionedLog() string {
	return "(SELECT revision AS position, " + db.ChangeColumns + ", 0 AS \"transaction\" FROM " + db.ChangesTable + ")"
}

func (dialect) RemoveLog() string { return "DELETE FROM " + db.ChangesTable + " WHERE revision <= $1" }

func (dialect) ClearLog() []string { return []string{"DELETE FROM " + db.ChangesTable} }

func (d dialect) PointColumns() string {
	return "(" + d.LastGiven() + ") AS position, 0 AS revision, '' AS seen"
}

func (dialect) Clock() string { return "SELECT strftime('%Y-%m-%dT%H:%M:%fZ', 'now')" }

func (dialect) LastGiven() string {
	return "SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = '" + db.ChangesTable + "'"
}

// SQLite has a row for a table only after the first insert into it.
func (dialect) Loading(last int64) (before, after []string) {
	return nil, []string{
		"DELETE FROM sqlite_sequence WHERE name = '" + db.ChangesTable + "'",
		fmt.Sprintf("INSERT INTO sqlite_sequence (name, seq) VALUES ('%s', %d)", db.ChangesTable, last),
	}
}

func (dialect) NullsFirst() string { return "" }

func (dialect) NullsLast() string { return "" }

func (dialect) Contains(column, text string) string {
	return "instr(" + column + ", " + text + ") > 0"
}

// Truncate: date-times are texts of a fixed width.
func (dialect) Truncate(column, unit string) string {
	const zero = "0000-01-01T00:00:00.000Z"
	length := map[string]int{"year": 4, "month": 7, "day": 10, "hour": 13}[unit]
	return fmt.Sprintf("substr(%s, 1, %d) || '%s'", column, length, zero[length:])
}

func (dialect) Inside(column string, path []string, kind model.Kind) string {
	value := "json_extract(" + column + ", " + db.Literal(`$."`+strings.Join(path, `"."`)+`"`) + ")"
	if kind.IsDecimal() { // a text with all digits of the scale
		return "CAST(replace(" + value + ", '.', '') AS INTEGER)"
	}
	return value
}

func (dialect) HasItems(s db.ItemSearch) string {
	var values []string
	for _, value := range s.Values {
		values = append(values, s.Arg(value))
	}
	list := " IN (" + strings.Join(values, ", ") + ")"
	switch {
	case s.Index != "" && s.All && len(values) > 1:
		return s.ID + ` IN (SELECT id FROM "` + s.Index + `" WHERE value` + list + fmt.Sprintf(" GROUP BY id HAVING count(*) = %d)", len(values))
	case s.Index != "":
		return s.ID + ` IN (SELECT id FROM "` + s.Index + `" WHERE value` + list + ")"
	case s.All && len(values) > 1:
		return "(SELECT count(DISTINCT item.value) FROM json_each(" + s.Column + ") AS item WHERE item.value" + list + fmt.Sprintf(") = %d", len(values))
	}
	return "EXISTS (SELECT 1 FROM json_each(" + s.Column + ") AS item WHERE item.value" + list + ")"
}

func (dialect) HoldSchema() []string { return nil }

func (dialect) InlineReferences() bool { return true }

// AlterTable creates a new table and copies the rows: SQLite cannot change whether a column is
// required, or what it refers to.
func (b dialect) AlterTable(c *model.Collection, have *db.TableDefinition, moves map[string]string) []string {
	wanted := map[string]db.ColumnDefinition{}
	var into, from []string
	for _, column := range c.Columns() {
		wanted[column.Name] = db.ColumnDefinition{Name: column.Name, Kind: b.ColumnType(column.Kind), NotNull: column.NotNull}
		into = append(into, db.Quote(b, column.Name))
		source := column.Name
		if moved, ok := moves[column.Name]; ok {
			source = moved
		}
		from = append(from, db.Quote(b, source))
	}
	found := map[string]db.ColumnDefinition{}
	for _, column := range have.Columns {
		found[column.Name] = column
	}
	references := map[string]string{}
	for _, link := range c.Links() {
		references[c.Columns()[link.Column].Name] = link.To.Name
	}
	if len(moves) == 0 && maps.Equal(wanted, found) && maps.Equal(references, have.References) {
		return nil
	}
	name := db.Quote(b, c.Name)
	return []string{
		db.CreateTable(b, c, rebuilt),
		"INSERT INTO " + rebuilt + " (" + strings.Join(into, ", ") + ") SELECT " + strings.Join(from, ", ") + " FROM " + name,
		"DROP TABLE " + name,
		"ALTER TABLE " + rebuilt + " RENAME TO " + name,
	}
}

// A transaction that writes locks the whole database.
func (dialect) TryLock(string, string) string { return "1" }

func (dialect) SkipLocked() string { return "" }

func (dialect) Catalogue() db.Catalogue {
	return db.Catalogue{
		Columns: `SELECT t.name, c.name, c.type, c."notnull" FROM sqlite_schema t, pragma_table_xinfo(t.name) c
			WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite\_%' ESCAPE '\' AND t.name NOT GLOB '_search.*.*' ORDER BY t.name, c.cid`,
		// The index of words is a table.
		Indexes: `SELECT t.name, i.name, i."unique", c.name, c.seqno FROM sqlite_schema t, pragma_index_list(t.name) i, pragma_index_info(i.name) c
			WHERE t.type = 'table' AND i.origin = 'c'
			UNION ALL SELECT substr(name, 1, length(name) - 6), name, 0, '_words', 0 FROM sqlite_schema WHERE type = 'table' AND name GLOB '_search.*.words'
			ORDER BY 1, 2, 5`,
		References: `SELECT t.name, f."from", f."table", '' FROM sqlite_schema t, pragma_foreign_key_list(t.name) f WHERE t.type = 'table'`,
	}
}
