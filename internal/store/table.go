package store

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/plural-go/plural/internal/model"
)

// table is a collection with the SQL that never changes.
type table struct {
	collection *model.Collection
	name       string   // quoted
	columns    []string // quoted
	all        string   // all columns, separated by commas
	one        string   // selects the resource with an id
	// insert takes the values ahead of the revision, and does nothing if there is a
	// conflict; update takes the same behind the id, then the id and the revision
	// before. Both set the revision of the last change, and are for conn.put. Delete takes
	// the id and the revision before.
	insert         string
	update, delete string
}

func newTable(d dialect, c *model.Collection) *table {
	t := &table{collection: c, name: quote(d, c.Name)}
	for _, column := range c.Columns() {
		t.columns = append(t.columns, quote(d, column.Name))
	}
	t.all = strings.Join(t.columns, ", ")
	id, revision := t.columns[model.IDColumn], t.columns[c.RevisionColumn()]

	t.one = "SELECT " + t.all + " FROM " + t.name + " WHERE " + id + " = $1"

	insert := &statement{dialect: d}
	insert.write("INSERT INTO ", t.name, " (", t.all, ") VALUES (")
	insert.list(len(t.columns)-1, ", ", "", func(int) { insert.arg(model.Null) })
	insert.write(", ", d.lastRevision(), ") ON CONFLICT DO NOTHING", d.returning(revision))
	t.insert = insert.String()

	update := &statement{dialect: d}
	update.write("UPDATE ", t.name, " SET ")
	for _, column := range t.columns[1:c.RevisionColumn()] {
		update.write(column, " = ")
		update.arg(model.Null)
		update.write(", ")
	}
	update.write(revision, " = ", d.lastRevision(), " WHERE ", id, " = ")
	update.arg(model.Null)
	update.write(" AND ", revision, " = ")
	update.arg(model.Null)
	update.write(d.returning(revision))
	t.update = update.String()

	t.delete = "DELETE FROM " + t.name + " WHERE " + id + " = $1 AND " + revision + " = $2"
	return t
}

// quote makes an identifier of a name from the schema.
func quote(d dialect, name string) string { return `"` + storedName(d, name) + `"` }

// storedName is what the database calls by a name from the schema. One that it
// keeps to itself gets an underscore, with which no other name starts.
func storedName(d dialect, name string) string {
	if d.reserved(name) {
		name = "_" + name
	}
	return name
}

// declaredName undoes what storedName did to a name.
func declaredName(d dialect, stored string) string {
	if name, ok := strings.CutPrefix(stored, "_"); ok && d.reserved(name) {
		return name
	}
	return stored
}

// statement starts a piece of SQL on the table.
func (s *Store) statement(c *model.Collection, parts ...string) *statement {
	st := &statement{dialect: s.backend, table: s.tables[c]}
	st.write(parts...)
	return st
}

// The tables that are ours. No collection's name starts with an underscore.
const (
	metaTable    = "_plural_meta"
	changesTable = "_plural_changes"
	totalsTable  = "_plural_totals"
	schemasTable = "_plural_schemas"
	answersTable = "_plural_answers"
	queueTable   = "_plural_queue"
	deltasTable  = "_plural_deltas"

	positionsTable = "_plural_positions"

	followersTable = "_plural_followers" // of operations in the queue

	keysTable = "_plural_keys"
)

// createTables makes all tables and indexes of a schema.
func createTables(c conn, d dialect, s *model.Schema, at model.Value) error {
	tables, additions := definitions(d, s)
	if err := execAll(c, append(tables, additions...)...); err != nil {
		return err
	}
	if err := execAll(c, "INSERT INTO "+metaTable+" (key, value) VALUES ('format', '"+storeFormat+"'), ('last_id', '')"); err != nil {
		return err
	}
	return saveSchema(c, s, at)
}

// definitions make the tables of a schema, and then what can be added when they
// have rows: indexes, and foreign keys that are not part of the tables.
func definitions(d dialect, s *model.Schema) (tables, additions []string) {
	text, id, when, number := d.columnType(model.KindText), d.columnType(model.KindUUID), d.columnType(model.KindDateTime), d.columnType(model.KindInteger)
	order, orderIndex, _ := d.changeOrder()
	tables = []string{
		"CREATE TABLE " + metaTable + " (key " + text + " NOT NULL PRIMARY KEY, value " + text + " NOT NULL)" + d.tableOptions(),
		"CREATE TABLE " + changesTable + " (revision " + d.revisionType() + ", collection " + text + " NOT NULL, id " + id +
			" NOT NULL, kind " + text + " NOT NULL, at " + when + " NOT NULL, caller " + text + " NOT NULL, representation " + text + " NOT NULL" + order + ")",
		"CREATE TABLE " + totalsTable + " (collection " + text + " NOT NULL, parent " + text + " NOT NULL, total " +
			number + " NOT NULL, PRIMARY KEY (collection, parent))" + d.tableOptions(),
		"CREATE TABLE " + schemasTable + " (version " + number + " NOT NULL PRIMARY KEY, at " + when +
			" NOT NULL, document " + text + " NOT NULL)",
		"CREATE TABLE " + answersTable + " (caller " + text + " NOT NULL, key " + text + " NOT NULL, fingerprint " + text + " NOT NULL, status " +
			number + " NOT NULL, header " + text + " NOT NULL, body " + text + " NOT NULL, at " + when +
			" NOT NULL, until " + text + " NOT NULL, PRIMARY KEY (caller, key))" + d.tableOptions(),
		"CREATE TABLE " + queueTable + " (operation " + id + " NOT NULL PRIMARY KEY, caller " + text + " NOT NULL, method " + text + " NOT NULL, collection " + text +
			" NOT NULL, resource " + id + " NOT NULL, parent " + id + ", body " + text + " NOT NULL, if_match " + text + " NOT NULL, if_none_match " + text +
			" NOT NULL, turn " + number + " NOT NULL, blockers " + number + " NOT NULL, followers " + number + " NOT NULL, accepted_by " + number + " NOT NULL, attempt " + number +
			" NOT NULL, due " + when + " NOT NULL)" + d.tableOptions(),
		"CREATE TABLE " + deltasTable + " (collection " + text + " NOT NULL, parent " + text + " NOT NULL, id " + id + " NOT NULL, change " + number + " NOT NULL)",
		"CREATE TABLE " + positionsTable + " (collection " + text + " NOT NULL, parent " + text + " NOT NULL, level " + number + " NOT NULL, first " + id +
			" NOT NULL, count " + number + " NOT NULL, PRIMARY KEY (collection, parent, level, first))" + d.tableOptions(),
		"CREATE TABLE " + followersTable + " (awaited " + id + " NOT NULL, follower " + id + " NOT NULL, PRIMARY KEY (awaited, follower))" + d.tableOptions(),
		"CREATE TABLE " + keysTable + " (prefix " + text + " NOT NULL PRIMARY KEY, hash " + text + " NOT NULL, name " + text + " NOT NULL, role " + text +
			" NOT NULL, subject " + text + " NOT NULL, at " + when + " NOT NULL, expires " + when + ", revoked " + when + ")" + d.tableOptions(),
	}
	additions = []string{
		// A deleted resource is looked up when it is used as a cursor.
		"CREATE INDEX " + changesTable + "_deleted ON " + changesTable + " (collection, id) WHERE kind = 'delete'",
		"CREATE INDEX " + changesTable + "_at ON " + changesTable + " (at)",
		"CREATE INDEX " + answersTable + "_at ON " + answersTable + " (at)",
		"CREATE UNIQUE INDEX " + queueTable + "_turn ON " + queueTable + " (collection, resource, turn)",
		"CREATE INDEX " + deltasTable + "_list ON " + deltasTable + " (collection, parent)",
		"CREATE INDEX " + queueTable + "_due ON " + queueTable + " (blockers, due)",
	}
	additions = append(additions, orderIndex...)
	for _, collection := range s.All() {
		tables = append(tables, createTable(d, collection, collection.Name))
		for _, index := range indexes(collection) {
			additions = append(additions, createIndex(d, collection, index))
		}
		if !d.inlineReferences() {
			for _, link := range collection.Links() {
				additions = append(additions, "ALTER TABLE "+quote(d, collection.Name)+" ADD "+foreignKey(d, link))
			}
		}
	}
	return tables, additions
}

func execAll(c conn, statements ...string) error {
	for _, statement := range statements {
		if _, err := c.exec(statement); err != nil {
			return err
		}
	}
	return nil
}

// createTable makes the table of a collection, under a name.
func createTable(d dialect, c *model.Collection, name string) string {
	t := newTable(d, c)
	var b strings.Builder
	b.WriteString("CREATE TABLE " + quote(d, name) + " (")
	for i, column := range c.Columns() {
		b.WriteString(t.columns[i] + " " + d.columnType(column.Kind) + choose(column.NotNull, " NOT NULL", "") + ", ")
	}
	b.WriteString("PRIMARY KEY (" + t.columns[model.IDColumn] + ")")
	if d.inlineReferences() {
		for _, link := range c.Links() {
			b.WriteString(", " + foreignKey(d, link))
		}
	}
	return b.String() + ")" + d.tableOptions()
}

func foreignKey(d dialect, link model.Link) string {
	return "FOREIGN KEY (" + quote(d, link.From.Columns()[link.Column].Name) + ") REFERENCES " + quote(d, link.To.Name) + " (" +
		quote(d, link.To.Columns()[model.IDColumn].Name) + ") DEFERRABLE INITIALLY DEFERRED"
}

// indexes lists what a collection's table must have beside its primary key. The
// id stands behind the columns of an index, as it does in every order.
func indexes(c *model.Collection) []indexShape {
	var indexes []indexShape
	add := func(unique bool, columns ...int) {
		index := indexShape{unique: unique}
		for _, column := range columns {
			index.columns = append(index.columns, c.Columns()[column].Name)
		}
		index.name = indexName(c, index)
		indexes = append(indexes, index)
	}
	for _, group := range c.UniqueGroups() {
		add(true, group...)
	}
	for _, link := range c.Links() {
		add(false, link.Column, model.IDColumn)
	}
	for _, group := range c.IndexGroups() {
		add(false, append(group[:len(group):len(group)], model.IDColumn)...)
	}
	return indexes
}

func createIndex(d dialect, c *model.Collection, index indexShape) string {
	columns := make([]string, len(index.columns))
	for i, name := range index.columns {
		// In the order of ORDER BY, or no sorted list could use it.
		columns[i] = quote(d, name) + d.nullsFirst()
	}
	return "CREATE " + choose(index.unique, "UNIQUE ", "") + "INDEX " + quote(d, index.name) +
		" ON " + quote(d, c.Name) + " (" + strings.Join(columns, ", ") + ")"
}

// indexName starts with an underscore, as no collection does, and is cut to
// what every database can hold.
func indexName(c *model.Collection, index indexShape) string {
	name := choose(index.unique, "_unique.", "_index.") + c.Name + "." + strings.Join(index.columns, ".")
	if len(name) > 63 {
		sum := sha256.Sum256([]byte(name))
		name = name[:46] + "_" + hex.EncodeToString(sum[:8])
	}
	return name
}
