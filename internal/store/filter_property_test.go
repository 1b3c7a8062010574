package store

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/query"
)

// related has objects and arrays with values of every kind, some of them with indexes, and references in
// every direction. An attribute is named like a column of json_each.
const related = `
collections:
  teams:
    attributes:
      value: {type: string, maxLength: 100, index: true}
      size: {type: integer}
      lead_id: {references: things}
  things:
    attributes:
      value: {type: string}
      team_id: {references: teams, inverse: things}
      next_id: {references: things, inverse: previous}
      object:
        type: object
        properties:
          text: {type: string, maxLength: 100}
          integer: {type: integer}
          number: {type: number}
          boolean: {type: boolean}
          decimal: {type: string, format: decimal, scale: 2}
          uuid: {type: string, format: uuid}
          date: {type: string, format: date}
          moment: {type: string, format: date-time}
          "it's $1 é": {type: string}
          deep: {type: object, properties: {deeper: {type: object, properties: {text: {type: string}, texts: {type: array, items: {type: string}}}}}}
      texts: {type: array, items: {type: string}}
      integers: {type: array, items: {type: integer}}
      numbers: {type: array, items: {type: number}}
      booleans: {type: array, items: {type: boolean}}
      decimals: {type: array, items: {type: string, format: decimal, scale: 2}}
      uuids: {type: array, items: {type: string, format: uuid}}
      moments: {type: array, items: {type: string, format: date-time}}
    index: [object.text, object.integer, object.number, object.decimal, [object.boolean, object.uuid], texts, integers, numbers, decimals]
`

// TestRelatedFiltersSelectWhatTheyMatch takes random trees of filters inside objects and arrays, and
// through relations, to random rows, and compares what is selected with a naive model.
func TestRelatedFiltersSelectWhatTheyMatch(t *testing.T) {
	few, most, many := fewRelated, maxRelated, manyReferring
	t.Cleanup(func() { fewRelated, maxRelated, manyReferring = few, most, many })
	s := parse(t, related)
	teams, things := s.Collection("teams"), s.Collection("things")
	eachStore(t, s, func(t *testing.T, st *Store) {
		rapid.Check(t, func(rt *rapid.T) {
			dataset := drawRelated(rt, teams, things)
			dataset.store(t, st, teams, things)
			read(t, st, func(tx *Tx) {
				for i := range 8 {
					c := []*model.Collection{things, teams}[i%4/3]
					filter := drawRelatedFilter(c, 3, 2).Draw(rt, fmt.Sprint("filter", i))
					holds := func(row model.Record) bool { return dataset.holds(filter, row) }
					checkFilterBy(rt, tx, c, filter, dataset[c], holds)
					fewRelated, maxRelated, manyReferring = int64(rapid.IntRange(0, 6).Draw(rt, "few")), rapid.IntRange(0, 4).Draw(rt, "most"), int64(rapid.IntRange(0, 3).Draw(rt, "many"))
					plan, err := tx.planRelated(c, filter)
					if err != nil {
						rt.Fatal(err)
					}
					checkPlanned(rt, tx, c, plan, dataset[c], holds)
				}
			})
		})
	})
}

// relatedDataset is the rows of each collection.
type relatedDataset map[*model.Collection][]model.Record

// holds is what a filter means, naively.
func (w relatedDataset) holds(f query.Filter, row model.Record) bool {
	switch f := f.(type) {
	case query.And:
		return !slices.ContainsFunc(f, func(each query.Filter) bool { return !w.holds(each, row) })
	case query.Or:
		return slices.ContainsFunc(f, func(each query.Filter) bool { return w.holds(each, row) })
	case query.Not:
		return !w.holds(f.Filter, row)
	case *query.Related:
		for _, other := range w[f.Relation.To] {
			from, to := other, row
			if f.Relation.One {
				from, to = row, other
			}
			is := from[f.Relation.Column] == to[model.IDColumn]
			if is && (f.Scope == nil || w.holds(f.Scope, other)) && w.holds(f.Filter, other) {
				return true
			}
		}
		return false
	}
	return f.Match(row)
}

func drawRelated(t *rapid.T, teams, things *model.Collection) relatedDataset {
	w := relatedDataset{}
	for _, c := range []*model.Collection{teams, things} {
		for i := range rapid.IntRange(0, 6).Draw(t, c.Name) {
			record := make(model.Record, len(c.Columns()))
			for column, declared := range c.Columns() {
				a := declared.Attribute
				switch {
				case a == nil && declared.NotNull:
					record[column] = rapid.SampledFrom(values(declared.Kind)).Draw(t, declared.Name)
				case a == nil || a.References != nil || rapid.IntRange(0, 4).Draw(t, "null") == 0:
				default:
					record[column] = drawStored(t, a)
				}
			}
			id := model.ID{1, 15: byte(i)}
			record[model.IDColumn] = model.IDValue(id)
			w[c] = append(w[c], record)
		}
	}
	for _, c := range []*model.Collection{teams, things} {
		for _, link := range c.Links() {
			for _, record := range w[c] {
				if others := w[link.To]; len(others) > 0 && rapid.IntRange(0, 3).Draw(t, "reference") > 0 {
					record[link.Column] = rapid.SampledFrom(others).Draw(t, "other")[model.IDColumn]
				}
			}
		}
	}
	return w
}

// drawStored draws a value of an attribute as it is stored.
func drawStored(t *rapid.T, a *model.Attribute) model.Value {
	if a.Scalar() {
		return rapid.SampledFrom(values(a.Kind())).Draw(t, a.Name)
	}
	return model.TextValue(string(appendDrawn(t, nil, a)))
}

func appendDrawn(t *rapid.T, dst []byte, a *model.Attribute) []byte {
	switch a.Type {
	case model.Object:
		dst = append(dst, '{')
		for i := range a.Properties {
			property := &a.Properties[i]
			if rapid.IntRange(0, 3).Draw(t, "absent") == 0 {
				continue
			}
			if dst[len(dst)-1] != '{' {
				dst = append(dst, ',')
			}
			dst = append(model.AppendQuoted(dst, property.Name), ':')
			dst = appendDrawn(t, dst, property)
		}
		return append(dst, '}')
	case model.Array:
		dst = append(dst, '[')
		for i := range rapid.IntRange(0, 3).Draw(t, "items") {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendDrawn(t, dst, a.Items)
		}
		return append(dst, ']')
	}
	return a.Kind().AppendValue(dst, model.Record{rapid.SampledFrom(values(a.Kind())).Draw(t, "value")}, 0)
}

// store makes the rows the only ones.
func (w relatedDataset) store(t *testing.T, st *Store, teams, things *model.Collection) {
	t.Helper()
	write(t, st, func(tx *Tx) error {
		for _, c := range []*model.Collection{things, teams} {
			table := tx.bound.table(c)
			if _, err := tx.conn.Exec("DELETE FROM " + table.Name); err != nil {
				return err
			}
			for _, row := range w[c] {
				if _, err := tx.conn.Exec(table.insertAny(), row...); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// insertAny inserts a row as it is, also one whose id or references the store would not take.
func (t *table) insertAny() string {
	sql := "INSERT INTO " + t.Name + " (" + t.All + ") VALUES ("
	for i := range t.Columns {
		if i > 0 {
			sql += ", "
		}
		sql += fmt.Sprint("$", i+1)
	}
	return sql + ")"
}

// drawRelatedFilter draws a tree of filters with at most depth levels of And, Or and Not, and steps
// relations.
func drawRelatedFilter(c *model.Collection, depth, steps int) *rapid.Generator[query.Filter] {
	leaf := rapid.Custom(func(t *rapid.T) query.Filter {
		if relations := c.Relations(); steps > 0 && rapid.IntRange(0, 2).Draw(t, "through") == 0 {
			f := &query.Related{Relation: rapid.SampledFrom(relations).Draw(t, "relation")}
			f.Filter = drawRelatedFilter(f.Relation.To, 1, steps-1).Draw(t, "there")
			if rapid.Bool().Draw(t, "scoped") {
				f.Scope = drawRelatedFilter(f.Relation.To, 1, 0).Draw(t, "scope")
			}
			return f
		}
		column := rapid.IntRange(0, len(c.Columns())-1).Draw(t, "column")
		return drawCondition(t, c.Columns()[column].Attribute, c.Columns()[column].Kind, column, values)
	})
	return drawTree(leaf, depth)
}

// drawCondition draws a condition on one column, or on a value inside it.
func drawCondition(t *rapid.T, a *model.Attribute, kind model.Kind, column int, values func(model.Kind) []model.Value) query.Filter {
	form := rapid.IntRange(0, 5).Draw(t, "form")
	switch {
	case form == 0:
		return query.IsNull{Column: column}
	case a.ScalarItems() != nil:
		items := a.Items.Kind()
		f := query.Has{Column: column, Kind: items.Item(), All: rapid.Bool().Draw(t, "all")}
		for _, value := range rapid.SliceOfN(rapid.SampledFrom(values(items)), 1, 3).Draw(t, "items") {
			if value = items.ToItem(value); !slices.Contains(f.Values, value) {
				f.Values = append(f.Values, value)
			}
		}
		return f
	case kind == model.KindJSON && a != nil && len(a.Properties) > 0:
		property := a
		f := query.OnValue{Operand: query.Operand{Column: column}}
		for property.Type == model.Object {
			property = &property.Properties[rapid.IntRange(0, len(property.Properties)-1).Draw(t, "property")]
			f.Path = append(f.Path, property.Name)
		}
		if !model.Addressable(f.Path[len(f.Path)-1]) {
			return query.IsNull{Column: column}
		}
		f.Kind = property.Kind().Inside()
		f.Filter = drawCondition(t, property, property.Kind(), 0, valuesInside)
		return f
	case kind == model.KindJSON:
		return query.IsNull{Column: column}
	case form == 1:
		return query.In{Column: column, Values: rapid.SliceOfN(rapid.SampledFrom(values(kind)), 0, 4).Draw(t, "values")}
	}
	ops := []query.Op{query.Equal, query.Less, query.LessOrEqual, query.Greater, query.GreaterOrEqual}
	if kind == model.KindText {
		ops = append(ops, query.Contains, query.StartsWith)
	}
	return query.Compare{Column: column, Op: rapid.SampledFrom(ops).Draw(t, "op"), Value: rapid.SampledFrom(values(kind)).Draw(t, "value")}
}

// valuesInside is the values of a kind as they are compared inside an object.
func valuesInside(kind model.Kind) (inside []model.Value) {
	for _, value := range values(kind) {
		inside = append(inside, kind.ToInside(value))
	}
	return inside
}

// TestNumbersInsideAreExact: a database must read the same double out of JSON that Go has written.
func TestNumbersInsideAreExact(t *testing.T) {
	s := parse(t, related)
	things := s.Collection("things")
	object, numbers := things.Field("object").Column, things.Field("numbers").Column
	eachStore(t, s, func(t *testing.T, st *Store) {
		rapid.Check(t, func(rt *rapid.T) {
			number := model.FloatValue(rapid.OneOf(rapid.Float64(), rapid.Map(rapid.Uint64(), func(bits uint64) float64 {
				if f := math.Float64frombits(bits); !math.IsNaN(f) && !math.IsInf(f, 0) {
					return f
				}
				return 0.1
			})).Draw(rt, "number"))
			text := string(model.KindNumber.AppendValue(nil, model.Record{number}, 0))
			record := make(model.Record, len(things.Columns()))
			for column, declared := range things.Columns() {
				if declared.NotNull {
					record[column] = values(declared.Kind)[0]
				}
			}
			record[object], record[numbers] = model.TextValue(`{"number":`+text+`}`), model.TextValue(`[`+text+`]`)
			dataset := relatedDataset{things: {record}}
			dataset.store(t, st, s.Collection("teams"), things)
			read(t, st, func(tx *Tx) {
				for _, filter := range []query.Filter{
					query.OnValue{Operand: query.Operand{Column: object, Path: []string{"number"}, Kind: model.KindNumber}, Filter: query.Compare{Column: 0, Op: query.Equal, Value: number}},
					query.Has{Column: numbers, Kind: model.KindNumber, Values: []model.Value{number}},
				} {
					checkFilterBy(rt, tx, things, filter, dataset[things], filter.Match)
					if !filter.Match(record) {
						rt.Fatalf("%s does not match", text)
					}
				}
			})
		})
	})
}
