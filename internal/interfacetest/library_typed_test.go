package interfacetest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/plural-go/plural"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/params"
	"github.com/plural-go/plural/problem"
	"github.com/plural-go/plural/schema"
)

type state string

// Item is a resource with a field of every kind that can be filtered by.
type Item struct {
	ID    string          `json:"id"`
	Name  string          `json:"name"`
	State state           `json:"state"`
	Count *int64          `json:"count"`
	Price float64         `json:"price"`
	Done  bool            `json:"done"`
	At    time.Time       `json:"at"`
	Size  struct{ W int } `json:"size"`
	ETag  string          `json:"-" plural:"etag"`
}

func itemSchema(t *testing.T) *schema.Schema {
	t.Helper()
	items, err := schema.Of[Item]()
	if err != nil {
		t.Fatal(err)
	}
	s, err := schema.New(items)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Every operator, with values that would have to be escaped in a URL.
func TestFiltersOfBuilders(t *testing.T) {
	at := time.Date(2026, 11, 14, 9, 0, 0, 0, time.UTC)
	number := func(n int64) *int64 { return &n }
	all := []Item{
		{Name: `a,b\`, State: "open", Count: number(1), Price: 0.5, Done: true, At: at},
		{Name: `a&filter[name]=x`, State: "open", Count: number(2), Price: 1, At: at.Add(time.Millisecond)},
		{Name: `c\`, State: "shut", Price: 2.5, At: at.Add(2 * time.Millisecond)},
		{Name: `%41;é`, State: "", Count: number(-4), Price: 1e30, Done: true, At: at.Add(time.Hour)},
	}
	between := at.Add(1500 * time.Microsecond) // of two milliseconds
	where := params.Where
	eachStore(t, itemSchema(t), func(t *testing.T, s *server) {
		ctx, items := context.Background(), of[Item](t, s.opened)
		if _, err := items.CreateMany(ctx, all); err != nil {
			t.Fatal(err)
		}
		for i, c := range []struct {
			filters []params.Filter
			want    string // positions
		}{
			{nil, "0 1 2 3"},
			{[]params.Filter{where("name").Is(`a,b\`)}, "0"},
			{[]params.Filter{where("name").In(`a,b\`, `c\`, `%41;é`)}, "0 2 3"},
			{[]params.Filter{where("name").NotIn(`a,b\`, `c\`)}, "1 3"},
			{[]params.Filter{where("name").Contains("&filter[")}, "1"},
			{[]params.Filter{where("name").StartsWith("a")}, "0 1"},
			{[]params.Filter{where("name").Not(`c\`)}, "0 1 3"},
			{[]params.Filter{where("state").Is(state("open"))}, "0 1"},
			{[]params.Filter{where("state").Is("")}, "3"},
			{[]params.Filter{where("count").Null()}, "2"},
			{[]params.Filter{where("count").NotNull()}, "0 1 3"},
			{[]params.Filter{where("count").Not(2)}, "0 2 3"},
			{[]params.Filter{where("count").AtLeast(int8(1)), where("count").Less(uint64(2))}, "0"},
			{[]params.Filter{where("count").AtLeast(-9), where("count").More(1)}, "1"},
			{[]params.Filter{where("count").Is(number(2))}, "1"},
			{[]params.Filter{where("price").More(float32(0.5)), where("price").AtMost(2.5)}, "1 2"},
			{[]params.Filter{where("done").Is(true)}, "0 3"},
			{[]params.Filter{where("at").Less(between)}, "0 1"},
			{[]params.Filter{where("at").AtMost(between)}, "0 1"},
			{[]params.Filter{where("at").More(between)}, "2 3"},
			{[]params.Filter{where("at").AtLeast(between)}, "2 3"},
			{[]params.Filter{where("at").Is(at.In(time.FixedZone("", 3600)))}, "0"},
			{[]params.Filter{where("size").NotNull(), where("type").Is("items")}, "0 1 2 3"},
		} {
			var given []params.Param
			for _, filter := range c.filters {
				given = append(given, filter)
			}
			listed, err := items.List(ctx, given...)
			total, errTotal := items.Total(ctx, c.filters...)
			if err != nil || errTotal != nil {
				t.Errorf("%d: %v, %v", i, err, errTotal)
				continue
			}
			var got []string
			for _, item := range listed {
				for n := range all {
					if all[n].Name == item.Name {
						got = append(got, fmt.Sprint(n))
					}
				}
			}
			if strings.Join(got, " ") != c.want || total != int64(len(got)) {
				t.Errorf("%d: got %v of %d, want %s", i, got, total, c.want)
			}
		}
		for want, given := range map[string][]params.Param{
			`unknown_parameter at filter[nope][eq]: The collection items has no field "nope" to filter by.`: {where("nope").Is(1)},
			`invalid_parameter at filter[count][eq]: The value "x" must be an integer`:                      {where("count").Is("x")},
			`invalid_parameter at filter[size][in]: The field "size" has objects or arrays`:                 {where("size").In(1)},
			`the filter in of count: there must be at least one value`:                                      {where("count").In()},
			`the filter in of name is given twice: give it once, with all values`:                           {where("name").In("a", "b"), where("name").In("b", "c")},
			"the filter eq of count: nothing is compared with nil: use Null or NotNull":                     {where("count").Is(nil)},
			"the filter eq of count: a []int cannot be compared with a field: use a string, number":         {where("count").Is([]int{1})},
			"the filter eq of price: NaN is not a number that a field can hold":                             {where("price").Is(math.NaN())},
			"a list has one Limit at most":                                                                  {params.Limit(1), params.Limit(2)},
			"an Offset cannot be negative, but is -1":                                                       {params.Offset(-1)},
			"a list begins at one Offset, Cursor or Since":                                                  {params.Offset(1), params.Cursor(id(1))},
			`a Cursor is the id of a resource, a UUID, but is "x"`:                                          {params.Cursor("x")},
			"Sort must be given once, with all names":                                                       {params.Sort("name"), params.Sort("at")},
			`invalid_parameter at sort: The collection items has no field "nope" to sort by.`:               {params.Sort("nope")},
		} {
			if _, err := items.List(ctx, given...); err == nil || !strings.HasPrefix(err.Error(), want) {
				t.Errorf("got  %v\nwant %s", err, want)
			}
		}
	})
}

// Ranges and orders are those of a request, but that All has no limit of its own.
func TestRangesOfTypedAccess(t *testing.T) {
	eachStore(t, itemSchema(t), func(t *testing.T, s *server) {
		ctx, items := context.Background(), of[Item](t, s.opened)
		values := make([]Item, 150)
		for i := range values {
			values[i].Name = fmt.Sprintf("%03d", i)
		}
		created, err := items.CreateMany(ctx, values)
		if err != nil {
			t.Fatal(err)
		}
		for i, c := range []struct {
			given       []params.Param
			from, count int
		}{
			{nil, 0, 100},
			{[]params.Param{params.Limit(-5)}, 145, 5},
			{[]params.Param{params.Offset(39), params.Limit(-25)}, 14, 25},
			{[]params.Param{params.Cursor(created[7].ID), params.Limit(3)}, 7, 3},
			{[]params.Param{params.Sort("-name"), params.Limit(1)}, 149, 1},
			{[]params.Param{params.Limit(0)}, 0, 0},
		} {
			listed, err := items.List(ctx, c.given...)
			if err != nil || len(listed) != c.count || c.count > 0 && listed[0] != created[c.from] {
				t.Errorf("%d: %d items, %v", i, len(listed), err)
			}
		}
		count := 0
		for item, err := range items.All(ctx) {
			if err != nil || item != created[count] {
				t.Fatal(item, err)
			}
			count++
		}
		if count != 150 {
			t.Errorf("All gave %d", count)
		}
	})
}

// A change is done only in the state that it is meant for. Every way to read has the ETag.
func TestIfMatchOfTypedAccess(t *testing.T) {
	declared := itemSchema(t)
	(*model.Schema)(declared).Collection("items").RequireIfMatch = true
	eachStore(t, declared, func(t *testing.T, s *server) {
		ctx, items := context.Background(), of[Item](t, s.opened)
		first, err := items.Create(ctx, Item{Name: "a"})
		if err != nil {
			t.Fatal(err)
		}
		read, err := items.Get(ctx, first.ID)
		listed, errList := items.List(ctx)
		if err != nil || errList != nil || read != first || len(listed) != 1 || listed[0] != first || first.ETag != s.get("/items/"+first.ID).header.Get("ETag") {
			t.Errorf("got %+v, %+v, %+v", first, read, listed)
		}
		second, err := items.Update(ctx, first.ID, map[string]any{"name": "b"}, plural.IfMatch(first.ETag))
		if err != nil || second.Name != "b" || second.ETag == first.ETag {
			t.Errorf("got %+v, %v", second, err)
		}
		for name, c := range map[string]struct {
			code string
			run  func() error
		}{
			"update":  {"precondition_failed", func() error { _, err := items.Update(ctx, first.ID, nil, plural.IfMatch(first.ETag)); return err }},
			"replace": {"precondition_failed", func() error { _, err := items.Replace(ctx, first.ID, first, plural.IfMatch(first.ETag)); return err }},
			"delete":  {"precondition_failed", func() error { _, err := items.Delete(ctx, first.ID, plural.IfMatch(first.ETag)); return err }},
			"none":    {"precondition_required", func() error { _, err := items.Delete(ctx, first.ID); return err }},
			"no ETag": {"malformed_request", func() error { _, err := items.Delete(ctx, first.ID, plural.IfMatch("x")); return err }},
		} {
			var refused *problem.Error
			if err := c.run(); !errors.As(err, &refused) || string(refused.Code) != c.code {
				t.Errorf("%s: %v", name, err)
			}
		}
		if _, err := items.Delete(ctx, first.ID, plural.IfMatch("")); err == nil || !strings.HasPrefix(err.Error(), "IfMatch needs the ETag") {
			t.Errorf("got %v", err)
		}
		// A transaction has read what it changes: an invalid body is the only mistake.
		if err := s.opened.Transaction(ctx, func(ctx context.Context, tx *plural.Tx) error {
			in, wrong := items.In(tx), map[string]any{"name": 1}
			_, one := in.Update(ctx, first.ID, wrong)
			_, many := in.UpdateMany(ctx, wrong, params.Limit(1))
			for name, err := range map[string]error{"one": one, "many": many} {
				if err == nil || err.Error() != "type at /name: Must be a string, but is a number." {
					t.Errorf("%s: %v", name, err)
				}
			}
			var refused *problem.Error
			if _, _, err := in.Upsert(ctx, "id", map[string]any{"id": first.ID, "name": "x"}); !errors.As(err, &refused) || refused.Code != "precondition_required" {
				t.Errorf("upsert: %v", err)
			}
			_, err := in.UpdateMany(ctx, map[string]any{}, params.Limit(1))
			return err
		}); err != nil {
			t.Error(err)
		}
		second.Name = "c"
		third, err := items.Replace(ctx, first.ID, second, plural.IfMatch(first.ETag), plural.IfMatch(second.ETag))
		if err != nil || third.Name != "c" {
			t.Errorf("got %+v, %v", third, err)
		}
		if deleted, err := items.Delete(ctx, first.ID, plural.IfMatch(third.ETag)); err != nil || deleted.Name != "c" {
			t.Errorf("got %+v, %v", deleted, err)
		}
	})
}
