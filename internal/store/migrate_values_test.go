package store

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/plural-go/plural/internal/migrate"
)

// TestPlanShowsValues: a plan shows the values that violate each kind of step, long ones shortened.
func TestPlanShowsValues(t *testing.T) {
	const before = `
collections:
  seats:
    timestamps: false
    attributes:
      row: {type: string, maxLength: 9}
      number: {type: integer}
      price: {type: string, format: decimal, scale: 2}
      code: {type: string}
      note: {type: string}
      map: {type: object}
`
	after := strings.NewReplacer(
		"number: {type: integer}", "number: {type: integer, default: 7}\n      wing: {type: string, maxLength: 9, default: east}",
		"scale: 2}", "scale: 1}",
		"code: {type: string}", "code: {type: integer, unique: true}",
		"note: {type: string}", "note: {type: string, maxLength: 3}",
		"map: {type: object}", "map: {type: object, properties: {x: {type: integer}}}\n    required: [number]\n    unique: [[row, number, wing]]",
	).Replace(before)
	eachDatabase(t, func(t *testing.T, url string) {
		s := parse(t, before)
		st, err := Open(context.Background(), url, s)
		if err != nil {
			t.Fatal(err)
		}
		for _, body := range []string{
			`{"id":"` + id(1) + `","row":"A","number":7,"price":"1.50","code":"1"}`,
			`{"id":"` + id(2) + `","row":"A","price":"1.25","code":"1","map":{"x":"y"}}`,
			`{"id":"` + id(3) + `","row":null,"number":7,"code":"2","note":"` + strings.Repeat("ä", 100) + `"}`,
		} {
			insert(t, st, s.Collection("seats"), body)
		}
		closeStore(t, st)
		steps, _, err := migrate.Plan(context.Background(), url, parse(t, after), migrate.Whole)
		want := []string{
			"rewriting; seats: number becomes required; resources without a value get the default; writes 1 resource",
			"additive; seats: new attribute wing (string); existing resources get the default; writes 3 resources",
			"rewriting; seats: price is converted from decimal with scale 2 to decimal with scale 1; checks 2 resources; 1 resource violates this: " + id(2) + ` "1.25" (Cannot be converted to decimal of scale 1); blocked: false`,
			"rewriting; seats: code is converted from string to integer; checks 3 resources",
			"rewriting; seats: note is restricted by maxLength; checks 1 resource; 1 resource violates this: " + id(3) + ` "` + strings.Repeat("ä", 59) + "… (Must be at most 3 characters long, but has 100); blocked: false",
			"rewriting; seats: map is restricted by properties; checks 1 resource; 1 resource violates this: " + id(2) + ` {"x":"y"} (Must be an integer, but is a string); blocked: false`,
			"rewriting; seats: values of row, number, wing must be unique; checks 3 resources; 1 resource violates this: " + id(2) + ` "A" and 7 (another resource has the same value); blocked: true`,
			"rewriting; seats: values of code must be unique; checks 3 resources; 1 resource violates this: " + id(2) + " 1 (another resource has the same value); blocked: true",
		}
		if got := planLines(steps); err != nil || !slices.Equal(got, want) {
			t.Errorf("%v, got\n%s\nwant\n%s", err, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	})
}
