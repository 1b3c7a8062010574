package query

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/plural-go/plural/internal/compile"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/problem"
)

// things is a collection with an attribute of every kind.
var things = func() *model.Collection {
	s, err := compile.Schema(model.Collection{Name: "things", Attributes: []model.Attribute{
		{Name: "text", Type: model.String},
		{Name: "integer", Type: model.Integer},
		{Name: "number", Type: model.Number},
		{Name: "boolean", Type: model.Boolean},
		{Name: "uuid", Type: model.String, Format: model.UUID},
		{Name: "date", Type: model.String, Format: model.Date},
		{Name: "moment", Type: model.String, Format: model.DateTime},
		{Name: "object", Type: model.Object},
		{Name: "array", Type: model.Array},
	}})
	if err != nil {
		panic(err)
	}
	return s.Collection("things")
}()

var limits = Limits{DefaultLimit: 100}

func column(name string) int { return things.Field(name).Column }

var someID, _ = model.ParseID("01936f2e-7d3c-7a4b-9c5d-0123456789ab")

func TestParseRange(t *testing.T) {
	tests := []struct {
		raw  string
		want Range
	}{
		{"", Range{Limit: 100}},
		{"&&", Range{Limit: 100}},
		{"limit=30", Range{Limit: 30}},
		{"l=30", Range{Limit: 30}},
		{"limit=-5", Range{Limit: -5}},
		{"limit=0", Range{Limit: 0}},
		{"limit=-0", Range{Limit: 0}},
		{"limit=007", Range{Limit: 7}},
		{"offset=39&limit=-25", Range{Anchor: AtOffset, Offset: 39, Limit: -25}},
		{"o=39&l=-25", Range{Anchor: AtOffset, Offset: 39, Limit: -25}},
		{"offset=0", Range{Anchor: AtOffset, Limit: 100}},
		{"offset=-0", Range{Anchor: AtOffset, Limit: 100}},
		{"offset=9223372036854775808", Range{Anchor: AtOffset, Offset: math.MaxInt64, Limit: 100}},
		{"limit=" + strings.Repeat("9", 100), Range{Limit: math.MaxInt64}},
		{"limit=-" + strings.Repeat("9", 100), Range{Limit: math.MinInt64}},
		{"cursor=" + someID.String() + "&limit=30", Range{Anchor: AtCursor, Cursor: someID, Limit: 30}},
		{"cursor=" + strings.ToUpper(someID.String()), Range{Anchor: AtCursor, Cursor: someID, Limit: 100}},
		{"%6cimit=%35", Range{Limit: 5}},
	}
	for _, test := range tests {
		t.Run(test.raw, func(t *testing.T) {
			got, err := Parse(OfList, things, test.raw, limits)
			if err != nil || !reflect.DeepEqual(got, Query{Range: test.want}) {
				t.Errorf("got %+v, %v\nwant %+v", got, err, test.want)
			}
		})
	}
}

func TestParseSort(t *testing.T) {
	text, number := column("text"), column("number")
	tests := []struct {
		raw  string
		want []SortKey
	}{
		{"text", []SortKey{SortBy(text, false)}},
		{"-text,number", []SortKey{SortBy(text, true), SortBy(number, false)}},
		{"-created_at,updated_at", []SortKey{SortBy(column("created_at"), true), SortBy(column("updated_at"), false)}},
		{"id", nil},
		{"-id", []SortKey{SortBy(model.IDColumn, true)}},
		{"text,id", []SortKey{SortBy(text, false)}},
		{"text,-id", []SortKey{SortBy(text, false), SortBy(model.IDColumn, true)}},
		{"-id,text", []SortKey{SortBy(model.IDColumn, true)}},
		{"id,text", nil},
		{"-text&sort=number", []SortKey{SortBy(text, true), SortBy(number, false)}},
		{"-text,integer&sort=number", []SortKey{SortBy(text, true), SortBy(column("integer"), false), SortBy(number, false)}},
		{"type", nil},
		{"-type,text", []SortKey{SortBy(text, false)}},
	}
	for _, test := range tests {
		t.Run(test.raw, func(t *testing.T) {
			got, err := Parse(OfList, things, "sort="+test.raw, limits)
			if err != nil || len(got.Sort)+len(test.want) > 0 && !reflect.DeepEqual(got.Sort, test.want) {
				t.Errorf("got %+v, %v\nwant %+v", got.Sort, err, test.want)
			}
		})
	}
}

// TestParseRefuses lists what is refused, each as "code parameter".
func TestParseRefuses(t *testing.T) {
	id := someID.String()
	tests := []struct {
		raw  string
		want string
	}{
		{"limit=", "invalid_parameter limit"},
		{"limit", "invalid_parameter limit"},
		{"limit=+5", "invalid_parameter limit"},
		{"limit=%2B5", "invalid_parameter limit"},
		{"limit=--5", "invalid_parameter limit"},
		{"limit=-", "invalid_parameter limit"},
		{"limit=5.0", "invalid_parameter limit"},
		{"limit=1e3", "invalid_parameter limit"},
		{"limit=0x10", "invalid_parameter limit"},
		{"limit=1_000", "invalid_parameter limit"},
		{"limit=%C2%B2", "invalid_parameter limit"},
		{"limit=%205", "invalid_parameter limit"},
		{"l=x", "invalid_parameter l"},
		{"offset=-1", "invalid_parameter offset"},
		{"o=-" + strings.Repeat("9", 30), "invalid_parameter o"},
		{"cursor=5", "invalid_parameter cursor"},
		{"cursor={" + id + "}", "invalid_parameter cursor"},
		{"cursor=urn:uuid:" + id, "invalid_parameter cursor"},
		{"cursor=" + strings.ReplaceAll(id, "-", ""), "invalid_parameter cursor"},
		{"cursor=" + id + "&offset=1", "conflicting_range cursor"},
		{"o=1&cursor=" + id, "conflicting_range cursor"},
		{"limit=1&limit=1", "duplicate_parameter limit"},
		{"limit=1&l=1", "duplicate_parameter l"},
		{"o=1&offset=1", "duplicate_parameter offset"},
		{"sort=text&sort=text", "invalid_parameter sort"},
		{"sort=text&sort=-text", "invalid_parameter sort"},
		{"sort=text&sort=", "invalid_parameter sort"},
		{"filter[text][ne]=a&filter[text][ne]=a", "duplicate_parameter filter[text][ne]"},
		{"filter[text][null]=true&filter[text][null]=true", "duplicate_parameter filter[text][null]"},
		{"filter[text][eq]=a&filter[text][eq]=b", "duplicate_parameter filter[text][eq]"},
		{"Limit=1", "unknown_parameter Limit"},
		{"page=1", "unknown_parameter page"},
		{"filter=x", "unknown_parameter filter"},
		{"filter[text", "unknown_parameter filter[text"},
		{"filter[text]x", "unknown_parameter filter[text]x"},
		{"filter[text][]=x", "unknown_parameter filter[text][]"},
		{"=x", "unknown_parameter"},
		{"sort=", "invalid_parameter sort"},
		{"sort", "invalid_parameter sort"},
		{"sort=text,", "invalid_parameter sort"},
		{"sort=--text", "invalid_parameter sort"},
		{"sort=nope", "invalid_parameter sort"},
		{"sort=object", "invalid_parameter sort"},
		{"sort=text,-text", "invalid_parameter sort"},
		{"sort=_revision", "invalid_parameter sort"},
		{"limit=%", "malformed_query limit"},
		{"limit=%zz", "malformed_query limit"},
		{"%zz=1", "malformed_query %zz"},
		{"filter[text]=%ff", "malformed_query filter[text]"},
		{"filter[text]=%00", "malformed_query filter[text]"},
		{"filter[text]=%ed%a0%80", "malformed_query filter[text]"},
		{"%ff=1", "malformed_query %ff"},
		{"\xff=1", "malformed_query \uFFFD"},
		{"\xff;=1", "malformed_query \uFFFD;=1"},
		{"limit=1;offset=2", "malformed_query limit=1;offset=2"},
		{"limit=x&offset=x&page=1&sort=nope,object", "invalid_parameter limit, invalid_parameter offset, unknown_parameter page, invalid_parameter sort, invalid_parameter sort"},
	}
	for _, test := range tests {
		t.Run(test.raw, func(t *testing.T) {
			_, err := Parse(OfList, things, test.raw, limits)
			if got := places(t, err); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

// places lists the faults of an error, each as "code parameter".
func places(t testing.TB, err error) string {
	t.Helper()
	var list problem.Errors
	if err != nil && !errors.As(err, &list) {
		t.Fatalf("%v is no problem.Errors", err)
	}
	var texts []string
	for _, f := range list {
		if f.Status() != 400 || f.Detail == "" {
			t.Errorf("%v has the status %d", f, f.Status())
		}
		texts = append(texts, strings.TrimSpace(string(f.Code)+" "+f.Source.Parameter))
	}
	return strings.Join(texts, ", ")
}

func TestMaxLimit(t *testing.T) {
	for raw, want := range map[string]string{
		"limit=50": "", "limit=-50": "", "limit=0": "", "": "",
		"limit=51": "limit_too_large limit", "l=-51": "limit_too_large l", "limit=-99999999999999999999": "limit_too_large limit",
	} {
		_, err := Parse(OfList, things, raw, Limits{DefaultLimit: 10, MaxLimit: 50})
		if got := places(t, err); got != want {
			t.Errorf("%s: got %q, want %q", raw, got, want)
		}
	}
}

// TestMaxSortKeys: the keys of all sort parameters count together.
func TestMaxSortKeys(t *testing.T) {
	var keys []string
	for i := range MaxSortKeys + 2 {
		keys = append(keys, fmt.Sprintf("wide%d", i))
	}
	for _, separator := range []string{",", "&sort="} {
		for count, want := range map[int]string{MaxSortKeys: "", MaxSortKeys + 1: "too_many_values sort", MaxSortKeys + 2: "too_many_values sort"} {
			q, err := Parse(OfList, wide, "sort="+strings.Join(keys[:count], separator), limits)
			if got := places(t, err); got != want || want == "" && len(q.Sort) != count {
				t.Errorf("%d keys separated by %s: got %q and %d keys, want %q", count, separator, got, len(q.Sort), want)
			}
		}
	}
}

func TestParseNone(t *testing.T) {
	for raw, want := range map[string]string{
		"": "", "&": "",
		"limit=1":   "unknown_parameter limit",
		"a&b=%zz":   "unknown_parameter a, malformed_query b",
		"a=1;b=2&c": "malformed_query a=1;b=2, unknown_parameter c",
	} {
		if got := places(t, ParseNone(raw)); got != want {
			t.Errorf("%s: got %q, want %q", raw, got, want)
		}
	}
}

func TestLink(t *testing.T) {
	tests := []struct {
		raw  string
		to   Range
		want string
	}{
		{"", Range{Limit: 5}, "limit=5"},
		{"l=3&o=7", Range{Anchor: AtOffset, Offset: 4, Limit: -3}, "offset=4&limit=-3"},
		{"cursor=" + someID.String(), Range{Anchor: AtCursor, Cursor: someID, Limit: 3}, "cursor=" + someID.String() + "&limit=3"},
		{"sort=-text,id&limit=3&filter[text]=a b&filter[boolean]&filter[number][lt]=1", Range{Limit: 3},
			"sort=-text%2Cid&filter%5Btext%5D=a+b&filter%5Bboolean%5D&filter%5Bnumber%5D%5Blt%5D=1&limit=3"},
		{"sort=text&filter[text][in]=a&sort=-number&filter[text][in]=b,c", Range{Limit: 3}, "sort=text&filter%5Btext%5D%5Bin%5D=a&sort=-number&filter%5Btext%5D%5Bin%5D=b%2Cc&limit=3"},
		{"filter%5Btext%5D=%26%3D%2B%25%3b%22%3E&filter[boolean]=", Range{Limit: 3}, "filter%5Btext%5D=%26%3D%2B%25%3B%22%3E&filter%5Bboolean%5D=&limit=3"},
	}
	for _, test := range tests {
		t.Run(test.raw, func(t *testing.T) {
			q, err := Parse(OfList, things, test.raw, limits)
			if err != nil {
				t.Fatal(err)
			}
			if got := string(q.AppendLink(nil, test.to)); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}
