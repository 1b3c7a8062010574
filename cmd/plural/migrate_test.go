package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
)

const (
	thingsBefore = "collections:\n  things:\n    attributes:\n      name: {type: string}\n      size: {type: string}\n"
	thingsMore   = thingsBefore + "      note: {type: string, default: none}\n"
	thingsLess   = "collections:\n  things:\n    attributes:\n      name: {type: string}\n      size: {type: integer}\n"
)

// thingsIn serves a schema in a directory, creates two things and stops.
func thingsIn(t *testing.T, dir string) {
	t.Helper()
	writeSchema(t, dir, thingsBefore)
	p := serveIn(t, dir)
	post(t, p.base+"/things", `{"id":"00000000-0000-7000-8000-000000000001","name":"A","size":"12"}`)
	post(t, p.base+"/things", `{"id":"00000000-0000-7000-8000-000000000002","name":"B","size":"big"}`)
	if err := p.stop(t, syscall.SIGTERM); err != nil {
		t.Fatalf("%v\n%s", err, p.log)
	}
}

func writeSchema(t *testing.T, dir, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, "plural.yaml"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// runs runs the program to its end and compares all that it wrote.
func runs(t *testing.T, dir, input string, fails bool, want string, args ...string) {
	t.Helper()
	command := program(t, dir, args...)
	command.Stdin = strings.NewReader(input)
	out, err := command.CombinedOutput()
	if got := timestamp.ReplaceAllString(string(out), "TIME"); (err != nil) != fails || got != want {
		t.Errorf("plural %s: %v\ngot\n%s\nwant\n%s", strings.Join(args, " "), err, got, want)
	}
}

var timestamp = regexp.MustCompile(`\d{8}T\d{6}Z`)

func TestServeAppliesAdditiveSteps(t *testing.T) {
	dir := t.TempDir()
	thingsIn(t, dir)
	writeSchema(t, dir, thingsMore)
	runs(t, dir, "", true, "plural: the database does not fit the schema:\n"+
		"  - things: new attribute note (string); existing resources get the default (additive)\n"+
		"\"plural migrate\" changes the database. With \"--migrate additive\" the server applies such steps itself.\n",
		"serve", "--addr=127.0.0.1:0", "--migrate=off")
	p := serveIn(t, dir, "--log-format=json")
	if got := get(t, p.base+"/things?filter[name]=A"); !strings.HasPrefix(got, `200 {"data":[{"id":"00000000-0000-7000-8000-000000000001","type":"things","name":"A","size":"12","note":"none",`) {
		t.Errorf("got %s", got)
	}
	if err := p.stop(t, syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if want := `"msg":"database migrated","step":"things: new attribute note (string); existing resources get the default","cost":"writes 2 resources"}`; !strings.Contains(p.log.String(), want) {
		t.Errorf("the log does not tell of it:\n%s", p.log)
	}
}

const lessPlan = `1 step to fit the schema:

  rewriting  things: size is converted from string to integer
             checks 2 resources
             1 resource violates this: 00000000-0000-7000-8000-000000000002 "big" (Cannot be converted to integer)

`

func TestMigrate(t *testing.T) {
	dir := t.TempDir()
	runs(t, dir, "", true, "plural: there is no database plural-example.db\n", "migrate")
	thingsIn(t, dir)
	runs(t, dir, "", false, "The database has this schema. There is nothing to do.\n", "migrate", "--plan")
	writeSchema(t, dir, thingsLess)
	runs(t, dir, "", false, lessPlan, "migrate", "--plan")
	runs(t, dir, "", true, lessPlan+"plural: the migration is refused, and nothing was changed:\n"+
		"  - things: size is converted from string to integer: 1 resource violates this: 00000000-0000-7000-8000-000000000002 \"big\" (Cannot be converted to integer)\n"+
		"\"plural migrate --allow-loss\" permits it; values that would be invalid become null.\n", "migrate")
	question := "Some of this cannot be undone. Write a backup to which file? [plural.db.TIME.backup, or \"none\"] "
	runs(t, dir, "", true, lessPlan+question+"\nplural: some of this cannot be undone: give --backup FILE, or --no-backup\n", "migrate", "--allow-loss")
	runs(t, dir, "before.db\n", false, lessPlan+question+"Wrote the backup before.db.\nDone: 1 step. Restart the servers that use the database.\n", "migrate", "--allow-loss")
	p := serveIn(t, dir)
	if got := get(t, p.base+"/things?filter[size]=12"); !strings.HasPrefix(got, `200 {"data":[{"id":"00000000-0000-7000-8000-000000000001","type":"things","name":"A","size":12,`) {
		t.Errorf("got %s", got)
	}
	if err := p.stop(t, syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}

	// The way back, over the backup.
	writeSchema(t, dir, thingsBefore)
	runs(t, dir, "", true, "plural: plural.db has 2 resources, which would be replaced; --force permits it\n", "restore", "before.db")
	runs(t, dir, "", false, "Restored before.db.\n", "restore", "before.db", "--force")
	p = serveIn(t, dir)
	if got := get(t, p.base+"/things?filter[size]=big"); !strings.HasPrefix(got, `200 {"data":[{"id":"00000000-0000-7000-8000-000000000002","type":"things","name":"B","size":"big",`) {
		t.Errorf("got %s", got)
	}
}

func TestMigrateWithFlags(t *testing.T) {
	for name, c := range map[string]struct {
		args   []string
		backup string
		want   string
	}{
		"a backup":  {[]string{"--backup", "safe.db"}, "safe.db", "Wrote the backup safe.db.\n"},
		"no backup": {[]string{"--no-backup"}, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			thingsIn(t, dir)
			other := filepath.Join(dir, "other.yaml")
			if err := os.WriteFile(other, []byte(thingsLess), 0o644); err != nil {
				t.Fatal(err)
			}
			args := append([]string{"migrate", "--allow-loss", "--schema=other.yaml", "--database=sqlite:plural.db"}, c.args...)
			runs(t, dir, "", false, lessPlan+c.want+"Done: 1 step. Restart the servers that use the database.\n", args...)
			if c.backup != "" {
				runs(t, dir, "", false, "Restored safe.db.\n", "restore", "--database=sqlite:again.db", c.backup)
			}
		})
	}
}

// TestMigrateTheDatabaseThatIsNamed: a flag wins over the environment and the file,
// also when the command has it from serve.
func TestMigrateTheDatabaseThatIsNamed(t *testing.T) {
	dir := t.TempDir()
	thingsIn(t, dir)
	for _, name := range []string{"named.db", "other.db", "third.db"} {
		runs(t, dir, "", false, "Wrote "+name+", and checked it.\n", "backup", name)
	}
	writeSchema(t, dir, "server: {database: sqlite:other.db}\n"+thingsMore)
	t.Setenv("PLURAL_DATABASE", "sqlite:third.db")
	t.Setenv("PLURAL_SCHEMA", "none.yaml")
	const plan = "1 step to fit the schema:\n\n  additive   things: new attribute note (string); existing resources get the default\n             writes 2 resources\n\n"
	runs(t, dir, "", false, plan+"Done: 1 step. Restart the servers that use the database.\n", "migrate", "--schema=plural.yaml", "--database=sqlite:named.db")
	for _, name := range []string{"other.db", "third.db"} {
		runs(t, dir, "", false, plan, "migrate", "--plan", "--schema=plural.yaml", "--database=sqlite:"+name)
	}
}

// TestBackupDespiteASchemaWithMistakes: it needs no schema.
func TestBackupDespiteASchemaWithMistakes(t *testing.T) {
	dir := t.TempDir()
	thingsIn(t, dir)
	writeSchema(t, dir, "nonsense: true\n")
	runs(t, dir, "", false, "Wrote one.db, and checked it.\n", "backup", "one.db", "--database=sqlite:plural.db")
	t.Setenv("PLURAL_DATABASE", "sqlite:plural.db")
	runs(t, dir, "", false, "Wrote two.db, and checked it.\n", "backup", "two.db")
}

// TestBackupOfARunningServer: nobody has to stop for it.
func TestBackupOfARunningServer(t *testing.T) {
	dir := t.TempDir()
	writeSchema(t, dir, thingsBefore)
	p := serveIn(t, dir)
	post(t, p.base+"/things", `{"name":"A"}`)
	runs(t, dir, "", false, "Wrote safe.db, and checked it.\n", "backup", "safe.db")
	runs(t, dir, "", true, "plural: safe.db exists already; a backup never overwrites a file\n", "backup", "safe.db")
	post(t, p.base+"/things", `{"name":"B"}`)
	runs(t, dir, "", false, "Restored safe.db.\n", "restore", "safe.db", "--force")
	post(t, p.base+"/things", `{"name":"C"}`)
	got := get(t, p.base+"/things")
	if strings.Count(got, `"type":"things"`) != 2 || !strings.Contains(got, `"name":"A"`) || !strings.Contains(got, `"name":"C"`) {
		t.Errorf("got %s", got)
	}
}

// TestMigrationsDocument: the plan that the document shows is the one that its
// schemas give.
func TestMigrationsDocument(t *testing.T) {
	text, err := os.ReadFile("../../docs/migrations.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?ms)^```(?:yaml|text)\n(.*?)^```$").FindAllSubmatch(text, 3)
	if len(blocks) < 3 {
		t.Fatal("the schemas and the plan are not found: is the document still written in blocks?")
	}
	dir := t.TempDir()
	writeSchema(t, dir, string(blocks[0][1]))
	p := serveIn(t, dir)
	post(t, p.base+"/users", `{"id":"00000000-0000-7000-8000-000000000001","name":"Ada","age":"36","fax":"1"}`)
	post(t, p.base+"/users", `{"id":"00000000-0000-7000-8000-000000000002","name":"Bob","age":"about 40"}`)
	writeSchema(t, dir, string(blocks[1][1]))
	runs(t, dir, "", false, string(blocks[2][1])+"\n", "migrate", "--plan")
}
