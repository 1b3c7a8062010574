package db

import "testing"

// TestSummary: a statement is named by its first word and the first table.
func TestSummary(t *testing.T) {
	for sql, want := range map[string]string{
		`SELECT "id", "name" FROM "users" WHERE "id" = $1`:                                         "SELECT users",
		`SELECT (SELECT max(n) FROM (SELECT 1) AS x), a FROM posts, users`:                         "SELECT posts",
		`SELECT value FROM json_each($1)`:                                                          "SELECT ",
		`WITH stored AS (INSERT INTO users (id) VALUES ($1)) INSERT INTO _plural_changes SELECT 1`: "WITH users",
		`UPDATE "users" SET a = 1`:                                                                 "UPDATE users",
		"DELETE\nFROM\tposts;":                                                                     "DELETE posts",
		`SELECT 1 FOR UPDATE SKIP LOCKED`:                                                          "SELECT ",
		``:                                                                                         " ",
	} {
		if verb, table := summary(sql); verb+" "+table != want {
			t.Errorf("%s: %q %q, want %q", sql, verb, table, want)
		}
	}
}
