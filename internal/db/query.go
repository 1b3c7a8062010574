package db

import (
	"cmp"
	"context"
	"slices"

	"github.com/plural-go/plural/internal/model"
)

// Write runs fn in a transaction of a database.
func Write(ctx context.Context, b Database, fn func(Conn) error) error {
	return b.Write(ctx, &Task{Run: func(c Conn, _ []*Task) error { return fn(c) }})
}

// One runs a query and calls read with its first row, if there is one. Read may be nil.
func One(c Conn, read func(model.Row), sql string, args ...model.Value) (found bool, err error) {
	err = EachWhile(c, func(row model.Row) bool {
		found = true
		if read != nil {
			read(row)
		}
		return false
	}, sql, args...)
	return found, err
}

// Int runs a query for one number. It is zero if there is no row.
func Int(c Conn, sql string, args ...model.Value) (n int64, err error) {
	_, err = One(c, func(row model.Row) { n = row.Int(0) }, sql, args...)
	return n, err
}

// All runs a query and returns what read makes of each row.
func All[T any](c Conn, read func(model.Row) T, sql string, args ...model.Value) (all []T, err error) {
	err = Each(c, func(row model.Row) { all = append(all, read(row)) }, sql, args...)
	return all, err
}

// Each runs a query and calls read with each row.
func Each(c Conn, read func(model.Row), sql string, args ...model.Value) error {
	return EachWhile(c, func(row model.Row) bool {
		read(row)
		return true
	}, sql, args...)
}

// EachOrError is Each with a function that may fail, which ends it.
func EachOrError(c Conn, read func(model.Row) error, sql string, args ...model.Value) error {
	var failed error
	err := EachWhile(c, func(row model.Row) bool {
		failed = read(row)
		return failed == nil
	}, sql, args...)
	return cmp.Or(err, failed)
}

// EachWhile runs a query and calls read with each row until read returns false.
func EachWhile(c Conn, read func(model.Row) bool, sql string, args ...model.Value) error {
	rows, err := c.Query(sql, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for {
		more, err := rows.Next()
		if err != nil || !more || !read(rows) {
			return err
		}
	}
}

// ExecEach runs a statement with each list of values, in batches.
func ExecEach(c Conn, sql string, lists []model.Record) error {
	for chunk := range slices.Chunk(lists, BatchRows) {
		batch := make([]Statement, len(chunk))
		for i, values := range chunk {
			batch[i] = Statement{SQL: sql, Args: values}
		}
		if err := c.Batch(batch...); err != nil {
			return err
		}
	}
	return nil
}

// EachBatch reads a collection in the order of ids, in batches of bounded size. No result is open
// while a batch is processed, so work may read and write.
func EachBatch(c Conn, t *Table, work func([]model.Record) error) error {
	columns := &Builder{}
	columns.Write(t.All)
	return EachBatchOf(c, t, columns, t.Collection.Scan, work)
}

// EachBatchOf is EachBatch for some columns of a table, which may be expressions. Scan reads a row of them;
// its id is at model.IDColumn. The columns of the row can be named after RowName.
func EachBatchOf(c Conn, t *Table, columns *Builder, scan func(model.Row) model.Record, work func([]model.Record) error) error {
	id := RowName + "." + t.Columns[model.IDColumn]
	var last model.Value
	for rows := BatchRows; ; {
		query := &Builder{Args: slices.Clip(columns.Args)}
		query.Write("SELECT ", columns.String(), " FROM ", t.Name, " AS ", RowName)
		if !last.IsNull() {
			query.Write(" WHERE ", id, " > ")
			query.Arg(last)
		}
		query.Write(" ORDER BY ", id, " LIMIT ")
		query.Arg(model.IntValue(int64(rows)))
		var batch []model.Record
		size := 0
		err := EachWhile(c, func(row model.Row) bool {
			record := scan(row)
			batch = append(batch, record)
			size += record.Size()
			return size < BatchBytes
		}, query.String(), query.Args...)
		if err != nil || len(batch) == 0 {
			return err
		}
		if err := work(batch); err != nil {
			return err
		}
		last = batch[len(batch)-1][model.IDColumn]
		rows = min(2*len(batch), BatchRows) // a database may send all rows of a result, also those that are not read
	}
}

// RowName names the row that a statement reads or changes, and TargetName one that it refers to. No table has
// such a name, as no name of the schema has a space.
const (
	RowName    = `"_plural row"`
	TargetName = `"_plural target"`
)

// The bounds of a batch of rows in memory.
const (
	BatchRows  = 500
	BatchBytes = 4 << 20
)

// ReadMeta reads a value of the meta table, empty if there is none.
func ReadMeta(c Conn, key string) (value string, err error) {
	_, err = One(c, func(row model.Row) { value = row.Text(0) },
		"SELECT value FROM "+MetaTable+" WHERE key = $1", model.TextValue(key))
	return value, err
}

// SaveMeta writes a value of the meta table.
func SaveMeta(c Conn, key, value string) error {
	_, err := c.Exec("INSERT INTO "+MetaTable+" (key, value) VALUES ($1, $2) ON CONFLICT (key) DO UPDATE SET value = excluded.value", model.TextValue(key), model.TextValue(value))
	return err
}

// ExecAll runs statements one after the other.
func ExecAll(c Conn, statements ...string) error {
	for _, statement := range statements {
		if _, err := c.Exec(statement); err != nil {
			return err
		}
	}
	return nil
}
