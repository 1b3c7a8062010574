package db

import (
	"strings"

	"github.com/plural-go/plural/internal/model"
)

// Internal tables. No collection name starts with an underscore.
const (
	MetaTable        = "_plural_meta"
	ChangesTable     = "_plural_changes"
	TotalsTable      = "_plural_totals"
	SchemasTable     = "_plural_schemas"
	IdempotencyTable = "_plural_answers" // idempotency records; databases have the table by this name
	QueueTable       = "_plural_queue"
	DeltasTable      = "_plural_deltas"

	OffsetsTable = "_plural_positions" // the offset indexes of long lists, see package lists

	FollowersTable = "_plural_followers" // of operations in the queue

	KeysTable = "_plural_keys"
	UsesTable = "_plural_uses" // of versions of the interface, by callers

	// Only where numbers in the change log are not revisions:
	SequenceTable = "_plural_sequence"
	TicksTable    = "_plural_ticks" // one row: the last number that was given, and the snapshot of that tick
)

// Definitions returns statements that create the tables of a schema, and then what can be added when
// the tables have rows: indexes, and foreign keys that are not part of the tables.
func Definitions(d Dialect, s *model.Schema) (tables, additions []string) {
	text, id, when, number := d.ColumnType(model.KindText), d.ColumnType(model.KindUUID), d.ColumnType(model.KindDateTime), d.ColumnType(model.KindInteger)
	tables = []string{
		"CREATE TABLE " + MetaTable + " (key " + text + " NOT NULL PRIMARY KEY, value " + text + " NOT NULL)" + d.TableOptions(),
		"CREATE TABLE " + TotalsTable + " (collection " + text + " NOT NULL, parent " + text + " NOT NULL, total " +
			number + " NOT NULL, PRIMARY KEY (collection, parent))" + d.TableOptions(),
		"CREATE TABLE " + SchemasTable + " (version " + number + " NOT NULL PRIMARY KEY, at " + when +
			" NOT NULL, document " + text + " NOT NULL, numbers " + text + " NOT NULL)",
		"CREATE TABLE " + IdempotencyTable + " (caller " + text + " NOT NULL, key " + text + " NOT NULL, fingerprint " + text + " NOT NULL, outcome " + text + " NOT NULL, body " + text + " NOT NULL, at " + when +
			" NOT NULL, until " + text + " NOT NULL, PRIMARY KEY (caller, key))" + d.TableOptions(),
		"CREATE TABLE " + QueueTable + " (operation " + id + " NOT NULL PRIMARY KEY, caller " + text + " NOT NULL, method " + text + " NOT NULL, collection " + text +
			" NOT NULL, resource " + id + " NOT NULL, parent " + id + ", body " + text + " NOT NULL, if_match " + text + " NOT NULL, if_none_match " + text +
			" NOT NULL, turn " + number + " NOT NULL, blockers " + number + " NOT NULL, followers " + number + " NOT NULL, accepted_by " + number + " NOT NULL, version " + number + " NOT NULL, attempt " + number +
			" NOT NULL, due " + when + " NOT NULL)" + d.TableOptions(),
		"CREATE TABLE " + DeltasTable + " (collection " + text + " NOT NULL, parent " + text + " NOT NULL, id " + id + " NOT NULL, change " + number + " NOT NULL)",
		"CREATE TABLE " + OffsetsTable + " (collection " + text + " NOT NULL, parent " + text + " NOT NULL, level " + number + " NOT NULL, first " + id +
			" NOT NULL, count " + number + " NOT NULL, PRIMARY KEY (collection, parent, level, first))" + d.TableOptions(),
		"CREATE TABLE " + FollowersTable + " (awaited " + id + " NOT NULL, follower " + id + " NOT NULL, PRIMARY KEY (awaited, follower))" + d.TableOptions(),
		"CREATE TABLE " + KeysTable + " (prefix " + text + " NOT NULL PRIMARY KEY, hash " + text + " NOT NULL, name " + text + " NOT NULL, role " + text +
			" NOT NULL, subject " + text + " NOT NULL, at " + when + " NOT NULL, expires " + when + ", revoked " + when + ", version " + number + ", agent_writes " + d.ColumnType(model.KindBoolean) + " NOT NULL)" + d.TableOptions(),
		"CREATE TABLE " + UsesTable + " (version " + number + " NOT NULL, caller " + text + " NOT NULL, at " + when + " NOT NULL, PRIMARY KEY (version, caller))" + d.TableOptions(),
	}
	additions = []string{
		"CREATE INDEX " + IdempotencyTable + "_at ON " + IdempotencyTable + " (at)",
		"CREATE UNIQUE INDEX " + QueueTable + "_turn ON " + QueueTable + " (collection, resource, turn)",
		"CREATE INDEX " + DeltasTable + "_list ON " + DeltasTable + " (collection, parent)",
		"CREATE INDEX " + QueueTable + "_due ON " + QueueTable + " (blockers, due)",
	}
	logTables, logAdditions := LogTables(d)
	tables, additions = append(tables, logTables...), append(additions, logAdditions...)
	for _, collection := range s.All() {
		tables = append(tables, CreateTable(d, collection, collection.Name))
		for _, index := range Indexes(collection) {
			additions = append(additions, CreateIndex(d, collection, index)...)
		}
		if !d.InlineReferences() {
			for _, link := range collection.Links() {
				additions = append(additions, "ALTER TABLE "+Quote(d, collection.Name)+" ADD "+ForeignKey(d, link))
			}
		}
	}
	return tables, additions
}

// CreateTable is a statement that creates the table of a collection, under a name.
func CreateTable(d Dialect, c *model.Collection, name string) string {
	t := NewTable(d, c)
	var b strings.Builder
	b.WriteString("CREATE TABLE " + Quote(d, name) + " (")
	for i, column := range c.Columns() {
		b.WriteString(t.Columns[i] + " " + d.ColumnType(column.Kind) + Choose(column.NotNull, " NOT NULL", "") + ", ")
	}
	b.WriteString("PRIMARY KEY (" + t.Columns[model.IDColumn] + ")")
	if d.InlineReferences() {
		for _, link := range c.Links() {
			b.WriteString(", " + ForeignKey(d, link))
		}
	}
	return b.String() + ")" + d.TableOptions()
}

// ForeignKey is the constraint of a link.
func ForeignKey(d Dialect, link model.Link) string {
	return "FOREIGN KEY (" + Quote(d, link.From.Columns()[link.Column].Name) + ") REFERENCES " + Quote(d, link.To.Name) + " (" +
		Quote(d, link.To.Columns()[model.IDColumn].Name) + ") DEFERRABLE INITIALLY DEFERRED"
}
