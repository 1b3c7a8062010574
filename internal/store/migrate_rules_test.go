package store

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/plural-go/plural/internal/migrate"
	"github.com/plural-go/plural/internal/query"
)

// TestMigratedRules: computed attributes get their values from the state after the migration, which checks hold for.
func TestMigratedRules(t *testing.T) {
	testMigrations(t, map[string]migrated{
		"a new one, and one that reads it": {
			"{attributes: {a: {type: integer}}}", "{attributes: {c: {type: integer, computed: resource.b * 2}, a: {type: integer}, b: {type: integer, computed: resource.a + 1}}}",
			[]string{`{"a":1}`, `{"a":null}`}, []string{`"c":4,"a":1,"b":2`, `"c":null,"a":null,"b":null`}, "",
		},
		"of values that are converted, renamed, filled in and dropped": {
			"{attributes: {a: {type: string}, b: {type: integer}, c: {type: integer}, up: {type: string, format: uuid}}}",
			"{attributes: {a: {type: integer}, bb: {type: integer, renamed_from: b}, c: {type: integer, default: 5}, up: {references: things}, d: {type: integer, default: 7}," +
				" sum: {type: integer, computed: resource.a + resource.bb + resource.c + resource.d}, top: {type: boolean, computed: resource.up == null}}, required: [c]}",
			[]string{`{"a":"1","b":2}`, `{"a":"x","b":2,"c":1}`, `{"a":"3","b":2,"c":1,"up":"` + id(9) + `"}`},
			[]string{`"a":1,"bb":2,"c":5,"up":null,"d":7,"sum":15,"top":true`, `"a":null,"bb":2,"c":1,"up":null,"d":7,"sum":null,"top":true`, `"a":3,"bb":2,"c":1,"up":null,"d":7,"sum":13,"top":true`}, "",
		},
		"another rule, and one that reads it": {
			"{attributes: {a: {type: integer}, b: {type: integer, computed: resource.a + 1}, c: {type: integer, computed: resource.b * 2}}}",
			"{attributes: {a: {type: integer}, b: {type: integer, computed: resource.a + 2}, c: {type: integer, computed: resource.b * 2}}}",
			[]string{`{"a":1}`}, []string{`"a":1,"b":3,"c":6`}, "",
		},
		"with another type, and exact": {
			"{attributes: {price: {type: string, format: decimal, scale: 2}, n: {type: integer}, total: {type: integer, computed: resource.n}}}",
			"{attributes: {price: {type: string, format: decimal, scale: 2}, n: {type: integer}, total: {type: string, format: decimal, scale: 2, computed: resource.price * resource.n}}, required: [total]}",
			[]string{`{"price":"0.10","n":3}`}, []string{`"price":"0.10","n":3,"total":"0.30"`}, "",
		},
		"in place of a value that was required": {
			"{attributes: {a: {type: integer}, b: {type: string}}, required: [b]}", "{attributes: {a: {type: integer}, b: {type: integer, computed: resource.a}}}",
			[]string{`{"a":1,"b":"x"}`, `{"b":"y"}`}, []string{`"a":1,"b":1`, `"a":null,"b":null`}, "",
		},
		"that depends on the write": {
			"{attributes: {a: {type: string}, b: {type: integer}}, required: [a]}", "{attributes: {a: {type: string, computed: auth.sub}, b: {type: integer}, c: {type: string, format: date-time, computed: now}}}",
			[]string{`{"a":"x","b":1}`}, []string{`"a":null,"b":1,"c":null`}, "",
		},
		"that depends on the write, and is required": {
			"{}", "{attributes: {a: {type: string, computed: auth.sub}}, required: [a]}",
			[]string{`{}`}, nil, "things: new attribute a (string), which is required, but only later writes compute it: let it be optional",
		},
		"of the create": {
			"{attributes: {a: {type: integer}}}", "{attributes: {a: {type: integer}, b: {type: integer, computed: resource.a, when: create}}}",
			[]string{`{"a":1}`}, []string{`"a":1,"b":1`}, "",
		},
		"a check that holds": {
			"{attributes: {a: {type: integer}}}", "{attributes: {a: {type: integer}}, checks: [{rule: resource.a < 3, message: Too many.}]}",
			[]string{`{"a":1}`, `{"a":null}`}, []string{`"a":1`, `"a":null`}, "",
		},
		"unique, and exchanged": {
			"{attributes: {a: {type: integer}, b: {type: integer, unique: true}}}", "{attributes: {a: {type: integer}, b: {type: integer, unique: true, computed: 3 - resource.a}}}",
			[]string{`{"a":1,"b":1}`, `{"a":2,"b":2}`}, []string{`"a":1,"b":2`, `"a":2,"b":1`}, "",
		},
		"unique, and equal": {
			"{attributes: {a: {type: integer}}}", "{attributes: {a: {type: integer}, b: {type: integer, unique: true, computed: resource.a % 2}}}",
			[]string{`{"a":1}`, `{"a":3}`}, nil, "things: values of b must be unique",
		},
		"too long": {
			"{attributes: {a: {type: string}}}", "{attributes: {a: {type: string}, b: {type: string, maxLength: 3, computed: resource.a + '!'}}}",
			[]string{`{"a":"abc"}`}, nil, "things: new attribute b (string), computed for all resources",
		},
		"out of range": {
			"{attributes: {a: {type: integer}}}", "{attributes: {a: {type: integer}, b: {type: integer, computed: resource.a + 1}}}",
			[]string{`{"a":9223372036854775807}`}, nil, "things: new attribute b (integer), computed for all resources",
		},
		"required, and none": {
			"{attributes: {a: {type: integer}}}", "{attributes: {a: {type: integer}, b: {type: integer, computed: resource.a}}, required: [b]}",
			[]string{`{}`}, nil, "things: new attribute b (integer), computed for all resources",
		},
		"a check of a value that is computed": {
			"{attributes: {a: {type: integer}}}", "{attributes: {a: {type: integer}, b: {type: integer, computed: resource.a * 2}}, checks: [{rule: resource.b < 4, message: Too many.}]}",
			[]string{`{"a":2}`}, nil, "things: new check: resource.b < 4",
		},
		"a check of a default": {
			"{attributes: {a: {type: integer}}, checks: [{rule: resource.a < 4, message: Too many.}]}", "{attributes: {a: {type: integer, default: 5}}, required: [a], checks: [{rule: resource.a < 4, message: Too many.}]}",
			[]string{`{"a":null}`}, nil, "things: check of values that change: resource.a < 4",
		},
		"a check of later writes": {
			"{attributes: {a: {type: integer}}}", "{attributes: {a: {type: integer}}, checks: [{rule: 'previous == null || resource.a > previous.a', message: Fewer.}]}",
			[]string{`{"a":1}`}, []string{`"a":1`}, "",
		},
	})
}

const ordersBefore = `
collections:
  orders:
    timestamps: false
    attributes:
      price: {type: string, format: decimal, scale: 2}
      quantity: {type: integer}
      state: {type: string}
      note: {type: string}
`

const ordersAfter = `
collections:
  orders:
    timestamps: false
    attributes:
      price: {type: string, format: decimal, scale: 2}
      quantity: {type: integer}
      state: {type: string, enum: [draft, sent, lost], default: draft, transitions: {draft: [sent]}}
      note: {type: string, write_once: true}
      total: {type: string, format: decimal, scale: 2, minimum: 0, computed: resource.price * resource.quantity}
      by: {type: string, computed: auth.sub}
    search: [by]
    checks:
      - {rule: resource.quantity > 0, message: An order needs something., attribute: quantity}
      - {rule: resource.price > 1 || resource.state != 'sent', message: This is sent for free.}
      - {rule: auth.sub != null, message: Nobody.}
`

// TestPlanOfRules: a plan shows what rules compute and refuse, and states that nothing leads to. The migration is refused, with or
// without loss.
func TestPlanOfRules(t *testing.T) {
	eachDatabase(t, func(t *testing.T, url string) {
		old, now := parse(t, ordersBefore), parse(t, ordersAfter)
		st := open(t, url, old)
		for _, body := range []string{
			`{"id":"` + id(1) + `","price":"1.50","quantity":2}`,
			`{"id":"` + id(2) + `","price":"1.00","quantity":0,"state":"sent"}`,
			`{"id":"` + id(3) + `","price":"1.00","quantity":-1,"state":"lost"}`,
			`{"id":"` + id(4) + `","price":"2.00","quantity":-3,"state":"sent"}`,
			`{"id":"` + id(5) + `","state":"lost"}`,
			`{"id":"` + id(6) + `","price":"9.00","quantity":1,"state":"new"}`,
			`{"id":"` + id(7) + `","price":"9.00","quantity":2,"state":"draft"}`,
		} {
			insert(t, st, old.Collection("orders"), body)
		}
		want := []string{
			`rewriting; orders: state is restricted by enum; checks 6 resources; 1 resource violates this: ` + id(6) + ` "new" (Must be one of "draft", "sent", "lost"); blocked: true`,
			"rewriting; orders: state becomes required; resources without a value get the default; writes 1 resource",
			"rewriting; orders: state gets a lifecycle; checks 6 resources; 2 resources are in a state that nothing leads to: " + id(3) + ` "lost", ` + id(5) + ` "lost"`,
			"rewriting; orders: later writes cannot change note (write_once); touches no resource",
			"additive; orders: new attribute total (decimal with scale 2), computed for all resources; computes the value of 7 resources; 2 resources violate this: " +
				id(3) + ", " + id(4) + " (Must be at least 0); blocked: true; " + id(1) + ` null -> "3.00"; ` + id(2) + ` null -> "0.00"; ` + id(6) + ` null -> "9.00"`,
			"additive; orders: new attribute by (string), computed by later writes; existing resources have none; touches no resource",
			"rewriting; orders: new check: resource.quantity > 0; checks 7 resources; 1 resource violates this: " + id(2) + " 0 (An order needs something); blocked: true",
			"rewriting; orders: new check: resource.price > 1 || resource.state != 'sent'; checks 7 resources; 1 resource violates this: " + id(2) + ` "1.00" and "sent" (This is sent for free); blocked: true`,
			"rewriting; orders: new check of later writes: auth.sub != null; touches no resource",
			"additive; orders: search in by; indexes 7 resources",
		}
		steps, _, err := migrate.Plan(context.Background(), url, now, migrate.Whole)
		if got := planLines(steps); err != nil || !slices.Equal(got, want) {
			t.Errorf("%v, got\n%s\nwant\n%s", err, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		for _, allow := range []bool{false, true} {
			_, err := migrate.Run(context.Background(), url, now, migrate.Options{AllowLoss: allow})
			var refused *migrate.RefusedError
			if !errors.As(err, &refused) || !refused.Blocked || len(refused.Steps) != 4 {
				t.Errorf("got %v", err)
			}
		}
	})
}

// TestComputedWhenOpened: a server adds computed attributes when it starts, unless a value violates a constraint.
func TestComputedWhenOpened(t *testing.T) {
	const before = "collections: {things: {attributes: {a: {type: string}}}}"
	eachDatabase(t, func(t *testing.T, url string) {
		st := open(t, url, parse(t, before))
		insert(t, st, st.schema.Collection("things"), `{"id":"`+id(1)+`","a":"Ab"}`)
		for _, c := range []struct{ rule, applied, refused string }{
			{"{type: string, maxLength: 2, computed: resource.a + 'c'}", "", "the migration is refused, and nothing was changed:\n" +
				"  - things: new attribute b (string), computed for all resources: 1 resource violates this: " + id(1) + " (Must be at most 2 characters long, but has 3)\nChange these resources first, or the schema."},
			{"{type: string, maxLength: 3, index: true, computed: resource.a + 'c'}", "things: new attribute b (string), computed for all resources|things: new index on b", ""},
			{"{type: string, maxLength: 3, index: true, computed: resource.a + 'd'}", "", "the database does not fit the schema:\n  - things: b is computed anew (rewriting)\n" +
				`"plural migrate --plan" shows the steps in detail, and "plural migrate" applies them.`},
		} {
			var applied []string
			now := parse(t, strings.Replace(before, "a: {type: string}", "a: {type: string}, b: "+c.rule, 1))
			st, err := Open(context.Background(), url, now, MigrateAdditive(func(step *migrate.Step) { applied = append(applied, step.Text) }))
			if got := strings.Join(applied, "|"); got != c.applied || err == nil != (c.refused == "") || err != nil && err.Error() != c.refused {
				t.Errorf("%s: applied %s; %v", c.rule, got, err)
			}
			if err == nil {
				if got := attributesOf(t, st); !slices.Equal(got, []string{`"a":"Ab","b":"Abc"`}) {
					t.Errorf("got %s", got)
				}
				closeStore(t, st)
			}
		}
	})
}

// TestSearchOfComputed: the words of computed values are found.
func TestSearchOfComputed(t *testing.T) {
	eachDatabase(t, func(t *testing.T, url string) {
		versions := []string{
			"collections: {things: {attributes: {a: {type: string}}}}",
			"collections: {things: {attributes: {a: {type: string}, b: {type: string, computed: resource.a + ' shoe'}}, search: [b]}}",
			"collections: {things: {attributes: {a: {type: string}, b: {type: string, computed: resource.a + ' boot'}}, search: [b]}}",
		}
		st := open(t, url, parse(t, versions[0]))
		insert(t, st, st.schema.Collection("things"), `{"a":"red"}`)
		for i, word := range []string{"shoe", "boot"} {
			now := parse(t, versions[i+1])
			if _, err := migrate.Run(context.Background(), url, now, migrate.Options{}); err != nil {
				t.Fatal(err)
			}
			read(t, open(t, url, now), func(tx *Tx) {
				for _, each := range []string{"shoe", "boot"} {
					n, err := tx.Count(now.Collection("things"), query.Search{Columns: now.Collection("things").SearchColumns(), Words: []string{each}})
					if err != nil || (n == 1) != (each == word) {
						t.Errorf("%s: %d, %v", each, n, err)
					}
				}
			})
		}
	})
}
