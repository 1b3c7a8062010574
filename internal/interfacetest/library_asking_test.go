package interfacetest

import (
	"context"
	"encoding/json"
	"reflect"
	"testing"

	"github.com/plural-go/plural"
	"github.com/plural-go/plural/params"
)

// TestTypedAskingMore: typed calls sort, filter and group through relations, also in a transaction.
func TestTypedAskingMore(t *testing.T) {
	eachStore(t, novelSchema(t), func(t *testing.T, s *server) {
		ctx := context.Background()
		all := fillNovels(t, s.opened)
		where := params.Where
		for name, test := range map[string]struct {
			given []params.Param
			want  []string
		}{
			"sorted by a reference": {[]params.Param{params.Sort("-writer.name", "-pages")}, []string{id(13), id(11), id(12), id(14)}},
			"sorted by a count":     {[]params.Param{params.Sort("-count.remarks", "-id")}, []string{id(11), id(13), id(14), id(12)}},
			"counted":               {[]params.Param{where("count.remarks").Is(0)}, []string{id(12), id(14)}},
			"without":               {[]params.Param{where("remarks").NotExists(), where("writer").Exists()}, []string{id(12)}},
			"one fulfils all":       {[]params.Param{params.Some("remarks", where("stars").More(3), where("stars").Less(5))}, []string{id(13)}},
			"none does":             {[]params.Param{params.None("remarks", where("stars").More(3), where("stars").Less(5))}, []string{id(11), id(12), id(14)}},
			"searched":              {[]params.Param{where("writer.name").Search("ELI")}, []string{id(11), id(12)}},
		} {
			list := func(c *plural.Collection[Novel]) {
				var got []string
				found, err := c.List(ctx, test.given...)
				for _, novel := range found {
					got = append(got, novel.ID)
				}
				if err != nil || !reflect.DeepEqual(got, test.want) {
					t.Errorf("%s: got %v, %v", name, got, err)
				}
			}
			list(all.novels)
			if err := s.opened.Transaction(ctx, func(_ context.Context, tx *plural.Tx) error { list(all.novels.In(tx)); return nil }); err != nil {
				t.Error(err)
			}
		}
		type key struct {
			WriterID *string `json:"writer_id"`
			Name     *string `json:"writer.name"`
			Writer   *Writer `json:"writer"`
		}
		type values struct {
			Pages int64 `json:"pages"`
		}
		groups, err := plural.Groups[key, values](ctx, all.novels, params.By("writer_id", "writer.name"), params.Sum("pages"), params.Distinct("title"), params.Include("writer", params.Fields("name")),
			params.Having(where("sum.pages").More(0)), params.Sort("-sum.pages"))
		first, name := id(1), "Eliot"
		if err != nil || len(groups) != 2 || !reflect.DeepEqual(groups[0], params.Group[key, values]{ID: groups[0].ID, By: key{&first, &name, &Writer{ID: first, Name: name}}, Count: 2, Sum: values{1080}, Distinct: map[string]int64{"title": 2}}) {
			t.Errorf("got %+v, %v", groups, err)
		}
		free, err := plural.Groups[map[string]any, map[string]any](ctx, all.novels, params.Max("pages"))
		if err != nil || len(free) != 1 || free[0].Max["pages"] != json.Number("880") {
			t.Errorf("got %+v, %v", free, err)
		}
		if _, err := plural.Groups[key, values](ctx, all.novels, params.By("writer_id"), params.Fields("writer_id")); !hasCode(err, "unknown_parameter") {
			t.Errorf("groups with fields: %v", err)
		}
	})
}
