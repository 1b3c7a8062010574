package main

import (
	"path/filepath"
	"testing"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

func TestDoctor(t *testing.T) {
	dir := t.TempDir()
	runs(t, dir, "", true, "plural: there is no database plural-example.db\n", "doctor")
	thingsIn(t, dir)
	runs(t, dir, "", false, "All totals, offset indexes, words for search, indexed items and changes are correct.\n", "doctor")
	conn, err := sqlite.OpenConn(filepath.Join(dir, "plural.db"), sqlite.OpenReadWrite)
	if err != nil {
		t.Fatal(err)
	}
	if err := sqlitex.ExecuteScript(conn, "INSERT INTO _plural_totals VALUES ('things', '', 7) ON CONFLICT DO UPDATE SET total = 7; DELETE FROM _plural_deltas;", nil); err != nil {
		t.Fatal(err)
	}
	if err := conn.Close(); err != nil {
		t.Fatal(err)
	}
	const wrong = "things should have the total 2, but has 7\n"
	runs(t, dir, "", true, wrong+"plural: something is wrong: run plural doctor --repair\n", "doctor")
	runs(t, dir, "", false, wrong+"Repaired.\n", "doctor", "--repair")
	runs(t, dir, "", false, "All totals, offset indexes, words for search, indexed items and changes are correct.\n", "doctor", "--database", "sqlite:plural.db")
}
