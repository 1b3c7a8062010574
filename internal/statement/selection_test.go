package statement

import (
	"reflect"
	"testing"

	"github.com/plural-go/plural/internal/compile"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/query"
)

// things has an attribute that may be null.
func things(t *testing.T) (c *model.Collection, rank int) {
	t.Helper()
	s, err := compile.Schema(model.Collection{Name: "things", NoTimestamps: true, Attributes: []model.Attribute{{Name: "rank", Type: model.Integer}}})
	if err != nil {
		t.Fatal(err)
	}
	c = s.Collection("things")
	return c, c.Field("rank").Column
}

// TestOrder: the id breaks ties, and an order reversed twice is the same.
func TestOrder(t *testing.T) {
	_, rank := things(t)
	byRank := NewOrder([]query.SortKey{query.SortBy(rank, true)})
	if want := (Order{query.SortBy(rank, true), query.SortBy(model.IDColumn, false)}); !reflect.DeepEqual(byRank, want) {
		t.Errorf("got %v, want %v", byRank, want)
	}
	if want := (Order{query.SortBy(rank, false), query.SortBy(model.IDColumn, true)}); !reflect.DeepEqual(byRank.Reversed(), want) {
		t.Errorf("reversed: got %v, want %v", byRank.Reversed(), want)
	}
	if got := byRank.Reversed().Reversed(); !reflect.DeepEqual(got, byRank) {
		t.Errorf("reversed twice: got %v, want %v", got, byRank)
	}
	byID := []query.SortKey{query.SortBy(model.IDColumn, true)}
	if got := NewOrder(byID); !reflect.DeepEqual(got, Order(byID)) {
		t.Errorf("got %v, want %v", got, byID)
	}
}

// TestFromNearerEnd: the same resources are selected from whichever end is nearer, if the total is known.
func TestFromNearerEnd(t *testing.T) {
	order := NewOrder(nil)
	for _, c := range []struct{ given, want Selection }{
		{Selection{Order: order, Skip: 70, Take: 10, Total: 100}, Selection{Order: order.Reversed(), Skip: 20, Take: 10, Total: 100}},
		{Selection{Order: order, Skip: 20, Take: 10, Total: 100}, Selection{Order: order, Skip: 20, Take: 10, Total: 100}},
		{Selection{Order: order, Skip: 70, Take: 10}, Selection{Order: order, Skip: 70, Take: 10}},
		{Selection{Order: order, Skip: 95, Take: 10, Total: 100}, Selection{Order: order, Skip: 95, Take: 10, Total: 100}},
		{Selection{Order: order, Skip: 70, Take: 10, Total: 100, From: Place{model.Null}}, Selection{Order: order, Skip: 70, Take: 10, Total: 100, From: Place{model.Null}}},
	} {
		if got := c.given.fromNearerEnd(); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%+v:\ngot  %+v\nwant %+v", c.given, got, c.want)
		}
	}
}
