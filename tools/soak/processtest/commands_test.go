package processtest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// command is one that runs while a server is used.
type command struct {
	name string
	env  []string
	args func(dir, base string) []string
	// prepare is called before the load begins.
	prepare func(t *testing.T, dir, base string)
	// check is called when all have ended. Without one, the database must have
	// the first notes and all acknowledged ones.
	check func(t *testing.T, dir string, l *load, succeeded bool)
	// refuses is a part of what the command says when it always refuses.
	refuses string
	// permits is a part of what a command says that has done its work and yet ends with
	// another exit status.
	permits string
}

func onDatabase(args ...string) func(dir, base string) []string {
	return func(dir, _ string) []string {
		return append(args[:len(args):len(args)], "--schema="+filepath.Join(dir, "access.yaml"), "--database=sqlite:"+filepath.Join(dir, databaseFile))
	}
}

func migrateArgs(dir, _ string) []string {
	return []string{"migrate", "--schema=" + filepath.Join(dir, "after.yaml"), "--database=sqlite:" + filepath.Join(dir, databaseFile)}
}

// importedRows is how many notes an import adds.
const importedRows = 500

func commands() []command {
	backup := func(t *testing.T, dir, _ string) {
		t.Helper()
		if out, err := run(dir, nil, onDatabase("backup", filepath.Join(dir, "first.db"))(dir, "")...); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	migrated := func(t *testing.T, dir string, l *load, succeeded bool) {
		t.Helper()
		column := "title"
		if succeeded {
			column = "heading"
		}
		l.check(t, stored(t, filepath.Join(dir, databaseFile), column))
	}
	copied := func(file string) func(t *testing.T, dir string, l *load, succeeded bool) {
		return func(t *testing.T, dir string, l *load, succeeded bool) {
			t.Helper()
			l.check(t, stored(t, filepath.Join(dir, databaseFile), "title"))
			if succeeded {
				l.checkCopy(t, stored(t, filepath.Join(dir, file), "title"))
			}
		}
	}
	return []command{
		{name: "migrate", args: migrateArgs, check: migrated},
		{name: "migrate with a busy garbage collector", env: []string{"GOGC=5"}, args: migrateArgs, check: migrated},
		{name: "migrate --plan", args: func(dir, base string) []string { return append(migrateArgs(dir, base), "--plan") }},
		{name: "migrate --backup", args: func(dir, base string) []string {
			return append(migrateArgs(dir, base), "--backup="+filepath.Join(dir, "copy.db"))
		}, check: func(t *testing.T, dir string, l *load, succeeded bool) {
			migrated(t, dir, l, succeeded)
			if succeeded {
				l.checkCopy(t, stored(t, filepath.Join(dir, "copy.db"), "title"))
			}
		}},
		{name: "import", prepare: func(t *testing.T, dir, _ string) {
			var rows strings.Builder
			for i := range importedRows {
				fmt.Fprintf(&rows, "{\"title\":\"import %d\"}\n", i)
			}
			writeFile(t, filepath.Join(dir, "rows.ndjson"), rows.String())
		}, args: onDatabase("import", "notes", "rows.ndjson"), check: func(t *testing.T, dir string, l *load, succeeded bool) {
			titles := stored(t, filepath.Join(dir, databaseFile), "title")
			var imported []string
			for i := range importedRows {
				if title := fmt.Sprintf("import %d", i); succeeded || titles[title] > 0 {
					imported = append(imported, title)
				}
			}
			l.check(t, titles, imported...)
		}},
		{name: "export", args: onDatabase("export", "notes", "--output=rows.csv", "--query=sort=id"), check: func(t *testing.T, dir string, l *load, succeeded bool) {
			l.check(t, stored(t, filepath.Join(dir, databaseFile), "title"))
			if succeeded {
				l.checkCopy(t, exported(t, filepath.Join(dir, "rows.csv")))
			}
		}},
		{name: "keys create", args: onDatabase("keys", "create", "--name=a", "--role=reader")},
		{name: "keys list", args: onDatabase("keys", "list")},
		{name: "keys revoke", args: onDatabase("keys", "revoke", "AAAAAAAAAAAA"), refuses: "nothing was revoked"},
		{name: "mcp", args: onDatabase("mcp", "--role=reader")},
		{name: "backup", args: onDatabase("backup", "copy.db"), check: copied("copy.db")},
		{name: "restore", prepare: backup, args: onDatabase("restore", "first.db"), refuses: "which would be replaced; --force permits it"},
		{name: "restore --force", prepare: backup, args: onDatabase("restore", "first.db", "--force"), check: func(t *testing.T, dir string, l *load, succeeded bool) {
			titles := stored(t, filepath.Join(dir, databaseFile), "title")
			if succeeded {
				l.checkRestored(t, titles)
			} else {
				l.check(t, titles)
			}
		}},
		{name: "copy", args: func(dir, _ string) []string {
			return []string{"copy", "--from=sqlite:" + filepath.Join(dir, databaseFile), "--to=sqlite:" + filepath.Join(dir, "copy.db")}
		}, permits: "the source was changed during the copy", check: copied("copy.db")},
		{name: "doctor", args: onDatabase("doctor")},
		{name: "doctor --repair", args: onDatabase("doctor", "--repair")},
		{name: "check", args: func(_, base string) []string { return []string{"check", base, "--collection=drafts"} }},
		{name: "a second server", args: func(dir, _ string) []string {
			return []string{"serve", "--addr=256.0.0.1:0", "--schema=" + filepath.Join(dir, "plural.yaml"), "--database=sqlite:" + filepath.Join(dir, databaseFile)}
		}, refuses: "256.0.0.1"},
	}
}

// exported reads the titles of an export.
func exported(t *testing.T, file string) map[string]int {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	titles := map[string]int{}
	for line := range strings.Lines(string(text)) {
		for cell := range strings.SplitSeq(strings.TrimSpace(line), ",") {
			if strings.HasPrefix(cell, "seed ") || strings.HasPrefix(cell, "client ") {
				titles[cell]++
			}
		}
	}
	return titles
}

// TestCommandsDuringAServer: no command harms a database that a server is writing to,
// and each succeeds or says why not.
func TestCommandsDuringAServer(t *testing.T) {
	for _, c := range commands() {
		t.Run(c.name, func(t *testing.T) {
			dir := home(t)
			database := filepath.Join(dir, databaseFile)
			seeded(t, database)
			server := serve(t, dir, database)
			if c.prepare != nil {
				c.prepare(t, dir, server.base)
			}
			l := startLoad(t, server.base)
			var out string
			var err error
			l.beside(t, func() { out, err = run(dir, c.env, c.args(dir, server.base)...) })
			server.stop(t)
			succeeded := err == nil || c.permits != "" && strings.Contains(out, c.permits)
			switch {
			case c.refuses != "":
				if err == nil || !strings.Contains(out, c.refuses) {
					t.Errorf("%v\n%s", err, out)
				}
			case !succeeded && !strings.Contains(out, inUse):
				t.Errorf("%v\n%s", err, out)
			}
			if c.check != nil {
				c.check(t, dir, l, succeeded)
			} else {
				l.check(t, stored(t, database, "title"))
			}
			if out, err := run(dir, nil, onDatabase("doctor")(dir, "")...); err != nil {
				t.Errorf("doctor: %v\n%s", err, out)
			}
			t.Logf("%v; %s", err, l)
		})
	}
}

// inUse is what a command says that did not get its turn.
const inUse = "others are using the database"
