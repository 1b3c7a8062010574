package client_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/plural-go/plural"
	"github.com/plural-go/plural/client"
	"github.com/plural-go/plural/params"
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
		same("create all", must(all.CreateMany(ctx, []map[string]any{{"count": large}}))(t)[0])
		same("list", must(all.List(ctx, params.Where("count").Is(large)))(t).Items[0])
		for value, err := range all.All(ctx) {
			same("all", must(value, err)(t))
		}
		for value, err := range all.Backward(ctx) {
			same("backward", must(value, err)(t))
		}
	}, func(c *plural.Config) { c.Schema = file.Schema })
}

// TestTimesAreTruncatedToMilliseconds: times have milliseconds, wherever they come from.
func TestTimesAreTruncatedToMilliseconds(t *testing.T) {
	type embedded struct {
		At *time.Time `json:"at"`
	}
	type counter struct {
		ID string `json:"id"`
		embedded
	}
	file := must(schema.Parse([]byte(counters)))(t)
	at := time.Date(2026, 11, 15, 13, 0, 0, 123_456_789, time.FixedZone("", 3600))
	want := at.Truncate(time.Millisecond)
	eachStore(t, func(t *testing.T, url string) {
		ctx := context.Background()
		c := connect(t, url)
		all := client.Of[counter](c, "counters")
		created := must(all.Create(ctx, counter{embedded: embedded{&at}}))(t)
		if got := created.Value.At; !got.Equal(want) || at.Nanosecond() != 123_456_789 {
			t.Errorf("created at %v, and the time is now %v", got, at)
		}
		for _, changes := range []any{map[string]any{"at": at}, map[string]*time.Time{"at": &at}, embedded{&at}, &embedded{&at}} {
			if got := must(all.Update(ctx, created.ID, changes))(t).Value.At; !got.Equal(want) {
				t.Errorf("%T: changed to %v", changes, got)
			}
		}
		if page := must(all.List(ctx, params.Where("at").AtMost(at), params.Where("at").Is(at)))(t); len(page.Items) != 1 {
			t.Errorf("found %v", page.Items)
		}
		must(all.List(ctx, params.Where("created_at").Less(time.Now())))(t)
	}, func(c *plural.Config) { c.Schema = file.Schema })
}
