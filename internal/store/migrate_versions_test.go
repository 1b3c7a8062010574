package store

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/plural-go/plural/admin"
	"github.com/plural-go/plural/internal/auth"
	"github.com/plural-go/plural/internal/catalog"
	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/db/databases"
	"github.com/plural-go/plural/internal/migrate"
	"github.com/plural-go/plural/internal/versions"
	"github.com/plural-go/plural/schema"
)

// versionsOf lists the versions of a database: what they show, or why they have ended.
func versionsOf(t *testing.T, url string) (lines []string) {
	t.Helper()
	err := databases.Read(context.Background(), url, func(b db.Database, c db.Conn) error {
		if _, err := catalog.Require(c, b); err != nil {
			return err
		}
		state, err := catalog.ReadState(c)
		if err != nil {
			return err
		}
		newest, numbers := state.Newest()
		all, err := versions.Read(c, newest, numbers)
		for _, v := range all {
			line := fmt.Sprint(v.Number, " ", v.Ended)
			if v.Schema != nil {
				line = fmt.Sprint(v.Number)
				for _, c := range v.Schema.Collections() {
					line += " " + c.Name
					for i, a := range c.Attributes {
						if c.Shows().Has(i + 1) {
							line += " " + a.Name
						}
					}
				}
			}
			lines = append(lines, line)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return lines
}

// versionStep is a schema file, what its plan says, and the versions of the database after it. Nil: they are not compared.
type versionStep struct {
	file       string
	plan, want []string
}

// TestVersionsOfMigrations: a migration says which versions of the interface stay and which end. What has ended does not come back.
func TestVersionsOfMigrations(t *testing.T) {
	notes := func(version int, attributes string) string {
		return fmt.Sprintf("version: %d\ncollections: {notes: {attributes: {%s}}}", version, attributes)
	}
	none := "; refuses its clients; no API key is pinned to it"
	for name, steps := range map[string][]versionStep{
		"the first version": {
			{"collections: {notes: {attributes: {a: {type: string}}}}", nil, []string{}},
			{notes(1, "a: {type: string}"), []string{"additive; the interface has versions from now on, and this is version 1; touches no resource"}, []string{"1 notes a"}},
			{notes(1, "a: {type: string}"), []string{}, []string{"1 notes a"}},
		},
		"names, in place and with a version": {
			{notes(1, "a: {type: string}"), nil, []string{"1 notes a"}},
			{notes(1, "b: {type: string, renamed_from: a}"), []string{"additive; notes: attribute a is renamed to b; touches no resource",
				"additive; version 1 of the interface changes in place; its clients break: notes.a is renamed; it stays if this is version: 2; touches no resource"}, []string{"1 notes b"}},
			{notes(3, "c: {type: string, renamed_from: b}"), []string{"additive; notes: attribute b is renamed to c; touches no resource",
				"additive; the interface gets version 3; these stay: 1; touches no resource"}, []string{"1 notes b", "3 notes c"}},
			{"deprecated: {1: 2027-01-01}\n" + notes(4, "c: {type: string}"), []string{"additive; the interface gets version 4; these stay: 1, 3; touches no resource",
				"additive; version 1 of the interface is deprecated, with the sunset 2027-01-01; touches no resource"}, []string{"1 notes b", "3 notes c", "4 notes c"}},
			{notes(4, "c: {type: string}"), []string{"additive; version 1 of the interface is no longer deprecated; touches no resource"},
				[]string{"1 notes b", "3 notes c", "4 notes c"}},
		},
		"the first version is not that of the former schema": {
			{"collections: {notes: {attributes: {a: {type: string}}}}", nil, []string{}},
			{notes(2, "b: {type: string, renamed_from: a}"), []string{"additive; notes: attribute a is renamed to b; touches no resource",
				"additive; the interface has versions from now on, and this is version 2; clients of the former schema break: notes.a is renamed; it stays if it gets version: 1 first; touches no resource"},
				[]string{"2 notes b"}},
		},
		"new restrictions": {
			{notes(1, "a: {type: string}"), nil, nil},
			{notes(2, "a: {type: string, maxLength: 9}"), []string{"additive; notes: a is restricted by maxLength; checks 0 resources",
				"additive; the interface gets version 2; these stay: 1, with the new restrictions; touches no resource"}, []string{"1 notes a", "2 notes a"}},
			{notes(2, "a: {type: string, maxLength: 9, until: 1}, b: {type: string}"), []string{"additive; notes: only versions up to 1 of the interface have a; touches no resource",
				"additive; notes: new attribute b (string); touches no resource",
				"additive; version 2 of the interface changes in place; these stay: 1; its clients break: notes.a is kept until version 1 only; touches no resource"}, []string{"1 notes a", "2 notes b"}},
		},
		"an attribute is removed": {
			{notes(1, "a: {type: string}, z: {type: string}"), nil, nil},
			{notes(2, "b: {type: string, renamed_from: a}, x: {type: string}, z: {type: string}"), nil, []string{"1 notes a z", "2 notes b x z"}},
			{notes(3, "z: {type: string}"), []string{"additive; notes: attribute b is removed; loses the values of 0 resources", "additive; notes: attribute x is removed; loses the values of 0 resources",
				"additive; the interface gets version 3; touches no resource",
				"losing; version 1 of the interface ends: notes.a is removed; it stays if notes.b is declared with until: 2" + none,
				"losing; version 2 of the interface ends: notes.b is removed; notes.x is removed; it stays if notes.b is declared with until: 2 and notes.x is declared with until: 2" + none},
				[]string{"1 [notes.a is removed]", "2 [notes.b is removed notes.x is removed]", "3 notes z"}},
			{notes(4, "z: {type: string}, a: {type: string}"), []string{"additive; notes: new attribute a (string); touches no resource", "additive; the interface gets version 4; these stay: 3; touches no resource"},
				[]string{"1 [notes.a is removed]", "2 [notes.b is removed notes.x is removed]", "3 notes z", "4 notes z a"}},
		},
		"an attribute stays for earlier versions": {
			{notes(1, "a: {type: string}"), nil, nil},
			{notes(2, "a: {type: string}, b: {type: string}"), nil, nil},
			{notes(3, "a: {type: string, until: 1}, b: {type: string}"), []string{"additive; notes: only versions up to 1 of the interface have a; touches no resource",
				"additive; the interface gets version 3; these stay: 1; touches no resource",
				"losing; version 2 of the interface ends: notes.a is kept until version 1 only; it stays if notes.a is declared with until: 2" + none},
				[]string{"1 notes a", "2 [notes.a is kept until version 1 only]", "3 notes b"}},
			{notes(4, "a: {type: string}, b: {type: string}"), []string{"additive; notes: the newest version of the interface has a again; touches no resource",
				"additive; the interface gets version 4; these stay: 1, 3; touches no resource"},
				[]string{"1 notes a", "2 [notes.a is kept until version 1 only]", "3 notes b", "4 notes a b"}},
		},
		"another type, and back": {
			{notes(1, "a: {type: string}, b: {type: string}"), nil, nil},
			{notes(2, "a: {type: integer}"), []string{"additive; notes: a is converted from string to integer; checks 0 resources", "additive; notes: attribute b is removed; loses the values of 0 resources",
				"additive; the interface gets version 2; touches no resource",
				"losing; version 1 of the interface ends: notes.a becomes integer instead of string; notes.b is removed" + none},
				[]string{"1 [notes.a becomes integer instead of string notes.b is removed]", "2 notes a"}},
			{notes(2, "a: {type: string}"), []string{"additive; notes: a is converted from integer to string; checks 0 resources",
				"additive; version 2 of the interface changes in place; its clients break: notes.a becomes string instead of integer; touches no resource"}, []string{"1 [notes.a becomes integer instead of string notes.b is removed]", "2 notes a"}},
		},
		"what cannot have until, or only if it can be left out": {
			{"version: 1\ncollections: {notes: {attributes: {a: {type: integer}, r: {type: string}}, required: [r]}, logs: {attributes: {c: {type: integer, computed: 1 + 1}}}}", nil, nil},
			{"version: 2\ncollections: {notes: {attributes: {a: {type: integer}, q: {type: integer, default: 1}}}, logs: {attributes: {d: {type: string}, c: {type: integer, computed: 1 + 1}}}}",
				[]string{"additive; notes: new attribute q (integer); existing resources get the default; writes 0 resources", "additive; notes: attribute r is removed; loses the values of 0 resources",
					"additive; logs: new attribute d (string); touches no resource", "additive; the interface gets version 2; touches no resource",
					"losing; version 1 of the interface ends: notes.r is removed; it stays if notes.r is declared with until: 1, optional or with a default" + none},
				[]string{"1 [notes.r is removed]", "2 notes a q logs d c"}},
			{"version: 3\ncollections: {notes: {attributes: {a: {type: integer}, q: {type: integer, default: 1}}}, logs: {attributes: {d: {type: string}}}}",
				[]string{"additive; logs: attribute c is removed; loses the values of 0 resources", "additive; the interface gets version 3; touches no resource",
					"losing; version 2 of the interface ends: logs.c is removed" + none},
				[]string{"1 [notes.r is removed]", "2 [logs.c is removed]", "3 notes a q logs d"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			eachDatabase(t, func(t *testing.T, url string) {
				closeStore(t, open(t, url, parse(t, steps[0].file)))
				for i, step := range steps {
					planned, _, err := migrate.Plan(context.Background(), url, parse(t, step.file), migrate.Whole)
					if got := planLines(planned); err != nil || step.plan != nil && !slices.Equal(got, step.plan) {
						t.Errorf("step %d: %v, the plan is\n%s\nwant\n%s", i, err, strings.Join(got, "\n"), strings.Join(step.plan, "\n"))
					}
					steps, err := migrate.Run(context.Background(), url, parse(t, step.file), migrate.Options{AllowLoss: true})
					if got := planLines(steps); err != nil || step.plan != nil && !slices.Equal(got, step.plan) {
						t.Errorf("step %d: %v, the steps are\n%s\nwant\n%s", i, err, strings.Join(got, "\n"), strings.Join(step.plan, "\n"))
					}
					if got := versionsOf(t, url); step.want != nil && !slices.Equal(got, step.want) {
						t.Errorf("step %d: the versions are\n%s\nwant\n%s", i, strings.Join(got, "\n"), strings.Join(step.want, "\n"))
					}
				}
			})
		})
	}
}

// TestEndingVersions: only a migration that may lose something ends a version, and it names the keys that are pinned to it. No schema
// goes back to an earlier version.
func TestEndingVersions(t *testing.T) {
	eachDatabase(t, func(t *testing.T, url string) {
		ctx := context.Background()
		one := "version: 1\ncollections: {notes: {attributes: {a: {type: string}, b: {type: string}}}}"
		two := "version: 2\ncollections: {notes: {attributes: {b: {type: string}}}}"
		closeStore(t, open(t, url, parse(t, one)))
		for _, key := range []admin.Key{{Name: "app", Role: "editor", APIVersion: 1}, {Name: "gone", Role: "editor", APIVersion: 1}, {Name: "new", Role: "editor"}} {
			secret, err := admin.CreateKey(ctx, url, key)
			if err == nil && key.Name == "gone" {
				_, err = admin.RevokeKey(ctx, url, secret)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		keys, err := admin.Keys(ctx, url)
		if err != nil {
			t.Fatal(err)
		}
		text := "version 1 of the interface ends: notes.a is removed; it stays if notes.a is declared with until: 1"
		_, err = migrate.Run(ctx, url, parse(t, two), migrate.Options{})
		want := "the migration is refused, and nothing was changed:\n  - " + text + ": it refuses its clients; 1 API key is pinned to it: " + keys[0].Prefix +
			" (app)\n\"plural migrate --allow-loss\" permits it; values that would be invalid become null."
		if err == nil || err.Error() != want {
			t.Errorf("without permission: %v\nwant %s", err, want)
		}
		_, err = Open(ctx, url, parse(t, two))
		want = db.Misfit + ":\n  - notes: attribute a is removed (additive)\n  - the interface gets version 2 (additive)\n  - " + text + ` (losing)
"plural migrate --plan" shows the steps in detail, and "plural migrate" applies them.`
		if err == nil || err.Error() != want {
			t.Errorf("a server: %v\nwant %s", err, want)
		}
		listed, err := admin.Versions(ctx, url, (*schema.Schema)(parse(t, two)))
		if err != nil || len(listed) != 1 || !slices.Equal(listed[0].Ends, []string{"notes.a is removed"}) || !slices.Equal(listed[0].Keys, []admin.VersionKey{{Prefix: keys[0].Prefix, Name: "app"}}) {
			t.Errorf("%v, listed %+v", err, listed)
		}
		if _, err := migrate.Run(ctx, url, parse(t, two), migrate.Options{AllowLoss: true}); err != nil {
			t.Fatal(err)
		}
		for file, has := range map[string]string{one: "has version 1", strings.TrimPrefix(two, "version: 2\n"): "has no version"} {
			want := "the schema " + has + ", but the interface of the database is at version 2, and versions never decrease or disappear: use the current schema, or write version: 2 or a later one"
			_, _, planned := migrate.Plan(ctx, url, parse(t, file), migrate.Whole)
			_, run := migrate.Run(ctx, url, parse(t, file), migrate.Options{AllowLoss: true})
			_, opened := Open(ctx, url, parse(t, file))
			_, listed := admin.Versions(ctx, url, (*schema.Schema)(parse(t, file)))
			for _, err := range []error{planned, run, opened, listed} {
				if err == nil || err.Error() != want {
					t.Errorf("back: %v\nwant %s", err, want)
				}
			}
		}
	})
}

// TestListOfVersions: the versions with their keys and uses, and what another schema would end. Nothing is changed.
func TestListOfVersions(t *testing.T) {
	eachDatabase(t, func(t *testing.T, url string) {
		ctx := context.Background()
		files := []string{
			"version: 1\ncollections: {notes: {attributes: {a: {type: string}, b: {type: string}}}}",
			"version: 2\ndeprecated: {1: 2027-01-01}\ncollections: {notes: {attributes: {b: {type: string}}}}",
			"version: 4\ndeprecated: {2: 2028-01-01}\ncollections: {notes: {attributes: {c: {type: string, renamed_from: b}}}}",
			"version: 5\ncollections: {logs: {attributes: {d: {type: string}}}}",
		}
		closeStore(t, open(t, url, parse(t, files[0])))
		for _, file := range files[1:3] {
			if _, err := migrate.Run(ctx, url, parse(t, file), migrate.Options{AllowLoss: true}); err != nil {
				t.Fatal(err)
			}
		}
		st := open(t, url, parse(t, files[2]))
		expired := auth.StoredKey{Prefix: "cccccccccc", Hash: "x", Name: "old", Role: "r", Subject: "s", Created: "2026-01-01T00:00:00.000Z", Expires: "2026-01-02T00:00:00.000Z", Version: 2}
		app := auth.StoredKey{Prefix: "aaaaaaaaaa", Hash: "x", Name: "app", Role: "r", Subject: "s", Created: "2026-01-01T00:00:00.000Z", Version: 2}
		for _, key := range []auth.StoredKey{expired, app} {
			if err := st.AddAPIKey(ctx, key); err != nil {
				t.Fatal(err)
			}
		}
		st.now = func() time.Time { return time.Date(2025, 6, 1, 0, 0, 0, 0, time.UTC) }
		if err := st.StoreUses(ctx, []versions.Use{{Version: 2, Caller: "token:old", At: "2025-01-01T00:00:00.000Z"}}); err != nil {
			t.Fatal(err)
		}
		st.now = func() time.Time { return time.Date(2026, 1, 6, 0, 0, 0, 0, time.UTC) }
		err := st.StoreUses(ctx, []versions.Use{
			{Version: 2, Caller: "key:aaaaaaaaaa", At: "2026-01-03T00:00:00.000Z"}, {Version: 2, Caller: "", At: "2026-01-04T00:00:00.000Z"},
			{Version: 1, Caller: "token:x", At: "2026-01-01T00:00:00.000Z"}, {Version: 9, Caller: "token:x", At: "2026-01-05T00:00:00.000Z"},
		})
		if err != nil {
			t.Fatal(err)
		}
		at := func(day int) time.Time { return time.Date(2026, 1, day, 0, 0, 0, 0, time.UTC) }
		want := []admin.Version{
			{Number: 1, Ended: []string{"notes.a is removed"}, Uses: []admin.VersionUse{{Caller: "token:x", At: at(1)}}},
			{Number: 2, Sunset: "2028-01-01", Keys: []admin.VersionKey{{Prefix: "aaaaaaaaaa", Name: "app"}},
				Uses: []admin.VersionUse{{Caller: "", At: at(4)}, {Caller: "key:aaaaaaaaaa", Key: "app", At: at(3)}}},
			{Number: 4, Newest: true},
		}
		for _, to := range []string{"", files[3], ""} {
			var other *schema.Schema
			want[1].Ends, want[2].Ends = nil, nil
			if to != "" {
				other = (*schema.Schema)(parse(t, to))
				want[1].Ends, want[2].Ends = []string{"notes is removed"}, []string{"notes is removed"}
			}
			got, err := admin.Versions(ctx, url, other)
			for i := range got {
				if got[i].Since.IsZero() || i > 0 && got[i].Since.Before(got[i-1].Since) {
					t.Errorf("version %d is since %v, and the one before since %v", got[i].Number, got[i].Since, got[i-1].Since)
				}
			}
			for i := range got {
				got[i].Since = time.Time{}
			}
			if err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("%v, got\n%+v\nwant\n%+v", err, got, want)
			}
		}
	})
}
