package model

import "testing"

func TestDifferences(t *testing.T) {
	declared := []Collection{{Name: "notes", Attributes: []Attribute{{Name: "title", Type: String}, {Name: "rank", Type: Integer}, {Name: "secret", Type: String}}}}
	s, err := New(declared...)
	if err != nil {
		t.Fatal(err)
	}
	c := s.Collection("notes")
	record := func(title string, rank int64, secret, updated string) Record {
		return Record{IDValue(ID{1}), TextValue(title), IntValue(rank), TextValue(secret), TimeValue("2026-01-01T00:00:00.000Z"), TimeValue(updated), IntValue(1)}
	}
	visible := make(ColumnSet, len(c.Columns()))
	for i := range visible {
		visible[i] = c.Columns()[i].Name != "secret"
	}
	before := record(`a"b`, 1, "x", "2026-01-01T00:00:00.000Z")
	for _, each := range []struct {
		after Record
		some  ColumnSet
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
