package client_test

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/plural-go/plural"
	"github.com/plural-go/plural/client"
	"github.com/plural-go/plural/params"
	"github.com/plural-go/plural/schema"
)

func withOrders(t *testing.T) func(*plural.Config) {
	t.Helper()
	file, err := schema.Parse([]byte(`
collections:
  orders:
    timestamps: false
    attributes:
      state: {type: string}
      price: {type: string, format: decimal, scale: 2}
      count: {type: integer}
      placed: {type: string, format: date-time}
`))
	if err != nil {
		t.Fatal(err)
	}
	return func(c *plural.Config) { c.Schema = file.Schema }
}

type order struct {
	State  *string `json:"state"`
	Price  string  `json:"price"`
	Count  int64   `json:"count"`
	Placed string  `json:"placed"`
}

func TestGroups(t *testing.T) {
	eachStore(t, func(t *testing.T, url string) {
		ctx := context.Background()
		orders := client.Of[order](connect(t, url), "orders")
		open := "open"
		must(orders.CreateMany(ctx, []order{
			{&open, "1.50", 9223372036854775806, "2026-11-14T09:30:00Z"}, {&open, "2.25", 1, "2026-11-30T23:59:59Z"},
			{nil, "0.10", 5, "2026-12-01T00:00:00Z"}, {nil, "0.20", 6, "2026-12-01T00:00:00Z"}, {nil, "-0.05", 7, "2026-01-01T00:00:00Z"},
		}))(t)
		type key struct {
			State *string   `json:"state"`
			Month time.Time `json:"placed:month"`
		}
		type values struct {
			Price string `json:"price"`
			Count int64  `json:"count"`
		}
		month := func(m time.Month) time.Time { return time.Date(2026, m, 1, 0, 0, 0, 0, time.UTC) }
		want := []params.Group[key, values]{
			{By: key{nil, month(12)}, Count: 2, Sum: values{"0.30", 11}, Max: values{Count: 6}},
			{By: key{nil, month(1)}, Count: 1, Sum: values{"-0.05", 7}, Max: values{Count: 7}},
			{By: key{&open, month(11)}, Count: 2, Sum: values{"3.75", 9223372036854775807}, Max: values{Count: 9223372036854775806}},
		}
		given := []params.Param{params.By("state", "placed:month"), params.Sum("price", "count"), params.Max("count"), params.Sort("state", "-placed:month")}
		page := must(client.Groups[key, values](ctx, orders, append(given, params.WithTotal())...))(t)
		if page.Total != 3 {
			t.Errorf("there are %d groups", page.Total)
		}
		expectGroups(t, page.Items, want)
		var walked []params.Group[key, values]
		for p := must(client.Groups[key, values](ctx, orders, append(given, params.Limit(2))...))(t); p != nil; p = must(p.Next(ctx))(t) {
			walked = append(walked, p.Items...)
		}
		expectGroups(t, walked, want)
		// A query that is too long for links.
		long := append(given, params.Where("state").Not(strings.Repeat("x", 2500)), params.Limit(1))
		walked = nil
		var last *client.GroupPage[key, values]
		for p := must(client.Groups[key, values](ctx, orders, long...))(t); p != nil; p = must(p.Next(ctx))(t) {
			walked, last = append(walked, p.Items...), p
		}
		expectGroups(t, walked, want)
		walked = nil
		for p := last; p != nil; p = must(p.Prev(ctx))(t) {
			walked = append(append([]params.Group[key, values]{}, p.Items...), walked...)
		}
		expectGroups(t, walked, want)
		all := must(client.Groups[map[string]any, map[string]any](ctx, orders, params.Avg("price"), params.Min("placed"), params.Where("state").Is("open")))(t)
		if got := fmt.Sprint(all.Items[0].By, all.Items[0].Count, all.Items[0].Avg, all.Items[0].Min); len(all.Items) != 1 || got != "map[] 2 map[price:1.875] map[placed:2026-11-14T09:30:00.000Z]" {
			t.Errorf("one group: %s", got)
		}
		for what, given := range map[string][]params.Param{
			"a cursor": {params.Cursor("00000000-0000-7000-8000-000000000000")}, "no field": {params.By()}, "a wrong name": {params.Sum("a b")}, "a unit of a value": {params.Min("placed:month")},
		} {
			if _, err := client.Groups[key, values](ctx, orders, given...); err == nil {
				t.Errorf("%s is taken", what)
			}
		}
		for what, param := range map[string]params.Param{"By": params.By("state"), "a unit": params.Sort("placed:month")} {
			if _, err := orders.List(ctx, param); err == nil {
				t.Errorf("a list takes %s", what)
			}
		}
	}, withOrders(t))
}

// expectGroups compares groups but for their ids, which must differ.
func expectGroups[K, V any](t *testing.T, got, want []params.Group[K, V]) {
	t.Helper()
	ids := map[string]bool{}
	for i := range got {
		ids[got[i].ID] = true
		got[i].ID = ""
	}
	if !reflect.DeepEqual(got, want) || len(ids) != len(want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}
