package interfacetest

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/plural-go/plural"
	"github.com/plural-go/plural/schema"
)

// forum is a schema in which the public sees only some resources, and some attributes.
const forum = `
collections:
  people:
    timestamps: false
    attributes:
      name: {type: string}
      secret: {type: string}
      open: {type: boolean}
      mentor_id: {references: people, inverse: students}
  posts:
    timestamps: false
    attributes:
      rank: {type: integer}
      open: {type: boolean}
      author_id: {references: people, inverse: posts}
      checked_by: {references: people, as: checker}
  replies:
    timestamps: false
    attributes:
      rank: {type: integer}
      person_id: {references: people}
      open: {type: boolean}
    parent: posts
access:
  roles:
    public:
      people: {list: true, read: resource.open, visible: [name, open, mentor_id]}
      posts: {list: true, read: resource.open, visible: [rank, open, author_id]}
      replies: {list: true, read: resource.open}
`

// entry is a resource of the naive model.
type entry struct {
	n       int
	kind    string
	open    bool
	rank    int
	refs    map[string]int // by attribute; 0: null
	members [][2]string    // attributes in their order, as JSON
}

// naive is all resources, by collection, in the order of ids.
type naive struct {
	all    map[string][]*entry
	public bool // only what the public sees
}

// naiveRelation is a relation of the model: by an attribute of its own, or of the others.
type naiveRelation struct {
	name, to, attribute string
	one                 bool
}

var naiveRelations = map[string][]naiveRelation{
	"people":  {{"mentor", "people", "mentor_id", true}, {"students", "people", "mentor_id", false}, {"posts", "posts", "author_id", false}},
	"posts":   {{"author", "people", "author_id", true}, {"checker", "people", "checked_by", true}, {"replies", "replies", "post_id", false}},
	"replies": {{"person", "people", "person_id", true}, {"post", "posts", "post_id", true}},
}

var hiddenFromPublic = []string{"people.secret", "posts.checked_by"}

func (m *naive) sees(e *entry) bool { return !m.public || e.open }

func (m *naive) knows(kind, attribute string) bool {
	return !m.public || !slices.Contains(hiddenFromPublic, kind+"."+attribute)
}

// naiveInclude is one relation of a request.
type naiveInclude struct {
	naiveRelation
	limit    int
	sort     string // "", rank or -rank
	least    int    // of rank; -1: no filter
	total    bool
	fields   []string // nil: all
	includes []*naiveInclude
	path     string
}

func (m *naive) represent(e *entry, fields []string, includes []*naiveInclude) string {
	parts := []string{`"id":"` + id(e.n) + `"`, `"type":"` + e.kind + `"`}
	for _, member := range e.members {
		if m.knows(e.kind, member[0]) && (fields == nil || slices.Contains(fields, member[0])) {
			parts = append(parts, `"`+member[0]+`":`+member[1])
		}
	}
	for _, include := range includes {
		found := m.related(e, include.naiveRelation)
		if include.one {
			text := "null"
			if len(found) > 0 {
				text = m.represent(found[0], include.fields, include.includes)
			}
			parts = append(parts, `"`+include.name+`":`+text)
			continue
		}
		found = slices.DeleteFunc(found, func(e *entry) bool { return e.rank < include.least })
		slices.SortStableFunc(found, func(a, b *entry) int {
			switch include.sort {
			case "rank":
				return cmp.Compare(a.rank, b.rank)
			case "-rank":
				return cmp.Compare(b.rank, a.rank)
			}
			return 0
		})
		total := len(found)
		if include.limit >= 0 {
			found = found[:min(include.limit, total)]
		} else {
			found = found[max(total+include.limit, 0):]
		}
		var items []string
		for _, each := range found {
			items = append(items, m.represent(each, include.fields, include.includes))
		}
		parts = append(parts, array(include.name, items...))
		if include.total {
			parts = append(parts, fmt.Sprintf(`"%s_total":%d`, include.name, total))
		}
	}
	return "{" + strings.Join(parts, ",") + "}"
}

// related is the resources that a relation leads to, in the order of ids.
func (m *naive) related(e *entry, r naiveRelation) (found []*entry) {
	for _, other := range m.all[r.to] {
		if m.sees(other) && (r.one && e.refs[r.attribute] == other.n || !r.one && other.refs[r.attribute] == e.n) {
			found = append(found, other)
		}
	}
	return found
}

// drawIncludes draws relations of a collection, and the parameters for them.
func (m *naive) drawIncludes(random *rand.Rand, kind, before string, depth, budget int, parameters *[]string) (includes []*naiveInclude) {
	for _, r := range naiveRelations[kind] {
		referring := kind
		if !r.one {
			referring = r.to
		}
		if !m.knows(referring, r.attribute) || random.IntN(2) == 0 {
			continue
		}
		include := &naiveInclude{naiveRelation: r, limit: 10, least: -1, path: before + r.name}
		*parameters = append(*parameters, "include="+include.path)
		option := func(name, value string) {
			*parameters = append(*parameters, "include["+include.path+"]["+name+"]="+value)
		}
		size := 1
		if !r.one {
			include.limit = []int{0, 1, 2, 3, 5, -1, -2, -4}[random.IntN(8)]
			size = max(include.limit, -include.limit, 1)
			if size > budget {
				include.limit, size = 1, 1
			}
			option("limit", fmt.Sprint(include.limit))
			if ranked := r.to != "people"; ranked && random.IntN(2) == 0 {
				include.sort = []string{"rank", "-rank"}[random.IntN(2)]
				option("sort", include.sort)
			}
			if ranked := r.to != "people"; ranked && random.IntN(3) == 0 {
				include.least = random.IntN(4)
				option("filter][rank][gte", fmt.Sprint(include.least))
			}
			if random.IntN(3) == 0 {
				include.total = true
				option("total", "true")
			}
		}
		if random.IntN(3) == 0 {
			include.fields = []string{map[string]string{"people": "name", "posts": "rank", "replies": "open"}[r.to]}
			*parameters = append(*parameters, "fields["+include.path+"]="+include.fields[0])
		}
		if depth > 1 {
			include.includes = m.drawIncludes(random, r.to, include.path+".", depth-1, budget/size, parameters)
		}
		includes = append(includes, include)
	}
	return includes
}

// fillForum draws resources, stores them and returns the model of them.
func fillForum(random *rand.Rand, create func(path, body string)) *naive {
	m := &naive{all: map[string][]*entry{}}
	some := func(kind string) int {
		known := m.all[kind]
		if len(known) == 0 || random.IntN(4) == 0 {
			return 0
		}
		return known[random.IntN(len(known))].n
	}
	ref := func(n int) string {
		if n == 0 {
			return "null"
		}
		return quoted(id(n))
	}
	add := func(n int, kind string, refs map[string]int, members func(e *entry) [][2]string) {
		e := &entry{n: n, kind: kind, open: random.IntN(3) > 0, rank: random.IntN(5), refs: refs}
		e.members = members(e)
		m.all[kind] = append(m.all[kind], e)
		create("/"+kind, m.represent(e, nil, nil))
	}
	for n := 1; n <= 12; n++ {
		add(n, "people", map[string]int{"mentor_id": some("people")}, func(e *entry) [][2]string {
			return [][2]string{{"name", fmt.Sprintf(`"P%d"`, n)}, {"secret", `"s"`}, {"open", fmt.Sprint(e.open)}, {"mentor_id", ref(e.refs["mentor_id"])}}
		})
	}
	for n := 101; n <= 140; n++ {
		add(n, "posts", map[string]int{"author_id": some("people"), "checked_by": some("people")}, func(e *entry) [][2]string {
			return [][2]string{{"rank", fmt.Sprint(e.rank)}, {"open", fmt.Sprint(e.open)}, {"author_id", ref(e.refs["author_id"])}, {"checked_by", ref(e.refs["checked_by"])}}
		})
	}
	for n := 201; n <= 300; n++ {
		add(n, "replies", map[string]int{"person_id": some("people"), "post_id": some("posts")}, func(e *entry) [][2]string {
			return [][2]string{{"rank", fmt.Sprint(e.rank)}, {"person_id", ref(e.refs["person_id"])}, {"open", fmt.Sprint(e.open)}, {"post_id", ref(e.refs["post_id"])}}
		})
	}
	return m
}

// TestIncludeProperty compares random requests with a naive model, with and without rules, on both databases.
func TestIncludeProperty(t *testing.T) {
	t.Parallel()
	parsed, err := schema.Parse([]byte(forum))
	if err != nil {
		t.Fatal(err)
	}
	for _, public := range []bool{false, true} {
		t.Run(fmt.Sprintf("public=%v", public), func(t *testing.T) {
			eachStore(t, parsed.Schema, func(t *testing.T, s *server) {
				random := rand.New(rand.NewPCG(16, 10))
				m := fillForum(random, func(path, body string) { s.create(path, body) })
				if m.public = public; public {
					s = s.another(func(c *plural.Config) { c.Access = parsed.Access })
				}
				for i := range 60 {
					kind := []string{"people", "posts", "replies"}[i%3]
					var parameters []string
					includes := m.drawIncludes(random, kind, "", 1+random.IntN(3), 1000, &parameters)
					if len(parameters) == 0 || strings.Count(strings.Join(parameters, "&"), "include=") > 10 {
						continue
					}
					visible := slices.DeleteFunc(slices.Clone(m.all[kind]), func(e *entry) bool { return !m.sees(e) })
					var want []string
					for _, e := range visible {
						want = append(want, m.represent(e, nil, includes))
					}
					list := "/" + kind + "?" + strings.Join(parameters, "&")
					s.get(list+"&limit=1000").expect(t, 200, data(want...))
					if n := random.IntN(len(visible)); true {
						s.get("/"+kind+"/"+id(visible[n].n)+"?"+strings.Join(parameters, "&")).expect(t, 200, `{"data":`+want[n]+`}`)
					}
					if t.Failed() {
						t.Fatalf("first failure: GET %s", list)
					}
				}
			})
		})
	}
}
