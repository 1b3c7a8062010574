package query

import (
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/plural-go/plural/internal/fault"
)

// FuzzQuery makes sure that whatever is in a query string, it is either refused
// with a place, or means the same when it comes back in a link.
func FuzzQuery(f *testing.F) {
	for _, seed := range []string{
		"", "o=39&l=-25", "offset=5&limit=-20", "cursor=01936f2e-7d3c-7a4b-9c5d-0123456789ab&limit=30",
		"filter[boolean]", "filter[boolean]=", "filter[text]=a&filter[text]=b&filter[text]", "filter[integer][in]=1,2.0,3e0",
		`filter[text][in]=a\,b,\,,`, "filter[number][gte]=-0.0&sort=-number,text,-id", "filter[moment][lt]=2026-11-14T09%3A30%3A00%2B01%3A00",
		"filter[type]=things&filter[type][ne]=x", "filter%5Btext%5D%5Bcontains%5D=%F0%9D%84%9E", "sort=id,text", "sort=type",
		"limit=999999999999999999999", "limit=-999999999999999999999", "a;b", "%", "\xff;", "=", "&=&", "filter[text]=%00", "filter[[]]", "filter[text][eq][x]=1",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		q, err := Parse(things, raw, limits)
		if err != nil {
			checkRefusal(t, raw, err)
			return
		}
		link := string(q.AppendLink(nil, q.Range))
		again, err := Parse(things, link, limits)
		if err != nil {
			t.Fatalf("%q became the link %q, which is refused: %v", raw, link, err)
		}
		if next := string(again.AppendLink(nil, again.Range)); next != link {
			t.Errorf("the link %q has the link %q", link, next)
		}
		// What is kept is the text that the links were made of.
		q.linkParameters, again.linkParameters = nil, nil
		if !reflect.DeepEqual(again, q) {
			t.Errorf("%q is %+v, but its link %q is %+v", raw, q, link, again)
		}
	})
}

// checkRefusal makes sure that every fault is a 400 that can be shown, and that
// names its parameter, unless the client gave it no name.
func checkRefusal(t *testing.T, raw string, err error) {
	t.Helper()
	nameless := strings.HasPrefix(raw, "=") || strings.Contains(raw, "&=")
	for _, f := range fault.From(err) {
		if f.Status() != 400 || f.Detail == "" || f.Source.Parameter == "" && !nameless {
			t.Errorf("%q gives %d %v", raw, f.Status(), f)
		}
		if !utf8.ValidString(f.Source.Parameter) || !utf8.ValidString(f.Detail) {
			t.Errorf("%q gives %q, which is not valid UTF-8", raw, f)
		}
	}
}
