package interfacetest

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/plural-go/plural"
	"github.com/plural-go/plural/params"
	"github.com/plural-go/plural/schema"
)

// Typed calls of a caller see and write what its requests would.
func TestTypedCallsOfMany(t *testing.T) {
	access := &schema.Access{Roles: []schema.Role{{Name: "reader", Grants: []schema.Grant{
		{Collection: "novels", Verbs: []schema.AccessVerb{schema.MayList, schema.MayRead}},
		{Collection: "remarks", Verbs: []schema.AccessVerb{schema.MayList, schema.MayRead, schema.MayUpdate}, Rules: map[schema.AccessVerb]schema.Rule{schema.MayRead: {Text: "resource.stars > 3"}}},
	}}}}
	eachStore(t, novelSchema(t), func(t *testing.T, s *server) {
		all := fillNovels(t, s.opened)
		ctx := plural.WithCaller(context.Background(), plural.Principal{Subject: "r", Roles: []string{"reader"}})
		novel, err := all.novels.Get(ctx, id(11), params.Include("remarks"))
		if err != nil {
			t.Fatal(err)
		}
		same(t, "remarks that the rule shows", novel.Remarks, all.r[:1])
		_, hidden := all.novels.List(ctx, params.Include("writer"))
		_, through := all.novels.List(ctx, params.Where("writer.name").Is("Eliot"))
		_, update := all.novels.UpdateMany(ctx, map[string]any{"pages": 1}, params.Limit(1))
		_, _, upsert := all.novels.Upsert(ctx, "id", map[string]any{"id": id(11), "pages": 1})
		_, dry := all.novels.DryRun().Delete(ctx, id(11))
		for want, err := range map[string]error{"invalid_parameter": hidden, "unknown_parameter": through} {
			if !hasCode(err, want) {
				t.Errorf("got %v, want %s", err, want)
			}
		}
		for name, err := range map[string]error{"update": update, "upsert": upsert, "dry run": dry} {
			if !hasCode(err, "forbidden") {
				t.Errorf("%s: got %v", name, err)
			}
		}
		changed, err := all.remarks.UpdateMany(ctx, map[string]any{"stars": 4}, params.Where("novel_id").Is(id(11)))
		if err != nil || len(changed) != 1 || changed[0].ID != id(21) {
			t.Errorf("got %+v, %v", changed, err)
		}
		stored, created, err := all.remarks.Upsert(ctx, "id", map[string]any{"id": id(21), "stars": 5})
		if err != nil || created || stored.Stars != 5 {
			t.Errorf("an upsert that changes: got %+v, %t, %v", stored, created, err)
		}
	}, func(c *plural.Config) { c.Access = access })
}

// A watch takes alternatives and a search, and nothing that a stream does not have.
func TestTypedWatchOfAlternatives(t *testing.T) {
	eachStore(t, novelSchema(t), func(t *testing.T, s *server) {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Minute)
		defer cancel()
		all := fillNovels(t, s.opened)
		var listed []string
		for event, err := range all.novels.Watch(ctx, params.Any(params.Where("pages").Is(880), params.Where("tags").Has("long"))) {
			if err != nil {
				t.Fatal(err)
			}
			if event.Kind == plural.EventSynced {
				break
			}
			listed = append(listed, event.ID)
		}
		if !slices.Equal(listed, []string{id(11), id(14)}) {
			t.Errorf("got %v", listed)
		}
		for _, param := range []params.Param{params.Include("writer"), params.Fields("title"), params.By("title"), params.Where("writer.name").Is("x")} {
			for _, err := range all.novels.Watch(ctx, param) {
				if err == nil {
					t.Errorf("a watch takes %+v", param)
				}
				break
			}
		}
	})
}
