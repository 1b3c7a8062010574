package model_test

import (
	"testing"

	"github.com/plural-go/plural/internal/compile"
	"github.com/plural-go/plural/internal/model"
)

func TestDifferences(t *testing.T) {
	declared := []model.Collection{{Name: "notes", Attributes: []model.Attribute{{Name: "title", Type: model.String}, {Name: "rank", Type: model.Integer}, {Name: "secret", Type: model.String}}}}
	s, err := compile.Schema(declared...)
	if err != nil {
		t.Fatal(err)
	}
	c := s.Collection("notes")
	record := func(title string, rank int64, secret, updated string) model.Record {
		return model.Record{model.IDValue(model.ID{1}), model.TextValue(title), model.IntValue(rank), model.TextValue(secret), model.TimeValue("2026-01-01T00:00:00.000Z"), model.TimeValue(updated), model.IntValue(1)}
	}
	visible := make(model.ColumnSet, len(c.Columns()))
	for i := range visible {
		visible[i] = c.Columns()[i].Name != "secret"
	}
	before := record(`a"b`, 1, "x", "2026-01-01T00:00:00.000Z")
	for _, each := range []struct {
		after model.Record
		some  model.ColumnSet
		want  string // of the former values; empty: no differences
	}{
		{record(`a"b`, 1, "x", "2026-01-02T00:00:00.000Z"), nil, ""},
		{record("c", 1, "x", "2026-01-02T00:00:00.000Z"), nil, `{"title":"a\"b"}`},
		{record("c", 2, "y", "2026-01-02T00:00:00.000Z"), nil, `{"title":"a\"b","rank":1,"secret":"x"}`},
		{record("c", 2, "y", "2026-01-02T00:00:00.000Z"), visible, `{"title":"a\"b","rank":1}`},
		{record(`a"b`, 1, "y", "2026-01-02T00:00:00.000Z"), visible, ""},
	} {
		got := ""
		if found := c.Differences(before, each.after, each.some); found != nil {
			got = string(c.AppendAttributes(nil, before, found))
		}
		if got != each.want {
			t.Errorf("got %s, want %s", got, each.want)
		}
	}
}
