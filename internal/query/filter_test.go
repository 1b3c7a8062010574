package query

import (
	"reflect"
	"testing"

	"github.com/plural-go/plural/internal/model"
)

// TestFiltersAreTwoValued holds every filter and its negation against a value,
// a larger one and null: one of the two always holds.
func TestFiltersAreTwoValued(t *testing.T) {
	text := model.TextValue
	b := text("b")
	tests := []struct {
		name   string
		filter Filter
		want   [4]bool // of the values "a", "b", "bc" and null
	}{
		{"All", All, [4]bool{true, true, true, true}},
		{"None", None, [4]bool{}},
		{"IsNull", IsNull{0}, [4]bool{false, false, false, true}},
		{"In", In{0, []model.Value{b, text("a")}}, [4]bool{true, true, false, false}},
		{"In of nothing", In{0, nil}, [4]bool{}},
		{"Equal", Compare{0, Equal, b}, [4]bool{false, true, false, false}},
		{"Less", Compare{0, Less, b}, [4]bool{true, false, false, false}},
		{"LessOrEqual", Compare{0, LessOrEqual, b}, [4]bool{true, true, false, false}},
		{"Greater", Compare{0, Greater, b}, [4]bool{false, false, true, false}},
		{"GreaterOrEqual", Compare{0, GreaterOrEqual, b}, [4]bool{false, true, true, false}},
		{"Contains", Compare{0, Contains, text("c")}, [4]bool{false, false, true, false}},
		{"Contains nothing", Compare{0, Contains, text("")}, [4]bool{true, true, true, false}},
		{"StartsWith", Compare{0, StartsWith, b}, [4]bool{false, true, true, false}},
		{"And", And{Compare{0, Greater, text("a")}, Compare{0, Less, text("bc")}}, [4]bool{false, true, false, false}},
		{"Or", Or{IsNull{0}, Compare{0, Equal, b}}, [4]bool{false, true, false, true}},
		{"Both", Both(Compare{0, Equal, b}, All), [4]bool{false, true, false, false}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			for i, value := range []model.Value{text("a"), b, text("bc"), model.Null} {
				record := model.Record{value}
				if got := test.filter.Match(record); got != test.want[i] {
					t.Errorf("matches %q: %v", value.Text(), got)
				}
				if got := (Not{test.filter}).Match(record); got == test.want[i] {
					t.Errorf("its negation matches %q: %v", value.Text(), got)
				}
			}
		})
	}
}

func TestBothIgnoresNil(t *testing.T) {
	one := IsNull{1}
	tests := []struct{ a, b, want Filter }{
		{nil, nil, nil},
		{one, nil, one},
		{nil, one, one},
		{one, None, And{one, None}},
	}
	for _, test := range tests {
		if got := Both(test.a, test.b); !reflect.DeepEqual(got, test.want) {
			t.Errorf("Both(%v, %v) = %v, want %v", test.a, test.b, got, test.want)
		}
	}
}
