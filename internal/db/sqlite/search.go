package sqlite

import (
	"fmt"
	"slices"
	"strings"

	"zombiezen.com/go/sqlite"

	"github.com/plural-go/plural/internal/db"
)

// The words of resources are in a table, and an FTS5 table is the index of that table. Triggers keep
// the two alike where rows are added, numbered again and removed; search_change.go does it for rows that change. FTS5 only splits
// at spaces and finds prefixes: package words has made the words before. FTS5 returns matches in the order of their
// numbers, without finding all of them first. So the numbers have the order of the ids: they are ranks, see search_ranks.go.

// tokenizer makes a character of words of every ASCII character but the space. FTS5 treats all other
// characters so by itself.
const tokenizer = "ascii tokenchars '!\"#$%&''''()*+,-./:;<=>?@[\\]^_`{|}~'" // #nosec G101 -- characters, and no credentials

func (dialect) Search(table string) db.SearchSQL {
	quoted, index, terms := `"`+table+`"`, `"`+table+`.words"`, `"`+table+`.terms"`
	insert := "INSERT INTO " + index + " (rowid, _words) VALUES (new._rank, new._words); "
	remove := "INSERT INTO " + index + " (" + index + ", rowid, _words) VALUES ('delete', old._rank, old._words); "
	trigger := func(event, actions string) string {
		return `CREATE TRIGGER "` + table + "." + strings.ToLower(event[:6]) + `" AFTER ` + event + " ON " + quoted + " BEGIN " + actions + "END"
	}
	return db.SearchSQL{
		Create: []string{
			"CREATE TABLE " + quoted + " (_rank INTEGER PRIMARY KEY, _resource BLOB NOT NULL UNIQUE, _words TEXT NOT NULL) STRICT",
			"CREATE VIRTUAL TABLE " + index + " USING fts5(_words, content='" + table + "', content_rowid='_rank', detail=none, columnsize=0, prefix='" + strings.Trim(fmt.Sprint(prefixes), "[]") + "', tokenize=\"" +
				strings.ReplaceAll(tokenizer, `"`, `""`) + "\")",
			"CREATE VIRTUAL TABLE " + terms + " USING fts5vocab(" + index + ", instance)", // shows what is in the index
			trigger("INSERT", insert), trigger("DELETE", remove), trigger("UPDATE OF _rank", remove+insert),
		},
		Finish: []string{"INSERT INTO " + index + " (" + index + ") VALUES ('optimize')"},
		Drop:   []string{"DROP TABLE " + terms, "DROP TABLE " + index, "DROP TABLE " + quoted},
		Definition: db.TableDefinition{
			Columns: []db.ColumnDefinition{{Name: db.SearchRank, Kind: "INTEGER"}, {Name: db.SearchResource, Kind: "BLOB", NotNull: true}, {Name: db.SearchWords, Kind: "TEXT", NotNull: true}},
			Indexes: []db.IndexDefinition{{Name: table + ".words", Columns: []string{db.SearchWords}}},
		},
		Put:        func(c db.Conn, rows []db.ResourceWords) error { return (&ranks{c, quoted, index}).put(rows) },
		Stored:     db.SearchWords,
		Numbered:   "SELECT _rank, _words FROM " + quoted,
		Indexed:    "SELECT doc, ' ' || term FROM " + terms,
		Verify:     func(c db.Conn) (bool, error) { return verify(c, index) },
		Disordered: "SELECT count(*) FROM (SELECT _rank, lag(_rank) OVER (ORDER BY _resource) AS before FROM " + quoted + ") WHERE _rank <= before",
	}
}

// verify lets FTS5 compare its lists, also those of prefixes, and its numbers of rows and words with the table. It takes a
// few seconds for a million resources, and no other connection can write meanwhile.
func verify(c db.Conn, index string) (agrees bool, err error) {
	_, err = c.Exec("INSERT INTO " + index + " (" + index + ", rank) VALUES ('integrity-check', 1)")
	if sqlite.ErrCode(err) == sqlite.ResultCorruptVTab {
		return false, nil
	}
	return err == nil, err
}

func (dialect) Searched(table, id string, terms db.SearchTerms, byIndex bool, arg func(string) string) string {
	if !byIndex {
		return `EXISTS (SELECT 1 FROM "` + table + `" WHERE _resource = ` + id + " AND " + contained(terms, arg) + ")"
	}
	matching := matches(table, terms, arg)
	found := id + " IN (SELECT _resource FROM (" + matching + `) AS found CROSS JOIN "` + table + `" ON _rank = _match`
	if compared := inexact(terms); len(compared) > 0 {
		found += " WHERE " + contained(compared, arg)
	}
	return found + ")"
}

// FindSearched bounds what the index finds, also where few of that have the terms.
func (dialect) FindSearched(table string, terms db.SearchTerms, _ []bool, most string, arg func(string) string) string {
	holds := dialect{}.SearchHolds(terms, arg)
	matching := matches(table, terms, arg)
	return "SELECT _resource, " + holds + " FROM (" + matching + " LIMIT " + most + `) AS found CROSS JOIN "` + table + `" ON _rank = _match`
}

// SampleSearched looks at the resources that the index finds: those that do not have the terms cost time. If it has all terms
// as prefixes, there are none.
func (dialect) SampleSearched(table string, terms db.SearchTerms, last bool, most string, arg func(string) string) string {
	if len(inexact(terms)) == 0 {
		return ""
	}
	having := func(terms db.SearchTerms) string {
		return ", count(CASE WHEN " + contained(terms, arg) + " THEN 1 END)"
	}
	counts := "count(*)" + having(terms)
	for i := range terms {
		counts += having(terms[i : i+1])
	}
	return "SELECT " + counts + " FROM (" + matches(table, terms, arg) + " ORDER BY rowid" + db.Choose(last, " DESC", "") + " LIMIT " + most + `) AS sample CROSS JOIN "` + table + `" ON _rank = _match`
}

func (dialect) SearchJoin(table, resources, ids string, terms db.SearchTerms, arg func(string) string) string {
	return "(" + matches(table, terms, arg) + `) AS _matches CROSS JOIN "` + table + `" ON _rank = _match CROSS JOIN ` + resources + " ON " + ids + " = _resource"
}

// SearchBound: FTS5 reads without bounds if one is null.
func (dialect) SearchBound(table string, upTo bool, id string) string {
	operator, direction, otherwise := " >= ", "", "9223372036854775807"
	if upTo {
		operator, direction, otherwise = " <= ", " DESC", "-9223372036854775808"
	}
	return "_match" + operator + `coalesce((SELECT _rank FROM "` + table + `" WHERE _resource` + operator + id + " ORDER BY _resource" + direction + " LIMIT 1), " + otherwise + ")"
}

func (dialect) SearchHolds(terms db.SearchTerms, arg func(string) string) string {
	if compared := inexact(terms); len(compared) > 0 {
		return contained(compared, arg)
	}
	return "1"
}

// contained is a condition on the words of a row. Each word has a space before it.
func contained(terms db.SearchTerms, arg func(string) string) string {
	return terms.Join(" AND ", " OR ", func(prefix string, _ bool) string { return "instr(_words, " + arg(" "+prefix) + ") > 0" })
}

// prefixes are the lengths of prefixes that the index has, with the mark. FTS5 finds one of these as
// fast as a whole word. For any other it merges the lists of all words that begin so, which takes
// twenty times as long.
var prefixes = []int{2, 3, 4, 5, 7, 10}

// cut is a prefix at a length that the index has.
func cut(prefix string) string {
	runes := []rune(prefix)
	for _, length := range slices.Backward(prefixes) {
		if length <= len(runes) {
			return string(runes[:length])
		}
	}
	return prefix
}

// inexact lists the terms that the index is asked for at another length. Not all that it finds has them.
func inexact(terms db.SearchTerms) (found db.SearchTerms) {
	for _, term := range terms {
		if !term.Rare && slices.ContainsFunc(term.Prefixes, func(prefix string) bool { return cut(prefix) != prefix }) {
			found = append(found, term)
		}
	}
	return found
}

// matches selects the numbers of resources from the index, by the terms at the lengths that it has, except for rare ones.
func matches(table string, terms db.SearchTerms, arg func(string) string) string {
	match := terms.Join(" AND ", " OR ", func(prefix string, rare bool) string {
		if !rare {
			prefix = cut(prefix)
		}
		return `"` + strings.ReplaceAll(prefix, `"`, `""`) + `"*`
	})
	index := `"` + table + `.words"`
	return "SELECT rowid AS _match FROM " + index + " WHERE " + index + " MATCH " + arg(match)
}
