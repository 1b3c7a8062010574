package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/plural-go/plural/internal/changelog"
	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/lists"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/search"
)

// TestWriteThroughAVersion: the same writes, in version 1 and in the newest, leave the same in the tables, the change log, the totals
// and the search index, and each finds the conflicts in its names.
func TestWriteThroughAVersion(t *testing.T) {
	eachDatabase(t, func(t *testing.T, url string) {
		var all [][]string
		for number, want := range map[int]string{
			1: "not_unique at /name: Another resource, stored or in this request, has this name.\nnot_unique at /name: Another resource, stored or in this request, has this name.",
			2: "not_unique at /title: Another resource, stored or in this request, has this title.\nnot_unique at /title: Another resource, stored or in this request, has this title.",
		} {
			database := sameKind(t, url)
			st := openVersions(t, database)
			lines, conflicts := writeVersions(t, st, st.Version(number))
			if conflicts != want {
				t.Errorf("version %d: the conflicts are %s", number, conflicts)
			}
			closeStore(t, st)
			for _, line := range contents(t, database) {
				if !strings.HasPrefix(line, db.SchemasTable) && !strings.HasPrefix(line, db.MetaTable) { // which have the time and the secret
					lines = append(lines, line)
				}
			}
			all = append(all, lines)
		}
		if !slices.Equal(all[0], all[1]) {
			t.Errorf("one leaves\n%s\nthe other\n%s", strings.Join(all[0], "\n"), strings.Join(all[1], "\n"))
		}
	})
}

// writeVersions writes as a schema shows it, and tells the change log and the queue.
func writeVersions(t *testing.T, st *Store, s *model.Schema) (lines []string, conflicts string) {
	t.Helper()
	fillVersions(t, st, s)
	users, comments, badges := seen(st, s)
	find := func(c *model.Collection, n int) (r model.Record) {
		read(t, st, func(tx *Tx) { r, _ = tx.Get(c, nil, idOf(t, n)) })
		return r
	}
	var refused []string
	expect := func(err error) {
		if err == nil {
			t.Error("a conflict is not found")
		} else {
			refused = append(refused, err.Error())
		}
	}
	bob := find(users, 2)
	write(t, st, func(tx *Tx) error {
		again := slices.Clone(bob)
		again[model.IDColumn] = model.IDValue(idOf(t, 6))
		again[users.Base().Field("rank").Column] = model.IntValue(9)
		_, err := tx.Insert(users, again)
		expect(err)
		return nil
	})
	write(t, st, func(tx *Tx) error {
		after := slices.Clone(bob)
		after[1] = model.TextValue("Ada")
		_, err := tx.Update(users, bob, after)
		expect(err)
		after[1], after[2] = model.TextValue("Rob"), model.TextValue("sonnets")
		_, err = tx.Update(users, bob, after)
		return err
	})
	// An operation waits for a resource; its job has the name that is stored.
	write(t, st, func(tx *Tx) error {
		job := Job{Operation: idOf(t, 30), Method: "POST", Collection: users.Base().Name, Resource: idOf(t, 7)}
		return tx.AddOperation(job, users.Base(), "caller", nil)
	})
	read(t, st, func(tx *Tx) {
		jobs, err := tx.Unfinished(users, idOf(t, 7))
		has, hasErr := tx.HasUnfinished(users, idOf(t, 7))
		operation, _, creates, createsErr := tx.Creating(users, idOf(t, 7))
		lines = append(lines, fmt.Sprint(len(jobs), has, operation, creates, err, hasErr, createsErr))
	})
	// Cy goes, with what refers to Cy: a report is set free, and the badge, which version 1 does not have, is deleted with Bob.
	write(t, st, func(tx *Tx) error {
		for _, link := range users.Referrers() {
			var references References
			err := tx.Referring(link, []model.ID{idOf(t, 3), idOf(t, 2)}, func(referrer, referred model.ID) bool {
				references.Referrers, references.Referred = append(references.Referrers, referrer), append(references.Referred, referred)
				return true
			})
			if err != nil {
				return err
			}
			for _, set := range references.SetsByLink(link) {
				if link.OnDelete == model.SetNull {
					err = tx.SetNull(link, set)
				} else {
					_, err = tx.DeleteSet(set)
				}
				if err != nil {
					return err
				}
			}
		}
		_, err := tx.DeleteSet(Set{Collection: users, IDs: []model.ID{idOf(t, 2), idOf(t, 3)}})
		return err
	})
	comment := find(comments, 12)
	write(t, st, func(tx *Tx) error {
		_, err := tx.Delete(comments, comment)
		return err
	})
	if err := st.MergeDeltas(context.Background()); err != nil {
		t.Fatal(err)
	}
	sequence(t, st)
	base := st.Schema().Base()
	read(t, st, func(tx *Tx) {
		for _, c := range []*model.Collection{users, comments, badges} {
			entries, last, more, err := tx.Log(changelog.Query{Collection: c, Most: 100})
			lines = append(lines, fmt.Sprint(c.Base().Name, len(entries), last, more, err))
			for _, e := range entries {
				if e.Collection != base.Collection(c.Base().Name) {
					t.Errorf("a change is of %s, which is not stored", e.Collection.Name)
				}
			}
			n, err := tx.CountLog(changelog.Query{Collection: c})
			lines = append(lines, fmt.Sprint("counts ", n, err))
		}
		gone := idOf(t, 2)
		lines = append(lines, tell(t, tx, changelog.Query{Collection: users, ID: &gone, Most: 100})...)
		lines = append(lines, tell(t, tx, changelog.Query{Most: 100})...)
		deleted, err := tx.Deleted(users, gone)
		lines = append(lines, fmt.Sprint("deleted ", deleted, err))
		before, err := tx.ChangedBefore(1<<40, users, gone)
		if err != nil || before == nil || before.Collection != base.Collection("users") {
			t.Errorf("the last change is %+v, %v", before, err)
		}
		states := tx.States()
		entries, _, _, err := tx.Log(changelog.Query{Most: 100})
		for i := range entries {
			state, stateErr := states.Before(&entries[i])(users, idOf(t, 4))
			lines = append(lines, fmt.Sprint("before ", entries[i].Number, state, err, stateErr))
		}
		wrong, listsErr := lists.Check(tx.conn, st.db, base)
		unlogged, logErr := changelog.Check(tx.conn, st.db, base)
		unsearched, _, searchErr := search.Check(tx.conn, st.db, base, false)
		if found := slices.Concat(wrong, unlogged, unsearched); len(found) > 0 || errors.Join(listsErr, logErr, searchErr) != nil {
			t.Errorf("found %q, %v, %v, %v", found, listsErr, logErr, searchErr)
		}
	})
	return lines, strings.Join(refused, "\n")
}
