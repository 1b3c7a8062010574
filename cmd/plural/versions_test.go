package main

import (
	"strings"
	"testing"
	"time"

	"github.com/plural-go/plural/admin"
)

// TestPrintVersions: the newest version is first, and the reasons follow the table.
func TestPrintVersions(t *testing.T) {
	day := func(day int) time.Time { return time.Date(2026, 11, day, 9, 30, 0, 0, time.UTC) }
	for name, c := range map[string]struct {
		versions []admin.Version
		want     string
	}{
		"none": {nil, "The schema of the database has no versions.\n"},
		"of each kind": {[]admin.Version{
			{Number: 1, Since: day(1), Sunset: "2027-01-01", Ended: []string{"posts.title is removed", "users is removed"}},
			{Number: 2, Since: day(2), Sunset: "2027-02-01", Ends: []string{"posts.text is removed"}, Keys: []admin.VersionKey{{Prefix: "aa", Name: "app"}, {Prefix: "bb", Name: "web"}},
				Uses: []admin.VersionUse{{Caller: "key:aa", Key: "app", At: day(9)}, {Caller: "", At: day(8)}, {Caller: "token:x", At: day(7)}}},
			{Number: 3, Since: day(3), Uses: []admin.VersionUse{{At: day(8)}}},
			{Number: 4, Since: day(4), Uses: []admin.VersionUse{{Caller: "token:x", At: day(9)}, {Caller: "key:aa", Key: "app", At: day(8)}}},
			{Number: 5, Since: day(5)},
			{Number: 6, Since: day(6), Newest: true},
		}, `VERSION  SINCE       STATE                          LAST USED                                         PINNED KEYS
6        2026-11-06  newest                         not recorded                                      none
5        2026-11-05  served                         never                                             none
4        2026-11-04  served                         2026-11-09 09:30 by token:x, and 1 other          none
3        2026-11-03  served                         2026-11-08 09:30 by a caller without credentials  none
2        2026-11-02  deprecated, sunset 2027-02-01  2026-11-09 09:30 by key:aa (app), and 2 others    aa (app), bb (web)
1        2026-11-01  ended                          never                                             none
This schema would end version 2: posts.text is removed.
Version 1 has ended: posts.title is removed; users is removed.
`},
	} {
		t.Run(name, func(t *testing.T) {
			var out strings.Builder
			if err := printVersions(&out, c.versions); err != nil || out.String() != c.want {
				t.Errorf("%v, got\n%s\nwant\n%s", err, out.String(), c.want)
			}
		})
	}
}

// TestVersionsCommand: it needs a database, and no schema unless one is named.
func TestVersionsCommand(t *testing.T) {
	dir := t.TempDir()
	runs(t, dir, "", true, "plural: there is no database plural.db\n", "versions", "--database=sqlite:plural.db")
	thingsIn(t, dir)
	runs(t, dir, "", false, "The schema of the database has no versions.\n", "versions")
	runs(t, dir, "", false, "[]\n", "versions", "--json")
	writeSchema(t, dir, "version: 2\n"+thingsBefore)
	runs(t, dir, "", false, "1 step to fit the schema:\n\n  additive   the interface has versions from now on, and this is version 2\n             touches no resource\n\n"+
		"Done: 1 step. Restart the servers that use the database.\n", "migrate")
	writeSchema(t, dir, "version: 1\n"+thingsBefore)
	back := "plural: the schema has version 1, but the interface of the database is at version 2, and versions never decrease or disappear: use the current schema, or write version: 2 or a later one\n"
	runs(t, dir, "", true, back, "versions", "--schema=plural.yaml")
	runs(t, dir, "", true, back, "migrate", "--plan")
	runs(t, dir, "", true, "plural: there is no file missing.yaml\n", "versions", "--schema=missing.yaml")
	writeSchema(t, dir, "nonsense: true\n")
	t.Setenv("PLURAL_DATABASE", "sqlite:plural.db")
	out, err := program(t, dir, "versions").CombinedOutput()
	if err != nil || !strings.Contains(string(out), "newest  not recorded") {
		t.Errorf("%v, got %s", err, out)
	}
}
