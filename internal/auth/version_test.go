package auth

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/query"
	"github.com/plural-go/plural/schema"
)

const newestVersion = `
version: 2
collections:
  users:
    timestamps: false
    attributes:
      title: {type: string}
      nick: {type: string, until: 1}
      secret: {type: string}
      score: {type: integer, computed: 1 + 1}
      boss_id: {references: users, inverse: reports}
      badge_id: {references: badges, inverse: holders}
  badges:
    timestamps: false
    attributes: {name: {type: string}}
access:
  roles:
    editor:
      users: {list: true, read: "resource.boss.title == 'a'", create: true, update: true, visible: [title, nick, boss_id, badge_id], writable: [title, nick, secret]}
      badges: [list, read]
`

// ofVersion1 is the schema as its version 1 shows it: people, who have a name and no badge.
func ofVersion1(t *testing.T, s *model.Schema) *model.Schema {
	file, err := schema.Parse([]byte("version: 1\ncollections: {people: {timestamps: false, attributes: {name: {type: string}, nick: {type: string}, secret: {type: string}, lead_id: {references: people, inverse: team}}}}"))
	if err != nil {
		t.Fatal(err)
	}
	people := (*model.Schema)(file.Schema).Collection("people")
	return s.View(model.Versions{Newest: 1}, func(stored *model.Collection) model.Shown {
		if stored.Name != "users" {
			return model.Shown{Attributes: make([]*model.Attribute, len(stored.Attributes))}
		}
		return model.Shown{Collection: people, Attributes: []*model.Attribute{
			people.Declared("name"), people.Declared("nick"), people.Declared("secret"), nil, people.Declared("lead_id"), nil,
		}}
	})
}

// TestPermitOfAVersion: what a version does not have is hidden from everybody, and grants hold in all versions.
func TestPermitOfAVersion(t *testing.T) {
	file, err := schema.Parse([]byte(newestVersion))
	if err != nil {
		t.Fatal(err)
	}
	newest := (*model.Schema)(file.Schema)
	policy, err := Compile(newest, file.Access)
	if err != nil {
		t.Fatal(err)
	}
	view := ofVersion1(t, newest)
	names := func(c *model.Collection, some model.ColumnSet) (list []string) {
		for i, column := range c.Columns() {
			if column.Attribute != nil && some.Has(i) {
				list = append(list, column.Name)
			}
		}
		return list
	}
	describe := func(p *Permit, s *model.Schema) string {
		var lines []string
		for _, c := range s.Collections() {
			var verbs, relations []string
			for _, verb := range schema.AccessVerbs() {
				if p.May(verb, c) {
					verbs = append(verbs, string(verb))
				}
			}
			for _, r := range c.Relations() {
				if visible, scope, may := p.Related(r); may {
					relations = append(relations, fmt.Sprintf("%s %v %v", r.Name, names(r.To, visible), scope != nil))
				}
			}
			slices.Sort(verbs)
			lines = append(lines, fmt.Sprintf("%s: %v, known %v, sees %v, writes %v, relations %v", c.Name, verbs, p.MayKnow(c), names(c, p.Visible(c)), names(c, p.Writable(c)), relations))
			if got, want := p.ColumnsTag(c), c.ColumnsTag(p.Visible(c)); got != want {
				t.Errorf("%s: the tag of the columns is %q instead of %q", c.Name, got, want)
			}
		}
		return strings.Join(lines, "\n")
	}
	editor := policy.Permit(Caller{ID: "e", Role: "editor"})
	for _, c := range []struct {
		what string
		by   *Permit
		s    *model.Schema
		want string
	}{
		{"the newest version, without rights", nil, newest,
			"users: [changes create delete list read update], known true, sees [title secret score boss_id badge_id], writes [title secret boss_id badge_id], " +
				"relations [boss [title secret score boss_id badge_id] false badge [name] false reports [title secret score boss_id badge_id] false]\n" +
				"badges: [changes create delete list read update], known true, sees [name], writes [name], relations [holders [title secret score boss_id badge_id] false]"},
		{"the newest version, as an editor", editor, newest,
			"users: [create list read update], known true, sees [title boss_id badge_id], writes [title secret], " +
				"relations [boss [title boss_id badge_id] true badge [name] false reports [title boss_id badge_id] true]\n" +
				"badges: [list read], known true, sees [name], writes [name], relations [holders [title boss_id badge_id] true]"},
		{"version 1, without rights", nil, view,
			"people: [changes create delete list read update], known true, sees [name nick secret lead_id], writes [name nick secret lead_id], " +
				"relations [lead [name nick secret lead_id] false team [name nick secret lead_id] false]\n" +
				"~badges: [], known false, sees [], writes [], relations []"},
		{"version 1, as an editor", editor, view,
			"people: [create list read update], known true, sees [name nick lead_id], writes [name nick secret], " +
				"relations [lead [name nick lead_id] true team [name nick lead_id] true]\n" +
				"~badges: [], known false, sees [], writes [], relations []"},
	} {
		if got := describe(c.by, c.s); got != c.want {
			t.Errorf("%s:\ngot  %s\nwant %s", c.what, got, c.want)
		}
	}
	if first, again := editor.Visible(newest.Collection("users")), editor.Visible(newest.Collection("users")); &first[0] != &again[0] {
		t.Error("the columns of the newest version are computed for each request")
	}
}

// TestRulesReadWhatIsStored: the rule of a caller looks resources up in the collections that are stored, and those that the same
// request writes are found in whatever version it has.
func TestRulesReadWhatIsStored(t *testing.T) {
	file, err := schema.Parse([]byte(newestVersion))
	if err != nil {
		t.Fatal(err)
	}
	newest := (*model.Schema)(file.Schema)
	policy, err := Compile(newest, file.Access)
	if err != nil {
		t.Fatal(err)
	}
	users, people := newest.Collection("users"), ofVersion1(t, newest).Collection("people")
	editor := policy.Permit(Caller{ID: "e", Role: "editor"})
	boss := make(model.Record, len(users.Columns()))
	boss[model.IDColumn], boss[users.Field("title").Column] = model.IDValue(model.ID{1}), model.TextValue("a")
	member := make(model.Record, len(users.Columns()))
	member[model.IDColumn], member[users.Field("boss_id").Column] = model.IDValue(model.ID{2}), boss[model.IDColumn]
	var asked []*model.Collection
	stored := func(c *model.Collection, id model.ID) (model.Record, error) {
		asked = append(asked, c)
		return map[model.ID]model.Record{{1}: boss}[id], nil
	}
	if sees, err := editor.Sees(people, member, stored); err != nil || !sees || !slices.Equal(asked, []*model.Collection{users}) {
		t.Errorf("sees %v, %v, asked %v", sees, err, asked)
	}
	// The path of a version has relations of it.
	lead := &query.Related{Relation: people.Relation("lead"), Filter: query.Compare{Column: users.Field("title").Column, Op: query.Equal, Value: model.TextValue("a")}}
	asked = nil
	if holds, err := query.Holds(query.Both(lead, editor.Scope(people)), member, stored); err != nil || !holds || !slices.Equal(asked, []*model.Collection{users, users}) {
		t.Errorf("holds %v, %v, asked %v", holds, err, asked)
	}
	// Of resources that are written together, one that allows itself must be allowed without that, and one may be allowed by another.
	self := slices.Clone(boss)
	self[users.Field("boss_id").Column] = boss[model.IDColumn]
	between := slices.Clone(member)
	between[model.IDColumn], between[users.Field("title").Column] = model.IDValue(model.ID{3}), model.TextValue("a")
	below := slices.Clone(member)
	below[users.Field("boss_id").Column] = between[model.IDColumn]
	rule := func(int) query.Filter { return editor.Rule(schema.MayRead, people) }
	nobody := func(*model.Collection, model.ID) (model.Record, error) { return nil, nil }
	for _, c := range []*model.Collection{users, people} {
		if denied, err := FirstDenied(c, rule, []model.Record{nil}, []model.Record{self}, nobody); err != nil || denied != 0 {
			t.Errorf("%s: a resource allows itself: %d, %v", c.Name, denied, err)
		}
		if denied, err := FirstDenied(c, rule, []model.Record{nil, nil}, []model.Record{below, between}, stored); err != nil || denied != -1 {
			t.Errorf("%s: a resource is not allowed by another one: %d, %v", c.Name, denied, err)
		}
	}
}
