package store

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/migrate"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/query"
)

// TestMigratedIndexes takes a database through schemas whose indexes on values inside objects and on
// items of arrays come, move and go. Every filter finds what is there, also what is written later, and
// nothing is left of an index that is gone.
func TestMigratedIndexes(t *testing.T) {
	collection := func(name, attributes, index string) string {
		return "collections:\n  " + name + "\n    attributes:\n      name: {type: string, maxLength: 10}\n" + attributes + "\n" + index
	}
	const plain = "      spot: {type: object, properties: {city: {type: string, maxLength: 40}, floor: {type: string, maxLength: 40}}}\n      tags: {type: array, items: {type: string}}"
	stages := []struct {
		text, collection, spot, tags string
		steps                        []string
	}{
		{collection("things:", plain, ""), "things", "spot", "tags", nil},
		{collection("things:", plain, "    index: [spot.city, spot.floor, tags, [name, spot.city]]"), "things", "spot", "tags", []string{
			"additive; things: new index on spot.city; indexes 1 resource", "additive; things: new index on spot.floor; indexes 1 resource",
			"additive; things: new index on tags; indexes 1 resource", "additive; things: new index on name, spot.city; indexes 1 resource"}},
		{collection("things:", plain, "    index: [name, spot.city, spot.floor, tags, [name, -spot.city]]"), "things", "spot", "tags", []string{
			"additive; things: new index on name; indexes 2 resources", "additive; things: new index on name, -spot.city; indexes 2 resources", "additive; things: the index on name, spot.city is removed; touches no resource"}},
		{collection("things:", plain, "    index: [-name, spot.city, spot.floor, tags, [name, -spot.city]]"), "things", "spot", "tags", []string{
			"additive; things: new index on -name; indexes 3 resources", "additive; things: the index on name is removed; touches no resource"}},
		{collection("things:", strings.Replace(plain, "floor: {type: string, maxLength: 40}", "floor: {type: integer}", 1), "    index: [spot.city, spot.floor, tags]"), "things", "spot", "tags", nil},
		{collection("things:", strings.NewReplacer("floor: {type: string, maxLength: 40}", "floor: {type: integer}", "spot: {", "place: {renamed_from: spot, ", "tags: {", "marks: {renamed_from: tags, ").Replace(plain),
			"    index: [place.city, place.floor, marks]"), "things", "place", "marks", nil},
		{collection("items:\n    renamed_from: things", strings.NewReplacer("floor: {type: string, maxLength: 40}", "floor: {type: integer}", "spot: {", "place: {", "tags: {", "marks: {").Replace(plain),
			"    index: [place.city, marks]\n    required: [name]"), "items", "place", "marks", nil},
		{collection("items:", strings.NewReplacer("spot: {", "place: {", "tags: {", "marks: {").Replace(plain), ""), "items", "place", "marks", nil},
	}
	eachDatabase(t, func(t *testing.T, url string) {
		for i, stage := range stages {
			s := parse(t, stage.text)
			if i > 0 {
				steps, err := migrate.Run(context.Background(), url, s, migrate.Options{AllowLoss: true})
				if err != nil {
					t.Fatalf("stage %d: %v", i, err)
				}
				if got := planLines(steps); stage.steps != nil && !slices.Equal(got, stage.steps) {
					t.Errorf("stage %d:\n%s\nwant\n%s", i, strings.Join(got, "\n"), strings.Join(stage.steps, "\n"))
				}
			}
			st, err := Open(context.Background(), url, s)
			if err != nil {
				t.Fatal(err)
			}
			c := s.Collection(stage.collection)
			insert(t, st, c, `{"id":"`+id(i)+`","name":"n","`+stage.spot+`":{"city":"c`+id(i)+`"},"`+stage.tags+`":["t","t`+id(i)+`"]}`)
			for n := range i + 1 {
				for _, filter := range []string{"filter[" + stage.spot + ".city]=c" + id(n), "filter[" + stage.tags + "][has]=t" + id(n), "filter[" + stage.tags + "][has_all]=t,t" + id(n)} {
					q, err := query.Parse(query.OfList, c, filter, query.Limits{})
					if err != nil {
						t.Fatal(err)
					}
					read(t, st, func(tx *Tx) {
						count, err := tx.Count(c, q.Filter)
						if err != nil || count != 1 {
							t.Errorf("stage %d: %s selects %d (%v)", i, filter, count, err)
						}
					})
				}
			}
			closeStore(t, st)
		}
		s := parse(t, stages[len(stages)-1].text)
		st := open(t, url, s)
		read(t, st, func(tx *Tx) {
			found, err := db.Describe(tx.conn, st.db)
			if err != nil {
				t.Fatal(err)
			}
			for _, index := range found["items"].Indexes {
				if index.Expression {
					t.Errorf("%s is left", index.Name)
				}
			}
			if !st.db.Traits().RoundTrips {
				_, err = db.One(tx.conn, func(row model.Row) { t.Errorf("the table %s is left", row.AppendText(nil, 0)) },
					"SELECT name FROM sqlite_schema WHERE name LIKE '%items.%' AND name NOT LIKE 'sqlite%'")
				if err != nil {
					t.Fatal(err)
				}
			}
		})
	})
}
