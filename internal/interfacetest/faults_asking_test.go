package interfacetest

import (
	"net/http"
	"strings"
)

// askingChecks are the checks of askingFaults.
var askingChecks = []string{
	"sort.related", "sort.count", "filter.count", "filter.some", "filter.none", "filter.exists", "filter.null-many",
	"groups.related", "groups.include", "groups.sort", "groups.distinct", "groups.having", "groups.units", "groups.rank-refused",
}

// groupsOf changes the queries of groups.
func groupsOf(change func(query string) string) func(serve, *http.Request) *broken {
	return request(func(r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/-/groups/") {
			r.URL.RawQuery = change(r.URL.RawQuery)
		}
	})
}

var askingFaults = []fault{
	{"sorts through references are ignored", rewritten(`sort=-?user\.id`, ""), []string{"sort.related"}},
	{"a minus before a path is ignored", rewritten(`sort=-user\.id`, "sort=user.id"), []string{"sort.related"}},
	{"sorts by numbers of related resources are ignored", rewritten(`sort=-?count\.posts`, ""), []string{"sort.count"}},
	{"filters by numbers of related resources are ignored", rewritten(`&filter\[count\.posts\][^&]*`, ""), []string{"filter.count"}},
	{"a number that must be equal may be greater", rewritten(`\[count\.posts\]=3`, "[count.posts][gt]=3"), []string{"filter.count"}},
	{"conditions of some are about several resources", rewritten(`filter\[some\]\[0\]`, "filter"), []string{"filter.some"}},
	{"none is some", rewritten(`filter\[none\]`, "filter[some]"), []string{"filter.none"}},
	{"exists is reversed", rewritten(`\[posts\]\[exists\]=true`, "[posts][exists]=false"), []string{"filter.exists"}},
	{"exists of a reference is ignored", rewritten(`&filter\[user\]\[exists\]=[^&]*`, ""), []string{"filter.exists"}},
	{"null through several resources has a meaning", tolerant(`posts\.id\]\[null\]=true`), []string{"filter.null-many"}},
	{"groups through references have other names", rewritten(`by=user\.id`, "by=user_id"), []string{"groups.related"}},
	{"include of groups is ignored", groupsOf(func(query string) string { return strings.Replace(query, "include=user&", "", 1) }), []string{"groups.include"}},
	{"groups are sorted upwards", groupsOf(func(query string) string { return strings.Replace(query, "sort=-", "sort=", 1) }), []string{"groups.sort"}},
	{"distinct counts all", response("GET", func(_ *http.Request, a *broken) { a.replace(`"distinct":\{"active":\d+`, `"distinct":{"active":45`) }), []string{"groups.distinct"}},
	{"having is ignored", without(begins("having[")), []string{"groups.having", "groups.rank-refused"}},
	{"weeks of another year", response("GET", func(_ *http.Request, a *broken) { a.replace(`"created_at:week":"\d{4}`, `"created_at:week":"1999`) }), []string{"groups.units"}},
	{"values that are not asked for are ignored", groupsOf(func(query string) string {
		if query == "sort=-distinct.id" {
			return ""
		}
		return query
	}), []string{"groups.rank-refused"}},
}
