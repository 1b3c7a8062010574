package interfacetest

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/plural-go/plural"
	"github.com/plural-go/plural/params"
	"github.com/plural-go/plural/problem"
	"github.com/plural-go/plural/schema"
)

// Text is a resource that can be long.
type Text struct {
	ID   string `json:"id"`
	Code int64  `json:"code" plural:"unique"`
	Text string `json:"text"`
}

// TestCallsUseTheMemoryOfWrites: writes of many resources by the program are bounded as those of requests are, also in a
// transaction, which can go on. Single writes of a transaction are not counted together.
func TestCallsUseTheMemoryOfWrites(t *testing.T) {
	declared, err := schema.Of[Text]()
	if err != nil {
		t.Fatal(err)
	}
	const size = 100 << 10
	long := func(letter string) map[string]any { return map[string]any{"text": strings.Repeat(letter, size)} }
	eachStore(t, mustSchema(t, declared), func(t *testing.T, s *server) {
		ctx, texts := context.Background(), of[Text](t, s.opened)
		all := make([]Text, 30)
		for i := range all {
			all[i].Code = int64(i)
		}
		made, err := texts.CreateMany(ctx, all)
		if err != nil {
			t.Fatal(err)
		}
		tooMany := func(what string, err error) {
			t.Helper()
			if faults := (problem.Errors)(nil); !errors.As(err, &faults) || faults[0].Code != problem.CodeTooManyItems {
				t.Errorf("%s: %v", what, err)
			}
		}
		_, err = texts.UpdateMany(ctx, long("a"), params.Limit(30))
		tooMany("a range", err)
		_, err = texts.DryRun().UpdateMany(ctx, long("a"), params.Limit(30))
		tooMany("a dry run", err)
		for i := range all {
			all[i].Text = strings.Repeat("b", size)
		}
		_, err = texts.UpsertMany(ctx, "code", all)
		tooMany("an upsert", err)
		_, err = texts.CreateMany(ctx, all)
		tooMany("an array", err)
		err = s.opened.Transaction(ctx, func(ctx context.Context, tx *plural.Tx) error {
			in := texts.In(tx)
			_, err := in.UpdateMany(ctx, long("c"), params.Limit(30))
			tooMany("a range in a transaction", err)
			for _, each := range made {
				if _, err := in.Update(ctx, each.ID, long("d")); err != nil {
					return err
				}
			}
			_, err = in.UpdateMany(ctx, map[string]any{"text": nil}, params.Limit(5))
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		total, err := texts.Total(ctx, params.Where("text").Is(strings.Repeat("d", size)))
		if err != nil || total != 25 {
			t.Errorf("%d texts are there, %v", total, err)
		}
	}, func(c *plural.Config) { c.MaxWriteMemory = 4 << 20 })
}
