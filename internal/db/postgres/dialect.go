package postgres

import (
	"bytes"
	"fmt"
	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/model"
	"maps"
	"slices"
	"strings"
)

// dialect is the SQL of PostgreSQL.
type dialect struct{}

func (dialect) ColumnType(kind model.Kind) string {
	if kind.IsDecimal() {
		return "bigint"
	}
	switch kind {
	case model.KindUUID:
		return "uuid"
	case model.KindInteger:
		return "bigint"
	case model.KindNumber:
		return "double precision"
	case model.KindBoolean:
		return "boolean"
	case model.KindDateTime:
		return "timestamp(3) with time zone"
	default:
		return `text COLLATE "C"`
	}
}

// Reserved: PostgreSQL reserves a few column names.
func (dialect) Reserved(name string) bool {
	return slices.Contains([]string{"ctid", "xmin", "xmax", "cmin", "cmax", "tableoid"}, name)
}

func (dialect) TableOptions() string { return "" }

func (dialect) RevisionType() string {
	return "bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY"
}

func (dialect) LastRevision() string { return "lastval()" }

func (dialect) Clock() string { return "SELECT clock_timestamp()" }

func (dialect) LastGiven() string {
	return "SELECT coalesce(pg_sequence_last_value(" + revisionSequence + "::regclass), 0)"
}

// Transaction numbers of another database have no meaning here.
func (dialect) Loading(last int64) (before, after []string) {
	transaction := "ALTER TABLE " + db.ChangesTable + " ALTER COLUMN transaction SET DEFAULT "
	after = []string{
		transaction + "pg_current_xact_id()", "ANALYZE",
		"INSERT INTO " + db.SequenceTable + " (position, revision) SELECT revision, revision FROM " + db.ChangesTable,
		fmt.Sprintf("UPDATE %s SET position = %d, seen = pg_current_snapshot()", db.TicksTable, last),
	}
	if last > 0 {
		after = append(after, fmt.Sprintf("SELECT setval(%s, %d)", revisionSequence, last))
	}
	return []string{transaction + "'0'"}, after
}

func (dialect) Nulls(descending bool) string {
	return db.Choose(descending, " NULLS LAST", " NULLS FIRST")
}

func (dialect) Contains(column, text string) string {
	return "strpos(" + column + ", " + text + ") > 0"
}

// Truncate: dates are texts, and PostgreSQL has no year 0. All weekdays are the same 400 years later.
func (dialect) Truncate(column string, kind model.Kind, unit string) string {
	switch {
	case kind == model.KindDateTime:
		return "date_trunc('" + unit + "', " + column + ", 'UTC')"
	case unit == "week":
		part := func(from, length string) string {
			return "CAST(substr(" + column + ", " + from + ", " + length + ") AS integer)"
		}
		monday := "date_trunc('week', make_timestamp(" + part("1", "4") + " + 400, " + part("6", "2") + ", " + part("9", "2") + ", 0, 0, 0))"
		return "lpad(CAST(EXTRACT(year FROM " + monday + ")::integer - 400 AS text), 4, '0') || to_char(" + monday + ", '-MM-DD') COLLATE \"C\""
	}
	return db.TruncateText(column, kind, unit)
}

// Average divides with so many digits that no two averages have the same ones: then the nearest double is known.
func (dialect) Average(high, low, count string, scale int) string {
	const digits = 80
	one, divisor := "1."+strings.Repeat("0", digits), "1"+strings.Repeat("0", scale)
	return "((" + high + " * 4294967296::numeric + " + low + ") * " + one + " / (nullif(" + count + ", 0) * " + divisor + "::numeric))::double precision"
}

func (dialect) List(texts []string) model.Value {
	return model.TextValue("{" + strings.Join(texts, ",") + "}")
}

func (dialect) Listed(placeholder string) string {
	return "unnest(" + placeholder + "::text::text[]) AS listed (value)"
}

func (dialect) ListedIDs(placeholder string) string {
	return "unnest(" + placeholder + "::uuid[]) AS listed (value)"
}

func (dialect) ToID(text string) string { return text + "::uuid" }

// InIDs is no subquery, for whose size the planner would have no estimate. The parameter is an array, and no text
// that is cast to one: a sequential scan would parse that text again for each row.
func (dialect) InIDs(column, placeholder string) string {
	return column + " = ANY (" + placeholder + "::uuid[])"
}

func (dialect) JSON(column string, kind model.Kind) string {
	value := column + "::text"
	switch {
	case kind.IsDecimal(): // a product has the digits of its factors, a quotient may have fewer
		unit := "1"
		if scale := kind.Scale(); scale > 0 {
			unit = "0." + strings.Repeat("0", scale-1) + "1"
		}
		value = `'"' || (` + column + " * " + unit + `::numeric)::text || '"'`
	case kind == model.KindDateTime: // the year before 1 is 1 BC to PostgreSQL
		utc := "(" + column + " AT TIME ZONE 'UTC')"
		value = "CASE WHEN " + utc + ` >= '0001-01-01' THEN to_char(` + utc + `, '"\""YYYY-MM-DD"T"HH24:MI:SS.MS"Z\""') ELSE '"0000' || to_char(` + utc + `, '-MM-DD"T"HH24:MI:SS.MS"Z\""') END`
	case kind == model.KindUUID:
		value = `'"' || ` + column + `::text || '"'`
	case kind == model.KindText || kind == model.KindDate:
		value = "to_json(" + column + ")::text"
	}
	return "coalesce(" + value + ", 'null')"
}

func (d dialect) Inside(column string, path []string, kind model.Kind) string {
	names := make([]string, len(path))
	for i, name := range path {
		names[i] = db.Literal(name)
	}
	value := "jsonb_extract_path_text(" + column + "::jsonb, " + strings.Join(names, ", ") + ")"
	switch {
	case kind.IsDecimal(): // a text with all digits of the scale
		return "replace(" + value + ", '.', '')::bigint"
	case kind == model.KindText || kind == model.KindJSON:
		return "(" + value + ` COLLATE "C")`
	}
	return value + "::" + d.ColumnType(kind)
}

func (dialect) HasItems(s db.ItemSearch) string {
	item := func(value model.Value) []byte { return s.Kind.AppendValue(nil, model.Record{value}, 0) }
	array := func(items []byte) string { return s.Arg(model.TextValue("["+string(items)+"]")) + "::text::jsonb" }
	if s.All {
		var items [][]byte
		for _, value := range s.Values {
			items = append(items, item(value))
		}
		return s.Column + "::jsonb @> " + array(bytes.Join(items, []byte(",")))
	}
	arrays := make([]string, len(s.Values))
	for i, value := range s.Values {
		arrays[i] = array(item(value))
	}
	if len(arrays) == 1 {
		return s.Column + "::jsonb @> " + arrays[0]
	}
	return s.Column + "::jsonb @> ANY (ARRAY[" + strings.Join(arrays, ", ") + "])"
}

func (dialect) CreateItemIndex(name, table, column string, _ model.Kind) []string {
	return []string{`CREATE INDEX "` + name + `" ON ` + table + " USING gin ((" + column + "::jsonb) jsonb_path_ops)"}
}

func (dialect) ItemsDiffer(string, string, string, model.Kind) string { return "" }

func (dialect) DropIndex(name string) []string { return []string{`DROP INDEX "` + name + `"`} }

func (dialect) HoldSchema() []string { return []string{lockSchemas} }

func (dialect) InlineReferences() bool { return false }

func (b dialect) AlterTable(c *model.Collection, have *db.TableDefinition, moves map[string]string) []string {
	alter := "ALTER TABLE " + db.Quote(b, c.Name) + " "
	wanted := map[string]model.Column{}
	for _, column := range c.Columns() {
		wanted[column.Name] = column
	}
	notNull, moving := map[string]bool{}, slices.Collect(maps.Values(moves))
	var statements []string
	for _, column := range have.Columns {
		notNull[column.Name] = column.NotNull
		_, stays := wanted[column.Name]
		if moves[column.Name] != "" || !stays && !slices.Contains(moving, column.Name) {
			statements = append(statements, alter+"DROP COLUMN "+db.Quote(b, column.Name))
			notNull[column.Name] = false
		}
	}
	for _, column := range c.Columns() {
		if from := moves[column.Name]; from != "" {
			statements = append(statements, alter+"RENAME COLUMN "+db.Quote(b, from)+" TO "+db.Quote(b, column.Name))
		}
		if column.NotNull != notNull[column.Name] {
			statements = append(statements, alter+"ALTER COLUMN "+db.Quote(b, column.Name)+db.Choose(column.NotNull, " SET NOT NULL", " DROP NOT NULL"))
		}
	}
	return statements
}

func (dialect) TryLock(first, second string) string {
	return "pg_try_advisory_xact_lock(hashtextextended(" + first + " || chr(31) || " + second + ", 0))"
}

func (dialect) SkipLocked() string { return " FOR UPDATE SKIP LOCKED" }

func (dialect) Catalogue() db.Catalogue {
	return db.Catalogue{
		Columns: `SELECT t.relname::text, a.attname::text,
				format_type(a.atttypid, a.atttypmod) || CASE WHEN l.collname = 'C' THEN ' COLLATE "C"' ELSE '' END ||
					CASE WHEN a.attgenerated <> '' THEN ' GENERATED' ELSE '' END, a.attnotnull::int
			FROM pg_class t JOIN pg_attribute a ON a.attrelid = t.oid LEFT JOIN pg_collation l ON l.oid = a.attcollation
			WHERE t.relnamespace = current_schema()::regnamespace AND t.relkind IN ('r', 'p') AND a.attnum > 0 AND NOT a.attisdropped
			ORDER BY t.relname, a.attnum`,
		Indexes: `SELECT t.relname::text, x.relname::text, i.indisunique::int, coalesce(a.attname::text, ''), i.indoption[k.position - 1] & 1
			FROM pg_index i JOIN pg_class t ON t.oid = i.indrelid JOIN pg_class x ON x.oid = i.indexrelid
				CROSS JOIN unnest(i.indkey::int[]) WITH ORDINALITY AS k(number, position)
				LEFT JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = k.number AND k.number > 0
			WHERE t.relnamespace = current_schema()::regnamespace AND NOT i.indisprimary ORDER BY t.relname, x.relname, k.position`,
		References: `SELECT t.relname::text, a.attname::text, r.relname::text, f.conname::text
			FROM pg_constraint f JOIN pg_class t ON t.oid = f.conrelid JOIN pg_class r ON r.oid = f.confrelid
				JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = f.conkey[1]
			WHERE f.contype = 'f' AND t.relnamespace = current_schema()::regnamespace`,
	}
}
