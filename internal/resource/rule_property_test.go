package resource

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/cel-go/common/types"
	"pgregory.net/rapid"

	"github.com/plural-go/plural/internal/auth"
	"github.com/plural-go/plural/internal/expression"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/pgtest"
	"github.com/plural-go/plural/internal/query"
	"github.com/plural-go/plural/internal/statement"
	"github.com/plural-go/plural/internal/store"
	"github.com/plural-go/plural/schema"
)

const ruledFile = `
collections:
  things:
    timestamps: false
    attributes:
      text: {type: string}
      name: {type: string}
      whole: {type: integer}
      number: {type: number}
      cost: {type: string, format: decimal, scale: 2}
      flag: {type: boolean}
      owner: {type: string, format: uuid}
      day: {type: string, format: date}
      at: {type: string, format: date-time}
      next_id: {references: things}
    required: [name]
`

// TestRulesSelectWhatCELAllows holds the filter that a rule becomes to cel-go's own
// evaluation of the rule, on random rules and callers, in memory and on every store.
func TestRulesSelectWhatCELAllows(t *testing.T) {
	file, err := schema.Parse([]byte(ruledFile))
	if err != nil {
		t.Fatal(err)
	}
	things := (*model.Schema)(file.Schema).Collection("things")
	rows := ruledRows(things)
	for name, url := range pgtest.Databases() {
		t.Run(name, func(t *testing.T) {
			st, err := store.Open(context.Background(), url(t), (*model.Schema)(file.Schema))
			if err != nil {
				t.Fatal(err)
			}
			defer st.Close()
			err = st.Write(context.Background(), func(tx *store.Tx) error {
				_, _, err := tx.InsertAll(things, rows)
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			rapid.Check(t, func(rt *rapid.T) {
				text, caller := drawRule(3).Draw(rt, "rule"), drawCaller(rt)
				want := allowedByCEL(rt, things, rows, text, caller)
				filter := compiledRule(rt, (*model.Schema)(file.Schema), text, caller)
				if got := matching(rows, filter); !slices.Equal(got, want) {
					rt.Fatalf("%s\nfor %+v\nmatches  %v\nCEL says %v", text, caller, got, want)
				}
				if got := selecting(rt, st, things, filter); !slices.Equal(got, want) {
					rt.Fatalf("%s\nfor %+v\nselects  %v\nCEL says %v", text, caller, got, want)
				}
			})
		})
	}
}

// ruledRows is rows of values that are few, so that they meet, each with nulls in
// other places.
func ruledRows(c *model.Collection) (rows []model.Record) {
	when := func(text string) model.Value { return model.TimeValue(text) }
	for i := range 24 {
		row := make(model.Record, len(c.Columns()))
		set := func(name string, values ...model.Value) { row[c.Field(name).Column] = values[i%len(values)] }
		row[model.IDColumn] = model.IDValue(model.ID{15: byte(i + 1)})
		set("text", model.TextValue("a"), model.Null, model.TextValue(""), model.TextValue("ab"), model.TextValue("Ä"))
		set("name", model.TextValue("a"), model.TextValue("b"), model.TextValue("ba"))
		set("whole", model.IntValue(1), model.IntValue(-1), model.Null, model.IntValue(math.MaxInt64), model.IntValue(1<<53), model.IntValue(0))
		set("number", model.FloatValue(1), model.Null, model.FloatValue(0.5), model.FloatValue(-2), model.Null, model.FloatValue(1e300), model.FloatValue(2))
		set("cost", model.IntValue(100), model.IntValue(150), model.Null, model.IntValue(-1), model.IntValue(0), model.IntValue(model.MaxDecimalUnits), model.IntValue(-model.MaxDecimalUnits))
		set("flag", model.BoolValue(true), model.BoolValue(false), model.Null)
		set("owner", model.IDValue(model.ID{1}), model.IDValue(model.ID{2}), model.Null, model.Null, model.IDValue(model.ID{1}))
		set("day", model.TextValue("2026-11-14"), model.Null, model.TextValue("2024-02-29"))
		set("next_id", model.IDValue(model.ID{15: byte((i*7+3)%24 + 1)}), model.Null, model.IDValue(model.ID{15: byte((i*5+1)%24 + 1)}), model.IDValue(row.ID(model.IDColumn)))
		set("at", when("2026-11-14T09:30:00.123Z"), when("2026-11-14T09:30:00.124Z"), model.Null, when("1969-12-31T23:59:59.999Z"))
		row[c.RevisionColumn()] = model.IntValue(0)
		rows = append(rows, row)
	}
	return rows
}

// literals and claims are what columns are compared with.
var (
	literals = map[string][]string{
		"text": {`'a'`, `''`, `'ab'`, `'Ä'`, `'b'`, "auth.sub", "auth.role", "'a' + 'b'"}, "name": {`'a'`, `'ba'`, "auth.sub"},
		"whole": {"1", "-1", "0", "9223372036854775807", "2 - 1"}, "number": {"1.0", "0.5", "-2.0", "1.0 / 2.0"}, "cost": {"1.5", "1.50", "1", "0.0", "-0.01", "1.005", "-0.005", "9999999999999999.99", "9999999999999999.999", "1e30", "-1e30", "0.1 + 0.2", "3 * 0.5", "9223372036854775807 + 1"}, "flag": {"true", "false", "auth.role == 'a'"},
		"owner": {"'01000000-0000-0000-0000-000000000000'", "'02000000-0000-0000-0000-000000000000'", "auth.sub", "'no id'", "'0100000000000000000000000000000'"},
		"day":   {"'2026-11-14'", "'2024-02-29'", "'2025-01-01'"},
		"at": {"timestamp('2026-11-14T09:30:00.123Z')", "timestamp('2026-11-14T10:30:00.124+01:00')", "timestamp('2026-11-14T09:30:00.1235Z')",
			"timestamp('1969-12-31T23:59:59.9999Z')", "timestamp('2026-11-14T09:00:00Z') + duration('30m')"},
	}
	claims  = []string{"auth.claims.text", "auth.claims.n", "auth.claims.yes", "auth.claims.nothing", "auth.claims.missing", "auth.claims.owner", "auth.claims.list", "auth.claims.deep.text"}
	ordered = []string{"text", "name", "whole", "number", "cost", "cost", "flag", "at"}
	facts   = []string{"true", "false", "auth.role == 'a'", "auth.sub == 'a'", "has(auth.claims.text)", "has(auth.claims.n)", "auth.claims.yes", "auth.claims.n > 1", "auth.claims.n == 9007199254740992", "'a' in auth.claims.list",
		"auth.claims.list.exists(x, x == 'b')", "auth.claims.missing == 1", "size(auth.sub) > 3", "auth.claims.text.matches('^a')"}
)

func drawLeaf(t *rapid.T) string {
	pick := func(from []string) string { return rapid.SampledFrom(from).Draw(t, "of") }
	var names []string
	for name := range literals {
		names = append(names, name)
	}
	slices.Sort(names)
	name := pick(names)
	owner := func() string {
		return pick([]string{"resource.", "resource.", "resource.next.", "resource.next.next."})
	}
	column := owner() + name
	value := func(name string) string {
		if name != "day" && rapid.IntRange(0, 3).Draw(t, "claim") == 0 {
			return pick(claims)
		}
		return pick(literals[name])
	}
	switch rapid.SampledFrom([]int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 9, 10, 9, 10}).Draw(t, "form") {
	case 0:
		return pick(facts)
	case 9:
		return owner() + pick([]string{"whole", "number", "cost"}) + pick([]string{" < ", " <= ", " > ", " >= ", " == ", " != "}) + "auth.claims.n"
	case 10:
		return pick([]string{"!has(auth.claims.n)", "!(" + owner() + "whole in auth.claims.list)", "!(" + owner() + "number in auth.claims.list)", "!(" + owner() + "cost in auth.claims.list)", "!has(auth.claims.list)"})
	case 1:
		return owner() + "flag"
	case 2:
		if name == "name" { // which is never null, so that cel-go does not even compare
			return "resource.name == 'a'"
		}
		return column + pick([]string{" == null", " != null"})
	case 3:
		return column + " in [" + pick(literals[name]) + ", " + pick(literals[name]) + "]"
	case 4:
		return column + " in " + pick([]string{"auth.claims.list", "auth.claims.deep", "auth.claims.text", "auth.claims.missing", "[]"})
	case 5:
		return owner() + pick([]string{"text", "name"}) + pick([]string{".startsWith(", ".contains("}) + value("text") + ")"
	case 6:
		name := pick(ordered)
		return owner() + name + pick([]string{" < ", " <= ", " > ", " >= "}) + bracketed(value(name))
	case 7:
		name := pick(append(ordered, "day"))
		return bracketed(pick(literals[name])) + pick([]string{" < ", " <= ", " > ", " >= ", " == ", " != "}) + owner() + name
	default:
		return column + pick([]string{" == ", " != "}) + bracketed(value(name))
	}
}

func bracketed(text string) string { return "(" + text + ")" }

func drawRule(depth int) *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		if depth == 0 {
			return drawLeaf(t)
		}
		below := drawRule(depth - 1)
		part := func() string { return bracketed(below.Draw(t, "part")) }
		switch rapid.IntRange(0, 4).Draw(t, "node") {
		case 0:
			return part() + " && " + part()
		case 1:
			return part() + " || " + part()
		case 2:
			return "!" + part()
		case 3:
			return part() + " ? " + part() + " : " + part()
		default:
			return drawLeaf(t)
		}
	})
}

func drawCaller(t *rapid.T) auth.Caller {
	if rapid.IntRange(0, 4).Draw(t, "anonymous") == 0 {
		return auth.Caller{Role: "a"}
	}
	caller := auth.Caller{ID: "x", Role: "a", Claims: map[string]any{}}
	caller.Subject = rapid.SampledFrom([]string{"a", "", "01000000-0000-0000-0000-000000000000"}).Draw(t, "sub")
	for name, values := range map[string][]any{
		"text": {"a", "ab", ""}, "n": {1.0, 2.0, -1.0, 0.5, -0.25, exact("9223372036854775807"), exact("9007199254740993"), exact("1.50"), exact("-0.01"), exact("1.005"), exact("0.12345678901234567890"), exact("1e0"), exact("9223372036854775808"), exact("1e400")}, "yes": {true, false, "true"}, "nothing": {nil}, "owner": {"02000000-0000-0000-0000-000000000000", "x"},
		"list": {[]any{}, []any{exact("1.50"), nil, "1.5"}, []any{"a", "b"}, []any{"a", 1.0, nil, true}, []any{0.5, exact("9223372036854775807")}, []any{1.0, "a", exact("12345678901234567890")}, "a"}, "deep": {map[string]any{"text": "a", "ab": 1.0}, map[string]any{"text": "a", "ab": exact("-1e999")}, "a"},
	} {
		if at := rapid.IntRange(-1, len(values)-1).Draw(t, name); at >= 0 {
			caller.Claims[name] = values[at]
		}
	}
	return caller
}

// allowedByCEL has cel-go evaluate a rule for each row.
func allowedByCEL(t *rapid.T, c *model.Collection, rows []model.Record, text string, caller auth.Caller) []model.ID {
	checked, problems := expression.Compile(model.Rule{Text: text}, expression.Scope{Collection: c, MaxSteps: 2}, model.KindBoolean)
	if problems != nil {
		t.Fatalf("%s: %v", text, problems)
	}
	program, err := checked.Part(checked.Tree.Expr())
	if err != nil {
		t.Fatal(err)
	}
	ids := []model.ID{}
	for _, row := range rows {
		variables := map[string]any{"auth.role": caller.Role, "auth.claims": heldClaims(caller.Claims)}
		if caller.ID != "" {
			variables["auth.sub"] = caller.Subject
		}
		at := row
		for _, owner := range []string{"resource.", "resource.next.", "resource.next.next."} {
			for _, name := range c.FieldNames() {
				if field := c.Field(name); field.Column != model.NoColumn {
					variables[owner+name] = plainValue(field.Kind, at[field.Column])
				}
			}
			if at = after(rows, at[c.Field("next_id").Column]); at == nil {
				at = make(model.Record, len(c.Columns()))
			}
		}
		if value, _, err := program.Eval(variables); err == nil && value.Value() == true {
			ids = append(ids, row.ID(model.IDColumn))
		}
	}
	return ids
}

// after finds the row that a reference refers to, nil if it is null.
func after(rows []model.Record, reference model.Value) model.Record {
	for _, row := range rows {
		if row[model.IDColumn] == reference {
			return row
		}
	}
	return nil
}

// exact is a number of a claim as it was written.
type exact = json.Number

// heldClaims is claims as rules see them: one with a number that neither an integer nor
// a double holds is an error.
func heldClaims(claims map[string]any) map[string]any {
	all := map[string]any{}
	for name, claim := range claims {
		if text := fmt.Sprint(claim); strings.Contains(text, "e999") || strings.Contains(text, "e400") || strings.Contains(text, "9223372036854775808") || strings.Contains(text, "12345678901234567890") { // also after 0.
			all[name] = types.NewErr("too large")
		} else {
			all[name] = heldClaim(claim)
		}
	}
	return all
}

func heldClaim(claim any) any {
	switch claim := claim.(type) {
	case float64:
		if claim == math.Trunc(claim) {
			return int64(claim)
		}
	case exact:
		if whole, err := claim.Int64(); err == nil {
			return whole
		}
		double, _ := claim.Float64()
		return heldClaim(double)
	case map[string]any:
		return heldClaims(claim)
	case []any:
		all := []any{}
		for _, each := range claim {
			all = append(all, heldClaim(each))
		}
		return all
	}
	return claim
}

func plainValue(kind model.Kind, value model.Value) any {
	if value.IsNull() {
		return nil
	}
	if kind.IsDecimal() {
		return expression.NewDecimal(value.Int(), kind.Scale())
	}
	switch kind {
	case model.KindInteger:
		return value.Int()
	case model.KindNumber:
		return value.Float()
	case model.KindBoolean:
		return value.Bool()
	case model.KindUUID:
		return value.ID().String()
	case model.KindDateTime:
		at, _ := time.Parse(time.RFC3339Nano, value.Text())
		return at
	}
	return value.Text()
}

func compiledRule(t *rapid.T, s *model.Schema, text string, caller auth.Caller) query.Filter {
	policy, err := auth.Compile(s, ruledBy(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return policy.Permit(caller).Scope(s.Collection("things"))
}

func ruledBy(rule string) *schema.Access {
	return &schema.Access{Roles: []schema.Role{{Name: "a", Grants: []schema.Grant{{
		Collection: "things", Verbs: []schema.AccessVerb{schema.MayRead}, Rules: map[schema.AccessVerb]schema.Rule{schema.MayRead: {Text: rule}},
	}}}}}
}

func matching(rows []model.Record, filter query.Filter) []model.ID {
	ids := []model.ID{}
	for _, row := range rows {
		find := func(_ *model.Collection, id model.ID) (model.Record, error) {
			return after(rows, model.IDValue(id)), nil
		}
		if filter != nil {
			if holds, err := query.Holds(filter, row, find); err != nil || !holds {
				continue
			}
		}
		ids = append(ids, row.ID(model.IDColumn))
	}
	return ids
}

func selecting(t *rapid.T, st *store.Store, c *model.Collection, filter query.Filter) []model.ID {
	tx, err := st.Read(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Close()
	rows, err := tx.Select(c, statement.Selection{Plan: statement.Plan{Filter: filter}, Order: statement.NewOrder(nil), Take: math.MaxInt64})
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	ids := []model.ID{}
	for {
		more, err := rows.Next()
		if err != nil {
			t.Fatal(err)
		}
		if !more {
			return ids
		}
		ids = append(ids, rows.ID(model.IDColumn))
	}
}

// TestClaimsThatCannotBeHeld: a number that is too large for a rule does not widen it.
func TestClaimsThatCannotBeHeld(t *testing.T) {
	file, err := schema.Parse([]byte(ruledFile))
	if err != nil {
		t.Fatal(err)
	}
	rows := ruledRows((*model.Schema)(file.Schema).Collection("things"))
	for _, each := range []struct {
		rule string
		held string // a claim that the rule lets some through with
		not  string // and one that it must let nobody through with
	}{
		{"!(resource.whole in auth.claims.c)", `[1, 9223372036854775807, 2.5]`, `[1, 9223372036854775808]`},
		{"has(auth.claims.c) ? resource.whole < auth.claims.c : true", `2.5`, `1e400`},
		{"resource.whole != auth.claims.c", `9007199254740993`, `9007199254740993.0`},
		{"!(auth.claims.c.n == 2)", `{"n": 3}`, `{"n": 123456789012345678901}`},
	} {
		for claim, some := range map[string]bool{each.held: true, each.not: false} {
			caller, err := auth.UnmarshalCaller(`{"id": "x", "role": "a", "claims": {"c": ` + claim + `}}`)
			if err != nil {
				t.Fatal(err)
			}
			policy, err := auth.Compile((*model.Schema)(file.Schema), ruledBy(each.rule))
			if err != nil {
				t.Fatal(err)
			}
			got := matching(rows, policy.Permit(caller).Scope((*model.Schema)(file.Schema).Collection("things")))
			if (len(got) > 0) != some {
				t.Errorf("%s with %s allows %v", each.rule, claim, got)
			}
		}
	}
}

// TestRulesThatAreRefused: what cannot become a filter is not evaluated in another
// way, and what is wrong is found at its line and column.
func TestRulesThatAreRefused(t *testing.T) {
	for rule, want := range map[string]string{
		"resource.text ==":                         "9:32: Syntax error: mismatched input '<EOF>' expecting ",
		"resource.nope == 'a'":                     "9:24: things has no attribute nope",
		"resource.cost == '1.00'":                  "9:33: a decimal cannot be compared with a string: write the number without quotes, such as 0.19",
		"resource.tags == null":                    "9:24: tags is an object or array, which a rule cannot use",
		"auth.user == 'a'":                         "9:20: auth has no user: use auth.sub, auth.role or auth.claims",
		"auth.claims == {'a': 1}":                  "9:20: auth.claims cannot be used as a whole: use one claim, such as auth.claims.team",
		"[dyn(auth.claims)] != []":                 "9:25: auth.claims cannot be used as a whole: use one claim, such as auth.claims.team",
		"has(resource.text)":                       "9:19: every resource has every attribute: compare with null instead of using has()",
		"resource.cost * 2 > 5":                    "9:34: one side of a comparison must be an attribute alone, and the other side a value without attributes",
		"resource.text == 1":                       "9:30: == does not take a string and an integer: write a number without quotes, or convert with string()",
		"resource.text":                            "9:16: a rule must be true or false, but the type of this one is string",
		"resource.text == resource.name":           "9:30: two attributes cannot be compared with each other: compare an attribute with a value",
		"resource.text + 'a' == 'b'":               "9:36: one side of a comparison must be an attribute alone, and the other side a value without attributes",
		"resource.text.matches('a')":               "9:37: there is no filter for matches: use ==, !=, <, <=, >, >=, in, startsWith and contains",
		"resource.owner > auth.sub":                "9:31: ids have no order in a rule: compare them with == or !=",
		"resource.owner.startsWith('a')":           "9:41: startsWith and contains need a string attribute without a format, and a value",
		"'a' in [resource.text]":                   "9:20: the right side of in must be a list of values",
		"['a'].exists(x, x == resource.text)":      "9:28: this cannot become a filter: compare attributes with values, and join comparisons with &&, ||, ! and ?:",
		"resource.at < timestamp('soon')":          "9:39: this cannot be evaluated: ",
		"true || resource.text == resource.text":   "9:38: two attributes cannot be compared with each other: compare an attribute with a value",
		"auth.role == 'a' && resource.type == 'x'": "9:44: the type of every resource here is things: a rule cannot use it",
		"resource.next.nope == 'a'":                "9:29: things has no attribute nope",
		"resource.next_id.text == 'a'":             "9:32: next_id is an id, which has no members: write next to read the resource that it refers to",
		"resource.text < timestamp('2026-12-01')":  "9:30: < does not take a string and a date-time: write a time as in timestamp('2026-12-01T00:00:00Z')",
		"resource.nope.text == 'a'":                "9:29: things has no attribute or reference nope",
		"resource.next == null":                    "9:24: next is a resource: compare one of its attributes, or the reference itself, next_id",
		"resource.next.next.next.text == 'a'":      "9:39: a rule can read through at most two references",
		"resource.next.previous.text == 'a'":       "9:38: previous leads to several resources: a rule can only read through references, each of which leads to one",
		"resource.next.tags == null":               "9:29: tags is an object or array, which a rule cannot use",
		"has(resource.next.text)":                  "9:19: every resource has every attribute: compare with null instead of using has()",
		"resource.next.text == resource.text":      "9:35: two attributes cannot be compared with each other: compare an attribute with a value",
		"resource.text.size == 1":                  "9:29: this is a string, which has no members",
	} {
		text := `collections:
  things:
    attributes: {next_id: {references: things, inverse: previous}, text: {type: string}, name: {type: string}, owner: {type: string, format: uuid}, at: {type: string, format: date-time}, tags: {type: array}, cost: {type: string, format: decimal, scale: 2}}
access:
  roles:
    reader:
      things:
        list: true
        read: ` + fmt.Sprintf("%q", rule) + "\n"
		file, err := schema.Parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		_, err = auth.Compile((*model.Schema)(file.Schema), file.Access)
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s\ngot  %v\nwant %s", rule, err, want)
		}
	}
}
