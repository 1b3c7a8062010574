package interfacetest

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
)

// begins reports whether a part of a query begins with a text.
func begins(text string) func(piece string) bool {
	return func(piece string) bool { return strings.HasPrefix(piece, text) }
}

var includeFaults = []fault{
	{"include is ignored", without(begins("include")), []string{"include.reference", "include.collection", "include.options", "include.fields", "include.unknown"}},
	{"unknown relations are ignored", tolerant(`include=conform_unknown`), []string{"include.unknown"}},
	{"embedded resources are not whole", response("GET", func(r *http.Request, a *broken) {
		if strings.Contains(r.URL.RawQuery, "include=user") {
			a.replace(`"email":"[^"]*",`, "")
		}
	}), []string{"include.reference"}},
	{"included collections are in the reverse order", rewritten(`include=posts$`, "include=posts&include[posts][sort]=-id"), []string{"include.collection"}},
	{"limits of included collections are ignored", without(begins("include[posts][limit]")), []string{"include.options"}},
	{"filters of included collections are ignored", without(begins("include[posts][filter]")), []string{"include.options"}},
	{"no total of included collections", without(begins("include[posts][total]")), []string{"include.options"}},
	{"fields of embedded resources are ignored", without(begins("fields[")), []string{"include.fields"}},
	{"embedded members of a body are ignored", accepted("PATCH", `"user":\{[^{}]*\}`, ""), []string{"include.read-only"}},
	{"filters through references are ignored", rewritten(`filter\[user\.id\]=[^&]*`, ""), []string{"filter.related"}},
	{"filters through collections are ignored", rewritten(`filter\[posts\.id\]=[^&]*`, ""), []string{"filter.related"}},
}

var fieldFaults = []fault{
	{"fields are ignored", without(begins("fields=")), []string{"fields.selects", "fields.unknown"}},
	{"unknown fields are ignored", tolerant(`fields=conform_unknown`), []string{"fields.unknown"}},
	{"fields leave out the type", response("GET", func(r *http.Request, a *broken) {
		if query(r, "fields") != "" {
			a.replace(`"type":"users",`, "")
		}
	}), []string{"fields.selects"}},
	{"all groups of filters must hold", rewritten(`filter\[any\]\[\d+\]`, "filter"), []string{"filter.groups"}},
	{"the first group of filters", rewritten(`&filter\[any\]\[1\][^&]*`, ""), []string{"filter.groups"}},
}

var insideFaults = []fault{
	{"filters inside objects are ignored", rewritten(`filter\[address\.[^&]*`, ""), []string{"filter.inside"}},
	{"values that an enum does not have find all", tolerant(`=conform_unknown`), []string{"filter.enum"}},
	{"has is ignored", rewritten(`filter\[tags\]\[has\]=[^&]*`, ""), []string{"filter.has"}},
}

var searchFaults = []fault{
	{"search is ignored", without(begins("search=")), []string{"search.words", "search.refused"}},
	{"search of one attribute is ignored", rewritten(`filter\[[a-z_]+\]\[search\]=[^&]*`, ""), []string{"filter.search"}},
	{"search compares the case", rewritten(`search=[^&a-z]*[A-Z][^&]*|search=[0-9]+(&|$)`, "filter[id]="+id(7)+"$1"), []string{"search.words"}},
	{"a search without words finds all", tolerant(`search=\+`), []string{"search.refused"}},
	{"sums of groups are wrong", response("GET", func(_ *http.Request, a *broken) { a.replace(`"sum":\{"integer":\d+`, `"sum":{"integer":1`) }), []string{"groups.values"}},
	{"the smallest is the largest", response("GET", func(_ *http.Request, a *broken) {
		a.replace(`"min":(\{[^{}]*\}),"max":(\{[^{}]*\})`, `"min":$2,"max":$1`)
	}), []string{"groups.values"}},
}

var groupFaults = []fault{
	{"groups without null", response("GET", func(_ *http.Request, a *broken) {
		items(a, func(all []json.RawMessage) []json.RawMessage {
			return slices.DeleteFunc(all, func(each json.RawMessage) bool { return strings.Contains(string(each), `"by":{"active":null}`) })
		})
	}), []string{"groups.count"}},
	{"filters do not restrict groups", request(func(r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/-/groups/") && strings.HasPrefix(r.URL.RawQuery, "filter[id]") {
			r.URL.RawQuery = ""
		}
	}), []string{"groups.all"}},
	{"one group without its by", response("GET", func(_ *http.Request, a *broken) { a.replace(`"by":\{\},`, "") }), []string{"groups.all"}},
	{"groups by unknown fields are one", request(func(r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/-/groups/") && strings.Contains(r.URL.RawQuery, "conform_unknown") {
			r.URL.RawQuery = ""
		}
	}), []string{"groups.refused"}},
	{"a cursor of groups is ignored", request(func(r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/-/groups/") && query(r, "cursor") != "" {
			r.URL.RawQuery = ""
		}
	}), []string{"groups.refused"}},
}

// isRange reports whether a request writes a range.
func isRange(r *http.Request) bool {
	return isUsers(r) && (r.Method == "PATCH" || r.Method == "DELETE")
}

var manyFaults = []fault{
	{"on_conflict is ignored", without(begins("on_conflict=")), []string{"upsert.one", "upsert.array", "upsert.refused"}},
	{"an upsert replaces", func(next serve, r *http.Request) *broken {
		body := take(r)
		var one struct{ ID string }
		if query(r, "on_conflict") == "id" && json.Unmarshal([]byte(body), &one) == nil && next(again(r, "GET", "/users/"+one.ID, "")).status == 200 {
			return next(again(r, "PUT", "/users/"+one.ID, body))
		}
		give(r, body)
		return next(r)
	}, []string{"upsert.one"}},
	{"an upsert is always 201", response("POST", func(r *http.Request, a *broken) {
		if query(r, "on_conflict") != "" {
			a.status = 201
		}
	}), []string{"upsert.one", "upsert.array"}},
	{"upserted first what exists", response("POST", func(r *http.Request, a *broken) {
		if query(r, "on_conflict") != "" && a.status == 200 {
			items(a, func(all []json.RawMessage) []json.RawMessage { slices.Reverse(all); return all })
		}
	}), []string{"upsert.array"}},
	{"an unknown unique group is ignored", rewritten(`on_conflict=conform_unknown`, ""), []string{"upsert.refused"}},

	{"dry_run is ignored", without(begins("dry_run=")), []string{"dryrun.create", "dryrun.change", "dryrun.key", "many.dry-run"}},
	{"a dry run of POST creates", request(func(r *http.Request) {
		if r.Method == "POST" && query(r, "dry_run") != "" {
			r.URL.RawQuery = ""
		}
	}), []string{"dryrun.create", "dryrun.key"}},
	{"nothing counts what is affected", func(next serve, r *http.Request) *broken {
		a := next(r)
		a.header.Del("X-Affected")
		return a
	}, []string{"dryrun.create", "dryrun.change", "many.dry-run"}},
	{"a dry run with a key", request(func(r *http.Request) {
		if query(r, "dry_run") != "" {
			r.Header.Del("Idempotency-Key")
		}
	}), []string{"dryrun.key"}},

	{"a transaction executes what it can", func(next serve, r *http.Request) *broken {
		body := take(r)
		give(r, body)
		a := next(r)
		var steps []struct {
			Method, Path string
			Body         json.RawMessage
		}
		if r.URL.Path == "/-/transaction" && a.status == 404 && json.Unmarshal([]byte(body), &steps) == nil {
			next(again(r, steps[0].Method, steps[0].Path, string(steps[0].Body)))
		}
		return a
	}, []string{"transaction.none"}},
	{"a transaction answers with its last resource", response("POST", func(r *http.Request, a *broken) {
		if r.URL.Path == "/-/transaction" {
			items(a, func(all []json.RawMessage) []json.RawMessage { return all[len(all)-1:] })
		}
	}), []string{"transaction.all"}},
	{"errors of transactions without the step", refusal(func(_ *http.Request, a *broken) { a.replace(`"pointer":"/1`, `"pointer":"`) }), []string{"transaction.none"}},

	{"the filter of a range is ignored", request(func(r *http.Request) {
		if isRange(r) && strings.Contains(r.URL.RawQuery, "filter[id]=") {
			r.URL.RawQuery = strings.Replace("limit=1000&"+r.URL.RawQuery[strings.Index(r.URL.RawQuery+"&", "&"):], "&&", "&", 1)
		}
	}), []string{"many.patch", "many.dry-run", "many.required"}},
	{"a range of one is an object", response("PATCH", func(r *http.Request, a *broken) {
		if isRange(r) {
			a.replace(`^\{"data":\[(.*)\]\}$`, `{"data":$1}`)
		}
	}), []string{"many.patch", "many.dry-run", "many.required"}},
	{"a range is answered and not changed", request(func(r *http.Request) {
		if isRange(r) && query(r, "dry_run") == "" && r.URL.RawQuery != "" {
			r.URL.RawQuery += "&dry_run=true"
		}
	}), []string{"many.patch"}},
	{"a dry run of DELETE of a range deletes", request(func(r *http.Request) {
		if isRange(r) && r.Method == "DELETE" {
			r.URL.RawQuery = strings.TrimSuffix(r.URL.RawQuery, "&dry_run=true")
		}
	}), []string{"many.dry-run"}},
	{"a whole collection may be changed", request(func(r *http.Request) {
		if isRange(r) && r.URL.RawQuery == "" {
			r.URL.RawQuery = "filter[id]=" + id(7)
		}
	}), []string{"many.required"}},
}
