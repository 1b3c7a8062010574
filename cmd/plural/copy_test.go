package main

import (
	"bytes"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/plural-go/plural/admin"
	"github.com/plural-go/plural/internal/terminal"
)

const copyLines = `copying _plural_meta: 4 rows
copying _plural_schemas: 1 row
copying _plural_totals: 1 row
copying _plural_changes: 2 rows
copying _plural_answers: 0 rows
copying _plural_queue: 0 rows
copying _plural_followers: 0 rows
copying _plural_keys: 0 rows
copying _plural_uses: 0 rows
copying things: 2 rows
copying operations: 0 rows
indexing
checking _plural_meta: 4 rows
checking _plural_schemas: 1 row
checking _plural_totals: 1 row
checking _plural_changes: 2 rows
checking _plural_answers: 0 rows
checking _plural_queue: 0 rows
checking _plural_followers: 0 rows
checking _plural_keys: 0 rows
checking _plural_uses: 0 rows
checking things: 2 rows
checking operations: 0 rows
Copied 10 rows of 11 tables. Counts and checksums are the same on both sides.
`

func TestCopy(t *testing.T) {
	dir := t.TempDir()
	runs(t, dir, "", true, "plural: required flag(s) \"from\", \"to\" not set\n", "copy")
	runs(t, dir, "", true, "plural: copying from the SQLite database plural.db: there is no database plural.db\n", "copy", "--from", "sqlite:plural.db", "--to", "sqlite:new.db")
	thingsIn(t, dir)
	runs(t, dir, "", true, "plural: the SQLite database plural.db cannot be copied to itself\n", "copy", "--from", "sqlite:plural.db", "--to", "sqlite:./plural.db")
	runs(t, dir, "", false, copyLines, "copy", "--from", "sqlite:plural.db", "--to", "sqlite:new.db")
	runs(t, dir, "", true, "plural: copying to the SQLite database new.db: it is not empty (it has the tables _plural_answers, _plural_changes, _plural_deltas, _plural_followers, _plural_keys, …), "+
		"and a copy never overwrites data: use a database without tables\n", "copy", "--from", "sqlite:plural.db", "--to", "sqlite:new.db")
	old, new := serveIn(t, dir), serveIn(t, dir, "--database=sqlite:new.db")
	if got, want := get(t, new.base+"/things"), get(t, old.base+"/things"); got != want || !strings.Contains(got, `"name":"B"`) {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	for _, p := range []*process{old, new} {
		if err := p.stop(t, syscall.SIGTERM); err != nil {
			t.Errorf("%v\n%s", err, p.log)
		}
	}
}

// TestCopyOnATerminal: there is one line, which is gone at the end.
func TestCopyOnATerminal(t *testing.T) {
	var out bytes.Buffer
	show := bar(&out)
	for _, p := range []admin.CopyProgress{
		{Stage: "copying", Table: "users", Rows: 1000, Done: 1000, Of: 4000},
		{Stage: "copying", Table: "users", Rows: 2000, Done: 2000, Of: 4000}, // too soon for another
		{Stage: "indexing", Done: 2000, Of: 4000},
		{Stage: "indexing", Done: 2000, Of: 4000, Finished: true},
	} {
		show(p)
	}
	want := "\r\x1b[K[#######.......................]  25 %  copying users: 1000 rows" +
		"\r\x1b[K[###############...............]  50 %  indexing\r\x1b[K[###############...............]  50 %  indexing"
	if got := out.String(); got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	full := admin.CopyProgress{Stage: "checking", Table: strings.Repeat("ü", 63), Rows: 1, Done: 1, Of: 1, Finished: true}
	if got, want := barLine(full), "[##############################] 100 %  checking "+strings.Repeat("ü", 23)+"…"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got, want := barLine(admin.CopyProgress{Stage: "indexing"}), "[..............................]   0 %  indexing"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if file, err := os.CreateTemp(t.TempDir(), ""); err != nil || terminal.Is(file) || terminal.Is(&out) {
		t.Errorf("a file is no terminal, %v", err)
	}
}
