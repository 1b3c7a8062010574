package store

import (
	"context"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/query"
	"github.com/plural-go/plural/internal/statement"
)

const planned = `
collections:
  projects:
    timestamps: false
    attributes:
      key: {type: string, maxLength: 20, index: true}
  issues:
    timestamps: false
    attributes:
      title: {type: string}
      points: {type: integer}
      project_id: {references: projects, inverse: issues}
      place: {type: object, properties: {city: {type: string, maxLength: 50}, floor: {type: integer}, price: {type: string, format: decimal, scale: 2}}}
      tags: {type: array, items: {type: string}, index: true}
    index: [place.city, place.floor, place.price]
`

// TestIndexedFiltersDoNotScan looks at the plans of filters for which there are indexes.
func TestIndexedFiltersDoNotScan(t *testing.T) {
	s := parse(t, planned)
	eachStore(t, s, func(t *testing.T, st *Store) {
		isPostgres := st.db.Traits().RoundTrips
		fill(t, st, isPostgres)
		for _, each := range []struct{ collection, query string }{
			{"issues", "filter[project.key]=k7"},
			{"issues", "filter[project.key][starts_with]=k70"},
			{"issues", "filter[project.key]=k7&filter[title]=x"},
			{"projects", "filter[key]=k7"},
			{"projects", "filter[issues.place.city]=c7"},
			{"projects", "filter[issues.tags][has]=t7"},
			{"projects", "filter[some][0][issues.place.city]=c7&filter[some][0][issues.title]=x"},
			{"projects", "filter[some][0][issues.tags][has]=t7&filter[some][0][issues.place.floor][gt]=5"},
			{"projects", "filter[key]=k7&filter[issues][exists]=true"},
			{"projects", "filter[key]=k7&filter[none][0][issues.place.city]=c8"},
			{"issues", "filter[project][exists]=false"},
			{"issues", "filter[project.key]=k7&filter[project.issues][exists]=true"},
			{"issues", "filter[place.city]=c7"},
			{"issues", "filter[place.city][starts_with]=c77"},
			{"issues", "filter[place.floor]=7"},
			{"issues", "filter[place.floor][in]=7,8"},
			{"issues", "filter[place.price]=7.00"},
			{"issues", "filter[tags][has]=t7"},
			{"issues", "filter[tags][has]=t7&filter[tags][has]=t8"},
			{"issues", "filter[tags][has_all]=t7,u7"},
		} {
			c := s.Collection(each.collection)
			q, err := query.Parse(query.OfList, c, each.query, query.Limits{DefaultLimit: 100})
			if err != nil {
				t.Fatal(err)
			}
			plan := planOf(t, st, c, statement.Selection{Plan: statement.Plan{Filter: q.Filter}, Order: statement.NewOrder(nil), Take: 100}, isPostgres)
			scans := slices.ContainsFunc(plan, func(line string) bool {
				return strings.Contains(line, "Seq Scan") || strings.HasPrefix(line, "SCAN ")
			})
			if scans {
				t.Errorf("%s?%s scans:\n%s", each.collection, each.query, strings.Join(plan, "\n"))
			}
		}
	})
}

// TestMissingRelatedAreFoundByTheReference looks at the plans of pages of what has no related resource, or none that fulfils
// conditions: the index of the reference is asked for each resource, so that a page needs no list of all that have some. PostgreSQL
// chooses by its statistics.
func TestMissingRelatedAreFoundByTheReference(t *testing.T) {
	s := parse(t, planned)
	st := open(t, "sqlite:"+filepath.Join(t.TempDir(), "test.db"), s)
	fill(t, st, false)
	projects := s.Collection("projects")
	for _, text := range []string{"filter[issues][exists]=false", "filter[none][0][issues.title]=y", "filter[none][0][issues.title]=y&filter[none][0][issues.tags][has]=t7"} {
		q, err := query.Parse(query.OfList, projects, text, query.Limits{DefaultLimit: 100})
		if err != nil {
			t.Fatal(err)
		}
		plan := strings.Join(planOf(t, st, projects, statement.Selection{Plan: statement.Plan{Filter: q.Filter}, Order: statement.NewOrder(nil), Take: 10}, false), "\n")
		if strings.Contains(plan, "SCAN _r1") || strings.Contains(plan, "TEMP B-TREE") || !strings.Contains(plan, "SEARCH _r1 USING") {
			t.Errorf("%s:\n%s", text, plan)
		}
	}
}

// TestRelatedIsComparedOnce looks at the plans of filters on related resources for which there is no index, on
// a database that would compare a related resource again for each one that refers to it.
func TestRelatedIsComparedOnce(t *testing.T) {
	s := parse(t, `
collections:
  makers:
    timestamps: false
    attributes: {name: {type: string}, history: {type: string}}
  things:
    timestamps: false
    attributes: {name: {type: string}, maker_id: {references: makers, inverse: things}}
  parts:
    timestamps: false
    attributes: {name: {type: string}, thing_id: {references: things, inverse: parts}}
`)
	eachStore(t, s, func(t *testing.T, st *Store) {
		insert(t, st, s.Collection("makers"), `{"name":"a","history":"long"}`)
		for _, each := range []struct{ collection, query string }{
			{"things", "filter[maker.history][contains]=x"},
			{"things", "filter[maker.history][contains]=long"},
			{"things", "filter[maker.history]="},
			{"things", "filter[any][0][maker.history][contains]=x&filter[any][1][name]=a"},
			{"parts", "filter[thing.maker.history][contains]=x"},
			{"makers", "filter[things.name][contains]=x"},
			{"makers", "filter[things.parts.name][contains]=x"},
		} {
			c := s.Collection(each.collection)
			q, err := query.Parse(query.OfList, c, each.query, query.Limits{DefaultLimit: 100})
			if err != nil {
				t.Fatal(err)
			}
			page, err := st.Page(context.Background(), PageQuery{Collection: c, Filter: q.Filter, Range: q.Range})
			if err != nil {
				t.Fatal(err)
			}
			selection := page.selection
			page.Close()
			if plan := planOf(t, st, c, selection, st.db.Traits().RoundTrips); strings.Contains(strings.Join(plan, "\n"), "CORRELATED") {
				t.Errorf("%s?%s compares related resources again and again:\n%s", each.collection, each.query, strings.Join(plan, "\n"))
			}
		}
	})
}

// TestGroupIndexesServeFilterAndSort looks at the plans of lists that are filtered by the first attribute of an
// indexed group and sorted by the second: the index has the order, so that a page reads no more than
// its rows, and an offset only counts in the index. The planner has statistics.
func TestGroupIndexesServeFilterAndSort(t *testing.T) {
	s := parse(t, `
collections:
  issues:
    timestamps: false
    attributes:
      title: {type: string}
      state: {type: string, maxLength: 20, index: true}
      priority: {type: integer}
      estimate: {type: integer, index: true}
    index: [[state, priority]]
`)
	issues := s.Collection("issues")
	const group = "_index.issues.state.priority.id"
	eachDatabase(t, func(t *testing.T, url string) {
		st := open(t, url, s)
		isPostgres := st.db.Traits().RoundTrips
		series, id := "(WITH RECURSIVE s(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM s WHERE n < 20000) SELECT n FROM s)", "unhex(printf('%032d', n))"
		if isPostgres {
			series, id = "(SELECT n FROM generate_series(1, 20000) AS n) AS s", "lpad(n::text, 32, '0')::uuid"
		}
		write(t, st, func(tx *Tx) error {
			_, err := tx.conn.Exec("INSERT INTO issues (id, title, state, priority, estimate, _revision) SELECT " + id + ", 'a title of some length', 's' || n % 50, n * 7919 % 20011, n % 100, 0 FROM " + series)
			if err == nil && !isPostgres {
				_, err = tx.conn.Exec("ANALYZE")
			}
			return err
		})
		if isPostgres {
			execute(t, url, "ANALYZE issues")
		}
		for _, each := range []struct {
			query, index string
			skip         int64
		}{
			{"filter[state]=s1&sort=priority", group, 0},
			{"filter[state]=s1&sort=-priority", group, 0},
			{"filter[state]=s1&sort=priority", group, 200},
			{"filter[state]=s1", "_index.issues.state.", 200},
			{"sort=estimate", "_index.issues.estimate.id", 9000},
		} {
			q, err := query.Parse(query.OfList, issues, each.query, query.Limits{DefaultLimit: 100})
			if err != nil {
				t.Fatal(err)
			}
			plan := planOf(t, st, issues, statement.Selection{Plan: statement.Plan{Filter: q.Filter}, Order: statement.NewOrder(q.Sort), Take: 30, Skip: each.skip}, isPostgres)
			text := strings.Join(plan, "\n")
			if !strings.Contains(text, each.index) || strings.Contains(text, "Seq Scan") || strings.Contains(text, "SCAN issues\n") {
				t.Errorf("%s from %d does not use %s:\n%s", each.query, each.skip, each.index, text)
			}
			// Few rows are sorted: those of the page, or those of one value in a descending order.
			if each.skip == 0 && !strings.Contains(each.query, "-") && (strings.Contains(text, "TEMP B-TREE") || strings.Contains(text, "Sort")) {
				t.Errorf("%s is sorted:\n%s", each.query, text)
			}
		}
	})
}

// TestGroupPlans: each resource is read once, also where groups are compared by sums, and what it refers to is found by an index,
// or by a hash.
func TestGroupPlans(t *testing.T) {
	s := parse(t, planned)
	issues := s.Collection("issues")
	eachStore(t, s, func(t *testing.T, st *Store) {
		isPostgres := st.db.Traits().RoundTrips
		fill(t, st, isPostgres)
		scan := regexp.MustCompile(`SCAN issues|Seq Scan on issues|Index Only Scan using \S+ on issues`)
		for raw, related := range map[string]string{
			"by=project_id": "", "by=project_id&distinct=title&sort=-distinct.title": "",
			"by=title&having[count][gte]=2&sort=-count": "",
			"by=project.key": "_r1", "by=project.key&having[count][gte]=2": "_r1",
			"by=project.key&sum=points&avg=points&sort=-sum.points,avg.points&having[sum.points][gte]=0": "_r1",
		} {
			q, err := query.Parse(query.OfGroups, issues, raw, query.Limits{DefaultLimit: 10})
			if err != nil {
				t.Fatal(err)
			}
			for _, statement := range []*statement.Statement{st.bound().sql.Groups(issues, statement.Plan{}, q.Groups, 0, 11), st.bound().sql.CountGroups(issues, statement.Plan{}, q.Groups)} {
				text := strings.Join(explained(t, st, statement, isPostgres), "\n")
				if found := scan.FindAllString(text, -1); len(found) != 1 {
					t.Errorf("%s reads the collection %d times:\n%s", raw, len(found), text)
				}
				if related != "" && !strings.Contains(text, "SEARCH "+related) && !strings.Contains(text, "Hash Left Join") {
					t.Errorf("%s finds what is referred to without an index:\n%s", raw, text)
				}
			}
		}
	})
}

// fill makes 5,000 projects with 4 issues each.
func fill(t *testing.T, st *Store, isPostgres bool) {
	t.Helper()
	series, id := "(WITH RECURSIVE s(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM s WHERE n < %d) SELECT n FROM s)", "unhex(printf('%%032d', %s))"
	if isPostgres {
		series, id = "(SELECT n FROM generate_series(1, %d) AS n) AS s", "lpad(%s::text, 32, '0')::uuid"
	}
	ids := func(n string) string { return fmt.Sprintf(id, n) }
	write(t, st, func(tx *Tx) error {
		for _, sql := range []string{
			"INSERT INTO projects (id, key, _revision) SELECT " + ids("n") + ", 'k' || n, 0 FROM " + fmt.Sprintf(series, 5000),
			"INSERT INTO issues (id, title, project_id, place, tags, _revision) SELECT " + ids("n") + ", 'x', " + ids("(n % 5000 + 1)") +
				`, '{"city":"c' || n || '","floor":' || n || ',"price":"' || n || '.00"}', '["t' || n || '","u' || n || '"]', 0 FROM ` + fmt.Sprintf(series, 20000),
			"ANALYZE",
		} {
			if _, err := tx.conn.Exec(sql); err != nil {
				return fmt.Errorf("%s: %w", sql, err)
			}
		}
		return nil
	})
}

// planOf lists the lines of the plan of a list.
func planOf(t *testing.T, st *Store, c *model.Collection, selection statement.Selection, isPostgres bool) (lines []string) {
	t.Helper()
	return explained(t, st, st.bound().sql.Rows(c, selection), isPostgres)
}

// explained lists the lines of the plan of a statement.
func explained(t *testing.T, st *Store, sql *statement.Statement, isPostgres bool) (lines []string) {
	t.Helper()
	read(t, st, func(tx *Tx) {
		explain, column := "EXPLAIN QUERY PLAN ", 3
		if isPostgres {
			explain, column = "EXPLAIN ", 0
		}
		err := db.Each(tx.conn, func(row model.Row) {
			lines = append(lines, strings.TrimSpace(row.Text(column)))
		}, explain+sql.String(), sql.Args...)
		if err != nil {
			t.Fatal(err)
		}
	})
	return lines
}
