package model_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/plural-go/plural/internal/compile"
	"github.com/plural-go/plural/internal/model"
)

// relationsOf lists the relations of a collection: name, target, referring column.
func relationsOf(c *model.Collection) []string {
	var list []string
	for _, r := range c.Relations() {
		kind := "many"
		if r.One {
			kind = "one"
		}
		if r.From != c || c.Relation(r.Name) != r {
			panic(r.Name)
		}
		list = append(list, fmt.Sprintf("%s: %s %s by %s", r.Name, kind, r.To.Name, r.Referring().Columns()[r.Column].Name))
	}
	return list
}

func reference(name, to, as, inverse string) model.Attribute {
	return model.Attribute{Name: name, References: &model.Reference{Collection: to}, As: as, Inverse: inverse}
}

func TestRelations(t *testing.T) {
	s, err := compile.Schema(
		model.Collection{Name: "users", Attributes: []model.Attribute{reference("boss_id", "users", "", "reports")}},
		model.Collection{Name: "posts", Attributes: []model.Attribute{reference("editor_id", "users", "", ""), reference("owner", "users", "keeper", "kept")},
			Parent: &model.Parent{Collection: "users", Attribute: "author_id"}},
		model.Collection{Name: "order-lines", Parent: &model.Parent{Collection: "posts", As: "article", Inverse: "lines"}},
		model.Collection{Name: "likes", Parent: &model.Parent{Collection: "posts"}},
	)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][]string{
		"users":       {"boss: one users by boss_id", "reports: many users by boss_id", "kept: many posts by owner", "posts: many posts by author_id"},
		"posts":       {"editor: one users by editor_id", "keeper: one users by owner", "author: one users by author_id", "lines: many order-lines by post_id", "likes: many likes by post_id"},
		"order-lines": {"article: one posts by post_id"},
		"likes":       {"post: one posts by post_id"},
	}
	stored, err := compile.Stored(s.Document())
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range want {
		if got := relationsOf(s.Collection(name)); !slices.Equal(got, want) {
			t.Errorf("%s has the relations %q, want %q", name, got, want)
		}
		if got := relationsOf(stored.Collection(name)); !slices.Equal(got, want) {
			t.Errorf("%s has the relations %q when stored, want %q", name, got, want)
		}
	}
	if got := s.Warnings(); got != nil {
		t.Errorf("warnings %q", got)
	}
	if got := s.Operations().Relations(); got != nil {
		t.Errorf("the operations have relations: %v", got)
	}
}

func TestRelationsWithTheSameName(t *testing.T) {
	s, err := compile.Schema(
		model.Collection{Name: "users", Attributes: []model.Attribute{{Name: "posts", Type: model.Integer}, reference("comments_id", "users", "", "")}},
		model.Collection{Name: "posts", Parent: &model.Parent{Collection: "users"}, Attributes: []model.Attribute{reference("owner", "users", "", ""), reference("type_id", "users", "", "")}},
		model.Collection{Name: "comments", Parent: &model.Parent{Collection: "users"}, Attributes: []model.Attribute{reference("writer_id", "users", "user", "")}},
	)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"users: the relation comments cannot be used in include, filters and sorts, as another relation has the same name: write as: and another name beside the references of comments_id in users",
		"users: the relation posts cannot be used in include, filters and sorts, as an attribute has the same name: write inverse: and another name beside the references of user_id in posts",
		"users: the relation comments cannot be used in include, filters and sorts, as another relation has the same name: write inverse: and another name beside the references of user_id in comments",
		"posts: the relation owner cannot be used in include, filters and sorts, as an attribute has the same name: call the attribute owner_id (with renamed_from: owner, it keeps its values), or write as: and another name beside the references of owner in posts",
		"posts: the relation type cannot be used in include, filters and sorts, as an attribute has the same name: write as: and another name beside the references of type_id in posts",
		"comments: the relation user cannot be used in include, filters and sorts, as another relation has the same name: write as: and another name beside the references of writer_id in comments",
		"comments: the relation user cannot be used in include, filters and sorts, as another relation has the same name: write as: and another name beside the references of user_id in comments",
	}
	if got := s.Warnings(); !slices.Equal(got, want) {
		t.Errorf("warnings\n%q\nwant\n%q", got, want)
	}
	for name, want := range map[string][]string{"users": nil, "posts": {"user: one users by user_id"}, "comments": nil} {
		if got := relationsOf(s.Collection(name)); !slices.Equal(got, want) {
			t.Errorf("%s has the relations %q, want %q", name, got, want)
		}
	}
}

// TestNamedLikeCounts: an attribute or a relation with the name of counts is reported where there is something to count.
func TestNamedLikeCounts(t *testing.T) {
	s, err := compile.Schema(
		model.Collection{Name: "users", Attributes: []model.Attribute{{Name: "count", Type: model.Integer}}},
		model.Collection{Name: "teams", Attributes: []model.Attribute{reference("lead_id", "users", "count", "")}},
		model.Collection{Name: "posts", Attributes: []model.Attribute{{Name: "count", Type: model.Integer}, reference("user_id", "users", "", "posts"), reference("team_id", "teams", "", "posts")}},
	)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"users: the attribute count has the name by which related resources are counted: filters and sorts cannot use count.posts: give the attribute another name",
		"teams: the relation count has the name by which related resources are counted: filters and sorts cannot use count.posts: give the relation another name",
	}
	if got := s.Warnings(); !slices.Equal(got, want) {
		t.Errorf("warnings\n%q\nwant\n%q", got, want)
	}
}

// TestPropertiesWithoutAPath: a property that no filter can be about is reported.
func TestPropertiesWithoutAPath(t *testing.T) {
	text := model.Attribute{Type: model.String}
	named := func(name string, of model.Attribute, properties ...model.Attribute) model.Attribute {
		of.Name, of.Properties = name, properties
		return of
	}
	object := model.Attribute{Type: model.Object}
	s, err := compile.Schema(model.Collection{Name: "users", Attributes: []model.Attribute{
		named("address", object, named("city", text), named("a.b", text), named("c.d", text), named("a", object, named("b", text), named("x]", text))),
	}})
	if err != nil {
		t.Fatal(err)
	}
	const odd = " cannot be filtered by or indexed: its name is empty, or contains a dot, a bracket, a quotation mark or a backslash"
	want := []string{
		`users: the property "a.b" of address` + odd + ", and filter[address.a.b] is about another property, inside address.a: give it another name",
		`users: the property "c.d" of address` + odd + ": give it another name",
		`users: the property "x]" of address.a` + odd + ": give it another name",
	}
	if got := s.Warnings(); !slices.Equal(got, want) {
		t.Errorf("warnings\n%q\nwant\n%q", got, want)
	}
}
