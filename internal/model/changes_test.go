package model_test

import (
	"slices"
	"testing"

	"github.com/plural-go/plural/internal/compile"
	"github.com/plural-go/plural/internal/model"
)

func TestChangeIDs(t *testing.T) {
	history, _ := model.ParseID("6f9619ff-8b86-4011-b42d-00c04fc964ff")
	other, _ := model.ParseID("6f9619ff-8b86-4011-b42d-00c04fc964fe")
	before := model.ID{}
	for _, position := range []int64{1, 2, 15, 16, 0xfff, 0x1000, 0xffff, 1 << 20, 1<<32 + 5, 1<<60 - 1} {
		id := model.ChangeID(history, position)
		if !model.IsChangeID(id) || slices.Compare(before[:], id[:]) >= 0 {
			t.Errorf("the id of %d is %s, after %s", position, id, before)
		}
		before = id
		if got, ok := model.ChangeNumber(history, id); !ok || got != position {
			t.Errorf("%s is at %d (%t), want %d", id, got, ok, position)
		}
		if _, ok := model.ChangeNumber(other, id); ok {
			t.Errorf("%s is an id of another history", id)
		}
	}
	if got := model.ChangeID(history, 0x123456789abcd).String(); got != "00123456-789a-8bcd-b42d-00c04fc964ff" {
		t.Errorf("got %s", got)
	}
	for _, text := range []string{"00000000-0000-8000-b42d-00c04fc964ff", "01936f2e-7d3c-7a4b-9c5d-0123456789ab"} {
		id, _ := model.ParseID(text)
		if position, ok := model.ChangeNumber(history, id); ok {
			t.Errorf("%s is at %d", text, position)
		}
	}
}

func TestFieldsOfChanges(t *testing.T) {
	s, err := compile.Schema(model.Collection{Name: "users", Attributes: []model.Attribute{{Name: "name", Type: model.String}}})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := s.Changes().FieldNames(), []string{"by", "collection", "created_at", "kind", "resource.id"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if s.Collection(model.ChangesName) != nil || s.Singular("change") != nil {
		t.Error("the changes have no table, so nobody must find them by name")
	}
}
