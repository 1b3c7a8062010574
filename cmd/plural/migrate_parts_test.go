package main

import "testing"

// TestMigrateInTwoParts: the plan shows what each part does. The second part completes the migration, and the old schema undoes the first.
func TestMigrateInTwoParts(t *testing.T) {
	dir := t.TempDir()
	const before = "version: 1\ncollections: {things: {attributes: {name: {type: string}}}}\n"
	const after = "version: 2\ncollections: {things: {attributes: {label: {type: string, renamed_from: name}}}}\n"
	const (
		expansion = "1 step to fit the schema:\n\n  additive   the interface gets version 2; these stay: 1\n             touches no resource\n\n"
		later     = "1 step left for --contract:\n\n  rewriting  things: attribute name is renamed to label\n             touches no resource\n\n"
		undo      = "1 step to fit the schema:\n\n  additive   the interface goes back to version 1\n             touches no resource\n\n"
		rest      = "1 step to fit the schema:\n\n  rewriting  things: attribute name is renamed to label\n             touches no resource\n\n"
		next      = "Start servers with the new schema, stop those with the old one, and then run \"plural migrate --contract\".\n"
	)
	migrates := func(file string, fails bool, want string, flags ...string) {
		t.Helper()
		writeSchema(t, dir, file)
		runs(t, dir, "", fails, want, append([]string{"migrate", "--database=sqlite:plural.db"}, flags...)...)
	}
	writeSchema(t, dir, before)
	runs(t, dir, `{"name":"Lamp"}`, false, "Imported 1 row into plural.db.\n", "import", "things")
	migrates(after, true, "plural: the database is not expanded for this schema: \"plural migrate --expand\" does so, and \"plural migrate\" makes both parts at once\n", "--contract")
	migrates(after, false, expansion+later, "--expand", "--plan")
	migrates(after, false, expansion+later+"Done: 1 step. "+next, "--expand")
	migrates(after, false, "Servers with this schema can use the database. There is nothing to expand.\n", "--expand")
	migrates(before, false, undo+"Done: 1 step. Restart the servers that use the database.\n")
	migrates(after, false, expansion+later+"Done: 1 step. "+next, "--expand")
	migrates(after, false, rest+"Done: 1 step. Servers with the new schema continue.\n", "--contract")
	migrates(after, false, "The database has this schema. There is nothing to do.\n", "--contract")
}
