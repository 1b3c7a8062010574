package sqlite

import (
	"slices"
	"strings"

	"github.com/plural-go/plural/internal/db"
)

// The words of resources are in a table, and an FTS5 table is the index of that table. Triggers keep
// the two alike where rows are added and removed; changes.go does it for rows that change. FTS5 only has to split at spaces and to find
// prefixes: all that is about language is done before. It returns matches in the order of their numbers,
// without finding all of them first. So the numbers have the order of the ids: they are ranks, see ranks.go.

// tokenizer makes a character of words of every ASCII character but the space. FTS5 treats all other
// characters so by itself.
const tokenizer = "ascii tokenchars '!\"#$%&''''()*+,-./:;<=>?@[\\]^_`{|}~'" // #nosec G101 -- characters, and no credentials

func (dialect) Search(table string) db.SearchSQL {
	quoted, index, terms := `"`+table+`"`, `"`+table+`.words"`, `"`+table+`.terms"`
	insert := "INSERT INTO " + index + " (rowid, _words) VALUES (new._rank, new._words); "
	remove := "INSERT INTO " + index + " (" + index + ", rowid, _words) VALUES ('delete', old._rank, old._words); "
	trigger := func(event, actions string) string {
		return `CREATE TRIGGER "` + table + "." + strings.ToLower(event) + `" AFTER ` + event + " ON " + quoted + " BEGIN " + actions + "END"
	}
	return db.SearchSQL{
		Create: []string{
			"CREATE TABLE " + quoted + " (_rank INTEGER PRIMARY KEY, _resource BLOB NOT NULL UNIQUE, _words TEXT NOT NULL) STRICT",
			"CREATE VIRTUAL TABLE " + index + " USING fts5(_words, content='" + table + "', content_rowid='_rank', detail=none, columnsize=0, prefix='" + prefixList + "', tokenize=\"" +
				strings.ReplaceAll(tokenizer, `"`, `""`) + "\")",
			"CREATE VIRTUAL TABLE " + terms + " USING fts5vocab(" + index + ", instance)", // shows what is in the index
			trigger("INSERT", insert), trigger("DELETE", remove),
		},
		Finish: []string{"INSERT INTO " + index + " (" + index + ") VALUES ('optimize')"},
		Drop:   []string{"DROP TABLE " + terms, "DROP TABLE " + index, "DROP TABLE " + quoted},
		Definition: db.TableDefinition{
			Columns: columnsOf(db.SearchRank),
			Indexes: []db.IndexDefinition{{Name: table + ".words", Columns: []string{db.SearchWords}}},
		},
		// With the numbers in the order of insertion, and with a trigger that replaced all words of a resource in the index.
		Former:     []db.TableDefinition{former("_number"), former("_place")},
		Put:        func(c db.Conn, rows []db.ResourceWords) error { return (&ranks{c, quoted, index}).put(rows) },
		Stored:     "SELECT _resource, _words FROM " + quoted + " WHERE _resource >= $1 ORDER BY _resource LIMIT $2",
		Numbered:   "SELECT _rank, _words FROM " + quoted,
		Indexed:    "SELECT doc, ' ' || term FROM " + terms,
		Disordered: "SELECT count(*) FROM (SELECT _rank, lag(_rank) OVER (ORDER BY _resource) AS before FROM " + quoted + ") WHERE _rank <= before",
	}
}

func columnsOf(number string) []db.ColumnDefinition {
	return []db.ColumnDefinition{{Name: number, Kind: "INTEGER"}, {Name: db.SearchResource, Kind: "BLOB", NotNull: true}, {Name: db.SearchWords, Kind: "TEXT", NotNull: true}}
}

func former(number string) db.TableDefinition { return db.TableDefinition{Columns: columnsOf(number)} }

func (dialect) Searched(table, id string, terms db.SearchTerms, byIndex bool, arg func(string) string) string {
	if !byIndex {
		return `EXISTS (SELECT 1 FROM "` + table + `" WHERE _resource = ` + id + " AND " + contained(terms, arg) + ")"
	}
	matching := matches(table, terms, arg)
	found := id + " IN (SELECT _resource FROM (" + matching + `) AS found CROSS JOIN "` + table + `" ON _rank = _match`
	if !isExact(terms) {
		found += " WHERE " + contained(terms, arg)
	}
	return found + ")"
}

// FindSearched bounds what the index finds, also where few of that have the terms.
func (dialect) FindSearched(table string, terms db.SearchTerms, _ []bool, most string, arg func(string) string) string {
	holds := dialect{}.SearchHolds(terms, arg)
	matching := matches(table, terms, arg)
	return "SELECT _resource, " + holds + " FROM (" + matching + " LIMIT " + most + `) AS found CROSS JOIN "` + table + `" ON _rank = _match`
}

// SampleSearched: FTS5 skips what another term does not have, so common terms cost little.
func (dialect) SampleSearched(string, db.SearchTerms, bool, string, func(string) string) string {
	return ""
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
	if isExact(terms) {
		return "1"
	}
	return contained(terms, arg)
}

// contained is a condition on the words of a row. Each word has a space before it.
func contained(terms db.SearchTerms, arg func(string) string) string {
	return eachTerm(terms, func(term string) string { return "instr(_words, " + arg(" "+term) + ") > 0" })
}

// prefixes are the lengths of prefixes that the index has, with the mark. FTS5 finds one of these as
// fast as a whole word. For any other it merges the lists of all words that begin so, which takes
// twenty times as long.
var prefixes = []int{2, 3, 4, 5, 7, 10}

const prefixList = "2 3 4 5 7 10"

// cut is a term at the length of a prefix that the index has.
func cut(term string) string {
	runes := []rune(term)
	for _, length := range slices.Backward(prefixes) {
		if length <= len(runes) {
			return string(runes[:length])
		}
	}
	return term
}

// isExact reports whether the index has all terms as prefixes. Otherwise not all that it finds matches.
func isExact(terms db.SearchTerms) bool {
	return !slices.ContainsFunc(terms, func(any []string) bool {
		return slices.ContainsFunc(any, func(term string) bool { return cut(term) != term })
	})
}

// matches selects the numbers of resources from the index, by the terms at the lengths that it has.
func matches(table string, terms db.SearchTerms, arg func(string) string) string {
	match := eachTerm(terms, func(term string) string { return `"` + strings.ReplaceAll(cut(term), `"`, `""`) + `"*` })
	index := `"` + table + `.words"`
	return "SELECT rowid AS _match FROM " + index + " WHERE " + index + " MATCH " + arg(match)
}

// eachTerm joins conditions on terms: one of each list must hold.
func eachTerm(terms db.SearchTerms, condition func(term string) string) string {
	all := make([]string, len(terms))
	for i, alternatives := range terms {
		any := make([]string, len(alternatives))
		for j, term := range alternatives {
			any[j] = condition(term)
		}
		all[i] = "(" + strings.Join(any, " OR ") + ")"
	}
	return strings.Join(all, " AND ")
}
