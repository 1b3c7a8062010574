package interfacetest

import (
	"net/url"
	"strings"
	"testing"
)

// TestFilterComparisons puts the same questions to every type: each has the
// value of sample 3, and one between it and its neighbours or beyond them all.
func TestFilterComparisons(t *testing.T) {
	// What is listed for a filter on the value of sample 3.
	want := map[string][]int{
		"":         {3},
		"[eq]":     {3},
		"[ne]":     {0, 1, 2, 4, 5, 6},
		"[lt]":     {1, 2},
		"[lte]":    {1, 2, 3},
		"[gt]":     {4, 5, 6},
		"[gte]":    {3, 4, 5, 6},
		"[in]":     {3},
		"[not_in]": {0, 1, 2, 4, 5, 6},
	}
	values := map[string][]string{
		"text":    {"a"},
		"email":   {"c@example.com"},
		"uri":     {"c:1"},
		"uuid":    {id(3)},
		"date":    {"2026-01-02"},
		"moment":  {"2026-01-01T00:00:00.001Z", "2026-01-01T01:00:00.001+01:00"},
		"integer": {"0", "-0", "0.0", "0e5"},
		"number":  {"0", "-0", "0.0", "0e-400"},
	}
	eachStore(t, large(t), func(t *testing.T, s *server) {
		startSamples(s)
		for field, texts := range values {
			for operator, positions := range want {
				for _, text := range texts {
					query := "filter[" + field + "]" + operator + "=" + url.QueryEscape(text)
					s.get("/samples?"+query).expectPositions(t, query, positions...)
				}
			}
		}
	})
}

func TestFilters(t *testing.T) {
	tests := []struct {
		query string
		want  []int
	}{
		// Null, and what is left out.
		{"filter[text]", from(1, 7)}, {"filter[text]=", []int{1}}, {"filter[text][eq]=", []int{1}}, {"filter[text][ne]=", []int{0, 2, 3, 4, 5, 6}},
		{"filter[integer]", from(1, 7)}, {"filter[moment]", from(1, 7)}, {"filter[uuid]", from(1, 7)}, {"filter[object]", from(1, 7)}, {"filter[array]", from(1, 7)},
		{"filter[text][null]=true", []int{0}}, {"filter[text][null]=false", from(1, 7)},
		{"filter[object][null]=true", []int{0}}, {"filter[array][null]=false", from(1, 7)}, {"filter[number][null]=true", []int{0}},
		{"filter[id]", from(0, 7)}, {"filter[id][null]=true", []int{}}, {"filter[created_at]", from(0, 7)}, {"filter[updated_at][null]=true", []int{}},
		// Booleans.
		{"filter[boolean]", []int{4, 5, 6}}, {"filter[boolean]=", []int{4, 5, 6}}, {"filter[boolean]=true", []int{4, 5, 6}}, {"filter[boolean]=false", []int{1, 2, 3}},
		{"filter[boolean][ne]=true", []int{0, 1, 2, 3}}, {"filter[boolean][gt]=false", []int{4, 5, 6}}, {"filter[boolean][lt]=true", []int{1, 2, 3}},
		{"filter[boolean][in]=true,false", from(1, 7)}, {"filter[boolean][not_in]=false", []int{0, 4, 5, 6}}, {"filter[boolean][null]=true", []int{0}},
		// Type is the same for all.
		{"filter[type]=samples", from(0, 7)}, {"filter[type]=users", []int{}}, {"filter[type]", from(0, 7)}, {"filter[type][ne]=users", from(0, 7)},
		{"filter[type][in]=users,samples", from(0, 7)}, {"filter[type][not_in]=samples", []int{}}, {"filter[type][null]=true", []int{}}, {"filter[type][contains]=amp", from(0, 7)}, {"filter[type][gt]=s", from(0, 7)},
		// Several values of one field: any. Several filters: all.
		{"filter[integer]=0&filter[integer]=1", []int{3, 4}}, {"filter[text]=a&filter[integer]=1", []int{}}, {"filter[integer]=0&filter[text]=a&filter[integer]=1", []int{3}},
		{"filter[boolean]=true&filter[boolean]=false", from(1, 7)}, {"filter[text]=a&filter[text]", from(1, 7)},
		{"filter[integer][gte]=0&filter[integer][lt]=2", []int{3, 4}}, {"filter[integer][gt]=0&filter[integer]=0", []int{}}, {"filter[boolean]&filter[number][lt]=1", []int{4}},
		// Lists, with commas in their values.
		{`filter[text][in]=a\,b\c%25_,B`, []int{2, 4}}, {"filter[text][in]=", []int{1}}, {"filter[text][in]=a,", []int{1, 3}}, {`filter[text][not_in]=a\,b\c%25_,`, []int{0, 2, 3, 5, 6}},
		{"filter[integer][in]=0,1,1,7", []int{3, 4}}, {"filter[uuid][in]=" + id(1) + "," + id(6), []int{1, 6}}, {"filter[moment][in]=2026-01-01T00:00:00Z,2026-01-01T02:00:00%2B01:00", []int{2, 4}},
		{"filter[text]=a%2Cb%5Cc%25_", []int{4}}, {"filter[text]=a,b\\c%25_", []int{4}},
		// Strings: by code point and case, with nothing special in them.
		{"filter[text][contains]=a", []int{3, 4}}, {"filter[text][contains]=A", []int{}}, {"filter[text][contains]=%25", []int{4}}, {"filter[text][contains]=_", []int{4}},
		{"filter[text][contains]=", from(1, 7)}, {"filter[text][contains]=%F0%9D%84%9E", []int{6}}, {`filter[text][contains]=\c`, []int{4}}, {"filter[email][contains]=@example", from(1, 7)},
		{"filter[text][starts_with]=a", []int{3, 4}}, {"filter[text][starts_with]=a%2C", []int{4}}, {"filter[text][starts_with]=", from(1, 7)}, {"filter[text][starts_with]=%EF%BD%9E", []int{5}},
		{"filter[text][starts_with]=%F0%9D%84%9E", []int{6}}, {"filter[text][starts_with]=%F4%8F%BF%BF", []int{}}, {"filter[text][starts_with]=b", []int{}}, {"filter[uri][starts_with]=a:", []int{1}},
		{"filter[text][lt]=a", []int{1, 2}}, {"filter[text][gt]=%EF%BD%9E", []int{6}}, {"filter[text]=b", []int{}},
		// Numbers are exact.
		{"filter[integer]=9007199254740993", []int{6}}, {"filter[integer]=9007199254740992", []int{5}}, {"filter[integer][gt]=9007199254740992", []int{6}}, {"filter[integer][lt]=-9007199254740992", []int{1}},
		{"filter[integer]=1.0", []int{4}}, {"filter[integer]=9223372036854775807", []int{}}, {"filter[integer][gte]=-9223372036854775808", from(1, 7)},
		{"filter[number]=0.1", []int{4}}, {"filter[number]=1e-1", []int{4}}, {"filter[number]=-0.0000001", []int{2}}, {"filter[number][gt]=1e299", []int{6}}, {"filter[number][lte]=-1.5", []int{1}}, {"filter[number]=1e300", []int{6}},
		// Times of the server.
		{"filter[created_at][gt]=2001-01-01T00:00:00Z", from(0, 7)}, {"filter[updated_at][lt]=2001-01-01T00:00:00Z", []int{}},
		// Every resource has an id.
		{"filter[id]=" + id(3), []int{3}}, {"filter[id][ne]=" + id(3), []int{0, 1, 2, 4, 5, 6}}, {"filter[id][lt]=" + id(3), []int{0, 1, 2}}, {"filter[id][lte]=" + id(3), []int{0, 1, 2, 3}},
		{"filter[id][gt]=" + id(3), []int{4, 5, 6}}, {"filter[id][gte]=" + id(3), []int{3, 4, 5, 6}}, {"filter[id][in]=" + id(3) + "," + id(9), []int{3}}, {"filter[id][not_in]=" + id(3), []int{0, 1, 2, 4, 5, 6}},
		// Names can be percent-encoded, too.
		{"filter%5Btext%5D%5Beq%5D=a", []int{3}}, {"f%69lter[text]=a", []int{3}},
	}
	eachStore(t, large(t), func(t *testing.T, s *server) {
		startSamples(s)
		for _, test := range tests {
			s.get("/samples?"+test.query).expectPositions(t, test.query, test.want...)
		}
		s.get("/samples?filter[id]="+strings.ToUpper(id(3))).expectPositions(t, "an id in upper case", 3)
	})
}

func TestFilterRefusals(t *testing.T) {
	tests := map[string]string{
		"filter[nope]=1":                           "unknown_parameter filter[nope]",
		"filter[nope]":                             "unknown_parameter filter[nope]",
		"filter[Text]=a":                           "unknown_parameter filter[Text]",
		"filter[]=a":                               "unknown_parameter filter[]",
		"filter[_revision]=1":                      "unknown_parameter filter[_revision]",
		"filter[nope][eq]=1":                       "unknown_parameter filter[nope][eq]",
		"filter=1":                                 "unknown_parameter filter",
		"filter[text=1":                            "unknown_parameter filter[text",
		"filter[text][]=1":                         "unknown_parameter filter[text][]",
		"filter[text][like]=a":                     "invalid_parameter filter[text][like]",
		"filter[text][EQ]=a":                       "invalid_parameter filter[text][EQ]",
		"filter[text][eq][ne]=a":                   "invalid_parameter filter[text][eq][ne]",
		"filter[text][eq]":                         "invalid_parameter filter[text][eq]",
		"filter[text][null]":                       "invalid_parameter filter[text][null]",
		"filter[text][null]=":                      "invalid_parameter filter[text][null]",
		"filter[text][null]=1":                     "invalid_parameter filter[text][null]",
		"filter[text][eq]=a&filter[text][eq]=b":    "duplicate_parameter filter[text][eq]",
		"filter[integer]=":                         "invalid_parameter filter[integer]",
		"filter[integer]=x":                        "invalid_parameter filter[integer]",
		"filter[integer]=1.5":                      "invalid_parameter filter[integer]",
		"filter[integer]=01":                       "invalid_parameter filter[integer]",
		"filter[integer]=%2B1":                     "invalid_parameter filter[integer]",
		"filter[integer]=9223372036854775808":      "invalid_parameter filter[integer]",
		"filter[integer][in]=1,x,2":                "invalid_parameter filter[integer][in]",
		"filter[integer][in]=":                     "invalid_parameter filter[integer][in]",
		"filter[integer][contains]=1":              "invalid_parameter filter[integer][contains]",
		"filter[number]=":                          "invalid_parameter filter[number]",
		"filter[number]=NaN":                       "invalid_parameter filter[number]",
		"filter[number]=Infinity":                  "invalid_parameter filter[number]",
		"filter[number]=1e400":                     "invalid_parameter filter[number]",
		"filter[number]=0x1":                       "invalid_parameter filter[number]",
		"filter[number]=%201":                      "invalid_parameter filter[number]",
		"filter[boolean]=1":                        "invalid_parameter filter[boolean]",
		"filter[boolean]=TRUE":                     "invalid_parameter filter[boolean]",
		"filter[boolean][eq]=":                     "invalid_parameter filter[boolean][eq]",
		"filter[boolean][starts_with]=t":           "invalid_parameter filter[boolean][starts_with]",
		"filter[uuid]=":                            "invalid_parameter filter[uuid]",
		"filter[uuid]=x":                           "invalid_parameter filter[uuid]",
		"filter[id]={" + id(1) + "}":               "invalid_parameter filter[id]",
		"filter[date]=2026-1-1":                    "invalid_parameter filter[date]",
		"filter[date][contains]=2026":              "invalid_parameter filter[date][contains]",
		"filter[moment]=2026-01-01":                "invalid_parameter filter[moment]",
		"filter[moment]=2026-01-01T00:00:00+01:00": "invalid_parameter filter[moment]", // + is a space
		"filter[moment]=2016-12-31T23:59:60Z":      "invalid_parameter filter[moment]", // a leap second
		"filter[moment]=":                          "invalid_parameter filter[moment]",
		"filter[created_at]=now":                   "invalid_parameter filter[created_at]",
		"filter[object]=1":                         "invalid_parameter filter[object]",
		"filter[object]=":                          "invalid_parameter filter[object]",
		"filter[object][eq]={}":                    "invalid_parameter filter[object][eq]",
		"filter[array][contains]=1":                "invalid_parameter filter[array][contains]",
		"filter[integer][in]=" + strings.Repeat("1,", 1000) + "1": "too_many_values filter[integer][in]",
	}
	eachStore(t, large(t), func(t *testing.T, s *server) {
		for query, want := range tests {
			s.expectRefusal(t, "GET", "/samples?"+query, "", 400, want)
		}
		s.expectRefusal(t, "GET", "/samples?filter[nope]&filter[integer]=x&sort=object,nope&o=-1&l=x&cursor=1", "", 400,
			"unknown_parameter filter[nope]", "invalid_parameter filter[integer]", "invalid_parameter sort", "invalid_parameter sort",
			"invalid_parameter o", "invalid_parameter l", "invalid_parameter cursor", "conflicting_range cursor")
	})
}
