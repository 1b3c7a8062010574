package query

import (
	"errors"
	"strings"
	"testing"

	"github.com/plural-go/plural/internal/compile"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/problem"
)

// TestRelatedHints: a field of a related resource, or a number of them, that is written as elsewhere says how it is written here.
func TestRelatedHints(t *testing.T) {
	s, err := compile.Schema(
		model.Collection{Name: "customers", NoTimestamps: true, Attributes: []model.Attribute{{Name: "name", Type: model.String}, {Name: "country", Type: model.String}}},
		model.Collection{Name: "orders", NoTimestamps: true, Attributes: []model.Attribute{
			{Name: "ordered_at", Type: model.String, Format: "date-time"}, {Name: "total", Type: model.Integer},
			{Name: "customer_id", Type: model.String, References: &model.Reference{Collection: "customers"}, Inverse: "orders"},
		}},
		model.Collection{Name: "lines", NoTimestamps: true, Parent: &model.Parent{Collection: "orders"}, Attributes: []model.Attribute{{Name: "quantity", Type: model.Integer}}})
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		mode            Mode
		collection, raw string
		want            string
	}{
		{OfList, "orders", "sort=-customer_id.name", " It refers to another resource. Use customer.name."},
		{OfList, "orders", "filter[customer_id.name]=x", " It refers to another resource. Use customer.name."},
		{OfList, "lines", "sort=order.customer_id.name", " It refers to another resource. Use order.customer.name."},
		{OfGroups, "orders", "by=customer_id.name", " It refers to another resource. Use customer.name."},
		{OfGroups, "orders", "by=ordered_at.week", " Use ordered_at:week."},
		{OfList, "orders", "sort=country", " Did you mean customer.country?"},
		{OfGroups, "orders", "by=country", " Did you mean customer.country?"},
		{OfList, "orders", "filter[quantity]=5", " Did you mean lines.quantity?"},
		{OfList, "orders", "filter[some][0][quantity]=5", " Did you mean lines.quantity?"},
		{OfList, "orders", "sort=quantity", ""}, // there is no one value
		{OfList, "customers", "filter[orders][count][gte]=5", " For their number, use count.orders."},
		{OfList, "customers", "filter[orders.count][gte]=5", " For their number, use count.orders."},
		{OfList, "customers", "filter[count][orders][gte]=5", " For the number of related resources, use count.orders."},
		{OfList, "customers", "sort=count", " For the number of related resources, use count.orders."},
		{OfGroups, "orders", "sum=total&filter[sum.total][gte]=5", " To keep groups by a value, use having[sum.total]."},
		{OfGroups, "orders", "sum=total&filter[count][gte]=5", " To keep groups by a value, use having[count]."},
		{OfGroups, "orders", "group_by=customer_id", " Use by, with the names of fields: by=state,created_at:month."},
		{OfGroups, "orders", "count=id", " Every group has its count."},
		{OfList, "orders", "by=customer_id", " Groups are at /-/groups/orders, such as /-/groups/orders?by=created_at:month."},
	} {
		_, err := Parse(test.mode, s.Collection(test.collection), test.raw, limits)
		var faults problem.Errors
		if !errors.As(err, &faults) || len(faults) != 1 {
			t.Errorf("%s: %v", test.raw, err)
			continue
		}
		if got := faults[0].Detail; !strings.HasSuffix(got, "."+test.want) {
			t.Errorf("%s\ngot  %s\nwant …%s", test.raw, got, test.want)
		}
	}
	// What the caller may not see is not suggested.
	hidden := func(r *model.Relation) (model.ColumnSet, Filter, bool) {
		return make(model.ColumnSet, len(r.To.Columns())), nil, true
	}
	for _, raw := range []string{"sort=country", "filter[quantity]=5"} {
		_, err := Parse(OfList, s.Collection("orders"), raw, Limits{DefaultLimit: 1, Related: hidden})
		if err == nil || strings.Contains(err.Error(), "Did you mean") {
			t.Errorf("%s: %v", raw, err)
		}
	}
}
