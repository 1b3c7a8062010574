package interfacetest

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/jackc/pgx/v5"
	"github.com/plural-go/plural/admin"
)

// stored reads all resources of a list page by page, by offset, and checks the totals.
func (m *marking) stored(path string) []map[string]any {
	m.t.Helper()
	var all []map[string]any
	for {
		var page answer
		eventually(m.t, "a list is answered", func() bool {
			page = m.servers[0].get(fmt.Sprintf("%s?limit=100&offset=%d", path, len(all)))
			return page.status != 503 // lost connections may be left
		})
		var envelope struct{ Data []map[string]any }
		if err := json.Unmarshal([]byte(page.body), &envelope); err != nil {
			m.t.Fatal(err)
		}
		if len(envelope.Data) == 0 {
			if page.total() != fmt.Sprint(len(all)) {
				m.t.Errorf("%s has %d resources, and the total %s", path, len(all), page.total())
			}
			return all
		}
		all = append(all, envelope.Data...)
	}
}

// check compares what is stored with the answers.
func (m *marking) check(afters *sync.Map) {
	m.t.Helper()
	expected := map[string]*marked{}
	for _, each := range m.all {
		expected[each.mark] = each
	}
	found, parents, outcomes := map[string]int{}, map[string]int{}, map[string]int{}
	for _, collection := range []string{"people", "notes", "hooked", "before", "labels"} {
		last := ""
		for _, resource := range m.stored("/" + collection) {
			if resource["id"].(string) <= last {
				m.t.Errorf("%v is not in its order", resource)
			}
			last = resource["id"].(string)
			mark := strings.TrimSuffix(resource["mark"].(string), " again")
			each := expected[mark]
			found[mark]++
			switch {
			case each == nil:
				m.t.Errorf("nobody has created %v", resource)
				continue
			case each.outcome == "refused" || each.id != "" && each.id != resource["id"]:
				m.t.Errorf("%+v is stored: %v", each, resource)
			case each.version == "" && resource["mark"] != mark, each.version != "" && each.version != "unknown" && resource["mark"] != each.version:
				m.t.Errorf("%+v was not updated: %v", each, resource)
			}
			if collection == "notes" {
				parents[resource["person_id"].(string)]++
			}
		}
	}
	for _, each := range m.all {
		outcomes[each.outcome]++
		if n := found[each.mark]; n > 1 || each.outcome == "stored" && n != 1 && !m.gone[each.id] && !m.gone[each.parent] {
			m.t.Errorf("%+v is stored %d times", each, n)
		}
		if count, ok := afters.Load(each.mark); ok && each.outcome == "refused" || ok && count.(*atomic.Int64).Load() > 1 {
			m.t.Errorf("After has run for %+v", each)
		} else if !ok && each.outcome == "stored" && each.collection != "notes" && each.collection != "labels" {
			m.t.Errorf("After has not run for %+v", each)
		}
	}
	for parent, n := range parents {
		if got := len(m.stored("/people/" + parent + "/notes")); got != n {
			m.t.Errorf("%s has %d notes, not %d", parent, got, n)
		}
	}
	for _, entry := range m.stored("/entries") {
		if mark := strings.TrimPrefix(entry["mark"].(string), "entry of "); found[mark] != 1 {
			m.t.Errorf("%v, and %d of the resource", entry, found[mark])
		}
	}
	if outcomes["stored"] == 0 {
		m.t.Errorf("the outcomes are %v", outcomes)
	}
	findings, err := admin.Examine(context.Background(), m.servers[0].config.Database, admin.ExamineOptions{})
	if err != nil || len(findings) > 0 {
		m.t.Errorf("%v %v", findings, err)
	}
}

// checkLog compares the change log of PostgreSQL with the resources.
func (m *marking) checkLog() {
	m.t.Helper()
	c, err := pgx.Connect(context.Background(), m.servers[0].config.Database)
	if err != nil {
		m.t.Fatal(err)
	}
	defer c.Close(context.Background())
	for _, table := range []string{"people", "notes", "hooked", "before", "labels", "entries"} {
		var wrong int
		err := c.QueryRow(context.Background(), `SELECT count(*) FROM "`+table+`" AS r WHERE
			(SELECT count(*) FILTER (WHERE kind = 'created') - count(*) FILTER (WHERE kind = 'deleted') FROM _plural_changes c WHERE c.id = r.id) <> 1
			OR (SELECT max(revision) FROM _plural_changes c WHERE c.id = r.id) IS DISTINCT FROM r._revision
			OR (SELECT kind FROM _plural_changes c WHERE c.id = r.id ORDER BY revision LIMIT 1) <> 'created'`).Scan(&wrong)
		if err != nil || wrong > 0 {
			m.t.Errorf("%d resources of %s do not have their entries: %v", wrong, table, err)
		}
	}
	var entries, rows int
	var disordered int
	if err := c.QueryRow(context.Background(), `SELECT count(*) FROM (SELECT kind, lag(kind) OVER (PARTITION BY id ORDER BY revision) AS before FROM _plural_changes) AS s
		WHERE (kind = 'created') <> (before IS NULL OR before = 'deleted')`).Scan(&disordered); err != nil || disordered > 0 {
		m.t.Errorf("%d changes are not in their order: %v", disordered, err)
	}
	err = c.QueryRow(context.Background(), `SELECT (SELECT count(*) FILTER (WHERE kind = 'created') - count(*) FILTER (WHERE kind = 'deleted') FROM _plural_changes),
		(SELECT count(*) FROM people) + (SELECT count(*) FROM notes) + (SELECT count(*) FROM hooked) + (SELECT count(*) FROM before) + (SELECT count(*) FROM labels) + (SELECT count(*) FROM entries)`).Scan(&entries, &rows)
	if err != nil || entries != rows {
		m.t.Errorf("%d resources and %d entries: %v", rows, entries, err)
	}
}

// checkEnded checks that nothing is left of the tasks that shared transactions.
func (m *marking) checkEnded() {
	m.t.Helper()
	stacks := make([]byte, 16<<20)
	if all := string(stacks[:runtime.Stack(stacks, true)]); strings.Contains(all, "(*gathering).start") {
		m.t.Error("a task has not ended: ", all)
	}
}
