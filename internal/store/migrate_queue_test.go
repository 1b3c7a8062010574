package store

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/plural-go/plural/internal/compile"
	"github.com/plural-go/plural/internal/migrate"
	"github.com/plural-go/plural/internal/model"
)

// TestMigrateWithPendingOperations: what was accepted may not be given up without
// a word.
func TestMigrateWithPendingOperations(t *testing.T) {
	things := func(attributes ...model.Attribute) model.Collection {
		return model.Collection{Name: "things", Attributes: attributes}
	}
	other := model.Collection{Name: "others"}
	text := func(name, before string) model.Attribute {
		return model.Attribute{Name: name, Type: model.String, RenamedFrom: before}
	}
	old, err := compile.Schema(things(text("name", "")), other)
	if err != nil {
		t.Fatal(err)
	}
	const waiting = "2 pending operations on things may fail: accepted under the old schema"
	for name, c := range map[string]struct {
		now  []model.Collection
		want []string
	}{
		"renamed attribute":  {[]model.Collection{things(text("title", "name")), other}, []string{"things: attribute name is renamed to title", waiting}},
		"removed collection": {[]model.Collection{other}, []string{"collection things is removed", waiting}},
		"new attribute":      {[]model.Collection{things(text("name", ""), text("more", "")), other}, []string{"things: new attribute more (string)"}},
		"other collection":   {[]model.Collection{things(text("name", ""))}, []string{"collection others is removed"}},
	} {
		t.Run(name, func(t *testing.T) {
			now, err := compile.Schema(c.now...)
			if err != nil {
				t.Fatal(err)
			}
			eachDatabase(t, func(t *testing.T, url string) {
				st := open(t, url, old)
				write(t, st, func(tx *Tx) error {
					for range 2 {
						job := Job{Operation: tx.NewID(), Collection: "things", Resource: tx.NewID(), Method: "POST", Body: `{"name":"a"}`}
						if err := tx.Enqueue(job, nil); err != nil {
							return err
						}
					}
					return nil
				})
				steps, _, err := migrate.Plan(context.Background(), url, now, migrate.Whole)
				var got []string
				for _, step := range steps {
					got = append(got, step.Text)
				}
				if err != nil || !slices.Equal(got, c.want) {
					t.Errorf("got  %q, %v\nwant %q", got, err, c.want)
				}
				if !slices.Contains(c.want, waiting) {
					return
				}
				var refused *migrate.RefusedError
				if _, err := migrate.Run(context.Background(), url, now, migrate.Options{}); !errors.As(err, &refused) {
					t.Errorf("got %v", err)
				}
			})
		})
	}
}
