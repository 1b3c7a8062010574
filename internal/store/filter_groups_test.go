package store

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/query"
	"github.com/plural-go/plural/internal/statement"
	"github.com/plural-go/plural/internal/words"
)

// grouped has relations to one resource and to several, and texts that are searched.
const grouped = `
collections:
  teams:
    attributes:
      name: {type: string}
      lead_id: {references: things}
    label: name
  things:
    attributes:
      name: {type: string}
      note: {type: string}
      size: {type: integer}
      team_id: {references: teams, inverse: things}
      next_id: {references: things, inverse: previous}
    search: [name, note]
`

// groupedRow is a team or a thing. Empty texts, and references of zero, are null.
type groupedRow struct {
	id         byte
	name, note string
	size       int64 // 0: null
	team, next byte  // or the lead of a team
}

// groupedData is what the model of groups knows.
type groupedData struct {
	teams, things []groupedRow
	hidden        string // name of the things that the caller does not see
}

// groupCondition is a condition on a thing as a client writes it, behind the relation, and what it means.
type groupCondition struct {
	written string
	holds   func(d groupedData, thing groupedRow) bool
}

func (d groupedData) sees(thing groupedRow) bool { return thing.name != d.hidden || d.hidden == "" }

func (d groupedData) next(thing groupedRow) (next groupedRow) {
	for _, other := range d.things {
		if other.id == thing.next && d.sees(other) {
			next = other
		}
	}
	return next
}

// begins reports whether a word of a text begins with another. The texts of this test are ASCII words.
func begins(text, word string) bool {
	return slices.ContainsFunc(strings.Fields(strings.ToLower(text)), func(each string) bool { return strings.HasPrefix(each, strings.ToLower(word)) })
}

var groupedNames = []string{"", "Ada Blue", "ada", "Bo", "blue bo"}

func drawGroupCondition(t *rapid.T) groupCondition {
	name, word, size := rapid.SampledFrom(groupedNames[1:]).Draw(t, "name"), rapid.SampledFrom([]string{"AD", "blu", "bo", "ue"}).Draw(t, "word"), int64(rapid.IntRange(1, 3).Draw(t, "size"))
	is := rapid.Bool().Draw(t, "is")
	return rapid.SampledFrom([]groupCondition{
		{".name][eq]=" + url.QueryEscape(name), func(_ groupedData, r groupedRow) bool { return r.name == name }},
		{".name][ne]=" + url.QueryEscape(name), func(_ groupedData, r groupedRow) bool { return r.name != name }},
		{".size][gte]=" + fmt.Sprint(size), func(_ groupedData, r groupedRow) bool { return r.size >= size }},
		{".size][null]=" + fmt.Sprint(is), func(_ groupedData, r groupedRow) bool { return (r.size == 0) == is }},
		{".note][search]=" + word, func(_ groupedData, r groupedRow) bool { return begins(r.note, word) }},
		{".next.size]=" + fmt.Sprint(size), func(d groupedData, r groupedRow) bool { return d.next(r).size == size }},
		{".next.name][null]=" + fmt.Sprint(is), func(d groupedData, r groupedRow) bool { return (d.next(r).name == "") == is }},
		{".next.name][search]=" + word, func(d groupedData, r groupedRow) bool { return begins(d.next(r).name, word) }},
		{".next][exists]=" + fmt.Sprint(is), func(d groupedData, r groupedRow) bool { return (d.next(r).id != 0) == is }},
		{".previous][exists]=" + fmt.Sprint(is), func(d groupedData, r groupedRow) bool {
			return slices.ContainsFunc(d.things, func(other groupedRow) bool { return other.next == r.id && d.sees(other) }) == is
		}},
	}).Draw(t, "condition")
}

// drawGroups draws filters of teams, and what they mean.
func drawGroups(t *rapid.T) (filters string, holds func(groupedData, groupedRow) bool) {
	type group struct {
		some       bool
		conditions []groupCondition
	}
	var groups []group
	var parts []string
	for number := range rapid.IntRange(0, 3).Draw(t, "groups") {
		g := group{some: rapid.Bool().Draw(t, "some")}
		for range rapid.IntRange(1, 2).Draw(t, "conditions") {
			condition := drawGroupCondition(t)
			name := fmt.Sprintf("filter[%s][%d][things", map[bool]string{true: "some", false: "none"}[g.some], number) + condition.written
			if before, _, _ := strings.Cut(name, "="); !slices.ContainsFunc(parts, func(part string) bool { return strings.HasPrefix(part, before+"=") }) {
				g.conditions, parts = append(g.conditions, condition), append(parts, name)
			}
		}
		groups = append(groups, g)
	}
	exists := rapid.SampledFrom([]string{"", "things=true", "things=false", "lead=true", "lead=false"}).Draw(t, "exists")
	if relation, value, ok := strings.Cut(exists, "="); ok {
		parts = append(parts, "filter["+relation+"][exists]="+value)
	}
	return strings.Join(parts, "&"), func(d groupedData, team groupedRow) bool {
		among := func(holds func(groupedRow) bool) bool {
			return slices.ContainsFunc(d.things, func(thing groupedRow) bool { return thing.team == team.id && d.sees(thing) && holds(thing) })
		}
		for _, g := range groups {
			fulfilled := among(func(thing groupedRow) bool {
				return !slices.ContainsFunc(g.conditions, func(c groupCondition) bool { return !c.holds(d, thing) })
			})
			if fulfilled != g.some {
				return false
			}
		}
		switch relation, value, _ := strings.Cut(exists, "="); relation {
		case "things":
			return among(func(groupedRow) bool { return true }) == (value == "true")
		case "lead":
			return (d.next(team).id != 0) == (value == "true")
		}
		return true
	}
}

func drawGroupedData(t *rapid.T) (d groupedData) {
	d.hidden = rapid.SampledFrom([]string{"", "Bo", "ada"}).Draw(t, "hidden")
	teams, things := rapid.IntRange(0, 4).Draw(t, "teams"), rapid.IntRange(0, 8).Draw(t, "things")
	for i := range teams {
		d.teams = append(d.teams, groupedRow{id: byte(i + 1), name: rapid.SampledFrom(groupedNames).Draw(t, "team"), next: byte(rapid.IntRange(0, things).Draw(t, "lead"))})
	}
	for i := range things {
		d.things = append(d.things, groupedRow{
			id: byte(i + 1), name: rapid.SampledFrom(groupedNames).Draw(t, "name"), note: rapid.SampledFrom(groupedNames).Draw(t, "note"), size: int64(rapid.IntRange(0, 3).Draw(t, "size")),
			team: byte(rapid.IntRange(0, teams).Draw(t, "team")), next: byte(rapid.IntRange(0, things).Draw(t, "next")),
		})
	}
	return d
}

// store makes the rows the only ones, and returns the teams.
func (d groupedData) store(t *testing.T, st *Store, teams, things *model.Collection) (stored []model.Record) {
	t.Helper()
	idOf := func(collection, number byte) model.Value {
		if number == 0 {
			return model.Null
		}
		return model.IDValue(model.ID{6: 0x70, 8: 0x80, 14: collection, 15: number})
	}
	record := func(c *model.Collection, values map[string]model.Value) model.Record {
		r := make(model.Record, len(c.Columns()))
		for column, declared := range c.Columns() {
			if r[column] = values[declared.Name]; declared.NotNull && r[column].IsNull() && column != model.IDColumn {
				r[column] = anyOf(declared.Kind)
			}
		}
		return r
	}
	text := func(text string) model.Value {
		if text == "" {
			return model.Null
		}
		return model.TextValue(text)
	}
	var rows []model.Record
	for _, r := range d.things {
		size := model.Null
		if r.size > 0 {
			size = model.IntValue(r.size)
		}
		rows = append(rows, record(things, map[string]model.Value{"id": idOf(2, r.id), "name": text(r.name), "note": text(r.note), "size": size, "team_id": idOf(1, r.team), "next_id": idOf(2, r.next)}))
	}
	for _, r := range d.teams {
		stored = append(stored, record(teams, map[string]model.Value{"id": idOf(1, r.id), "name": text(r.name), "lead_id": idOf(2, r.next)}))
	}
	write(t, st, func(tx *Tx) error {
		for c, records := range map[*model.Collection][]model.Record{teams: stored, things: rows} {
			table := tx.bound.table(c)
			for _, sql := range []string{"DELETE FROM " + table.Name, `DELETE FROM "` + table.words + `"`} {
				if _, err := tx.conn.Exec(sql); err != nil {
					return err
				}
			}
			for _, row := range records {
				if _, err := tx.conn.Exec(table.insertAny(), row...); err != nil {
					return err
				}
			}
			if len(records) == 0 {
				continue
			}
			if err := tx.putWords(c, nil, records); err != nil {
				return err
			}
		}
		return nil
	})
	return stored
}

// anyOf is a value of a kind, of a column that may not be null.
func anyOf(kind model.Kind) model.Value { return values(kind)[0] }

// TestGroupsSelectWhatTheyMean draws requests with conditions on one related resource, and compares what they select with a model
// that knows nothing of filters.
func TestGroupsSelectWhatTheyMean(t *testing.T) {
	few, most, many := fewRelated, maxRelated, manyReferring
	t.Cleanup(func() { fewRelated, maxRelated, manyReferring = few, most, many })
	s := parse(t, grouped)
	teams, things := s.Collection("teams"), s.Collection("things")
	eachStore(t, s, func(t *testing.T, st *Store) {
		rapid.Check(t, func(rt *rapid.T) {
			data := drawGroupedData(rt)
			rows := data.store(t, st, teams, things)
			limits := query.Limits{DefaultLimit: 100, Related: func(relation *model.Relation) (model.ColumnSet, query.Filter, bool) {
				if relation.To != things || data.hidden == "" {
					return nil, nil, true
				}
				return nil, query.Not{Filter: query.Compare{Column: things.Field("name").Column, Op: query.Equal, Value: model.TextValue(data.hidden)}}, true
			}}
			read(t, st, func(tx *Tx) {
				for range 6 {
					filters, holds := drawGroups(rt)
					q, err := query.Parse(query.OfList, teams, filters, limits)
					if err != nil {
						rt.Fatalf("%s: %v", filters, err)
					}
					filter := query.Both(query.All, q.Filter)
					fewRelated, maxRelated, manyReferring = int64(rapid.IntRange(0, 6).Draw(rt, "few")), rapid.IntRange(0, 4).Draw(rt, "most"), int64(rapid.IntRange(0, 3).Draw(rt, "many"))
					planned, err := tx.planRelated(teams, filter)
					if err != nil {
						rt.Fatalf("%s: %v", filters, err)
					}
					for _, plan := range []statement.Plan{planned, {Filter: filter}} {
						checkPlanned(rt, tx, teams, plan, rows, func(row model.Record) bool {
							id := row.ID(model.IDColumn)
							at := slices.IndexFunc(data.teams, func(team groupedRow) bool { return team.id == id[15] })
							return holds(data, data.teams[at])
						})
					}
				}
			})
		})
	})
}

// TestRelatedSearchAsksTheIndex: the matches of a search of related resources are found by the index of words, once, if they are
// few. If they are many, the words of those that a page looks at are compared.
func TestRelatedSearchAsksTheIndex(t *testing.T) {
	most := maxRelated
	t.Cleanup(func() { maxRelated = most })
	maxRelated = 2
	s := parse(t, grouped)
	teams, things := s.Collection("teams"), s.Collection("things")
	eachStore(t, s, func(t *testing.T, st *Store) {
		data := groupedData{}
		for i := range byte(9) {
			data.teams = append(data.teams, groupedRow{id: i + 1, name: []string{"common rare", "common"}[min(i, 1)]})
			data.things = append(data.things, groupedRow{id: i + 1, team: i + 1})
		}
		data.store(t, st, teams, things)
		column := teams.Field("name").Column
		for word, want := range map[string]int{"rare": 1, "common": -1, "none": 0} {
			related := &query.Related{Relation: things.Relation("team"), Filter: query.Search{Columns: []int{column}, Words: words.Of(word)}}
			read(t, st, func(tx *Tx) {
				plan, err := tx.planRelated(things, related)
				if err != nil {
					t.Fatal(err)
				}
				got := -1
				if known, ok := plan.Related[related]; ok {
					got = len(known.IDs)
				}
				sql := tx.bound.sql.Rows(things, statement.Selection{Plan: plan, Order: statement.NewOrder(nil), Take: 10}).String()
				if compares := strings.Contains(sql, " WHERE _resource = "); got != want || compares != (want < 0) {
					t.Errorf("%s: found %d, want %d: %s", word, got, want, sql)
				}
			})
		}
	})
}
