package model_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/plural-go/plural/internal/compile"
	"github.com/plural-go/plural/internal/model"
)

// orders has computed attributes: one is required, and one has a constraint.
var orders = mustNew(model.Collection{Name: "orders", Unique: [][]string{{"buyer", "number"}, {"buyer"}}, Attributes: []model.Attribute{
	{Name: "buyer", Type: model.String, MaxLength: 20, Required: true},
	{Name: "price", Type: model.Integer},
	{Name: "total", Type: model.Integer, Required: true, Maximum: "100", Computed: model.Rule{Text: "resource.price"}},
	{Name: "number", Type: model.String, MaxLength: 20, Computed: model.Rule{Text: "resource.buyer"}},
}})

// TestDecodeComputed: nobody sends computed attributes, as nobody sends updated_at.
func TestDecodeComputed(t *testing.T) {
	restricted := func(mode model.Mode, visible ...string) model.DecodeOptions {
		o := options(mode)
		o.Writable = orders.Writable()
		if visible != nil {
			o.Visible = orders.ColumnsWhere(func(_ int, column model.Column) bool {
				return column.Attribute == nil || slices.Contains(visible, column.Name)
			})
		}
		return o
	}
	importing := restricted(model.Create)
	importing.AcceptTimestamps = true
	for name, test := range map[string]struct {
		options model.DecodeOptions
		body    string
		want    string // the input, or the faults
	}{
		"POST need not send a required one":    {restricted(model.Create), `{"buyer":"a"}`, `buyer="a" price=null`},
		"POST":                                 {restricted(model.Create), `{"buyer":"a","total":1,"number":"x"}`, "read_only /total, read_only /number"},
		"POST of an invalid value":             {restricted(model.Create), `{"buyer":"a","total":{"a":[1]},"number":null}`, "read_only /total, read_only /number"},
		"POST of a hidden one":                 {restricted(model.Create, "buyer"), `{"buyer":"a","total":1}`, "unknown_attribute /total"},
		"an import":                            {importing, `{"buyer":"a","total":7}`, `buyer="a" price=null total=7`},
		"an import of an invalid value":        {importing, `{"buyer":"a","total":700}`, "maximum /total"},
		"PUT":                                  {restricted(model.Replace), `{"buyer":"a","total":70,"number":null}`, `buyer="a" price=null`},
		"PUT of what it can never be":          {restricted(model.Replace), `{"buyer":"a","total":700,"number":[1]}`, "read_only /total, read_only /number"},
		"PUT of a hidden one":                  {restricted(model.Replace, "buyer"), `{"buyer":"a","total":1}`, "unknown_attribute /total"},
		"PATCH is compared later":              {restricted(model.Patch), `{"total":7,"number":null}`, `total=7 number=null`},
		"PATCH of what it can never be":        {restricted(model.Patch), `{"total":700,"number":{"a":1},"price":2}`, "read_only /total, read_only /number"},
		"PATCH of null where it is required":   {restricted(model.Patch), `{"total":null}`, "read_only /total"},
		"PATCH of a range":                     {restricted(model.PatchRange), `{"total":7}`, `total=7`},
		"PATCH of an upsert, and other errors": {restricted(model.PatchFound), `{"total":"7","price":"x"}`, "read_only /total, type /price"},
	} {
		t.Run(name, func(t *testing.T) {
			inputs, _, err := orders.Decode([]byte(test.body), test.options)
			got := ""
			if err != nil {
				got = places(t, err)
			} else {
				got = show(orders, inputs[0])
			}
			if got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

// TestGivenGroups: an upsert finds resources by values that it sends.
func TestGivenGroups(t *testing.T) {
	if got := orders.GivenGroups(); len(got) != 1 || !slices.Equal(got[0], []int{1}) {
		t.Errorf("got %v", got)
	}
	if got := notes.Writable(); got != nil {
		t.Errorf("got %v for a collection without computed attributes", got)
	}
}

func TestStates(t *testing.T) {
	states := func(name string, value any, transitions map[string][]string, initial ...string) model.Attribute {
		return model.Attribute{Name: name, Type: model.String, Required: true, Enum: []any{"a", "b", "c", "d"}, Default: value, Transitions: transitions, Initial: initial}
	}
	s, err := compile.Schema(model.Collection{Name: "posts", Attributes: []model.Attribute{
		states("any", nil, map[string][]string{}),
		states("by_default", "a", map[string][]string{"a": {"b"}, "b": {"a"}, "c": {"d"}, "d": {"c"}}),
		states("listed", "c", map[string][]string{"a": {"b"}, "c": {"b", "d"}}, "c", "a"),
		{Name: "optional", Type: model.String, Enum: []any{"a", "b"}, Default: "a", Transitions: map[string][]string{"a": {"b"}}},
		{Name: "none", Type: model.String, Enum: []any{"a", "b"}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	c := s.Collection("posts")
	for name, want := range map[string]string{"any": "a b c d", "by_default": "a", "listed": "c a", "optional": "a"} {
		if got := strings.Join(c.Declared(name).InitialStates(), " "); got != want {
			t.Errorf("%s: the initial states are %s, want %s", name, got, want)
		}
	}
	if !c.Declared("optional").Required || c.Declared("none").Required {
		t.Error("an attribute with transitions and a default must be required, and no other")
	}
	want := []string{
		"posts: no resource can get the state c of by_default: it is not initial, and no transitions lead to it from a state that is",
		"posts: no resource can get the state d of by_default: it is not initial, and no transitions lead to it from a state that is",
	}
	if got := s.Warnings(); !slices.Equal(got, want) {
		t.Errorf("warnings\n%q\nwant\n%q", got, want)
	}
}
