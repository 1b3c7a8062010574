package client_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/plural-go/plural"
	"github.com/plural-go/plural/client"
	"github.com/plural-go/plural/schema"
)

const counters = `
collections:
  counters:
    attributes:
      count: {type: integer}
      at: {type: string, format: date-time}
`

// TestLargeIntegers: no call rounds a number of a type that it is not told.
func TestLargeIntegers(t *testing.T) {
	file := must(schema.Parse([]byte(counters)))(t)
	const large = json.Number("9007199254740993")
	eachStore(t, func(t *testing.T, url string) {
		ctx := context.Background()
		all := client.Of[map[string]any](connect(t, url), "counters")
		same := func(how string, value map[string]any) {
			t.Helper()
			if value["count"] != large {
				t.Errorf("%s: got %v", how, value["count"])
			}
		}
		created := must(all.Create(ctx, map[string]any{"count": large}))(t)
		same("create", created.Value)
		same("get", must(all.Get(ctx, created.ID))(t).Value)
		same("replace", must(all.Replace(ctx, created.ID, created.Value))(t).Value)
		same("create all", must(all.CreateAll(ctx, []map[string]any{{"count": large}}))(t)[0])
		same("list", must(all.List(ctx, client.Is("count", large)))(t).Items[0])
		for value, err := range all.All(ctx) {
			same("all", must(value, err)(t))
		}
		for value, err := range all.Backward(ctx) {
			same("backward", must(value, err)(t))
		}
	}, func(c *plural.Config) { c.Schema = file.Schema })
}
