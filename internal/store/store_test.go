package store

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/pgtest"
	"github.com/plural-go/plural/internal/query"
	"github.com/plural-go/plural/problem"
	"github.com/plural-go/plural/schema"
)

func TestMain(m *testing.M) {
	if stage := os.Getenv("PLURAL_TEST_STOP_AT"); stage != "" {
		migrateAndStop(stage, os.Getenv("PLURAL_TEST_DATABASE"))
		return
	}
	os.Exit(pgtest.Run(m))
}

// eachDatabase runs a test with the URL of a fresh database of each kind.
func eachDatabase(t *testing.T, test func(t *testing.T, url string)) {
	t.Helper()
	t.Run("sqlite", func(t *testing.T) { test(t, "sqlite:"+filepath.Join(t.TempDir(), "test.db")) })
	t.Run("postgres", func(t *testing.T) { test(t, pgtest.URL(t)) })
}

// eachStore runs a test on a fresh store of each kind.
func eachStore(t *testing.T, s *model.Schema, test func(*testing.T, *Store)) {
	t.Helper()
	eachDatabase(t, func(t *testing.T, url string) { test(t, open(t, url, s)) })
}

func open(t *testing.T, url string, s *model.Schema) *Store {
	t.Helper()
	st, err := Open(context.Background(), url, s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closeStore(t, st) })
	return st
}

func closeStore(t *testing.T, st *Store) {
	t.Helper()
	if err := st.Close(); err != nil {
		t.Error("closing:", err)
	}
}

func parse(t *testing.T, yaml string) *model.Schema {
	t.Helper()
	file, err := schema.Parse([]byte(yaml))
	if err != nil {
		t.Fatal(err)
	}
	return (*model.Schema)(file.Schema)
}

// record decodes the body of a POST.
func record(t *testing.T, c *model.Collection, body string) model.Record {
	t.Helper()
	inputs, _, err := c.Decode([]byte(body), model.DecodeOptions{Mode: model.Create, MaxDepth: 64})
	if err != nil {
		t.Fatal(err)
	}
	return inputs[0].Values
}

// insert stores a resource with timestamps, and an id if the body has none.
func insert(t *testing.T, st *Store, c *model.Collection, body string) model.Record {
	t.Helper()
	r := record(t, c, body)
	write(t, st, func(tx *Tx) error {
		if r.Null(model.IDColumn) {
			r[model.IDColumn] = model.IDValue(tx.NewID())
		}
		if !c.NoTimestamps {
			r[c.CreatedColumn()], r[c.UpdatedColumn()] = tx.Now(), tx.Now()
		}
		_, err := tx.Insert(c, r)
		return err
	})
	return r
}

func write(t *testing.T, st *Store, fn func(*Tx) error) {
	t.Helper()
	if err := st.Write(context.Background(), fn); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, st *Store, fn func(*Tx)) {
	t.Helper()
	tx, err := st.Read(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Close()
	fn(tx)
}

const everyKind = `
collections:
  things:
    attributes:
      text: {type: string}
      integer: {type: integer}
      number: {type: number}
      boolean: {type: boolean}
      decimal: {type: string, format: decimal, scale: 2}
      uuid: {type: string, format: uuid}
      date: {type: string, format: date}
      moment: {type: string, format: date-time}
      object: {type: object}
      array: {type: array}
`

// readPage calls visit with each row of a page.
func readPage(p *Page, visit func(model.Row)) error {
	for {
		row, err := p.Next()
		if err != nil || row == nil {
			return err
		}
		visit(row)
	}
}

// readRows calls visit for each row, which is the current one.
func readRows(rows *Rows, visit func()) error {
	for {
		more, err := rows.Next()
		if err != nil || !more {
			return err
		}
		visit()
	}
}

func TestEveryKindRoundTrip(t *testing.T) {
	s := parse(t, everyKind)
	things := s.Collection("things")
	bodies := []string{
		`{}`,
		`{"text":"","integer":0,"number":0,"boolean":false,"uuid":"00000000-0000-0000-0000-000000000000","date":"0001-01-01","moment":"0000-01-01T00:00:00Z","object":{},"array":[]}`,
		`{"text":"Zürich 🦄 \u0001 \"\\","integer":-9223372036854775808,"number":-1.7976931348623157e308,"boolean":true,"uuid":"ffffffff-ffff-ffff-ffff-ffffffffffff","date":"9999-12-31","moment":"9999-12-31T23:59:59.999Z","object":{"b":1,"a":{"c":[null,1.5,"x"]}},"array":[1,[2],{"z":1,"a":2}]}`,
		`{"integer":9223372036854775807,"number":5e-324,"moment":"1999-12-31T23:59:59.001+02:00","object":{"n":9007199254740993}}`,
	}
	eachStore(t, s, func(t *testing.T, st *Store) {
		for _, body := range bodies {
			want := insert(t, st, things, body)
			read(t, st, func(tx *Tx) {
				got, err := tx.Get(things, nil, want.ID(model.IDColumn))
				if err != nil || !slices.Equal(got, want) {
					t.Errorf("%s\ngot  %s\nwant %s\n%v", body, things.Append(nil, got), things.Append(nil, want), err)
				}
			})
		}
	})
}

func TestScopeHidesWhatItExcludes(t *testing.T) {
	s := (*model.Schema)(schema.Example())
	users := s.Collection("users")
	eachStore(t, s, func(t *testing.T, st *Store) {
		ada := insert(t, st, users, `{"name":"Ada","email":"ada@example.com"}`)
		hidden := query.Compare{Column: users.Field("name").Column, Op: query.Equal, Value: model.TextValue("Bob")}
		read(t, st, func(tx *Tx) {
			got, err := tx.Get(users, hidden, ada.ID(model.IDColumn))
			if got != nil || err != nil {
				t.Errorf("got %v, %v", got, err)
			}
			n, err := tx.Count(users, hidden)
			if n != 0 || err != nil {
				t.Errorf("counted %d, %v", n, err)
			}
		})
	})
}

func TestFailedWriteLeavesNothing(t *testing.T) {
	s := (*model.Schema)(schema.Example())
	users := s.Collection("users")
	eachStore(t, s, func(t *testing.T, st *Store) {
		refusal := errors.New("refused")
		for name, fail := range map[string]func(){
			"error": nil,
			"panic": func() { panic("on purpose") },
		} {
			err := st.Write(context.Background(), func(tx *Tx) error {
				r := record(t, users, `{"name":"Ada","email":"ada@example.com"}`)
				r[model.IDColumn] = model.IDValue(tx.NewID())
				r[users.CreatedColumn()], r[users.UpdatedColumn()] = tx.Now(), tx.Now()
				if _, err := tx.Insert(users, r); err != nil {
					return err
				}
				if fail != nil {
					fail()
				}
				return refusal
			})
			if !fault.Is(err, problem.CodeInternal) {
				t.Errorf("%s: got %v", name, err)
			}
		}
		read(t, st, func(tx *Tx) {
			expectTotals(t, tx, users, 0)
			changes, err := db.One(tx.conn, nil, "SELECT 1 FROM "+db.ChangesTable)
			if changes || err != nil {
				t.Errorf("the change log has something, or %v", err)
			}
		})
	})
}

// expectTotals compares the kept total with the expected one and with reality.
func expectTotals(t *testing.T, tx *Tx, c *model.Collection, want int64) {
	t.Helper()
	kept, err := tx.Total(c, nil)
	if err != nil {
		t.Fatal(err)
	}
	counted, err := tx.Count(c, nil)
	if err != nil {
		t.Fatal(err)
	}
	if kept != want || counted != want {
		t.Errorf("%s: kept %d, counted %d, want %d", c.Name, kept, counted, want)
	}
}

func TestTotalsFollowEveryChange(t *testing.T) {
	s := (*model.Schema)(schema.Example())
	users, posts := s.Collection("users"), s.Collection("posts")
	parent := posts.ParentLink().Column
	eachStore(t, s, func(t *testing.T, st *Store) {
		ada := insert(t, st, users, `{"name":"Ada","email":"ada@example.com"}`)
		bob := insert(t, st, users, `{"name":"Bob","email":"bob@example.com"}`)
		adaID, bobID := ada.ID(model.IDColumn), bob.ID(model.IDColumn)
		expect := func(all, ofAda, ofBob int64) {
			t.Helper()
			read(t, st, func(tx *Tx) {
				expectTotals(t, tx, posts, all)
				a, _ := tx.Total(posts, &adaID)
				b, _ := tx.Total(posts, &bobID)
				if a != ofAda || b != ofBob {
					t.Errorf("of Ada %d, want %d; of Bob %d, want %d", a, ofAda, b, ofBob)
				}
			})
		}
		expect(0, 0, 0)
		post := insert(t, st, posts, `{"user_id":"`+adaID.String()+`"}`)
		insert(t, st, posts, `{}`)
		expect(2, 1, 0)
		moved := slices.Clone(post)
		moved[parent] = model.IDValue(bobID)
		write(t, st, func(tx *Tx) error { _, err := tx.Update(posts, post, moved); return err })
		expect(2, 0, 1)
		write(t, st, func(tx *Tx) error { _, err := tx.Delete(posts, moved); return err })
		expect(1, 0, 0)
	})
}
