package store

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/migrate"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/pgtest"
)

// TestReferencesOfAnyName: collections that have names like those of rows, targets and columns in SQL. References that
// lead somewhere stay, also those to the same collection, and others become null.
func TestReferencesOfAnyName(t *testing.T) {
	names := []string{"target", "v", "row", "number", "listed", "plural-row", "plural-target", "t"}
	for _, kind := range []string{"{type: string, format: uuid}", "{type: string}"} {
		before, after := "collections:\n", "collections:\n"
		for i, name := range names {
			next := names[(i+1)%len(names)]
			text := "  %s: {singular: one-%s, timestamps: false, attributes: {own: %s, target: %s, id_of: {type: integer}}}\n"
			before += fmt.Sprintf(text, name, name, kind, kind)
			after += fmt.Sprintf(text, name, name, "{references: "+name+"}", "{references: "+next+"}")
		}
		eachDatabase(t, func(t *testing.T, url string) {
			old, now := parse(t, before), parse(t, after)
			st, err := Open(context.Background(), url, old)
			if err != nil {
				t.Fatal(err)
			}
			var want []string
			for i, name := range names {
				next := (i + 1) % len(names)
				for j, body := range []string{
					`"own":"` + id(10*i) + `","target":"` + id(10*next) + `"`,
					`"own":"` + id(10*next) + `","target":"` + id(10*i) + `"`, // each is one of the other collection
				} {
					insert(t, st, old.Collection(name), `{"id":"`+id(10*i+j)+`",`+body+`}`)
					want = append(want, name+" "+id(10*i+j)+" "+[]string{body, `"own":null,"target":null`}[j])
				}
			}
			closeStore(t, st)
			steps, err := migrate.Run(context.Background(), url, now, migrate.Options{AllowLoss: true})
			if err != nil {
				t.Fatal(err)
			}
			for _, step := range steps {
				if strings.Contains(step.Text, "refers to") && step.Violations != 1 {
					t.Errorf("%s: %d violations", step.Text, step.Violations)
				}
			}
			var got []string
			st = open(t, url, now)
			read(t, st, func(tx *Tx) {
				for _, name := range names {
					c := now.Collection(name)
					err := db.Each(tx.conn, func(row model.Row) {
						text := string(c.Append(nil, row))
						start, end := strings.Index(text, `"own"`), strings.Index(text, `,"id_of"`)
						got = append(got, name+" "+row.ID(model.IDColumn).String()+" "+text[start:end])
					}, "SELECT "+st.bound().table(c).All+" FROM "+st.bound().table(c).Name+" ORDER BY id")
					if err != nil {
						t.Fatal(err)
					}
				}
			})
			if !slices.Equal(got, want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		})
	}
}

// TestNewUniqueValues: a survey finds the resources that a unique index would refuse, and no others.
func TestNewUniqueValues(t *testing.T) {
	for name, c := range map[string]struct {
		definition string
		values     []string
		twice      []int // resources with the values of an earlier one
	}{
		"text":      {"type: string, maxLength: 20", []string{`""`, `"a"`, `"A"`, `"á"`, `"a\u0301"`, `"a "`, `" a"`, `"ß"`, `"ss"`, `null`, `null`, `"á"`, `""`}, []int{11, 12}},
		"numbers":   {"type: number", []string{`1`, `1.0`, `0`, `-0.0`, `1e0`, `1.5`, `9007199254740992`, `9007199254740994`, `5e-324`}, []int{1, 3, 4}},
		"integers":  {"type: integer", []string{`9007199254740992`, `9007199254740993`, `-9223372036854775808`, `9223372036854775807`, `9007199254740993`}, []int{4}},
		"decimals":  {"type: string, format: decimal, scale: 2", []string{`"1"`, `"1.00"`, `"10"`, `"0"`, `"-0.00"`, `"-1"`}, []int{1, 4}},
		"dates":     {"type: string, format: date-time", []string{`"2026-01-01T00:00:00Z"`, `"2026-01-01T01:00:00+01:00"`, `"2026-01-01T00:00:00.001Z"`}, []int{1}},
		"ids":       {"type: string, format: uuid", []string{`"01936f2e-7d3c-7a4b-9c5d-0123456789ab"`, `"01936F2E-7D3C-7A4B-9C5D-0123456789AB"`}, []int{1}},
		"a default": {"type: string, maxLength: 20, default: a", []string{`"a"`, `null`, `"A"`, `null`}, []int{1, 3}},
	} {
		t.Run(name, func(t *testing.T) {
			with := func(keyword, required string) *model.Schema {
				return parse(t, "collections: {things: {timestamps: false, attributes: {a: {"+c.definition+keyword+"}, b: {type: integer, default: 1}}"+required+"}}")
			}
			old, now := with("", ""), with(", unique: true", "")
			if name == "a default" {
				now = with(", unique: true", ", required: [a]")
			}
			test := func(t *testing.T, url string) {
				st, err := Open(context.Background(), url, old)
				if err != nil {
					t.Fatal(err)
				}
				things := old.Collection("things")
				for i, value := range c.values {
					body := fmt.Sprintf(`{"id":"%s","a":%s}`, id(i), value)
					insert(t, st, things, body)
				}
				closeStore(t, st)
				steps, _, err := migrate.Plan(context.Background(), url, now, migrate.Whole)
				if err != nil {
					t.Fatal(err)
				}
				var want []string
				for _, i := range c.twice {
					want = append(want, id(i))
				}
				for _, step := range steps {
					if got := fmt.Sprint(idsOfExamples(step)); strings.Contains(step.Text, "must be unique") && (got != fmt.Sprint(want) || step.Violations != int64(len(want))) {
						t.Errorf("%d violations: %s, want %s", step.Violations, got, want)
					}
				}
				// Without them, the index accepts the others.
				st = open(t, url, old)
				write(t, st, func(tx *Tx) error {
					for _, i := range c.twice {
						if _, err := tx.conn.Exec("DELETE FROM things WHERE id = $1", model.IDValue(idOf(t, i))); err != nil {
							return err
						}
					}
					return nil
				})
				closeStore(t, st)
				if _, err := migrate.Run(context.Background(), url, now, migrate.Options{}); err != nil {
					t.Error(err)
				}
			}
			eachDatabase(t, test)
			t.Run("another collation", func(t *testing.T) { test(t, otherCollation(t)) })
		})
	}
}

func idOf(t *testing.T, n int) model.ID {
	t.Helper()
	parsed, ok := model.ParseID(id(n))
	if !ok {
		t.Fatal("no id")
	}
	return parsed
}

// otherCollation is a PostgreSQL database whose collation is not C.
func otherCollation(t *testing.T) string {
	t.Helper()
	database := pgtest.URL(t)
	u, err := url.Parse(database)
	if err != nil {
		t.Fatal(err)
	}
	other := u.Path[1:] + "_icu"
	execute(t, database, "CREATE DATABASE "+other+" LOCALE_PROVIDER icu ICU_LOCALE 'en-u-ks-level1' LC_COLLATE 'C' LC_CTYPE 'C' ENCODING 'UTF8' TEMPLATE template0")
	t.Cleanup(func() { execute(t, database, "DROP DATABASE "+other+" WITH (FORCE)") })
	u.Path = "/" + other
	return u.String()
}

// TestManyUniqueValues: values that become equal are found, in the order of ids, also if they do not all fit into
// memory.
func TestManyUniqueValues(t *testing.T) {
	keys := migrate.MaxKeys
	t.Cleanup(func() { migrate.MaxKeys = keys })
	old := parse(t, "collections: {things: {timestamps: false, attributes: {a: {type: string, maxLength: 9, unique: true}}}}")
	now := parse(t, "collections: {things: {timestamps: false, attributes: {a: {type: integer, unique: true}}}}")
	eachDatabase(t, func(t *testing.T, url string) {
		st, err := Open(context.Background(), url, old)
		if err != nil {
			t.Fatal(err)
		}
		var want []string
		for i := range 40 {
			value := fmt.Sprint(i / 2)
			switch {
			case i == 39:
				value = "x"
			case i%2 == 1:
				value += ".0"
			}
			insert(t, st, old.Collection("things"), `{"id":"`+id(i)+`","a":"`+value+`"}`)
			if i%2 == 1 && len(want) < 10 {
				want = append(want, id(i))
			}
		}
		closeStore(t, st)
		for _, migrate.MaxKeys = range []int64{100, 20, 1} {
			steps, _, err := migrate.Plan(context.Background(), url, now, migrate.Whole)
			if err != nil || len(steps) != 1 {
				t.Fatal(len(steps), err)
			}
			got := steps[0]
			if got.Violations != 20 || fmt.Sprint(idsOfExamples(got)) != fmt.Sprint(want) || got.Problem != "another resource has the same value" || !got.Blocked {
				t.Errorf("%d at a time: %s", migrate.MaxKeys, got.Complaint())
			}
		}
	})
}

func idsOfExamples(step *migrate.Step) (ids []model.ID) {
	for _, example := range step.Examples {
		ids = append(ids, example.ID)
	}
	return ids
}
