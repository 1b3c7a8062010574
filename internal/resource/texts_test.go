package resource

import (
	"context"
	"net/http"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/query"
	"github.com/plural-go/plural/internal/reads"
	"github.com/plural-go/plural/internal/store"
	"github.com/plural-go/plural/schema"
)

// TestTextsAreSplitBeforeTheTransaction: the transaction splits no text of a request, or of a Before hook, into words.
func TestTextsAreSplitBeforeTheTransaction(t *testing.T) {
	file, err := schema.Parse([]byte("collections:\n  notes:\n    timestamps: false\n    search: [text, title]\n" +
		"    attributes: {text: {type: string}, title: {type: string}, number: {type: integer, unique: true}}\n"))
	if err != nil {
		t.Fatal(err)
	}
	st, err := store.Open(context.Background(), "sqlite:"+filepath.Join(t.TempDir(), "test.db"), (*model.Schema)(file.Schema))
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	r, c := New(st), (*model.Schema)(file.Schema).Collection("notes")
	r.BodyLimits = BodyLimits{Depth: 9, Items: 9}
	of := func(name string) string { return strings.Repeat("wörds of the "+name+" ", 100) }
	hooked := model.TextValue(of("hook"))
	hook := Hook{Before: func(_ context.Context, change *Change) error {
		if change.After != nil {
			title := c.Field("title").Column
			change.After[title], change.Set[title] = hooked, true
		}
		return nil
	}}
	r.AddHook(c, Create, hook)
	r.AddHook(c, Update, hook)
	all, err := query.Parse(query.OfRange, c, "filter[number][null]=false", query.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	one := model.ID{15: 1}
	conflict := []int{c.Field("number").Column}
	for _, each := range []struct {
		name, start string // of the body
		end         string
		step        Step
	}{
		{"create", `{"id":"` + one.String() + `","number":1,`, `}`, Step{Method: http.MethodPost}},
		{"array", `[{"number":2,`, `}]`, Step{Method: http.MethodPost}},
		{"upsert", `{"number":2,`, `}`, Step{Method: http.MethodPost, Conflict: conflict}},
		{"update", `{`, `}`, Step{Method: http.MethodPatch, ID: one}},
		{"range", `{`, `}`, Step{Method: http.MethodPatch, Range: &all}},
	} {
		each.step.Path, each.step.Body = reads.Path{Collection: c}, []byte(each.start+`"text":"`+of(each.name)+`"`+each.end)
		x := &execution{Request: &Request{Steps: []Step{each.step}}, resources: r}
		x.prepare(context.Background())
		if x.decoded[0].failure != nil {
			t.Fatal(x.decoded[0].failure)
		}
		texts := x.decoded[0].texts
		want, record := &store.Texts{}, make(model.Record, len(c.Columns()))
		record[c.Field("text").Column], record[c.Field("title").Column] = model.TextValue(of(each.name)), hooked
		want.Add(c, record)
		if !reflect.DeepEqual(texts, want) {
			t.Errorf("%s: got  %v\nwant %v", each.name, texts, want)
		}
		err = r.inTransaction(context.Background(), x.writeOptions(), x.run)
		if err != nil || !reflect.DeepEqual(texts, want) {
			t.Errorf("%s: %v: the transaction has split more texts", each.name, err)
		}
	}
}
