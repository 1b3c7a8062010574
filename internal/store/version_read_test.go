package store

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/plural-go/plural/internal/auth"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/query"
	"github.com/plural-go/plural/schema"
)

// limitsFor is what a caller may name in queries of a collection.
func limitsFor(by *auth.Permit, c *model.Collection) query.Limits {
	return query.Limits{DefaultLimit: 100, Visible: by.Visible(c), Related: by.Related}
}

// pageFor reads a page with everything that is known of it. Records have the same columns in all versions.
func pageFor(t *testing.T, st *Store, by *auth.Permit, c *model.Collection, parent *model.ID, raw string) (whole string, names []string) {
	t.Helper()
	q, err := query.Parse(query.OfList, c, raw, limitsFor(by, c))
	if err != nil {
		t.Fatalf("%s?%s: %v", c.Name, raw, err)
	}
	scope := by.Scope(c)
	if parent != nil {
		scope = query.Both(query.Compare{Column: c.ParentLink().Column, Op: query.Equal, Value: model.IDValue(*parent)}, scope)
	}
	page, err := st.Page(context.Background(), PageQuery{
		Collection: c, Parent: parent, Scope: scope, Filter: q.Filter, Sort: q.Sort, Range: q.Range, Exact: true,
		Unfiltered: q.Filter == nil && by.Scope(c) == nil,
	})
	if err != nil {
		t.Fatalf("%s?%s: %v", c.Name, raw, err)
	}
	defer page.Close()
	var lines []string
	var keys []model.ID
	for {
		row, err := page.Next()
		if err != nil {
			t.Fatalf("%s?%s: %v", c.Name, raw, err)
		}
		if row == nil {
			break
		}
		found := c.Scan(row)
		lines = append(lines, fmt.Sprint(found))
		keys, names = append(keys, found.ID(model.IDColumn)), append(names, found[1].Text())
	}
	previous, next, err := page.Neighbours()
	lines = append(lines, fmt.Sprint(page.Total, page.TotalKnown, page.Point, previous, next, err))
	read(t, st, func(tx *Tx) { lines = append(lines, relatedOf(t, tx, q.Includes, keys)...) })
	return strings.Join(lines, "\n"), names
}

// relatedOf reads the included resources of the resources with some ids, or of those that they refer to.
func relatedOf(t *testing.T, tx *Tx, includes []*query.Include, keys []model.ID) (lines []string) {
	t.Helper()
	for _, include := range includes {
		included, err := tx.Prepare(include)
		if err != nil {
			t.Fatal(err)
		}
		var found []string
		var below []model.ID
		err = tx.Related(included, keys, func(row model.Row) bool {
			r := include.Relation.To.Scan(row)
			found, below = append(found, fmt.Sprint(r)), append(below, r.ID(model.IDColumn))
			return true
		})
		if err == nil && include.Total {
			err = tx.RelatedTotals(included, keys, func(key model.ID, total int64) { found = append(found, fmt.Sprint(key, " has ", total)) })
			slices.Sort(found)
		}
		if err != nil {
			t.Fatal(err)
		}
		lines = append(append(lines, fmt.Sprintf("%d of %v", len(found), include.Relation.Column)), found...)
		lines = append(lines, relatedOf(t, tx, include.Includes, below)...)
	}
	return lines
}

// groupsFor reads groups.
func groupsFor(t *testing.T, st *Store, by *auth.Permit, c *model.Collection, raw string) (lines []string) {
	t.Helper()
	q, err := query.Parse(query.OfGroups, c, raw, limitsFor(by, c))
	if err != nil {
		t.Fatalf("%s?%s: %v", c.Name, raw, err)
	}
	groups, err := st.Groups(context.Background(), GroupQuery{Collection: c, Filter: query.Both(by.Scope(c), q.Filter), Groups: q.Groups, Range: q.Range, Exact: true})
	if err != nil {
		t.Fatalf("%s?%s: %v", c.Name, raw, err)
	}
	defer groups.Close()
	for {
		group, err := groups.Next()
		if err != nil {
			t.Fatalf("%s?%s: %v", c.Name, raw, err)
		}
		if group == nil {
			return append(lines, fmt.Sprint("total ", groups.Total))
		}
		lines = append(lines, fmt.Sprint(group.Record()))
	}
}

// TestReadThroughAVersion: what is read in the names of version 1 is what is read in those of the newest, also by a caller whose
// rule has the names of the newest.
func TestReadThroughAVersion(t *testing.T) {
	file, err := schema.Parse([]byte(versionTwo))
	if err != nil {
		t.Fatal(err)
	}
	eachDatabase(t, func(t *testing.T, url string) {
		st := openVersions(t, url)
		newest, view := st.Schema(), st.Version(1)
		policy, err := auth.Compile(newest, file.Access)
		if err != nil {
			t.Fatal(err)
		}
		fillVersions(t, st, newest)
		users, comments, _ := seen(st, newest)
		people, notes, _ := seen(st, view)
		parent := idOf(t, 1)
		permits := map[string]*auth.Permit{"without rights": nil, "as a reader": policy.Permit(auth.Caller{ID: "r", Role: "reader"})}
		for _, c := range []struct {
			old, now string // the last parameters may be the same: both
			both     string
			want     string // the names of those that are found without rights
		}{
			{both: "sort=-rank", want: "Cy Bob Di Ada Eve"},
			{old: "sort=-name", now: "sort=-title", want: "Eve Di Cy Bob Ada"},
			{old: "sort=lead.name,-name", now: "sort=boss.title,-title", want: "Ada Cy Bob Eve Di"},
			{old: "sort=-address.city,name", now: "sort=-place.city,title", want: "Bob Ada Cy Di Eve"},
			{old: "sort=-count.team,name", now: "sort=-count.reports,title", want: "Ada Bob Cy Di Eve"},
			{old: "filter[name][starts_with]=A", now: "filter[title][starts_with]=A", want: "Ada"},
			{old: "filter[address.city]=Paris", now: "filter[place.city]=Paris", want: "Ada Cy"},
			{old: "filter[colours][has]=red", now: "filter[tags][has]=red", want: "Ada Bob"},
			{old: "filter[lead.name]=Ada", now: "filter[boss.title]=Ada", want: "Bob Cy"},
			{old: "filter[lead.lead.name]=Ada&sort=name", now: "filter[boss.boss.title]=Ada&sort=title", want: "Di Eve"},
			{old: "filter[team.name][starts_with]=E", now: "filter[reports.title][starts_with]=E", want: "Bob"},
			{old: "filter[lead.bio][search]=love", now: "filter[boss.bio][search]=love", want: "Bob Cy Di"},
			{old: "filter[any][0][name]=Ada&filter[any][1][lead.address.city]=Rome", now: "filter[any][0][title]=Ada&filter[any][1][boss.place.city]=Rome", want: "Ada Eve"},
			{old: "filter[some][0][notes.weight][gte]=5&filter[some][0][notes.text]=second", now: "filter[some][0][comments.weight][gte]=5&filter[some][0][comments.body]=second", want: "Ada"},
			{old: "filter[none][0][notes.text][contains]=love", now: "filter[none][0][comments.body][contains]=love", want: "Cy Di Eve"},
			{old: "filter[lead][exists]=false", now: "filter[boss][exists]=false", want: "Ada"},
			{old: "filter[count.notes][gte]=2", now: "filter[count.comments][gte]=2", want: "Ada"},
			{both: "search=love", want: "Ada Cy"},
			{old: "search=lov&sort=-name", now: "search=lov&sort=-title", want: "Cy Ada"},
			{both: "limit=2", want: "Ada Bob"},
			{both: "offset=1&limit=2", want: "Bob Cy"},
			{both: "limit=-2", want: "Di Eve"},
			{old: "sort=name&cursor=" + id(3) + "&limit=2", now: "sort=title&cursor=" + id(3) + "&limit=2", want: "Cy Di"},
			{old: "sort=lead.name,name&cursor=" + id(3) + "&limit=-3", now: "sort=boss.title,title&cursor=" + id(3) + "&limit=-3", want: "Ada Bob"},
			{
				old:  "sort=name&include=lead,team,notes&include[notes][total]=true&include[team][sort]=-name&include[team][filter][colours][has]=green&include[notes][limit]=1",
				now:  "sort=title&include=boss,reports,comments&include[comments][total]=true&include[reports][sort]=-title&include[reports][filter][tags][has]=green&include[comments][limit]=1",
				want: "Ada Bob Cy Di Eve",
			},
			{old: "include=team.notes", now: "include=reports.comments", want: "Ada Bob Cy Di Eve"},
		} {
			for who, by := range permits {
				got, names := pageFor(t, st, by, people, nil, c.old+c.both)
				same, _ := pageFor(t, st, by, users, nil, c.now+c.both)
				if got != same || by == nil && strings.Join(names, " ") != c.want {
					t.Errorf("people?%s, %s: got %v\n%s\nwant %s\n%s", c.old+c.both, who, names, got, c.want, same)
				}
			}
		}
		if _, names := pageFor(t, st, nil, people, nil, "filter[nick]=b"); !slices.Equal(names, []string{"Bob"}) {
			t.Errorf("the attribute of version 1 finds %v", names)
		}
		for who, by := range permits {
			if _, names := pageFor(t, st, by, people, nil, "sort=name"); slices.Contains(names, "Di") != (by == nil) {
				t.Errorf("%s: the rule is not that of the newest version: %v", who, names)
			}
			got, names := pageFor(t, st, by, notes, &parent, "sort=-text")
			same, _ := pageFor(t, st, by, comments, &parent, "sort=-body")
			if got != same || !slices.Equal(names, []string{"second", "first love"}) {
				t.Errorf("notes of one, %s: got\n%s\nwant\n%s", who, got, same)
			}
			for old, now := range map[string]string{
				"by=lead.name&sum=rank&sort=-sum.rank":                                 "by=boss.title&sum=rank&sort=-sum.rank",
				"by=created_at:month&distinct=name":                                    "by=created_at:month&distinct=title",
				"by=lead_id&having[count][gte]=2&max=name":                             "by=boss_id&having[count][gte]=2&max=title",
				"by=rank&filter[some][0][notes.weight][gte]=1&search=engin&sort=-rank": "by=rank&filter[some][0][comments.weight][gte]=1&search=engin&sort=-rank",
			} {
				got, same := groupsFor(t, st, by, people, old), groupsFor(t, st, by, users, now)
				if !slices.Equal(got, same) || len(same) < 2 {
					t.Errorf("groups?%s, %s: got %q, want %q", old, who, got, same)
				}
			}
		}
		checkSingleReads(t, st, permits["as a reader"])
		checkUnknown(t, permits, people)
	})
}

// checkSingleReads compares what is read by id.
func checkSingleReads(t *testing.T, st *Store, by *auth.Permit) {
	t.Helper()
	ids := []model.ID{idOf(t, 1), idOf(t, 4), idOf(t, 9)}
	looked := func(s *model.Schema) (lines []string) {
		users, _, _ := seen(st, s)
		read(t, st, func(tx *Tx) {
			note := func(what ...any) { lines = append(lines, fmt.Sprint(what...)) }
			for _, each := range ids {
				record, err := tx.Get(users, by.Scope(users), each)
				note("get ", record, err)
				record, err = tx.FindLast(users, each)
				note("last ", record, err)
			}
			existing, err := tx.Existing(users, by.Scope(users), ids)
			note("existing ", existing, err)
			all, err := tx.FindAll(users, ids)
			note("all ", all, err)
			count, err := tx.Count(users, by.Scope(users))
			note("count ", count, err)
			total, err := tx.Total(users, nil)
			note("total ", total, err)
			owners, err := tx.Owners(users, by.Scope(users), users.UniqueGroups()[0], all, func(model.Record) error { return nil })
			note("owners ", owners, err)
			note("declared in ", st.DeclaredIn(users))
			since, err := tx.DeclaredInOther(users, 1)
			note("declared in another ", since, err)
		})
		return lines
	}
	got, want := looked(st.Version(1)), looked(st.Schema())
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// checkUnknown: nobody can name what version 1 does not have, nor what it has another name for, and no error tells it.
func checkUnknown(t *testing.T, permits map[string]*auth.Permit, people *model.Collection) {
	t.Helper()
	for who, by := range permits {
		for _, raw := range []string{
			"filter[title]=Ada", "sort=score", "sort=--score", "filter[-score]=5", "filter[boss.title]=Ada", "filter[badge.label]=gold", "filter[-badge.-label]=gold",
			"filter[count.holders]=1", "filter[badges.label]=gold", "filter[--badges.-label]=gold", "include=badge", "include=-badge", "include=badges", "include=reports",
			"fields=score", "fields=-score", "filter[some][0][badges.label]=gold",
		} {
			_, err := query.Parse(query.OfList, people, raw, limitsFor(by, people))
			if err == nil {
				t.Errorf("people?%s, %s, is accepted", raw, who)
				continue
			}
			shown := err.Error()
			for _, sent := range strings.FieldsFunc(raw, func(r rune) bool { return strings.ContainsRune("[]=.&-", r) }) {
				shown = strings.ReplaceAll(shown, sent, "")
			}
			for _, hidden := range []string{"title", "score", "boss", "badge", "label", "holders", "reports", "users", "comments"} {
				if strings.Contains(shown, hidden) {
					t.Errorf("people?%s, %s, tells %s: %v", raw, who, hidden, err)
				}
			}
		}
	}
}
