package store

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/pgtest"
	"github.com/plural-go/plural/internal/query"
	"github.com/plural-go/plural/internal/statement"
)

const relatedSchema = `
collections:
  users:
    timestamps: false
  posts:
    timestamps: false
    attributes:
      rank: {type: integer}
    parent: users
`

// TestRelated: the related resources of many resources are read by one statement, which uses the index of
// the reference.
func TestRelated(t *testing.T) {
	for name, url := range map[string]string{"sqlite": "sqlite:" + filepath.Join(t.TempDir(), "test.db"), "postgres": pgtest.URL(t)} {
		t.Run(name, func(t *testing.T) {
			s := parse(t, relatedSchema)
			var statements recorder
			store, err := Open(context.Background(), url, s, func(o *opening) { o.trace = statements.trace })
			if err != nil {
				t.Fatal(err)
			}
			defer closeStore(t, store)
			users, posts := s.Collection("users"), s.Collection("posts")
			id := func(n int) model.ID { return model.ID{6: 0x70, 8: 0x80, 14: byte(n / 100), 15: byte(n % 100)} }
			write(t, store, func(tx *Tx) error {
				for u := 1; u <= 3; u++ {
					if _, err := tx.Insert(users, model.Record{model.IDValue(id(u)), model.Null}); err != nil {
						return err
					}
				}
				for p := range 40 {
					r := make(model.Record, len(posts.Columns()))
					r[model.IDColumn], r[posts.Field("rank").Column], r[posts.Field("user_id").Column] = model.IDValue(id(100+p)), model.IntValue(int64(p%5)), model.IDValue(id(1+p%2))
					if _, err := tx.Insert(posts, r); err != nil {
						return err
					}
				}
				return nil
			})
			tx, err := store.Read(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			defer tx.Close()
			rank := posts.Field("rank").Column
			least := query.Compare{Column: rank, Op: query.GreaterOrEqual, Value: model.IntValue(1)}
			many := users.Relation("posts")
			for _, c := range []struct {
				include query.Include
				want    string // the numbers of the resources, by user
			}{
				{query.Include{Relation: many, Limit: 3}, "[100 102 104] [101 103 105]"},
				{query.Include{Relation: many, Limit: -2}, "[136 138] [137 139]"},
				{query.Include{Relation: many, Limit: 2, Sort: []query.SortKey{query.SortBy(rank, true)}}, "[104 114] [109 119]"},
				{query.Include{Relation: many, Limit: -2, Sort: []query.SortKey{query.SortBy(rank, true)}}, "[120 130] [125 135]"},
				{query.Include{Relation: many, Limit: 2, Scope: least, Filter: query.Not{Filter: query.Compare{Column: rank, Op: query.Equal, Value: model.IntValue(2)}}}, "[104 106] [101 103]"},
			} {
				_, _ = tx.Total(users, nil) // the transaction has begun
				included, err := tx.Prepare(&c.include)
				if err != nil {
					t.Fatal(err)
				}
				statements.take()
				got := map[model.ID][]int{}
				err = tx.Related(included, []model.ID{id(3), id(1), id(2)}, func(row model.Row) bool {
					by, own := row.ID(many.Column), row.ID(model.IDColumn)
					got[by] = append(got[by], int(own[14])*100+int(own[15]))
					return true
				})
				if text := fmt.Sprint(got[id(1)], got[id(2)]); err != nil || text != c.want || len(got) != 2 {
					t.Errorf("%+v: got %s, %v, want %s", c.include, text, err, c.want)
				}
				if sent := statements.take(); len(sent) != 1 {
					t.Errorf("%d statements: %q", len(sent), sent)
				}
				totals := map[model.ID]int64{}
				if err := tx.RelatedTotals(included, []model.ID{id(1), id(3)}, func(key model.ID, total int64) { totals[key] = total }); err != nil || len(totals) != 1 {
					t.Errorf("totals %v, %v", totals, err)
				}
				if sent := statements.take(); len(sent) != 1 {
					t.Errorf("%d statements: %q", len(sent), sent)
				}
				related := tx.relatedStatement(included, []model.ID{id(1), id(2)})
				checkPlan(t, tx, related, name)
				if !store.db.Traits().Lateral && !strings.Contains(related.String(), "AS _sorted") {
					t.Errorf("whole resources are sorted: %s", related.String())
				}
			}
			one := &Included{Include: &query.Include{Relation: posts.Relation("user")}}
			var found []model.ID
			if err := tx.Related(one, []model.ID{id(2), id(9), id(1)}, func(row model.Row) bool { found = append(found, row.ID(0)); return true }); err != nil {
				t.Fatal(err)
			}
			slices.SortFunc(found, func(a, b model.ID) int { return strings.Compare(a.String(), b.String()) })
			if !slices.Equal(found, []model.ID{id(1), id(2)}) {
				t.Errorf("found %v", found)
			}
			checkPlan(t, tx, tx.relatedStatement(one, []model.ID{id(1), id(2)}), name)
		})
	}
}

// checkPlan reports a plan that reads a whole table, or that sorts whole resources on SQLite.
func checkPlan(t *testing.T, tx *Tx, s *statement.Statement, database string) {
	t.Helper()
	explain, scan, column := "EXPLAIN QUERY PLAN ", "SCAN ", 3
	if database == "postgres" {
		explain, scan, column = "EXPLAIN ", "Seq Scan", 0
		if _, err := tx.conn.Exec("SET LOCAL enable_seqscan = off"); err != nil { // the tables are small
			t.Fatal(err)
		}
	}
	var plan strings.Builder
	err := db.Each(tx.conn, func(row model.Row) {
		plan.Write(append(row.AppendText(nil, column), '\n'))
	}, explain+s.String(), s.Args...)
	sorting, reading, _ := strings.Cut(plan.String(), "SCAN _sorted\n") // only ids are sorted
	if err != nil || plan.Len() == 0 || strings.Contains(sorting+reading, scan) || database == "sqlite" && strings.Contains(reading, "TEMP B-TREE") {
		t.Errorf("%s\n%s%v", s.String(), plan.String(), err)
	}
}

// TestListedByRelated: resources that a page has found by a filter through relations are read again in a transaction that writes
// without comparing all related resources with each of them.
func TestListedByRelated(t *testing.T) {
	s := parse(t, relatedSchema)
	var statements recorder
	store, err := Open(context.Background(), "sqlite:"+filepath.Join(t.TempDir(), "test.db"), s, func(o *opening) { o.trace = statements.trace })
	if err != nil {
		t.Fatal(err)
	}
	defer closeStore(t, store)
	users, posts := s.Collection("users"), s.Collection("posts")
	q, err := query.Parse(query.OfList, posts, "filter[user.posts.rank]=2", query.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	var ids, found []model.ID
	write(t, store, func(tx *Tx) error {
		for u := range 2 {
			user := model.ID{6: 0x70, 8: 0x80, 14: 1, 15: byte(u)}
			if _, err := tx.Insert(users, model.Record{model.IDValue(user), model.Null}); err != nil {
				return err
			}
			for p := range 3 {
				r := make(model.Record, len(posts.Columns()))
				ids = append(ids, model.ID{6: 0x70, 8: 0x80, 15: byte(len(ids))})
				r[model.IDColumn], r[posts.Field("rank").Column], r[posts.Field("user_id").Column] = model.IDValue(ids[len(ids)-1]), model.IntValue(int64(u+p)), model.IDValue(user)
				if _, err := tx.Insert(posts, r); err != nil {
					return err
				}
			}
		}
		ids = ids[1:] // not all that pass
		statements.take()
		return tx.EachListed(posts, q.Filter, ids, func(record model.Record) error {
			found = append(found, record.ID(model.IDColumn))
			return nil
		})
	})
	slices.SortFunc(found, model.ID.Compare)
	if !slices.Equal(found, ids) {
		t.Errorf("found %v, want %v", found, ids)
	}
	for _, sql := range statements.take() {
		if strings.Contains(sql, "EXISTS") {
			t.Errorf("related resources are compared with each: %s", sql)
		}
	}
}
