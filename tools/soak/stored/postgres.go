//go:build linux

package stored

import (
	"context"
	"fmt"
	"github.com/jackc/pgx/v5"
	"strconv"
	"strings"
	"time"

	"github.com/plural-go/plural/tools/soak/ledger"
)

// ReadPostgres reads a database in one snapshot.
func ReadPostgres(ctx context.Context, url string) (*Contents, error) {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return nil, err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	tx, err := conn.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly})
	if err != nil {
		return nil, err
	}
	defer tx.Rollback(context.WithoutCancel(ctx))
	reader := &postgresReader{
		ctx: ctx, tx: tx, records: records{totals: map[total]int64{}, counted: map[total]int64{}},
		contents: &Contents{Observed: ledger.Observed{Resources: map[ledger.Ref]ledger.Value{}, Changes: []ledger.Change{}}},
	}
	if tables := reader.tables(); len(tables) > 0 {
		reader.read(tables)
		reader.references()
		reader.queue()
		reader.examine(reader.contents)
	}
	return reader.contents, reader.err
}

// postgresReader reads until the first error.
type postgresReader struct {
	records
	ctx      context.Context
	tx       pgx.Tx
	contents *Contents
	err      error
}

func (r *postgresReader) query(sql string, row func(pgx.Rows) error) {
	if r.err != nil {
		return
	}
	rows, err := r.tx.Query(r.ctx, sql)
	if err != nil {
		r.err = err
		return
	}
	defer rows.Close()
	for rows.Next() {
		if r.err = row(rows); r.err != nil {
			return
		}
	}
	r.err = rows.Err()
}

// texts reads a query with one text column.
func (r *postgresReader) texts(sql string) (texts []string) {
	r.query(sql, func(row pgx.Rows) error {
		var text string
		err := row.Scan(&text)
		texts = append(texts, text)
		return err
	})
	return texts
}

// tables lists the tables of collections.
func (r *postgresReader) tables() []string {
	return r.texts(`SELECT relname::text FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace AND relname NOT LIKE '\_plural\_%'`)
}

func (r *postgresReader) read(tables []string) {
	for _, document := range r.texts("SELECT numbers FROM _plural_schemas ORDER BY version DESC LIMIT 1") {
		r.err = r.numbers.read(document)
	}
	// Changes without a position come last.
	r.query("SELECT revision, collection, id::text, kind, previous FROM _plural_changes LEFT JOIN _plural_sequence USING (revision) ORDER BY position NULLS LAST, revision", func(row pgx.Rows) error {
		var c logged
		err := row.Scan(&c.revision, &c.collection, &c.id, &c.kind, &c.previous)
		r.changes = append(r.changes, c)
		return err
	})
	r.cut = len(r.texts("SELECT value FROM _plural_meta WHERE key = 'floor'")) > 0
	for _, table := range tables {
		r.query(`SELECT * FROM "`+table+`"`, func(row pgx.Rows) error {
			values, err := row.Values()
			found := stored{ref: ledger.Ref{Collection: table}, columns: map[string][]string{}}
			for i, field := range row.FieldDescriptions() {
				found.columns[field.Name] = valueAsJSON(values[i])
			}
			found.ref.ID = strings.Trim(found.columns["id"][0], `"`)
			found.revision, _ = strconv.ParseInt(found.columns["_revision"][0], 10, 64)
			r.stored = append(r.stored, found)
			return err
		})
	}
	for statement, totals := range map[string]map[total]int64{keptTotals: r.totals, recordBytes: r.counted} {
		r.query(statement, func(row pgx.Rows) error {
			var key total
			var n int64
			err := row.Scan(&key.collection, &key.parent, &n)
			totals[key] += n
			return err
		})
	}
}

// valueAsJSON lists the JSON forms of a value.
func valueAsJSON(value any) []string {
	switch value := value.(type) {
	case nil:
		return []string{"null"}
	case [16]byte:
		return []string{fmt.Sprintf(`"%x-%x-%x-%x-%x"`, value[0:4], value[4:6], value[6:8], value[8:10], value[10:])}
	case time.Time:
		return []string{value.UTC().Format(`"2006-01-02T15:04:05.000Z"`)}
	case string:
		return textAsJSON(value)
	default:
		return []string{fmt.Sprint(value)}
	}
}

// references finds references to resources that do not exist.
func (r *postgresReader) references() {
	for _, reference := range [][3]string{{"orders", "account_id", "accounts"}, {"notes", "order_id", "orders"}} {
		from, column, to := reference[0], reference[1], reference[2]
		for _, id := range r.texts("SELECT " + column + "::text FROM " + from + " WHERE NOT EXISTS (SELECT FROM " + to + " WHERE " + to + ".id = " + column + ")") {
			r.contents.Problem("a row of %s refers to none in %s: %s", from, to, id)
		}
	}
}

// queue compares the queue with the operations that clients see.
func (r *postgresReader) queue() {
	for problem, sql := range map[string]string{
		"the queue has an operation that is finished: ": "SELECT operation::text FROM _plural_queue WHERE NOT EXISTS" +
			" (SELECT FROM operations WHERE id = operation AND status IN ('pending', 'running'))",
		"an operation is not finished, and not in the queue: ": "SELECT id::text FROM operations WHERE status IN ('pending', 'running') AND NOT EXISTS" +
			" (SELECT FROM _plural_queue WHERE operation = id)",
		"an operation waits for one that is not in the queue: ": "SELECT follower::text FROM _plural_followers WHERE NOT EXISTS" +
			" (SELECT FROM _plural_queue WHERE operation = awaited)",
		"an operation does not wait for as many as it says: ": "SELECT operation::text FROM _plural_queue WHERE blockers <>" +
			" (SELECT count(*) FROM _plural_followers WHERE follower = operation)",
	} {
		for _, id := range r.texts(sql) {
			r.contents.Problem("%s%s", problem, id)
		}
	}
}
