package migrate

import (
	"slices"
	"strings"
	"testing"

	"github.com/plural-go/plural/internal/catalog"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/versions"
)

// shapes are the shapes of schemas that follow each other in a database.
func shapes(t *testing.T, files ...string) []versions.Shape {
	t.Helper()
	var all []versions.Shape
	numbers, from := catalog.NewNumbering(), &model.Schema{}
	for _, file := range files {
		to := parseSchema(t, file)
		copied := *numbers
		numbers = &copied
		newPlan(from, to).number(numbers, 0)
		all, from = append(all, versions.Shape{Schema: to, Numbers: numbers}), to
	}
	return all
}

// outline lists what a schema shows: its collections with their attributes and relations.
func outline(s *model.Schema) string {
	var b strings.Builder
	for _, c := range s.Collections() {
		if c.IsAbsent() {
			continue
		}
		b.WriteString(c.Name + "/" + c.Singular + ":")
		for i, column := range c.Columns() {
			if c.Shows().Has(i) {
				b.WriteString(" " + column.Name)
			}
		}
		for _, r := range c.Relations() {
			if r.Referring().Shows().Has(r.Column) {
				b.WriteString(" " + r.Name + "->" + r.To.Name)
			}
		}
		b.WriteString("\n")
	}
	return b.String()
}

// TestView: a version shows the stored schema under its own names, through every change since that keeps it.
func TestView(t *testing.T) {
	const plain = "collections: {posts: {attributes: {a: {type: string}, b: {type: integer}}}}"
	for name, c := range map[string]struct {
		files []string // the first of which is version 1, and the last is stored
		want  string   // of version 1
	}{
		"nothing changes": {[]string{plain, plain}, "posts/post: id a b created_at updated_at _revision\n"},
		"renamed again and again": {[]string{plain,
			"collections: {posts: {attributes: {c: {type: string, renamed_from: a}, b: {type: integer}}}}",
			"collections: {posts: {attributes: {d: {type: string, renamed_from: c}, b: {type: integer}}}}",
			"collections: {posts: {attributes: {e: {type: string, renamed_from: d}, b: {type: integer}}}}",
		}, "posts/post: id a b created_at updated_at _revision\n"},
		"two that change their names": {[]string{plain,
			"collections: {posts: {attributes: {c: {type: string, renamed_from: a}, b: {type: integer}}}}",
			"collections: {posts: {attributes: {c: {type: string}, a: {type: integer, renamed_from: b}}}}",
			"collections: {posts: {attributes: {b: {type: string, renamed_from: c}, a: {type: integer}}}}",
		}, "posts/post: id a b created_at updated_at _revision\n"},
		"a new one with a former name": {[]string{plain,
			"collections: {posts: {attributes: {c: {type: string, renamed_from: a}, b: {type: integer}}}}",
			"collections: {posts: {attributes: {c: {type: string}, b: {type: integer}, a: {type: boolean}}}}",
		}, "posts/post: id a b created_at updated_at _revision\n"},
		"a collection with the former name of another": {[]string{
			"collections: {posts: {attributes: {a: {type: string}}}, notes: {attributes: {b: {type: string}}}}",
			"collections: {texts: {renamed_from: posts, attributes: {a: {type: string}}}, notes: {attributes: {b: {type: string}}}}",
			"collections: {texts: {attributes: {a: {type: string}}}, posts: {renamed_from: notes, attributes: {b: {type: string}}}}",
		}, "posts/post: id a created_at updated_at _revision\nnotes/note: id b created_at updated_at _revision\n"},
		"additions": {[]string{plain,
			"collections: {posts: {singular: text, attributes: {x: {type: boolean, default: true}, b: {type: integer}, a: {type: string}}, required: [x]}, users: {attributes: {name: {type: string}}}}",
		}, "posts/post: id b a created_at updated_at _revision\n"},
		"timestamps that it did not have": {[]string{
			"collections: {posts: {timestamps: false, attributes: {a: {type: string}}}}",
			"collections: {posts: {attributes: {a: {type: string}}}}",
		}, "posts/post: id a _revision\n"},
		"kept for it": {[]string{
			"version: 1\n" + plain,
			"version: 2\ncollections: {posts: {attributes: {a: {type: string, until: 1}, b: {type: integer}}}}",
		}, "posts/post: id a b created_at updated_at _revision\n"},
		"not for it, and removed": {[]string{
			"version: 3\ncollections: {posts: {attributes: {a: {type: string, until: 1}, b: {type: integer}}}}",
			"version: 4\ncollections: {posts: {attributes: {b: {type: integer}}}}",
		}, "posts/post: id b created_at updated_at _revision\n"},
		"other constraints": {[]string{
			"collections: {posts: {attributes: {a: {type: string, enum: [x], maxLength: 1}, m: {type: string, format: email}, b: {type: integer, minimum: 3}}, required: [a]}}",
			"collections: {posts: {attributes: {a: {type: string, enum: [x, y], maxLength: 5}, m: {type: string, pattern: x}, b: {type: integer, maximum: 9}}}}",
		}, "posts/post: id a m b created_at updated_at _revision\n"},
		"inside an object": {[]string{
			"collections: {posts: {attributes: {o: {type: object, properties: {p: {type: string}}}, l: {type: array, items: {type: object, properties: {q: {type: integer}}}}}}}",
			"collections: {posts: {attributes: {o: {type: object, properties: {p: {type: string, maxLength: 3}, n: {type: string}}}, l: {type: array, items: {type: object, properties: {q: {type: integer}, r: {type: integer}}}}}}}",
		}, "posts/post: id o l created_at updated_at _revision\n"},
		"anything before, a type now": {[]string{
			"collections: {posts: {attributes: {l: {type: array}, o: {type: object}}}}",
			"collections: {posts: {attributes: {l: {type: array, items: {type: string}}, o: {type: object, properties: {p: {type: string}}}}}}",
		}, "posts/post: id l o created_at updated_at _revision\n"},
		"relations": {[]string{
			"collections: {users: {attributes: {name: {type: string}}}, posts: {attributes: {author_id: {references: users, inverse: texts}}}}",
			"collections: {people: {renamed_from: users, attributes: {name: {type: string}}}, texts: {renamed_from: posts, attributes: {by_id: {references: people, as: writer, inverse: written, renamed_from: author_id}}}}",
		}, "users/user: id name created_at updated_at _revision texts->posts\nposts/post: id author_id created_at updated_at _revision author->users\n"},
		"relations that would take the names of earlier ones": {[]string{
			"collections: {users: {attributes: {a: {type: string, format: uuid}, x_id: {type: string, format: uuid}, y_id: {references: users, as: x, inverse: posts}}}, posts: {attributes: {u: {references: users}}}}",
			"collections: {users: {attributes: {a: {references: users, as: z, inverse: zs}, x_id: {references: users}, y_id: {references: users, inverse: ys}}}, posts: {parent: {collection: users, attribute: u}}}",
		}, "users/user: id a x_id y_id created_at updated_at _revision x->users posts->users\nposts/post: id u created_at updated_at _revision\n"},
		"a parent under another name": {[]string{
			"collections: {users: {}, posts: {parent: users}}",
			"collections: {people: {renamed_from: users}, texts: {renamed_from: posts, parent: people}}",
		}, "users/user: id created_at updated_at _revision posts->posts\nposts/post: id user_id created_at updated_at _revision user->users\n"},
		"computed, and optional in the version": {[]string{plain,
			"collections: {posts: {attributes: {a: {type: string}, b: {type: integer, computed: 1 + 1}}}}",
		}, "posts/post: id a b created_at updated_at _revision\n"},
	} {
		t.Run(name, func(t *testing.T) {
			all := shapes(t, c.files...)
			s, reasons := versions.View(all[len(all)-1], all[0])
			if len(reasons) > 0 {
				t.Fatal("ended:", reasons)
			}
			if got := outline(s); got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

// TestViewEnds: each change by which a version cannot be derived any more, and nothing else, is a reason.
func TestViewEnds(t *testing.T) {
	const posts, users = "collections: {posts: {attributes: {", "}}, users: {}}"
	for name, c := range map[string]struct {
		files []string
		want  []string
	}{
		"a collection": {[]string{posts + "a: {type: string}" + users, "collections: {posts: {attributes: {a: {type: string}}}}"}, []string{"users is removed"}},
		"an attribute": {[]string{posts + "a: {type: string}, b: {type: string}" + users, posts + "b: {type: string}" + users}, []string{"posts.a is removed"}},
		"removed and added again": {[]string{posts + "a: {type: string}, b: {type: string}" + users, posts + "b: {type: string}" + users,
			posts + "a: {type: string}, b: {type: string}" + users}, []string{"posts.a is removed"}},
		"removed after it was renamed": {[]string{posts + "a: {type: string}, b: {type: string}" + users,
			posts + "c: {type: string, renamed_from: a}, b: {type: string}" + users, posts + "b: {type: string}" + users}, []string{"posts.a is removed"}},
		"a collection removed and added again": {[]string{"collections: {posts: {}, users: {}}", "collections: {users: {}}", "collections: {posts: {}, users: {}}"},
			[]string{"posts is removed"}},
		"kept for earlier versions only": {[]string{"version: 2\n" + posts + "a: {type: string}" + users, "version: 3\n" + posts + "a: {type: string, until: 1}" + users},
			[]string{"posts.a is kept until version 1 only"}},
		"another type":   {[]string{posts + "a: {type: string}" + users, posts + "b: {type: integer, renamed_from: a}" + users}, []string{"posts.a becomes integer instead of string"}},
		"object, array":  {[]string{posts + "a: {type: object}" + users, posts + "a: {type: array}" + users}, []string{"posts.a becomes array instead of object"}},
		"another format": {[]string{posts + "a: {type: string, format: date}" + users, posts + "a: {type: string, format: date-time}" + users}, []string{"posts.a becomes date-time instead of date"}},
		"another scale": {[]string{posts + "a: {type: string, format: decimal, scale: 2}" + users, posts + "a: {type: string, format: decimal, scale: 3}" + users},
			[]string{"posts.a becomes decimal with scale 3 instead of decimal with scale 2"}},
		"a wider number": {[]string{posts + "a: {type: integer}" + users, posts + "a: {type: number}" + users}, []string{"posts.a becomes number instead of integer"}},
		"inside": {[]string{
			posts + "o: {type: object, properties: {p: {type: string}, q: {type: string}}}, l: {type: array, items: {type: string}}, m: {type: array, items: {type: array, items: {type: string}}}" + users,
			posts + "o: {type: object, properties: {p: {type: integer}, r: {type: string}}, required: [r]}, l: {type: array}, m: {type: array, items: {type: array, items: {type: boolean}}}" + users,
		}, []string{"posts.o.p becomes integer instead of string", "posts.o.q is removed", "posts.o.r is required, and the version does not have it",
			"posts.l has items of any type instead of string", "posts.m.items.items becomes boolean instead of string"}},
		"required": {[]string{posts + "a: {type: string}" + users, "collections: {posts: {attributes: {a: {type: string}, b: {type: string}}, required: [b]}, users: {}}"},
			[]string{"posts.b is required without a default, and the version does not have it"}},
		"required later": {[]string{posts + "a: {type: string}" + users, posts + "a: {type: string}, b: {type: string}" + users,
			"collections: {posts: {attributes: {a: {type: string}, b: {type: string}}, required: [b]}, users: {}}"},
			[]string{"posts.b is required without a default, and the version does not have it"}},
		"computed before": {[]string{posts + "a: {type: integer, computed: 1 + 1}" + users, "collections: {posts: {attributes: {a: {type: integer}}, required: [a]}, users: {}}"},
			[]string{"posts.a is no longer computed, and required without a default"}},
		"computed now": {[]string{"collections: {posts: {attributes: {a: {type: integer}}, required: [a]}, users: {}}", posts + "a: {type: integer, computed: 1 + 1}" + users},
			[]string{"posts.a is computed, and the version requires it of its clients"}},
		"timestamps": {[]string{posts + "a: {type: string}" + users, "collections: {posts: {timestamps: false, attributes: {a: {type: string}}}, users: {}}"},
			[]string{"posts has no timestamps any more"}},
		"another target": {[]string{posts + "a: {references: users}, b: {references: users}" + users, posts + "a: {references: posts}, b: {type: string, format: uuid}" + users},
			[]string{"posts.a refers to posts instead of users", "posts.b no longer refers to users"}},
		"a target with the name of a former one": {[]string{posts + "a: {references: users}" + users,
			"collections: {posts: {attributes: {a: {references: people}}}, people: {renamed_from: users}}",
			"collections: {posts: {attributes: {a: {references: users}}}, people: {}, users: {}}"},
			[]string{"posts.a refers to another collection, which has the name users now"}},
		"no parent": {[]string{"collections: {posts: {parent: users}, users: {}}", posts + "user_id: {references: users}" + users},
			[]string{"posts is no longer a sub-collection of users by user_id"}},
		"a parent by another attribute": {[]string{"collections: {posts: {parent: {collection: users, attribute: a}, attributes: {b: {references: users}}}, users: {}}",
			"collections: {posts: {parent: {collection: users, attribute: b}, attributes: {a: {references: users}}}, users: {}}"},
			[]string{"posts is no longer a sub-collection of users by a"}},
	} {
		t.Run(name, func(t *testing.T) {
			all := shapes(t, c.files...)
			_, reasons := versions.View(all[len(all)-1], all[0])
			var got []string
			for _, reason := range reasons {
				got = append(got, reason.String())
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
}
