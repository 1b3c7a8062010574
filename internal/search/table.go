package search

import (
	"fmt"
	"hash/maphash"
	"strings"

	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/model"
)

// Build makes the table with the words of a collection's resources, if it is searched.
func Build(c db.Conn, d db.Dialect, collection *model.Collection) error {
	if len(collection.SearchColumns()) == 0 {
		return nil
	}
	sql := d.Search(db.SearchTable(collection))
	if err := db.ExecAll(c, sql.Create...); err != nil {
		return err
	}
	err := db.EachBatch(c, db.NewTable(d, collection), func(batch []model.Record) error {
		rows := make([]db.ResourceWords, len(batch))
		for i, record := range batch {
			id, texts := record[model.IDColumn], &Texts{}
			if faults := TooLong(texts, collection, nil, []model.Record{record}); faults != nil {
				return fmt.Errorf("%s cannot be searched: the resource %s has too many different words in %s: shorten it, or remove the attribute from search",
					collection.Name, id.ID(), strings.TrimPrefix(faults[0][0].Source.Pointer, "/"))
			}
			rows[i] = db.ResourceWords{ID: id, Words: textOf(texts, collection, record, changedNumbers(collection, nil, record))}
		}
		return sql.Put(c, rows)
	})
	if err != nil {
		return err
	}
	return db.ExecAll(c, sql.Finish...)
}

// Drop removes the table with the words of a collection's resources, if it is searched.
func Drop(c db.Conn, d db.Dialect, collection *model.Collection) error {
	if len(collection.SearchColumns()) == 0 {
		return nil
	}
	return db.ExecAll(c, d.Search(db.SearchTable(collection)).Drop...)
}

// Rebuild makes the table of words again.
func Rebuild(c db.Conn, d db.Dialect, collection *model.Collection) error {
	if err := Drop(c, d, collection); err != nil {
		return err
	}
	return Build(c, d, collection)
}

// Check compares the words in the index with the resources, and returns what is wrong, and the
// collections that it is wrong of. If the connection writes, the database also verifies all of the index.
func Check(c db.Conn, d db.Dialect, s *model.Schema, writes bool) (findings []string, wrong []*model.Collection, err error) {
	for _, collection := range s.All() {
		if len(collection.SearchColumns()) == 0 {
			continue
		}
		found, err := check(c, d, collection, writes)
		if err != nil {
			return nil, nil, err
		}
		if len(found) > 0 {
			findings, wrong = append(findings, found...), append(wrong, collection)
		}
	}
	return findings, wrong, nil
}

func check(c db.Conn, d db.Dialect, collection *model.Collection, writes bool) (findings []string, err error) {
	name, t := db.SearchTable(collection), db.NewTable(d, collection)
	sql := d.Search(name)
	different, example := 0, model.ID{}
	report := func(id model.ID) {
		if different++; different == 1 || id.Compare(example) < 0 {
			example = id
		}
	}
	id, stored := db.RowName+"."+t.Columns[model.IDColumn], len(t.Columns)
	columns := &db.Builder{}
	columns.Write(t.All, ", (SELECT ", sql.Stored, ` FROM "`, name, `" WHERE `, db.SearchResource, " = ", id, ")")
	scan := func(row model.Row) model.Record {
		return append(collection.Scan(row), model.KindText.Read(row, stored))
	}
	err = db.EachBatchOf(c, t, columns, scan, func(batch []model.Record) error {
		for _, record := range batch {
			if words := record[stored]; words.IsNull() || words.Text() != Text(collection, record[:stored]) {
				report(record.ID(model.IDColumn))
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	err = db.Each(c, func(row model.Row) { report(row.ID(0)) }, "SELECT "+db.SearchResource+` FROM "`+name+`" WHERE NOT EXISTS (SELECT 1 FROM `+
		t.Name+" AS "+db.RowName+" WHERE "+id+" = "+db.SearchResource+")")
	if err != nil {
		return nil, err
	}
	if different > 0 {
		findings = append(findings, fmt.Sprintf("%s: the search index has other words than %d resources, for example %s", collection.Name, different, example))
	}
	if sql.Disordered != "" {
		moved := int64(0)
		if _, err := db.One(c, func(row model.Row) { moved = row.Int(0) }, sql.Disordered); err != nil {
			return nil, err
		}
		if moved > 0 {
			findings = append(findings, fmt.Sprintf("%s: the search index does not have the order of ids", collection.Name))
		}
	}
	same, err := indexAgrees(c, sql)
	if err == nil && !same {
		findings = append(findings, fmt.Sprintf("%s: the search index does not agree with its own table of words", collection.Name))
	}
	if err == nil && len(findings) == 0 && writes && sql.Verify != nil {
		if same, err = sql.Verify(c); err == nil && !same {
			findings = append(findings, fmt.Sprintf("%s: the search index has wrong lists of prefixes", collection.Name))
		}
	}
	return findings, err
}

// indexAgrees compares the words in the index with those in the table. Each pair of a word and a
// resource is hashed, and the hashes are added, because the two come in different orders.
func indexAgrees(c db.Conn, sql db.SearchSQL) (bool, error) {
	if sql.Indexed == "" {
		return true, nil
	}
	seed := maphash.MakeSeed()
	sum := func(query string) (sum, count uint64, err error) {
		err = db.Each(c, func(row model.Row) {
			number := row.Int(0)
			for word := range strings.SplitSeq(row.Text(1), " ") {
				if word == "" {
					continue // before the first
				}
				count++
				sum += maphash.Comparable(seed, struct {
					number int64
					word   string
				}{number, word})
			}
		}, query)
		return sum, count, err
	}
	want, words, err := sum(sql.Numbered)
	if err != nil {
		return false, err
	}
	got, entries, err := sum(sql.Indexed)
	return got == want && entries == words, err
}
