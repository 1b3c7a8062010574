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
	err = Each(c, func(row model.Row) bool {
		found = true
		if read != nil {
			read(row)
		}
		return false
	}, sql, args...)
	return found, err
}

// EachOrError is Each with a function that may fail.
func EachOrError(c Conn, read func(model.Row) error, sql string, args ...model.Value) error {
	var failed error
	err := Each(c, func(row model.Row) bool {
		failed = read(row)
		return failed == nil
	}, sql, args...)
	return cmp.Or(err, failed)
}

// Each runs a query and calls read with each row until read returns false.
func Each(c Conn, read func(model.Row) bool, sql string, args ...model.Value) error {
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
	for chunk := range slices.Chunk(lists, maxBatch) {
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

// EachBatch reads a collection in the order of ids, so many resources at a time. No result is open
// while a batch is processed, so work may read and write.
func EachBatch(c Conn, t *Table, size int, work func([]model.Record) error) error {
	id := t.Columns[model.IDColumn]
	var last model.Value
	for {
		condition, args := "", []model.Value{}
		if !last.IsNull() {
			condition, args = " WHERE "+id+" > $1", append(args, last)
		}
		args = append(args, model.IntValue(int64(size)))
		limit := Choose(len(args) == 1, "$1", "$2")
		var batch []model.Record
		err := Each(c, func(row model.Row) bool {
			batch = append(batch, t.Collection.Scan(row))
			return true
		}, "SELECT "+t.All+" FROM "+t.Name+condition+" ORDER BY "+id+" LIMIT "+limit, args...)
		if err != nil || len(batch) == 0 {
			return err
		}
		if err := work(batch); err != nil {
			return err
		}
		last = batch[len(batch)-1][model.IDColumn]
	}
}

// maxBatch bounds how many statements are in memory at a time.
const maxBatch = 500

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
