package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/migrate"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/query"
)

// migrated is a migration of things with loss. Each resource is written as the attributes that it has.
type migrated struct {
	before, after string // of the collection things
	rows, want    []string
	refused       string // the step that is in the way; want is nothing then
}

func TestMigrations(t *testing.T) {
	testMigrations(t, map[string]migrated{
		"two become the same": {
			"{attributes: {a: {type: string, maxLength: 9, unique: true}}}", "{attributes: {a: {type: integer, unique: true}}}",
			[]string{`{"a":"1"}`, `{"a":"1.0"}`}, nil, "things: a is converted from string to integer",
		},
		"the default is taken": {
			"{attributes: {a: {type: integer, unique: true}}}", "{attributes: {a: {type: integer, unique: true, default: 7}}, required: [a]}",
			[]string{`{"a":7}`, `{"a":null}`}, nil, "things: a becomes required; resources without a value get the default",
		},
		"the default is free": {
			"{attributes: {a: {type: integer, unique: true}}}", "{attributes: {a: {type: integer, unique: true, default: 8}}, required: [a]}",
			[]string{`{"a":7}`, `{"a":null}`}, []string{`"a":7`, `"a":8`}, "",
		},
		"the same default for all, no longer unique": {
			"{attributes: {a: {type: integer, unique: true}, b: {type: integer}}, unique: [[a, b]]}", "{attributes: {a: {type: integer, default: 7}, b: {type: integer}}, required: [a]}",
			[]string{`{"a":7,"b":1}`, `{"b":1}`, `{"b":1}`}, []string{`"a":7,"b":1`, `"a":7,"b":1`, `"a":7,"b":1`}, "",
		},
		"the same default, and other values of a unique group are dropped": {
			"{attributes: {a: {type: integer}, b: {type: string, maxLength: 9}}, unique: [[a, b]]}",
			"{attributes: {a: {type: integer, default: 7}, b: {type: string, maxLength: 1}}, unique: [[a, b]], required: [a]}",
			[]string{`{"a":7,"b":"xy"}`, `{"b":"xy"}`}, []string{`"a":7,"b":null`, `"a":7,"b":null`}, "",
		},
		"the same default, and other references of a unique group are dropped": {
			"{attributes: {a: {type: integer, maximum: 9}, b: {type: string, format: uuid}}, unique: [[a, b]]}",
			"{attributes: {a: {type: integer, maximum: 8, default: 7}, b: {references: things}}, unique: [[a, b]], required: [a]}",
			[]string{`{"a":7,"b":"` + id(1) + `"}`, `{"b":"` + id(1) + `"}`}, []string{`"a":7,"b":null`, `"a":7,"b":null`}, "",
		},
		"the same default, and other values of a unique group are dropped that were required": {
			"{attributes: {a: {type: integer, maximum: 20}, b: {type: integer, maximum: 9}}, unique: [[a, b]], required: [a]}",
			"{attributes: {a: {type: integer, maximum: 9}, b: {type: integer, maximum: 8, default: 7}}, unique: [[a, b]], required: [b]}",
			[]string{`{"a":11,"b":7}`, `{"a":11}`}, []string{`"a":null,"b":7`, `"a":null,"b":7`}, "",
		},
		"the same default, and references of a unique group are dropped that were required": {
			"{attributes: {a: {type: string, format: uuid}, b: {type: integer}}, unique: [[a, b]], required: [a]}",
			"{attributes: {a: {references: things}, b: {type: integer, default: 7}}, unique: [[a, b]], required: [b]}",
			[]string{`{"a":"` + id(9) + `","b":7}`, `{"a":"` + id(9) + `"}`}, []string{`"a":null,"b":7`, `"a":null,"b":7`}, "",
		},
		"the same default for all": {
			"{}", "{attributes: {a: {type: integer, unique: true, default: 7}}}",
			[]string{`{}`, `{}`}, nil, "things: values of a must be unique",
		},
		"required before, not valid now": {
			"{attributes: {a: {type: string}}, required: [a]}", "{attributes: {a: {type: string, maxLength: 1}}}",
			[]string{`{"a":"x"}`, `{"a":"xy"}`}, []string{`"a":"x"`, `"a":null`}, "",
		},
		"required and not valid": {
			"{attributes: {a: {type: string}}, required: [a]}", "{attributes: {a: {type: string, maxLength: 1}}, required: [a]}",
			[]string{`{"a":"xy"}`}, nil, "things: a is restricted by maxLength",
		},
		"renamed, another type, required": {
			"{attributes: {a: {type: string}}}", "{attributes: {b: {type: number, renamed_from: a}}, required: [b]}",
			[]string{`{"a":"1.5"}`}, []string{`"b":1.5`}, "",
		},
		"its own parent": {
			"{attributes: {up: {type: string}}}", "{parent: {collection: things, attribute: up}}",
			[]string{`{"id":"` + id(1) + `"}`, `{"up":"` + id(1) + `"}`, `{"up":"` + id(2) + `"}`}, []string{`"up":null`, `"up":"` + id(1) + `"`, `"up":null`}, "",
		},
		"no parent": {
			"{parent: {collection: things, attribute: up}}", "{attributes: {note: {type: string}}}",
			[]string{`{"id":"` + id(1) + `"}`, `{"up":"` + id(1) + `"}`}, []string{`"note":null`, `"note":null`}, "",
		},
		"inside an array": {
			"{attributes: {a: {type: array}}}", "{attributes: {a: {type: array, items: {type: string, format: date-time}}}}",
			[]string{`{"a":["2026-01-01T01:00:00+01:00"]}`, `{"a":[1]}`}, []string{`"a":["2026-01-01T00:00:00.000Z"]`, `"a":null`}, "",
		},
		"more digits of a decimal": {
			"{attributes: {a: {type: string, format: decimal, scale: 2, unique: true}}, required: [a]}", "{attributes: {a: {type: string, format: decimal, scale: 3, unique: true}}, required: [a]}",
			[]string{`{"a":"1.00"}`, `{"a":"10.00"}`, `{"a":"-0.05"}`}, []string{`"a":"1.000"`, `"a":"10.000"`, `"a":"-0.050"`}, "",
		},
		"fewer digits of a decimal": {
			"{attributes: {a: {type: string, format: decimal, scale: 2}}}", "{attributes: {a: {type: string, format: decimal, scale: 1}}}",
			[]string{`{"a":"1.50"}`, `{"a":"1.55"}`}, []string{`"a":"1.5"`, `"a":null`}, "",
		},
		"fewer digits of a decimal that is required": {
			"{attributes: {a: {type: string, format: decimal, scale: 2}}, required: [a]}", "{attributes: {a: {type: string, format: decimal, scale: 1}}, required: [a]}",
			[]string{`{"a":"1.55"}`}, nil, "things: a is converted from decimal with scale 2 to decimal with scale 1",
		},
		"a number becomes a decimal": {
			"{attributes: {a: {type: number}}}", "{attributes: {a: {type: string, format: decimal, scale: 2}}}",
			[]string{`{"a":0.1}`, `{"a":0.125}`, `{"a":-3}`}, []string{`"a":"0.10"`, `"a":null`, `"a":"-3.00"`}, "",
		},
		"an integer becomes a decimal, and is renamed": {
			"{attributes: {a: {type: integer}}}", "{attributes: {b: {type: string, format: decimal, scale: 2, renamed_from: a}}}",
			[]string{`{"a":5}`}, []string{`"b":"5.00"`}, "",
		},
		"a decimal becomes text": {
			"{attributes: {a: {type: string, format: decimal, scale: 2}}}", "{attributes: {a: {type: string}}}",
			[]string{`{"a":"5"}`}, []string{`"a":"5.00"`}, "",
		},
		"decimals inside an array": {
			"{attributes: {a: {type: array, items: {type: string, format: decimal, scale: 1}}}}", "{attributes: {a: {type: array, items: {type: string, format: decimal, scale: 2}}}}",
			[]string{`{"a":["1.5"]}`}, []string{`"a":["1.50"]`}, "",
		},
		"names of the database's own": {
			"{attributes: {xmin: {type: string}}}", "{attributes: {ctid: {type: integer, renamed_from: xmin}, tableoid: {type: boolean, default: true}}, required: [tableoid]}",
			[]string{`{"xmin":"5"}`}, []string{`"ctid":5,"tableoid":true`}, "",
		},
	})
}

// testMigrations takes things from one declaration to another.
func testMigrations(t *testing.T, cases map[string]migrated) {
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			old, now := parse(t, "collections: {things: "+c.before+"}"), parse(t, "collections: {things: "+c.after+"}")
			eachDatabase(t, func(t *testing.T, url string) {
				st, err := Open(context.Background(), url, old)
				if err != nil {
					t.Fatal(err)
				}
				for _, body := range c.rows {
					insert(t, st, old.Collection("things"), body)
				}
				closeStore(t, st)
				_, err = migrate.Run(context.Background(), url, now, migrate.Options{AllowLoss: true})
				if c.refused != "" {
					var refused *migrate.RefusedError
					if !errors.As(err, &refused) || len(refused.Steps) != 1 || refused.Steps[0].Text != c.refused {
						t.Errorf("got %v", err)
					}
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				if got := attributesOf(t, open(t, url, now)); !slices.Equal(got, c.want) {
					t.Errorf("got  %s\nwant %s", strings.Join(got, "  "), strings.Join(c.want, "  "))
				}
			})
		})
	}
}

// TestManyResources: more than are read, and written, at a time.
func TestManyResources(t *testing.T) {
	old := parse(t, "collections: {things: {attributes: {a: {type: string}, b: {type: integer}, c: {type: string}, d: {type: string}}}}")
	now := parse(t, `
collections:
  things:
    attributes:
      a: {type: integer}
      b: {type: string}
      c: {type: string, format: date-time}
      d: {type: string, maxLength: 3, default: new}
    required: [d]
`)
	const batchSize, many = 500, 1100
	eachDatabase(t, func(t *testing.T, url string) {
		st, err := Open(context.Background(), url, old)
		if err != nil {
			t.Fatal(err)
		}
		things := old.Collection("things")
		var want []string
		write(t, st, func(tx *Tx) error {
			for i := range many {
				body, becomes := fmt.Sprintf(`{"id":"%s","a":"%d","b":%d,"c":"2026-01-01T00:00:00Z"}`, id(i), i, i), fmt.Sprintf(`"a":%d,"b":"%d","c":"2026-01-01T00:00:00.000Z","d":"new"`, i, i)
				if i%batchSize == 0 || i%7 == 0 { // the first of a statement has no values
					body, becomes = fmt.Sprintf(`{"id":"%s","d":"x"}`, id(i)), `"a":null,"b":null,"c":null,"d":"x"`
				}
				r := record(t, things, body)
				r[things.CreatedColumn()], r[things.UpdatedColumn()] = tx.Now(), tx.Now()
				if _, err := tx.Insert(things, r); err != nil {
					return err
				}
				want = append(want, becomes)
			}
			return nil
		})
		closeStore(t, st)
		if _, err := migrate.Run(context.Background(), url, now, migrate.Options{}); err != nil {
			t.Fatal(err)
		}
		if got := attributesOf(t, open(t, url, now)); !slices.Equal(got, want) {
			t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	})
}

// attributesOf lists the attributes of all things, in the order of their ids, and
// compares the totals with them.
func attributesOf(t *testing.T, st *Store) (list []string) {
	t.Helper()
	things := st.schema.Collection("things")
	read(t, st, func(tx *Tx) {
		var ids []model.ID
		err := db.Each(tx.conn, func(row model.Row) {
			text := string(things.Append(nil, row))
			ids = append(ids, row.ID(model.IDColumn))
			_, rest, _ := strings.Cut(text, `"type":"things",`)
			attributes, _, _ := strings.Cut(rest, `,"created_at"`)
			list = append(list, attributes)
		}, "SELECT "+st.bound().table(things).All+" FROM "+st.bound().table(things).Name+" ORDER BY id")
		if err != nil {
			t.Fatal(err)
		}
		expectTotals(t, tx, things, int64(len(list)))
		for _, parent := range ids {
			kept, err := tx.Total(things, &parent)
			if err != nil {
				t.Fatal(err)
			}
			var counted int64
			if link := things.ParentLink(); link != nil {
				counted, err = tx.Count(things, query.Compare{Column: link.Column, Op: query.Equal, Value: model.IDValue(parent)})
			}
			if err != nil || kept != counted {
				t.Errorf("%s: kept %d, counted %d, %v", parent, kept, counted, err)
			}
		}
	})
	return list
}
