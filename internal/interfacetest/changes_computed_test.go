package interfacetest

import (
	"context"
	"fmt"
	"testing"

	"github.com/plural-go/plural"
	"github.com/plural-go/plural/admin"
	"github.com/plural-go/plural/internal/pgtest"
	"github.com/plural-go/plural/schema"
)

// goodsWith is a collection with attributes n and m, and others.
func goodsWith(t testing.TB, others string) *schema.Schema {
	t.Helper()
	return parsed(t, "collections: {goods: {timestamps: false, attributes: {n: {type: integer}, m: {type: integer}"+others+"}}}").Schema
}

// TestHistoryOfComputed: a migration that computes values begins no new history. Earlier changes have what the present rule computes
// of the state of each, on every path, and what only a write can compute is null. A server with the former schema reads on, and does
// not write.
func TestHistoryOfComputed(t *testing.T) {
	times := func(by int) *schema.Schema {
		return goodsWith(t, fmt.Sprintf(", c: {type: integer, computed: resource.n * %d}, by: {type: string, computed: 'auth.sub == null ? \"us\" : auth.sub'}", by))
	}
	one, two := id(1), id(2)
	good := func(id string, n, m, others string) string {
		return `{"id":"` + id + `","type":"goods","n":` + n + `,"m":` + m + others + `}`
	}
	change := func(id, kind, previous, data string) string {
		return `{"id":"CHANGE","type":"changes","kind":"` + kind + `","resource":{"id":"` + id + `","type":"goods"},"revision":N,"by":null,"previous":` + previous + `,"data":` + data + `,"created_at":"TIME"}`
	}
	for name, database := range pgtest.Databases() {
		t.Run(name, func(t *testing.T) {
			former := start(t, goodsWith(t, ""), database(t))
			former.createAll("/goods", `{"id":"`+one+`","n":1,"m":0}`, `{"id":"`+two+`","n":5}`)
			for _, body := range []string{`{"n":2}`, `{"m":7}`} {
				former.do("PATCH", "/goods/"+one, body)
			}
			former.do("DELETE", "/goods/"+two, "")
			begin := former.get("/changes?limit=1").ids(t)[0]
			shown := func(n, by int) string { return good(one, fmt.Sprint(n), "7", fmt.Sprintf(`,"c":%d,"by":null`, n*by)) }
			for _, by := range []int{2, 3} {
				if _, err := admin.Migrate(context.Background(), former.config.Database, times(by), admin.MigrateOptions{}); err != nil {
					t.Fatal(err)
				}
				former.do("POST", "/goods", `{}`).expectErrors(t, 503, "unavailable")
				if got := former.get("/goods/" + one); got.status != 200 || len(former.get("/changes").ids(t)) != 5 {
					t.Errorf("a server with the former schema: %d %s", got.status, got.body)
				}
				stop(t, former.opened, context.Background())
				s := former.another(func(c *plural.Config) { c.Schema = times(by) })
				c := func(n int) string { return fmt.Sprintf(`,"c":%d,"by":null`, n*by) }
				s.get("/goods").expect(t, 200, data(shown(2, by)))
				list := []string{
					change(one, "created", "null", good(one, "1", "0", c(1))),
					change(two, "created", "null", good(two, "5", "null", c(5))),
					change(one, "updated", fmt.Sprintf(`{"n":1,"c":%d}`, by), good(one, "2", "0", c(2))),
					change(one, "updated", `{"m":0}`, good(one, "2", "7", c(2))),
					change(two, "deleted", good(two, "5", "null", c(5)), "null"),
				}
				s.get("/changes").expectSettled(t, 200, data(list...))
				s.get("/changes?limit=-1").expectSettled(t, 200, data(list[4]))
				s.get("/changes?since="+begin+"&limit=2").expectSettled(t, 200, data(list[1:3]...))
				s.get("/goods/"+one+"/changes").expectSettled(t, 200, data(list[0], list[2], list[3]))
				former = s
			}
			// Changes since then have what was stored.
			goods, before, after := former.stream("/goods"), `{"n":2,"c":6,"by":null}`, good(one, "4", "7", `,"c":12,"by":"us"`)
			goods.expect("listed "+`{"data":`+shown(2, 3)+"}", "synced {}")
			former.do("PATCH", "/goods/"+one, `{"n":4}`)
			goods.expect("updated " + eventOf(after, `,"previous":`+before))
			former.get("/goods/"+one+"/changes?limit=-1").expectSettled(t, 200, data(change(one, "updated", before, after)))
		})
	}
}
