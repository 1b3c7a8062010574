package postgres

import (
	"strings"

	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/model"
)

// The words of resources are in a column of the type tsvector, without positions, and with a GIN index,
// which finds prefixes. Its list of pending entries is off: every search would read that list.
func (dialect) Search(table string) db.SearchSQL {
	quoted, index := `"`+table+`"`, `"`+table+`.words"`
	const words = "array_to_tsvector(string_to_array(trim($2), ' '))"
	put := "INSERT INTO " + quoted + " AS stored (_resource, _words) VALUES ($1, " + words + ") ON CONFLICT (_resource) DO UPDATE SET _words = "
	const others = "ts_delete(stored._words, ARRAY(SELECT lexeme FROM unnest(stored._words) WHERE position(left(lexeme, 1) IN $3) > 0))"
	return db.SearchSQL{
		Create: []string{"CREATE TABLE " + quoted + " (_resource uuid NOT NULL PRIMARY KEY, _words tsvector NOT NULL)"},
		Finish: []string{"CREATE INDEX " + index + " ON " + quoted + " USING gin (_words) WITH (fastupdate = off)", "ANALYZE " + quoted},
		Drop:   []string{"DROP TABLE " + quoted},
		Definition: db.TableDefinition{
			Columns: []db.ColumnDefinition{{Name: db.SearchResource, Kind: "uuid", NotNull: true}, {Name: db.SearchWords, Kind: "tsvector", NotNull: true}},
			Indexes: []db.IndexDefinition{{Name: table + ".words", Columns: []string{db.SearchWords}}},
		},
		Put: func(c db.Conn, rows []db.ResourceWords) error {
			statements, size := make([]db.Statement, len(rows)), 0
			for i, row := range rows {
				size += len(row.Words) + row.Kept
				statements[i] = db.Statement{SQL: put + "excluded._words", Args: []model.Value{row.ID, model.TextValue(row.Words)}}
				if row.Marks != "" {
					statements[i] = db.Statement{SQL: put + others + " || excluded._words", Args: []model.Value{row.ID, model.TextValue(row.Words), model.TextValue(row.Marks)}}
				}
			}
			if size > maxDeferred {
				return c.Batch(statements...)
			}
			return c.Defer(statements...)
		},
		Stored: "coalesce(' ' || nullif(array_to_string(tsvector_to_array(_words), ' '), ''), '')",
	}
}

// maxDeferred is how many bytes of words may be sent with a later statement. Those of long texts take seconds to be
// stored, because GIN gets all words of a changed row again, and a reply that takes too long ends the transaction.
const maxDeferred = 64 << 10

// Searched evaluates the index once, as an array, or the words of each row by a subquery that cannot
// become a join (OFFSET 0). Otherwise the planner would choose by its estimate for prefixes, which is
// often wrong by orders of magnitude, and read a whole collection for a few resources.
func (dialect) Searched(table, id string, terms db.SearchTerms, byIndex bool, arg func(string) string) string {
	if byIndex {
		return id + ` = ANY (ARRAY(SELECT _resource FROM "` + table + `" WHERE _words @@ ` + arg(tsquery(terms)) + "::text::tsquery))"
	}
	return `EXISTS (SELECT 1 FROM "` + table + `" WHERE _resource = ` + id + " AND " + holds(terms, arg) + " OFFSET 0)"
}

// FindSearched asks GIN for the terms that are not common: it reads the whole list of each prefix first.
// The others are compared row by row.
func (dialect) FindSearched(table string, terms db.SearchTerms, common []bool, most string, arg func(string) string) string {
	var asked, compared db.SearchTerms
	for i, term := range terms {
		if common[i] {
			compared = append(compared, term)
		} else {
			asked = append(asked, term)
		}
	}
	found := `SELECT _resource, true FROM "` + table + `" WHERE _words @@ ` + arg(tsquery(asked)) + "::text::tsquery"
	if len(compared) > 0 {
		found += " AND " + holds(compared, arg)
	}
	return found + " LIMIT " + most
}

// maxSampled is how many bytes the words of a sampled resource have at most. Longer ones are not stored
// in the row, and are slow to read.
const maxSampled = "2000"

func (dialect) SampleSearched(table string, terms db.SearchTerms, last bool, most string, arg func(string) string) string {
	having := func(terms db.SearchTerms) string {
		return ", count(*) FILTER (WHERE " + holds(terms, arg) + ")"
	}
	counts := "count(*)" + having(terms)
	for i := range terms {
		counts += having(terms[i : i+1])
	}
	return "SELECT " + counts + ` FROM (SELECT _words FROM "` + table + `" ORDER BY _resource` + db.Choose(last, " DESC", "") + " LIMIT " + most + ") AS sample WHERE pg_column_size(_words) <= " + maxSampled
}

// SearchJoin reads the words of all resources in the order of ids, which takes a fifth of a microsecond for
// a short text: GIN has no order. The subquery cannot become another kind of join (OFFSET 0), and no index is used for the
// condition, so that the planner cannot choose to find all matches and sort them.
func (dialect) SearchJoin(table, resources, ids string, _ db.SearchTerms, _ func(string) string) string {
	return `(SELECT _resource AS _match, _words FROM "` + table + `") AS _matches CROSS JOIN LATERAL (SELECT * FROM ` + resources + " WHERE " + ids + " = _match OFFSET 0) AS " + resources
}

func (dialect) SearchHolds(terms db.SearchTerms, arg func(string) string) string {
	return holds(terms, arg)
}

// holds is a condition on the words of a row, for which no index is used: it calls the function behind the
// operator @@. The terms are a subquery, because a parameter would be parsed again for each row.
func holds(terms db.SearchTerms, arg func(string) string) string {
	return "ts_match_vq(_words, (SELECT " + arg(tsquery(terms)) + "::text::tsquery))"
}

func (dialect) SearchBound(_ string, upTo bool, id string) string {
	return "_match" + db.Choose(upTo, " <= ", " >= ") + id
}

var lexemeEscapes = strings.NewReplacer(`'`, `''`, `\`, `\\`)

// tsquery writes terms in the syntax of the type tsquery.
func tsquery(terms db.SearchTerms) string {
	return terms.Join(" & ", " | ", func(prefix string, _ bool) string { return "'" + lexemeEscapes.Replace(prefix) + "':*" })
}
