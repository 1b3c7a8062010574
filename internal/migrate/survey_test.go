package migrate

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/db/databases"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/pgtest"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Run(m)) }

// counted counts the statements of a connection.
type counted struct {
	db.Conn
	statements, most int // most is the largest number of rows that were read at a time
}

func (c *counted) Query(sql string, args ...model.Value) (db.Rows, error) {
	c.statements++
	rows, err := c.Conn.Query(sql, args...)
	return &countedRows{Rows: rows, of: c}, err
}

func (c *counted) Exec(sql string, args ...model.Value) (int, error) {
	c.statements++
	return c.Conn.Exec(sql, args...)
}

type countedRows struct {
	db.Rows
	of   *counted
	rows int
}

func (r *countedRows) Next() (bool, error) {
	more, err := r.Rows.Next()
	if more {
		r.rows++
		r.of.most = max(r.of.most, r.rows)
	}
	return more, err
}

const surveyed = `
collections:
  users: {timestamps: false}
  posts:
    timestamps: false
    attributes:
      a: {type: string, maxLength: 9}
      b: {type: integer}
      c: {type: string, format: uuid}
      d: {type: string}
      e: {type: string}
`

// surveyedRows writes posts: of each ten one has the values of another, refers to nothing, or has no value.
func surveyedRows(t *testing.T, b db.Database, s *model.Schema, n int, text string) {
	t.Helper()
	users, posts := db.NewTable(b, s.Collection("users")), db.NewTable(b, s.Collection("posts"))
	rows := make([]model.Record, n)
	for i := range rows {
		row := model.Record{model.IDValue(numbered(i)), model.TextValue(fmt.Sprint(i)), model.IntValue(int64(i)), model.IDValue(numbered(1)),
			model.TextValue(fmt.Sprint(i)), model.TextValue(text), model.IntValue(1)}
		if i%10 == 9 {
			row[1], row[2], row[3], row[4] = model.TextValue(fmt.Sprint(i-1)), model.Null, model.IDValue(numbered(2)), model.TextValue("x")
		}
		rows[i] = row
	}
	err := db.Write(context.Background(), b, func(c db.Conn) error {
		_, err := c.Exec("INSERT INTO "+users.Name+" ("+users.All+") VALUES ($1, $2)", model.IDValue(numbered(1)), model.IntValue(1))
		if err != nil {
			return err
		}
		return db.ExecEach(c, "INSERT INTO "+posts.Name+" ("+posts.All+") VALUES ($1, $2, $3, $4, $5, $6, $7)", rows)
	})
	if err != nil {
		t.Fatal(err)
	}
}

func numbered(n int) model.ID {
	id, _ := model.ParseID(fmt.Sprintf("00000000-0000-7000-8000-%012x", n))
	return id
}

// TestSurveyStatements: the number of statements of a survey does not depend on the number of resources, and it
// reads no more than the examples. Values that only Go can judge are read in batches.
func TestSurveyStatements(t *testing.T) {
	judge := func(t *testing.T, url string, n int, text string, changes ...string) (c *counted, steps string) {
		b, err := databases.Open(context.Background(), url, db.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer b.Close()
		old, now := parseSchema(t, surveyed), parseSchema(t, strings.NewReplacer(changes...).Replace(surveyed))
		if err := Fit(context.Background(), b, old, time.Now(), nil, func(db.Conn) error { return nil }); err != nil {
			t.Fatal(err)
		}
		surveyedRows(t, b, old, n, text)
		err = b.Migrate(context.Background(), func(conn db.Conn) error {
			p, err := makePlan(conn, b, now, Whole)
			if err != nil {
				return err
			}
			c = &counted{Conn: conn}
			m := &migration{survey: survey{plan: p, conn: c, dialect: b, traits: b.Traits()}}
			if err := m.run(); err != nil {
				return err
			}
			for _, step := range p.steps {
				steps += fmt.Sprintf("%s: %d of %d (%s)\n", step.Text, step.Violations, n, step.Problem)
			}
			if err := db.ExecAll(c, m.addColumns(nil)...); err != nil {
				return err
			}
			return m.changeValues()
		})
		if err != nil {
			t.Fatal(err)
		}
		return c, steps
	}
	sets := []string{
		"a: {type: string, maxLength: 9}", "a: {type: string, maxLength: 9, unique: true}",
		"b: {type: integer}", "b: {type: integer, default: 7}",
		"c: {type: string, format: uuid}", "c: {references: users}",
		"e: {type: string}", "e: {type: string}\n      f: {type: string}\n    required: [b, f]\n    unique: [[b, c]]",
	}
	for name, database := range pgtest.Databases() {
		t.Run(name, func(t *testing.T) {
			few, _ := judge(t, database(t), 200, "", sets...)
			many, steps := judge(t, database(t), 1200, "", sets...)
			const want = `posts: b becomes required; resources without a value get the default: 0 of 1200 ()
posts: c refers to users: 120 of 1200 (no resource of users has this id)
posts: new attribute f (string), which is required and has no default for existing resources: 1200 of 1200 (it has no value)
posts: values of b, c must be unique: 0 of 1200 ()
posts: values of a must be unique: 120 of 1200 (another resource has the same value)
`
			if steps != want {
				t.Errorf("got\n%s\nwant\n%s", steps, want)
			}
			if few.statements != many.statements || many.most != maxExamples {
				t.Errorf("%d statements with 200 resources, %d with 1,200; %d rows were read at a time", few.statements, many.statements, many.most)
			}
			converted, steps := judge(t, database(t), 1200, "", "d: {type: string}", "d: {type: integer}")
			if steps != "posts: d is converted from string to integer: 120 of 1200 (Cannot be converted to integer)\n" || converted.most != db.BatchRows {
				t.Errorf("%d rows were read at a time; got %s", converted.most, steps)
			}
			// So are those that rules read, and resources whose values they compute.
			computed, steps := judge(t, database(t), 20_000, "", "e: {type: string}", "e: {type: string}\n      f: {type: integer, computed: resource.b * 2}\n    checks: [{rule: resource.f >= 0, message: Less.}]")
			if steps != "posts: new attribute f (integer), computed for all resources: 0 of 20000 ()\nposts: new check: resource.f >= 0: 0 of 20000 ()\n" || computed.most != db.BatchRows {
				t.Errorf("%d rows were read at a time; got %s", computed.most, steps)
			}
			// Each row has 64 KiB.
			long, _ := judge(t, database(t), 150, strings.Repeat("x", 1<<16), "e: {type: string}", "e: {type: string, maxLength: 70000}")
			if long.most > db.BatchBytes>>16+1 {
				t.Errorf("%d long rows were read at a time", long.most)
			}
		})
	}
}
