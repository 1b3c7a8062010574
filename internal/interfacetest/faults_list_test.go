package interfacetest

import (
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"strings"
)

// without takes filters out of a query; keep says which stay.
func without(drop func(piece string) bool) func(serve, *http.Request) *broken {
	return func(next serve, r *http.Request) *broken {
		r.URL.RawQuery = strings.Join(slices.DeleteFunc(strings.Split(r.URL.RawQuery, "&"), drop), "&")
		return next(r)
	}
}

// rewritten changes a query by a pattern.
func rewritten(pattern, with string) func(serve, *http.Request) *broken {
	form := regexp.MustCompile(pattern)
	return request(func(r *http.Request) { r.URL.RawQuery = form.ReplaceAllString(r.URL.RawQuery, with) })
}

// tolerant answers a refused query of some kind with the whole collection.
func tolerant(pattern string) func(serve, *http.Request) *broken {
	form := regexp.MustCompile(pattern)
	return func(next serve, r *http.Request) *broken {
		if r.Method == "GET" && form.MatchString(r.URL.RawQuery) {
			r.URL.RawQuery = ""
		}
		return next(r)
	}
}

// refused answers queries of some kind with 400.
func refused(pattern string) func(serve, *http.Request) *broken {
	form := regexp.MustCompile(pattern)
	return func(next serve, r *http.Request) *broken {
		if r.Method == "GET" && form.MatchString(r.URL.RawQuery) {
			r.URL.RawQuery += "&limit=x"
		}
		return next(r)
	}
}

// linked changes the Link header.
func linked(pattern, with string) func(serve, *http.Request) *broken {
	form := regexp.MustCompile(pattern)
	return func(next serve, r *http.Request) *broken {
		a := next(r)
		if link := a.header.Get("Link"); link != "" {
			a.header.Set("Link", form.ReplaceAllString(link, with))
		}
		return a
	}
}

var listFaults = []fault{
	{"filters are ignored", without(func(piece string) bool {
		return strings.HasPrefix(piece, "filter[") && !strings.Contains(piece, "conform") && !strings.Contains(piece, "%")
	}), []string{
		"filter.restricts", "filter.equals", "filter.boolean", "filter.any-of", "filter.all-hold", "filter.bare-boolean", "filter.null", "filter.not-equal",
		"filter.in", "filter.not-in", "filter.list-repeated", "filter.compare", "filter.text", "filter.id", "filter.groups", "cursor.outside-filter", "link.keeps-query",
	}},
	{"filters by equality are ignored", rewritten(`filter\[name\]=[^&]*`, ""), []string{"filter.equals", "filter.any-of"}},
	{"the last of two values", rewritten(`filter\[name\]=[^&]*&(filter\[name\]=)`, "$1"), []string{"filter.any-of"}},
	{"the first of two filters", rewritten(`(filter\[id\]\[gte\]=[^&]*)&filter\[id\]\[lte\]=[^&]*`, "$1"), []string{"filter.all-hold"}},
	{"false is null", rewritten(`filter\[active\]=false`, "filter[active][null]=true"), []string{"filter.boolean"}},
	{"a bare filter is not null", rewritten(`filter\[active\]=?(&|$)`, "filter[active][null]=false$1"), []string{"filter.bare-boolean"}},
	{"null is reversed", rewritten(`\[null\]=true`, "[null]=false"), []string{"filter.null"}},
	{"ne leaves out null", func(next serve, r *http.Request) *broken {
		// No name is null here, so another resource is left out.
		if strings.Contains(r.URL.RawQuery, "filter[name][ne]=") {
			r.URL.RawQuery += "&filter[active][null]=false"
		}
		return next(r)
	}, []string{"filter.not-equal"}},
	{"in takes the first value", rewritten(`(filter\[name\]\[in\]=[^,&]*),[^&]*`, "$1"), []string{"filter.in"}},
	{"not_in takes the first value", rewritten(`(filter\[name\]\[not_in\]=[^,&]*),[^&]*`, "$1"), []string{"filter.not-in"}},
	{"the last of two lists", rewritten(`filter\[name\]\[(?:in|not_in)\]=[^,&]*&(filter\[name\]\[(?:in|not_in)\]=)`, "$1"), []string{"filter.list-repeated"}},
	{"two lists are refused", refused(`filter\[name\]\[in\]=[^&]*&filter\[name\]\[in\]=`), []string{"filter.list-repeated"}},
	{"lt is lte", rewritten(`\[lt\]`, "[lte]"), []string{"filter.compare"}},
	{"starts_with looks at the first letter", rewritten(`\[starts_with\]=(.)[^&]*`, "[starts_with]=$1"), []string{"filter.text"}},
	{"unknown fields are ignored", tolerant(`filter\[conform_unknown\]`), []string{"filter.unknown-field"}},
	{"unknown operators are ignored", tolerant(`filter\[id\]\[conform\]`), []string{"filter.unknown-operator"}},
	{"wrong values find nothing", tolerant(`filter\[id\]=conform`), []string{"filter.wrong-value"}},

	{"sort is ignored", without(func(piece string) bool {
		return strings.HasPrefix(piece, "sort=") && !strings.Contains(piece, "id") && piece != "sort=" && piece != "sort=conform_unknown"
	}),
		[]string{"sort.ascending", "sort.descending", "sort.null", "sort.repeated"}},
	{"a minus is ignored", rewritten(`sort=-name`, "sort=name"), []string{"sort.descending"}},
	{"a minus is added", rewritten(`sort=name`, "sort=-name"), []string{"sort.ascending"}},
	{"ties by descending id", rewritten(`sort=(-?active)`, "sort=$1,-id"), []string{"sort.ties", "sort.repeated"}},
	{"null is largest", response("GET", func(r *http.Request, a *broken) {
		if strings.Contains(r.URL.RawQuery, "sort=active") {
			items(a, func(all []json.RawMessage) []json.RawMessage {
				isNull := func(item json.RawMessage) bool { return strings.Contains(string(item), `"active":null`) }
				nulls := slices.DeleteFunc(slices.Clone(all), func(item json.RawMessage) bool { return !isNull(item) })
				return append(slices.DeleteFunc(all, isNull), nulls...)
			})
		}
	}), []string{"sort.null"}},
	{"a range of a sorted collection is of the unsorted", rewritten(`sort=-id&(offset=2)`, "$1"), []string{"sort.range"}},
	{"a cursor of a sorted collection is of the unsorted", rewritten(`sort=-id&(cursor=[^&]*&limit=3)`, "$1"), []string{"sort.cursor"}},
	{"the first of two sort keys", rewritten(`(sort=[^&,]*)&sort=-id`, "$1"), []string{"sort.repeated"}},
	{"two sort keys are refused", refused(`sort=[^&,]*&sort=-id`), []string{"sort.repeated"}},
	{"unknown sort keys are ignored", tolerant(`sort=conform_unknown`), []string{"sort.unknown-field"}},

	{"no total", response("", func(_ *http.Request, a *broken) { a.header.Del("X-Total-Count") }), []string{"total.present", "total.filtered"}},
	{"the total of the page", response("", func(_ *http.Request, a *broken) {
		if a.header.Get("X-Total-Count") != "" && a.header.Get("Preference-Applied") == "" {
			a.header.Set("X-Total-Count", "2")
		}
	}), []string{"total.value", "child.total"}},
	{"the total without the filter", func(next serve, r *http.Request) *broken {
		a := next(r)
		if a.header.Get("Preference-Applied") != "" {
			a.header.Set("X-Total-Count", "45")
		}
		return a
	}, []string{"total.filtered"}},

	{"no next", linked(`<[^>]*>; rel="next", `, ""), []string{"link.next", "link.next-by-offset", "link.keeps-query"}},
	{"next drifts", linked(`offset=8(&limit=5>; rel="next")`, "offset=9$1"), []string{"link.next-by-offset"}},
	{"prev drifts", linked(`offset=8(&limit=-5>; rel="prev")`, "offset=7$1"), []string{"link.prev-by-offset"}},
	{"next by cursor begins again", linked(`cursor=[^&]*(&limit=5>; rel="next")`, "cursor="+"$1"), []string{"link.next", "link.keeps-query"}},
	{"prev leads to the start", linked(`cursor=[^&]*&limit=-5(>; rel="prev")`, "limit=5$1"), []string{"link.prev", "link.by-cursor"}},
	{"first is this page", linked(`limit=5(>; rel="first")`, "offset=7&limit=5$1"), []string{"link.first"}},
	{"last is first", linked(`limit=-5(>; rel="last")`, "limit=5$1"), []string{"link.last"}},
	{"next at the end", func(next serve, r *http.Request) *broken {
		a := next(r)
		if link := a.header.Get("Link"); link != "" && !strings.Contains(link, `rel="next"`) && !strings.Contains(link, "limit=7") {
			a.header.Set("Link", link+`, </users?offset=1000>; rel="next"`)
		}
		return a
	}, []string{"link.beyond-end", "link.end", "link.limit-zero"}},
	{"prev at the start", func(next serve, r *http.Request) *broken {
		a := next(r)
		if link := a.header.Get("Link"); link != "" && !strings.Contains(link, `rel="prev"`) && !strings.Contains(link, "limit=7") {
			a.header.Set("Link", link+`, </users?limit=5>; rel="prev"`)
		}
		return a
	}, []string{"link.limit-zero", "link.start"}},
	{"pages are one short", response("GET", func(r *http.Request, a *broken) {
		if query(r, "cursor") != "" && query(r, "limit") == "7" {
			items(a, func(all []json.RawMessage) []json.RawMessage { return all[:len(all)-1] })
		}
	}), []string{"link.walk"}},
	{"pages back are one short", response("GET", func(r *http.Request, a *broken) {
		if query(r, "cursor") != "" && query(r, "limit") == "-7" {
			items(a, func(all []json.RawMessage) []json.RawMessage { return all[1:] })
		}
	}), []string{"link.walk-back"}},
	{"links by offset alone", linked(`cursor=[^&]*&limit=5>; rel="next"`, `offset=5&limit=5>; rel="next"`), []string{"link.by-cursor"}},
	{"links lose the filter", linked(`filter[^&]*&`, ""), []string{"link.keeps-query"}},
	{"links as long as the query", response("GET", func(r *http.Request, a *broken) {
		if len(r.URL.RawQuery) > 2<<10 {
			a.header.Set("Link", "<"+r.URL.RequestURI()+`>; rel="first"`)
		}
	}), []string{"link.bounded"}},
	{"links with short names", linked(`limit=`, "l="), []string{"link.form"}},
	{"whole URLs in links", func(next serve, r *http.Request) *broken {
		a := next(r)
		if link := a.header.Get("Link"); link != "" {
			a.header.Set("Link", strings.ReplaceAll(link, "</", "<http://"+r.Host+"/"))
		}
		return a
	}, []string{"link.form"}},
}

// longFaults need a collection with more than 1,000 resources.
var longFaults = []fault{
	{"no next of long ranges", linked(`<[^>]*limit=1001>; rel="next", `, ""), []string{"link.walk-long"}},
	{"next of long ranges begins behind the end", linked(`offset=1001(&limit=1001>; rel="next")`, "offset=1002$1"), []string{"link.walk-long"}},
}
