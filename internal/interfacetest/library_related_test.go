package interfacetest

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/plural-go/plural"
	"github.com/plural-go/plural/params"
	"github.com/plural-go/plural/problem"
	"github.com/plural-go/plural/schema"
)

// Writer, Novel and Remark are related to each other.
type Writer struct {
	_       struct{} `plural:"label=name"`
	ID      string   `json:"id"`
	Name    string   `json:"name" plural:"required,maxLength=50,unique"`
	Country *string  `json:"country"`
	ETag    string   `json:"-" plural:"etag"`
	Novels  []Novel  `json:"novels,omitempty" plural:"related"`
	Total   int64    `json:"novels_total,omitempty" plural:"related"`
}

type Novel struct {
	ID       string   `json:"id"`
	Title    string   `json:"title"`
	Tags     []string `json:"tags"`
	Pages    int64    `json:"pages"`
	WriterID *string  `json:"writer_id" plural:"references=writers,on_delete=cascade,inverse=novels"`
	Writer   *Writer  `json:"writer,omitempty" plural:"related"`
	Remarks  []Remark `json:"remarks,omitempty" plural:"related"`
}

type Remark struct {
	ID      string `json:"id"`
	Stars   int64  `json:"stars"`
	NovelID string `json:"novel_id" plural:"required,parent=novels,on_delete=cascade"`
}

func novelSchema(t *testing.T) *schema.Schema {
	t.Helper()
	writers, err := schema.Of[Writer]()
	novels, err2 := schema.Of[Novel]()
	remarks, err3 := schema.Of[Remark]()
	s, err4 := schema.New(writers, novels, remarks)
	if err := errors.Join(err, err2, err3, err4); err != nil {
		t.Fatal(err)
	}
	return s
}

// novels is typed access to what fillNovels creates: two writers, three novels and three remarks.
type novels struct {
	writers *plural.Collection[Writer]
	novels  *plural.Collection[Novel]
	remarks *plural.Collection[Remark]
	w       []Writer
	n       []Novel
	r       []Remark
}

func fillNovels(t *testing.T, s *plural.Server) (all novels) {
	t.Helper()
	ctx := context.Background()
	all = novels{writers: of[Writer](t, s), novels: of[Novel](t, s), remarks: of[Remark](t, s)}
	uk, it := "UK", "IT"
	var errs [3]error
	all.w, errs[0] = all.writers.CreateMany(ctx, []Writer{{ID: id(1), Name: "Eliot", Country: &uk}, {ID: id(2), Name: "Shelley", Country: &it}})
	one, two := id(1), id(2)
	all.n, errs[1] = all.novels.CreateMany(ctx, []Novel{
		{ID: id(11), Title: "Middlemarch", Tags: []string{"long", "slow"}, Pages: 880, WriterID: &one},
		{ID: id(12), Title: "Silas Marner", Tags: []string{"slow"}, Pages: 200, WriterID: &one},
		{ID: id(13), Title: "Frankenstein", Tags: []string{}, Pages: 280, WriterID: &two},
		{ID: id(14), Title: "Anonymous", Tags: []string{"long"}},
	})
	all.r, errs[2] = all.remarks.CreateMany(ctx, []Remark{{ID: id(21), Stars: 5, NovelID: id(11)}, {ID: id(22), Stars: 3, NovelID: id(11)}, {ID: id(23), Stars: 4, NovelID: id(13)}})
	if err := errors.Join(errs[:]...); err != nil {
		t.Fatal(err)
	}
	for i := range all.w {
		all.w[i].ETag = ""
	}
	return all
}

func same(t *testing.T, what string, got, want any) {
	t.Helper()
	first, _ := json.Marshal(got)
	second, _ := json.Marshal(want)
	if string(first) != string(second) {
		t.Errorf("%s:\ngot  %s\nwant %s", what, first, second)
	}
}

// Included resources are in the fields of the struct, in the server and in a transaction.
func TestTypedInclude(t *testing.T) {
	eachStore(t, novelSchema(t), func(t *testing.T, s *server) {
		ctx := context.Background()
		all := fillNovels(t, s.opened)
		check := func(writers *plural.Collection[Writer], novels *plural.Collection[Novel]) {
			t.Helper()
			want := append([]Novel(nil), all.n...)
			want[0].Writer, want[0].Remarks = &all.w[0], all.r[:2]
			want[1].Writer = &all.w[0]
			want[2].Writer, want[2].Remarks = &all.w[1], all.r[2:]
			listed, err := novels.List(ctx, params.Include("writer"), params.Include("remarks"))
			if err != nil {
				t.Fatal(err)
			}
			same(t, "listed", listed, want)
			var looped []Novel
			for novel, err := range novels.All(ctx, params.Include("writer"), params.Include("remarks"), params.Limit(2)) {
				if err != nil {
					t.Fatal(err)
				}
				looped = append(looped, novel)
			}
			same(t, "looped", looped, want[:2])
			one, err := writers.Get(ctx, id(1), params.Fields("name"),
				params.Include("novels", params.Where("pages").More(100), params.Sort("-title"), params.Limit(1), params.Fields("title"), params.WithTotal()),
				params.Include("novels.remarks", params.Any(params.Where("stars").Is(5), params.Where("stars").Is(4))))
			if err != nil || one.ETag != "" {
				t.Fatal(one, err)
			}
			same(t, "read", one, Writer{ID: id(1), Name: "Eliot", Novels: []Novel{{ID: id(12), Title: "Silas Marner"}}, Total: 2})
		}
		check(all.writers, all.novels)
		err := s.opened.Transaction(ctx, func(_ context.Context, tx *plural.Tx) error {
			check(all.writers.In(tx), all.novels.In(tx))
			return nil
		})
		if err != nil {
			t.Error(err)
		}
		// What was read with related resources can be written.
		novel, err := all.novels.Get(ctx, id(12), params.Include("writer"))
		if err != nil {
			t.Fatal(err)
		}
		novel.Pages = 201
		if novel, err = all.novels.Replace(ctx, novel.ID, novel); err != nil || novel.Pages != 201 || novel.Writer != nil {
			t.Errorf("got %+v, %v", novel, err)
		}
		partly, err := all.writers.Get(ctx, id(1), params.Fields("country"))
		if err != nil || partly.Name != "" || partly.ETag == "" {
			t.Errorf("got %+v, %v", partly, err)
		}
		if _, err := all.writers.Update(ctx, id(1), map[string]any{"country": "FR"}, plural.IfMatch(partly.ETag)); err != nil {
			t.Errorf("the ETag of a part: %v", err)
		}
	})
}

func TestTypedFiltersOfRelations(t *testing.T) {
	where := params.Where
	eachStore(t, novelSchema(t), func(t *testing.T, s *server) {
		ctx := context.Background()
		all := fillNovels(t, s.opened)
		for _, c := range []struct {
			filters []params.Filter
			want    []string
		}{
			{[]params.Filter{where("writer.country").Is("UK")}, []string{id(11), id(12)}},
			{[]params.Filter{where("remarks.stars").AtLeast(4)}, []string{id(11), id(13)}},
			{[]params.Filter{where("writer.novels.title").StartsWith("Silas")}, []string{id(11), id(12)}},
			{[]params.Filter{where("tags").Has("long", "other")}, []string{id(11), id(14)}},
			{[]params.Filter{where("tags").HasAll("long", "slow")}, []string{id(11)}},
			{[]params.Filter{params.Any(params.And(where("tags").Has("slow"), where("pages").Less(500)), where("writer_id").Null())}, []string{id(12), id(14)}},
			{[]params.Filter{params.Any(where("pages").Is(880), where("writer.country").Is("IT")), where("remarks.stars").Is(4)}, []string{id(13)}},
		} {
			var got []string
			var given []params.Param
			for _, filter := range c.filters {
				given = append(given, filter)
			}
			for novel, err := range all.novels.All(ctx, given...) {
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, novel.ID)
			}
			if total, err := all.novels.Total(ctx, c.filters...); !reflect.DeepEqual(got, c.want) || total != int64(len(got)) {
				t.Errorf("%+v: got %v of %d, %v", c.filters, got, total, err)
			}
		}
		found, err := all.writers.List(ctx, params.Search("shel"))
		if err != nil || len(found) != 1 || found[0].ID != id(2) {
			t.Errorf("got %+v, %v", found, err)
		}
		type key struct {
			Writer *string `json:"writer_id"`
		}
		type values struct {
			Pages float64 `json:"pages"`
		}
		groups, err := plural.Groups[key, values](ctx, all.novels, params.By("writer_id"), params.Sum("pages"), params.Max("pages"), params.Sort("-count"), params.Where("writer.country").NotNull())
		if err != nil || len(groups) != 2 {
			t.Fatalf("got %+v, %v", groups, err)
		}
		if first := groups[0]; *first.By.Writer != id(1) || first.Count != 2 || first.Sum.Pages != 1080 || first.Max.Pages != 880 || first.Avg.Pages != 0 {
			t.Errorf("got %+v", first)
		}
	})
}

func TestTypedWritesOfMany(t *testing.T) {
	eachStore(t, novelSchema(t), func(t *testing.T, s *server) {
		ctx := context.Background()
		all := fillNovels(t, s.opened)
		slow := params.Where("tags").Has("slow")
		trial, err := all.novels.DryRun().DeleteMany(ctx, slow)
		same(t, "dry run of a deletion", trial, plural.Trial[Novel]{Items: all.n[:2], Affected: map[string]int64{"novels": 2, "remarks": 2}})
		tried, err2 := all.writers.DryRun().Upsert(ctx, "name", map[string]any{"name": "Eliot", "country": "FR"})
		fr := "FR"
		same(t, "dry run of an upsert", tried, plural.Trial[Writer]{Items: []Writer{{ID: id(1), Name: "Eliot", Country: &fr}}, Affected: map[string]int64{"writers": 1}})
		total, err3 := all.novels.Total(ctx)
		if err := errors.Join(err, err2, err3); err != nil || total != 4 {
			t.Fatal(total, err)
		}

		updated, err := all.novels.UpdateMany(ctx, map[string]any{"pages": 1}, slow, params.Sort("-id"))
		if err != nil || len(updated) != 2 || updated[0].ID != id(12) || updated[1].Pages != 1 {
			t.Errorf("got %+v, %v", updated, err)
		}
		deleted, err := all.novels.DeleteMany(ctx, params.Where("pages").Is(1))
		if err != nil || len(deleted) != 2 {
			t.Errorf("got %+v, %v", deleted, err)
		}
		stored, created, err := all.writers.Upsert(ctx, "name", map[string]any{"name": "Eliot", "country": nil})
		if err != nil || created || stored.ID != id(1) || stored.Country != nil {
			t.Errorf("got %+v, %t, %v", stored, created, err)
		}
		many, err := all.writers.UpsertMany(ctx, "name", []Writer{{Name: "Eliot", Country: &fr}, {ID: id(3), Name: "Austen"}})
		if err != nil || len(many) != 2 || many[0].ID != id(1) || many[1].ID != id(3) {
			t.Errorf("got %+v, %v", many, err)
		}
		// In a transaction, which is undone.
		undone := errors.New("undone")
		err = s.opened.Transaction(ctx, func(ctx context.Context, tx *plural.Tx) error {
			gone, err := all.novels.In(tx).DeleteMany(ctx, params.Limit(10))
			if err != nil || len(gone) != 2 {
				t.Errorf("got %+v, %v", gone, err)
			}
			again, created, err := all.writers.In(tx).Upsert(ctx, "name", Writer{Name: "Austen", Country: &fr})
			if err != nil || created || again.ID != id(3) {
				t.Errorf("got %+v, %t, %v", again, created, err)
			}
			if _, err := all.novels.In(tx).DryRun().Delete(ctx, id(13)); err == nil {
				t.Error("a dry run in a transaction")
			}
			return undone
		})
		if total, err2 := all.novels.Total(ctx); !errors.Is(err, undone) || total != 2 || err2 != nil {
			t.Errorf("%v, %d, %v", err, total, err2)
		}
	})
}

// Hooks of ranges and upserts are those of single writes; what a hook writes runs no Before hook.
func TestHooksOfTypedWritesOfMany(t *testing.T) {
	var before []string
	hooks := []plural.Hook{
		{Collection: "novels", Before: func(_ context.Context, change *plural.Change) error {
			before = append(before, string(change.Verb)+" "+change.ID)
			return nil
		}},
		{Collection: "writers", On: []plural.Verb{plural.Update}, Within: func(ctx context.Context, tx *plural.Tx, change *plural.Change) error {
			_, err := tx.Update("novels", id(11), map[string]any{"pages": 2})
			return err
		}},
	}
	eachStore(t, novelSchema(t), func(t *testing.T, s *server) {
		ctx := context.Background()
		all := fillNovels(t, s.opened)
		before = nil
		_, err := all.novels.UpdateMany(ctx, map[string]any{"pages": 1}, params.Where("tags").Has("slow"))
		_, err2 := all.writers.UpdateMany(ctx, map[string]any{"country": "FR"}, params.Limit(1))
		err3 := s.opened.Transaction(ctx, func(ctx context.Context, tx *plural.Tx) error {
			_, err := all.novels.In(tx).DeleteMany(ctx, params.Where("id").Is(id(14)))
			return err
		})
		if err := errors.Join(err, err2, err3); err != nil {
			t.Fatal(err)
		}
		same(t, "hooks", before, []string{"update " + id(11), "update " + id(12), "delete " + id(14)})
	}, withHooks(hooks...))
}

func TestMistakesOfTypedCalls(t *testing.T) {
	where := params.Where
	eachStore(t, novelSchema(t), func(t *testing.T, s *server) {
		ctx := context.Background()
		all := fillNovels(t, s.opened)
		list := func(given ...params.Param) error { _, err := all.novels.List(ctx, given...); return err }
		_, deleteAll := all.novels.DeleteMany(ctx)
		_, included := all.novels.DeleteMany(ctx, params.Limit(1), params.Include("writer"))
		_, _, conflict := all.novels.Upsert(ctx, "title", map[string]any{"title": "x"})
		_, got := all.novels.Get(ctx, id(11), where("title").Is("x"))
		_, grouped := plural.Groups[any, any](ctx, all.novels, params.By("nope"))
		for want, err := range map[string]error{
			"filter_required":   deleteAll,
			"invalid_parameter": conflict,
			"a write has no Include and no Fields: it returns whole resources":                             included,
			"one resource is read with Include and Fields, and no filter, Sort or range":                   got,
			"Any must be given once, with all alternatives":                                                list(params.Any(where("title").Null()), params.Any(where("title").Null())),
			"an alternative of Any is a filter that begins with Where, or And of such filters":             list(params.Any(params.And())),
			"the relation writer is included twice":                                                        list(params.Include("writer"), params.Include("writer")),
			"Fields must be given once, with all names":                                                    list(params.Fields()),
			"a list has no WithTotal":                                                                      list(params.WithTotal()),
			"a list has no By, Sum, Avg, Min, Max, Distinct, Having or unit of times: they are for Groups": list(params.By("title")),
			`invalid_parameter at include: The collection novels has no relation "nope" to include.`:       list(params.Include("nope")),
			`invalid_parameter at by: The collection novels has no field "nope" to group by.`:              grouped,
			`invalid_parameter at include[writer][limit]: The relation "writer" leads to one resource`:     list(params.Include("writer", params.Limit(3))),
			`unknown_parameter at include[remarks][filter][nope][eq]: The collection remarks`:              list(params.Include("remarks", where("nope").Is(1))),
		} {
			if err == nil || !strings.Contains(err.Error(), want) && !hasCode(err, want) {
				t.Errorf("got  %v\nwant %s", err, want)
			}
		}
	})
}

func hasCode(err error, code string) bool {
	var first *problem.Error
	return errors.As(err, &first) && string(first.Code) == code
}

// TestUpsertWithoutAGroup: an upsert that names no attributes is refused, and creates nothing.
func TestUpsertWithoutAGroup(t *testing.T) {
	s := start(t, novelSchema(t), "sqlite:"+filepath.Join(t.TempDir(), "test.db"))
	all := fillNovels(t, s.opened)
	ctx := context.Background()
	before := s.get("/novels").total()
	_, _, one := all.novels.Upsert(ctx, "", map[string]any{"title": "x"})
	_, many := all.novels.UpsertMany(ctx, "", []Novel{{Title: "x"}})
	_, tried := all.novels.DryRun().Upsert(ctx, "", map[string]any{"title": "x"})
	for _, err := range []error{one, many, tried} {
		if !hasCode(err, "invalid_parameter") {
			t.Errorf("got %v", err)
		}
	}
	if after := s.get("/novels").total(); after != before {
		t.Errorf("there were %s, and now there are %s", before, after)
	}
}
