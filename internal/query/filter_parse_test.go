package query

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/plural-go/plural/internal/compile"
	"github.com/plural-go/plural/internal/model"
)

func TestParseFilter(t *testing.T) {
	text, integer, boolean, date := column("text"), column("integer"), column("boolean"), column("date")
	str := model.TextValue
	tests := []struct {
		raw  string
		want Filter
	}{
		{"", nil},
		{"filter[text]=a", Compare{text, Equal, str("a")}},
		{"filter%5btext%5D=a", Compare{text, Equal, str("a")}},
		{"filter[text]=", Compare{text, Equal, str("")}},
		{"filter[text]", Not{IsNull{text}}},
		{"filter[text]=a+b%2Bc=d", Compare{text, Equal, str("a b+c=d")}},
		{"filter[text]=a&filter[text]=b", In{text, []model.Value{str("a"), str("b")}}},
		{"filter[text]=a&filter[text]", Or{Not{IsNull{text}}, Compare{text, Equal, str("a")}}},
		{"filter[text]=a,b", Compare{text, Equal, str("a,b")}},

		{"filter[boolean]", Compare{boolean, Equal, model.BoolValue(true)}},
		{"filter[boolean]=", Compare{boolean, Equal, model.BoolValue(true)}},
		{"filter[boolean]=false", Compare{boolean, Equal, model.BoolValue(false)}},

		{"filter[integer]=5", Compare{integer, Equal, model.IntValue(5)}},
		{"filter[integer]=-5.0", Compare{integer, Equal, model.IntValue(-5)}},
		{"filter[number][lt]=0.1", Compare{column("number"), Less, model.FloatValue(0.1)}},
		{"filter[uuid]=" + strings.ToUpper(someID.String()), Compare{column("uuid"), Equal, model.IDValue(someID)}},
		{"filter[id]=" + someID.String(), Compare{model.IDColumn, Equal, model.IDValue(someID)}},
		{"filter[date][gte]=2026-11-14", Compare{date, GreaterOrEqual, str("2026-11-14")}},
		{"filter[moment][gt]=2026-11-14T10:30:00%2B01:00", Compare{column("moment"), Greater, model.TimeValue("2026-11-14T09:30:00.000Z")}},
		{"filter[created_at][lte]=2026-11-14T09:30:00Z", Compare{column("created_at"), LessOrEqual, model.TimeValue("2026-11-14T09:30:00.000Z")}},

		{"filter[text][eq]=", Compare{text, Equal, str("")}},
		{"filter[text][ne]=a", Not{Compare{text, Equal, str("a")}}},
		{"filter[text][lt]=a", Compare{text, Less, str("a")}},
		{"filter[text][contains]=%25", Compare{text, Contains, str("%")}},
		{"filter[text][contains]=" + strings.Repeat("%C3%BC", MaxPart), Compare{text, Contains, str(strings.Repeat("ü", MaxPart))}},
		{"filter[text][starts_with]=", Compare{text, StartsWith, str("")}},
		{"filter[text][in]=a,b", In{text, []model.Value{str("a"), str("b")}}},
		{"filter[text][in]=", In{text, []model.Value{str("")}}},
		{"filter[text][in]=,", In{text, []model.Value{str(""), str("")}}},
		{`filter[text][in]=a\,b,c\d`, In{text, []model.Value{str("a,b"), str(`c\d`)}}},
		{"filter[integer][not_in]=1,2", Not{In{integer, []model.Value{model.IntValue(1), model.IntValue(2)}}}},
		{"filter[text][in]=a&filter[text][in]=b", In{text, []model.Value{str("a"), str("b")}}},
		{`filter[text][in]=a\,b&filter[text][in]=c,d`, In{text, []model.Value{str("a,b"), str("c"), str("d")}}},
		{`filter[text][in]=a\&filter[text][in]=b`, In{text, []model.Value{str(`a\`), str("b")}}},
		{"filter[integer][not_in]=1&filter[integer][not_in]=2", Not{In{integer, []model.Value{model.IntValue(1), model.IntValue(2)}}}},
		{"filter[integer][in]=1&filter[integer][not_in]=2", And{In{integer, []model.Value{model.IntValue(1)}}, Not{In{integer, []model.Value{model.IntValue(2)}}}}},
		{"filter[type][in]=users&filter[type][in]=things", All},
		{"filter[text][null]=true", IsNull{text}},
		{"filter[text][null]=false", Not{IsNull{text}}},
		{"filter[object]", Not{IsNull{column("object")}}},
		{"filter[object][null]=true", IsNull{column("object")}},

		{"filter[type]=things", All},
		{"filter[type]=users", None},
		{"filter[type]", Not{None}},
		{"filter[type]=users&filter[type]=things", All},
		{"filter[type][ne]=things", Not{All}},
		{"filter[type][starts_with]=th", All},
		{"filter[type][gt]=things", None},
		{"filter[type][in]=users,things", All},
		{"filter[type][not_in]=users", Not{None}},
		{"filter[type][null]=true", None},

		{"filter[text]=a&filter[integer]=1&filter[integer][lt]=5&filter[text]=b", And{
			In{text, []model.Value{str("a"), str("b")}},
			Compare{integer, Equal, model.IntValue(1)},
			Compare{integer, Less, model.IntValue(5)},
		}},
	}
	for _, test := range tests {
		t.Run(test.raw, func(t *testing.T) {
			got, err := Parse(OfList, things, test.raw, limits)
			if err != nil || !reflect.DeepEqual(got.Filter, test.want) {
				t.Errorf("got  %#v, %v\nwant %#v", got.Filter, err, test.want)
			}
		})
	}
}

// TestParseRefusesFilters lists what is refused, each as "code parameter".
func TestParseRefusesFilters(t *testing.T) {
	tests := []struct {
		raw  string
		want string
	}{
		{"filter[nope]=1", "unknown_parameter filter[nope]"},
		{"filter[Text]=1", "unknown_parameter filter[Text]"},
		{"filter[]=1", "unknown_parameter filter[]"},
		{"filter[_revision]=1", "unknown_parameter filter[_revision]"},
		{"filter[text][like]=1", "invalid_parameter filter[text][like]"},
		{"filter[text][EQ]=1", "invalid_parameter filter[text][EQ]"},
		{"filter[text][eq][ne]=1", "invalid_parameter filter[text][eq][ne]"},
		{"filter[text][eq]", "invalid_parameter filter[text][eq]"},
		{"filter[text][null]", "invalid_parameter filter[text][null]"},
		{"filter[text][null]=", "invalid_parameter filter[text][null]"},
		{"filter[text][null]=1", "invalid_parameter filter[text][null]"},
		{"filter[boolean]=1", "invalid_parameter filter[boolean]"},
		{"filter[boolean]=True", "invalid_parameter filter[boolean]"},
		{"filter[boolean][eq]=", "invalid_parameter filter[boolean][eq]"},
		{"filter[integer]=", "invalid_parameter filter[integer]"},
		{"filter[integer]=1.5", "invalid_parameter filter[integer]"},
		{"filter[integer]=%2B1", "invalid_parameter filter[integer]"},
		{"filter[integer]=9223372036854775808", "invalid_parameter filter[integer]"},
		{"filter[integer][in]=1,,x", "invalid_parameter filter[integer][in], invalid_parameter filter[integer][in]"},
		{"filter[integer][contains]=1", "invalid_parameter filter[integer][contains]"},
		{"filter[date][starts_with]=2026", "invalid_parameter filter[date][starts_with]"},
		{"filter[uuid][contains]=1", "invalid_parameter filter[uuid][contains]"},
		{"filter[number]=NaN", "invalid_parameter filter[number]"},
		{"filter[number]=1e400", "invalid_parameter filter[number]"},
		{"filter[number]=", "invalid_parameter filter[number]"},
		{"filter[uuid]=x", "invalid_parameter filter[uuid]"},
		{"filter[id]=", "invalid_parameter filter[id]"},
		{"filter[date]=2026-02-30", "invalid_parameter filter[date]"},
		{"filter[moment]=2026-11-14", "invalid_parameter filter[moment]"},
		{"filter[moment]=2026-11-14T09:30:00.1234Z", "invalid_parameter filter[moment]"},
		{"filter[object]={}", "invalid_parameter filter[object]"},
		{"filter[object]=", "invalid_parameter filter[object]"},
		{"filter[array][eq]=[]", "invalid_parameter filter[array][eq]"},
		{"filter[integer]=x&filter[integer]=y&filter[nope]", "invalid_parameter filter[integer], invalid_parameter filter[integer], unknown_parameter filter[nope]"},
		{"filter[text][in]=" + strings.Repeat(",", MaxValues-1), ""},
		{"filter[text][contains]=" + strings.Repeat("%C3%BC", MaxPart+1), "invalid_parameter filter[text][contains]"},
		{"filter[text][starts_with]=" + strings.Repeat("a", MaxPart+1), "invalid_parameter filter[text][starts_with]"},
		{"filter[text][in]=" + strings.Repeat(",", MaxValues), "too_many_values filter[text][in]"},
		{strings.Repeat("filter[text]=a&", MaxValues), ""},
		{strings.Repeat("filter[text]=a&", MaxValues+2), "too_many_values filter[text]"},
		{strings.Repeat("filter[text]&", MaxValues), ""},
		{strings.Repeat("filter[text]&", MaxValues+2), "too_many_values filter[text]"},
		{strings.Repeat("filter[boolean]&", MaxValues+2), "too_many_values filter[boolean]"},
		{strings.Repeat("filter[text][in]=a&", MaxValues), ""},
		{strings.Repeat("filter[text][in]=a,b&", MaxValues/2+1), "too_many_values filter[text][in]"},
		{strings.Join(everyFilter(MaxFilters), "&"), ""},
		{strings.Join(everyFilter(MaxFilters+2), "&"), "too_many_values filter[wide50][ne]"},
	}
	for _, test := range tests {
		t.Run(test.raw[:min(len(test.raw), 50)], func(t *testing.T) {
			c := things
			if strings.Contains(test.raw, "wide") {
				c = wide
			}
			_, err := Parse(OfList, c, test.raw, limits)
			if got := places(t, err); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

// wide has so many attributes that there can be too many filters.
var wide = func() *model.Collection {
	c := model.Collection{Name: "wides"}
	for i := range MaxFilters {
		c.Attributes = append(c.Attributes, model.Attribute{Name: fmt.Sprintf("wide%d", i), Type: model.Integer})
	}
	s, err := compile.Schema(c)
	if err != nil {
		panic(err)
	}
	return s.Collection("wides")
}()

// everyFilter is different filters of wide, two of each attribute.
func everyFilter(count int) []string {
	var filters []string
	for i := range count {
		filters = append(filters, fmt.Sprintf("filter[wide%d][%s]=1", i/2, []string{"ne", "lt"}[i%2]))
	}
	return filters
}

// TestOperators: a filter by an operator is understood if and only if Operators lists it.
func TestOperators(t *testing.T) {
	values := map[model.Kind]string{
		model.KindText: "a", model.KindInteger: "1", model.KindNumber: "1", model.KindBoolean: "true",
		model.KindUUID: someID.String(), model.KindDate: "2026-11-14", model.KindDateTime: "2026-11-14T09:30:00Z", model.KindJSON: "{}",
	}
	for _, name := range things.FieldNames() {
		kind := things.Field(name).Kind
		definition := things.Declared(name)
		for _, op := range append([]string{"like"}, operators...) {
			value := values[kind]
			if op == "null" {
				value = "true"
			}
			_, err := Parse(OfList, things, "filter["+name+"]["+op+"]="+value, limits)
			searched := slices.Contains(things.SearchColumns(), things.Field(name).Column)
			if listed := slices.Contains(Operators(kind, definition, searched), op); listed != (err == nil) {
				t.Errorf("%s by %s: listed is %t, and the error %v", name, op, listed, err)
			}
		}
	}
}
