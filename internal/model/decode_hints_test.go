package model_test

import (
	"testing"

	"github.com/plural-go/plural/internal/compile"
	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/internal/model"
)

// TestDecodeHints: an unknown attribute asks for the nearest that the caller may know, and a
// number in place of a decimal says how to write it.
func TestDecodeHints(t *testing.T) {
	s, err := compile.Schema(model.Collection{Name: "things", Attributes: []model.Attribute{
		{Name: "title", Type: model.String}, {Name: "secret", Type: model.String}, {Name: "price", Type: model.String, Format: model.Decimal, Scale: 2},
	}})
	if err != nil {
		t.Fatal(err)
	}
	things := s.Collection("things")
	seen := make(model.ColumnSet, len(things.Columns()))
	for i, column := range things.Columns() {
		seen[i] = column.Name != "secret"
	}
	for _, c := range []struct {
		body string
		sees model.ColumnSet
		want string
	}{
		{`{"titel":"x"}`, nil, "The collection things has no attribute of this name. Did you mean title?"},
		{`{"secrets":"x"}`, nil, "The collection things has no attribute of this name. Did you mean secret?"},
		{`{"secrets":"x"}`, seen, "The collection things has no attribute of this name."},
		{`{"colour":"x"}`, nil, "The collection things has no attribute of this name."},
		{`{"price":19.9}`, nil, `Must be a string such as "12.50", but is a number.`},
	} {
		_, _, err := things.Decode([]byte(c.body), model.DecodeOptions{Mode: model.Create, MaxDepth: 9, Visible: c.sees, Writable: c.sees})
		if got := fault.From(err); len(got) != 1 || got[0].Detail != c.want {
			t.Errorf("%s\ngot  %v\nwant %s", c.body, got, c.want)
		}
	}
}
