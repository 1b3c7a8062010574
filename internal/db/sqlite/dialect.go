package sqlite

import (
	"fmt"
	"maps"
	"strconv"
	"strings"

	"zombiezen.com/go/sqlite"

	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/model"
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
// numbers.
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

func (dialect) Nulls(bool) string { return "" }

func (dialect) Contains(column, text string) string {
	return "instr(" + column + ", " + text + ") > 0"
}

// Truncate: dates and date-times are texts of a fixed width.
func (dialect) Truncate(column string, kind model.Kind, unit string) string {
	if unit == "week" {
		monday := "date(substr(" + column + ", 1, 10), '-6 days', 'weekday 1')"
		return monday + " || '" + db.RestOfTime(kind)[len("0000-01-01"):] + "'"
	}
	return db.TruncateText(column, kind, unit)
}

// averageFunction is a function of SQL that each connection has: SQLite has no exact division.
const averageFunction = "plural_average"

func (dialect) Average(high, low, count string, scale int) string {
	return averageFunction + "(" + high + ", " + low + ", " + count + ", " + strconv.Itoa(scale) + ")"
}

func average(_ sqlite.Context, args []sqlite.Value) (sqlite.Value, error) {
	if count := args[2].Int64(); count > 0 {
		return sqlite.FloatValue(db.Average(args[0].Int64(), args[1].Int64(), count, args[3].Int())), nil
	}
	return sqlite.Value{}, nil
}

func (dialect) List(texts []string) model.Value {
	if len(texts) == 0 {
		return model.TextValue("[]")
	}
	return model.TextValue(`["` + strings.Join(texts, `","`) + `"]`)
}

func (dialect) Listed(placeholder string) string { return "json_each(" + placeholder + ")" }

func (d dialect) ListedIDs(placeholder string) string {
	return "(SELECT " + d.ToID("value") + " AS value FROM " + d.Listed(placeholder) + ")"
}

func (dialect) ToID(text string) string { return "unhex(" + text + ", '-')" }

func (d dialect) InIDs(column, placeholder string) string {
	return column + " IN " + d.ListedIDs(placeholder)
}

func (dialect) JSON(column string, kind model.Kind) string {
	value := column
	switch {
	case kind.IsDecimal():
		value = decimalText(column, kind.Scale())
	case kind == model.KindBoolean:
		value = "CASE " + column + " WHEN 1 THEN 'true' WHEN 0 THEN 'false' END"
	case kind == model.KindNumber: // with more digits than a double has, because SQLite may round the last one wrongly
		value = "iif(" + column + " IS NULL, NULL, printf('%!.20g', " + column + "))"
	case kind == model.KindUUID:
		parts := make([]string, 0, 5)
		for _, part := range [][2]int{{1, 4}, {5, 2}, {7, 2}, {9, 2}, {11, 6}} {
			parts = append(parts, fmt.Sprintf("hex(substr(%s, %d, %d))", column, part[0], part[1]))
		}
		value = "iif(" + column + ` IS NULL, NULL, '"' || ` + strings.Join(parts, " || '-' || ") + ` || '"')`
	case kind == model.KindDateTime: // has nothing to escape
		value = `'"' || ` + column + ` || '"'`
	case kind == model.KindText || kind == model.KindDate:
		return "json_quote(" + column + ")"
	}
	return "coalesce(" + value + ", 'null')"
}

// decimalText is a scaled integer as JSON.
func decimalText(column string, scale int) string {
	if scale == 0 {
		return `'"' || ` + column + ` || '"'`
	}
	unit := "1" + strings.Repeat("0", scale)
	return fmt.Sprintf(`iif(%[1]s IS NULL, NULL, printf('"%%s%%d.%%0%[2]dd"', iif(%[1]s < 0, '-', ''), abs(%[1]s / %[3]s), abs(%[1]s %% %[3]s)))`, column, scale, unit)
}

func (dialect) Inside(column string, path []string, kind model.Kind) string {
	value := "json_extract(" + column + ", " + db.Literal(`$."`+strings.Join(path, `"."`)+`"`) + ")"
	if kind.IsDecimal() { // a text with all digits of the scale
		return "CAST(replace(" + value + ", '.', '') AS INTEGER)"
	}
	return asKind(value, kind)
}

// asKind is a value out of JSON as one of the kind: a double may be written without a point, and is then
// not the integer that its digits are.
func asKind(value string, kind model.Kind) string {
	if kind == model.KindNumber {
		return "CAST(" + value + " AS REAL)"
	}
	return value
}

func (dialect) HasItems(s db.ItemSearch) string {
	var values []string
	for _, value := range s.Values {
		values = append(values, s.Arg(value))
	}
	list, item := " IN ("+strings.Join(values, ", ")+")", asKind("item.value", s.Kind)
	switch {
	case s.Index != "" && s.All && len(values) > 1:
		return s.ID + ` IN (SELECT id FROM "` + s.Index + `" WHERE value` + list + fmt.Sprintf(" GROUP BY id HAVING count(*) = %d)", len(values))
	case s.Index != "":
		return s.ID + ` IN (SELECT id FROM "` + s.Index + `" WHERE value` + list + ")"
	case s.All && len(values) > 1:
		return "(SELECT count(DISTINCT " + item + ") FROM json_each(" + s.Column + ") AS item WHERE " + item + list + fmt.Sprintf(") = %d", len(values))
	}
	return "EXISTS (SELECT 1 FROM json_each(" + s.Column + ") AS item WHERE " + item + list + ")"
}

// CreateItemIndex creates a table of the items and the ids of their resources, which triggers maintain.
// One may be left of a table that was replaced, as its triggers went with that.
func (dialect) CreateItemIndex(name, table, column string, kind model.Kind) []string {
	quoted := func(suffix string) string { return `"` + name + suffix + `"` }
	item := asKind("item.value", kind)
	items := func(row string) string {
		return " FROM json_each(" + row + "." + column + ") AS item WHERE item.value IS NOT NULL"
	}
	insert := "INSERT OR IGNORE INTO " + quoted("") + " (value, id) SELECT " + item
	add := insert + ", NEW.id" + items("NEW")
	remove := "DELETE FROM " + quoted("") + " WHERE id = OLD.id AND value IN (SELECT " + item + items("OLD") + ")"
	return []string{
		"DROP TABLE IF EXISTS " + quoted(""),
		"CREATE TABLE " + quoted("") + " (value ANY NOT NULL, id BLOB NOT NULL, PRIMARY KEY (value, id)) STRICT, WITHOUT ROWID",
		insert + ", t.id FROM " + table + " AS t, json_each(t." + column + ") AS item WHERE item.value IS NOT NULL",
		"CREATE TRIGGER " + quoted(".insert") + " AFTER INSERT ON " + table + " BEGIN " + add + "; END",
		"CREATE TRIGGER " + quoted(".update") + " AFTER UPDATE OF " + column + " ON " + table + " WHEN OLD." + column + " IS NOT NEW." + column + " BEGIN " + remove + "; " + add + "; END",
		"CREATE TRIGGER " + quoted(".delete") + " AFTER DELETE ON " + table + " BEGIN " + remove + "; END",
	}
}

func (dialect) ItemsDiffer(name, table, column string, kind model.Kind) string {
	index, item := `"`+name+`"`, asKind("item.value", kind)
	items := table + " AS t, json_each(t." + column + ") AS item WHERE item.value IS NOT NULL"
	return "SELECT count(DISTINCT id), min(id) FROM (SELECT t.id AS id FROM " + items + " AND NOT EXISTS (SELECT 1 FROM " + index + " AS i WHERE i.value = " + item + " AND i.id = t.id)" +
		" UNION ALL SELECT i.id FROM " + index + " AS i WHERE NOT EXISTS (SELECT 1 FROM " + items + " AND t.id = i.id AND " + item + " = i.value))"
}

func (dialect) DropIndex(name string) []string {
	if !strings.HasPrefix(name, db.ItemIndexPrefix) {
		return []string{`DROP INDEX "` + name + `"`}
	}
	var statements []string
	for _, trigger := range []string{".insert", ".update", ".delete"} {
		statements = append(statements, `DROP TRIGGER IF EXISTS "`+name+trigger+`"`)
	}
	return append(statements, `DROP TABLE "`+name+`"`)
}

func (dialect) HoldSchema() []string { return nil }

func (dialect) InlineReferences() bool { return true }

// rebuilt is the temporary name of a table that will replace another.
const rebuilt = "_plural_rebuilt"

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
	var drops []string // what is no part of the table, and would be left
	for _, index := range have.Indexes {
		if strings.HasPrefix(index.Name, db.ItemIndexPrefix) {
			drops = append(drops, b.DropIndex(index.Name)...)
		}
	}
	return append(drops,
		db.CreateTable(b, c, rebuilt),
		"INSERT INTO "+rebuilt+" ("+strings.Join(into, ", ")+") SELECT "+strings.Join(from, ", ")+" FROM "+name,
		"DROP TABLE "+name,
		"ALTER TABLE "+rebuilt+" RENAME TO "+name)
}

// A transaction that writes locks the whole database.
func (dialect) TryLock(string, string) string { return "1" }

func (dialect) SkipLocked() string { return "" }

func (dialect) Catalogue() db.Catalogue {
	return db.Catalogue{
		Columns: `SELECT t.name, c.name, c.type || iif(c.hidden > 1, ' GENERATED', ''), c."notnull" FROM sqlite_schema t, pragma_table_xinfo(t.name) c
			WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite\_%' ESCAPE '\' AND t.name NOT GLOB '_search.*.*' AND t.name NOT GLOB '_items.*' ORDER BY t.name, c.cid`,
		// The index of words is a table, and so is that of the items of an array, which has triggers.
		Indexes: `SELECT t.name, i.name, i."unique", coalesce(c.name, ''), c."desc", c.seqno FROM sqlite_schema t, pragma_index_list(t.name) i, pragma_index_xinfo(i.name) c
			WHERE t.type = 'table' AND i.origin = 'c' AND c.key
			UNION ALL SELECT substr(name, 1, length(name) - 6), name, 0, '_words', 0, 0 FROM sqlite_schema WHERE type = 'table' AND name GLOB '_search.*.words'
			UNION ALL SELECT tbl_name, substr(name, 1, length(name) - length('.insert')), 0, '', 0, 0 FROM sqlite_schema WHERE type = 'trigger' AND name GLOB '_items.*.insert'
			ORDER BY 1, 2, 6`,
		References: `SELECT t.name, f."from", f."table", '' FROM sqlite_schema t, pragma_foreign_key_list(t.name) f WHERE t.type = 'table'`,
	}
}
