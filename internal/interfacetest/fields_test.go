package interfacetest

import (
	"strings"
	"testing"
)

func TestFields(t *testing.T) {
	one := func(representation string) string { return `{"data":` + representation + `}` }
	part := func(n int, kind string, members ...string) string {
		return `{"id":"` + id(n) + `","type":"` + kind + `"` + strings.Join(append([]string{""}, members...), ",") + `}`
	}
	eachStore(t, bookshelf(t), func(t *testing.T, s *server) {
		startBookshelf(s)
		book11 := "/books/" + id(11)
		for _, c := range []struct{ path, want string }{
			{"/books?fields=title&limit=1", data(part(11, "books", `"title":"B11"`))},
			{"/books?fields=id&limit=1", data(part(11, "books"))},
			{"/books?fields=price&fields=title,type&limit=1", data(part(11, "books", `"title":"B11"`, `"price":11`))},
			{"/books?fields=price&sort=-title&filter[title][ne]=B12", data(part(13, "books", `"price":13`), part(11, "books", `"price":11`))},
			{"/books?fields=title,price,author_id,edited_by,owner", data(b11, b12, b13)},
			{book11 + "?fields=price", one(part(11, "books", `"price":11`))},
			{"/book/" + id(11) + "?fields=price", one(part(11, "books", `"price":11`))},
			{book11 + "/comments?fields=stars&limit=2", data(part(21, "comments", `"stars":0`), part(22, "comments", `"stars":2`))},
			{book11 + "?fields=price&include=author,comments&fields[author]=name&fields[comments]=stars&include[comments][limit]=1", one(
				part(11, "books", `"price":11`, `"author":`+part(1, "people", `"name":"P1"`), array("comments", part(21, "comments", `"stars":0`))))},
			{book11 + "?include=comments.person&fields[comments.person]=id&include[comments][limit]=1", one(embedding(b11, array("comments", embedding(c21, `"person":`+part(1, "people")))))},
			// The reference that is followed need not be shown.
			{"/books?fields=id&include=author&fields[author]=id&limit=1", data(part(11, "books", `"author":`+part(1, "people")))},
		} {
			before := t.Failed()
			s.get(c.path).expect(t, 200, c.want)
			if !before && t.Failed() {
				t.Fatalf("first failure: GET %s", c.path)
			}
		}
	})
}

// TestFieldsAndETags: each selection has its own ETag, and each of them stands for the same state.
func TestFieldsAndETags(t *testing.T) {
	eachStore(t, bookshelf(t), func(t *testing.T, s *server) {
		startBookshelf(s)
		path := "/books/" + id(12)
		tags := map[string]string{}
		for _, query := range []string{"", "?fields=title", "?fields=price", "?fields=price,title", "?fields=id"} {
			a := s.get(path + query)
			tag := a.header.Get("ETag")
			if a.status != 200 || tag == "" || tags[tag] != "" {
				t.Errorf("%s: %d with the ETag %s, which %q has too", query, a.status, tag, tags[tag])
			}
			tags[tag] = query
			if again := s.get(path+query, "If-None-Match", tag); again.status != 304 || again.header.Get("ETag") != tag {
				t.Errorf("%s: %d %s with its own ETag", query, again.status, again.header)
			}
		}
		if all := s.get(path + "?fields=title,price,author_id,edited_by,owner"); all.header.Get("ETag") != s.get(path).header.Get("ETag") {
			t.Errorf("a selection of everything has another ETag: %s", all.header)
		}
		for tag, query := range tags {
			for _, other := range tags {
				want := 200
				if other == query {
					want = 304
				}
				if a := s.get(path+other, "If-None-Match", tag); a.status != want {
					t.Errorf("If-None-Match of %q for %q: %d", query, other, a.status)
				}
				if a := s.get(path+other, "If-Match", tag); a.status != 200 {
					t.Errorf("If-Match of %q for %q: %d %s", query, other, a.status, a.body)
				}
			}
			if a := s.do("PATCH", path, `{}`, "If-Match", tag); a.status != 200 {
				t.Errorf("PATCH with If-Match of %q: %d %s", query, a.status, a.body)
			}
			s.do("PATCH", path, `{"title":"no"}`, "If-None-Match", tag).expectErrors(t, 412, "precondition_failed If-None-Match")
		}
		// A change of any attribute is another state, for each of them.
		if a := s.do("PATCH", path, `{"price":99}`); a.status != 200 {
			t.Fatal(a.body)
		}
		for tag, query := range tags {
			if a := s.get(path+query, "If-None-Match", tag); a.status != 200 {
				t.Errorf("%q has its ETag of before: %d", query, a.status)
			}
			s.do("PATCH", path, `{"title":"no"}`, "If-Match", tag).expectErrors(t, 412, "precondition_failed If-Match")
			s.do("DELETE", path, "", "If-Match", tag).expectErrors(t, 412, "precondition_failed If-Match")
		}
		// What is included has revisions of its own.
		a := s.get(path + "?include=author")
		if a.status != 200 || a.header.Get("ETag") != "" {
			t.Errorf("%d with the ETag %q", a.status, a.header.Get("ETag"))
		}
		current := s.get(path).header.Get("ETag")
		if a := s.get(path+"?include=author", "If-None-Match", current); a.status != 200 {
			t.Errorf("%d for a resource with another one, by the ETag of the first", a.status)
		}
	})
}

// TestLinksKeepWhatIsShown: pages have the includes and fields of the first, and the stream of a list its
// fields.
func TestLinksKeepWhatIsShown(t *testing.T) {
	eachStore(t, bookshelf(t), func(t *testing.T, s *server) {
		startBookshelf(s)
		query := "include=author&include%5Bcomments%5D%5Blimit%5D=1&include=comments&fields=title&fields%5Bauthor%5D=name"
		a := s.get("/books?" + query + "&limit=1")
		want := `</books?` + query + `&limit=1>; rel="first", </books?` + query + `&cursor=` + id(12) + `&limit=1>; rel="next", </books?` + query + `&limit=-1>; rel="last"`
		link := a.header.Get("Link")
		changes, rest, _ := strings.Cut(link, ", ")
		if rest != want || !strings.HasPrefix(changes, "</books?fields=title&since=") || !strings.HasSuffix(changes, `>; rel="changes"`) {
			t.Errorf("got  %s\nwant %s", link, want)
		}
		second := s.get(strings.TrimPrefix(strings.Split(strings.Split(rest, "<")[2], ">")[0], s.base))
		second.expect(t, 200, data(`{"id":"`+id(12)+`","type":"books","title":"B12","author":{"id":"`+id(1)+`","type":"people","name":"P1"},"comments":[`+c26+`]}`))
	})
}

func TestIncludeIsRefused(t *testing.T) {
	ten := "include=boss,boss.boss,boss.boss.boss,reports,reports.boss,reports.reports,reports.boss.boss,books,books.author,books.comments"
	eachStore(t, bookshelf(t), func(t *testing.T, s *server) {
		startBookshelf(s)
		for _, c := range []struct {
			path string
			want []string // nothing: it is accepted
		}{
			{"/books?include=nobody", []string{"invalid_parameter include"}},
			{"/books?include=owner", []string{"invalid_parameter include"}},
			{"/books?include=", []string{"invalid_parameter include"}},
			{"/books?include", []string{"invalid_parameter include"}},
			{"/books?include=author,,editor", []string{"invalid_parameter include"}},
			{"/books?include=author.nobody", []string{"invalid_parameter include"}},
			{"/books?include=Author", []string{"invalid_parameter include"}},
			{"/books?include=author.boss.boss", nil},
			{"/books?include=author.boss.boss.boss", []string{"too_many_values include"}},
			{"/people?" + ten + "&include[reports][limit]=2&include[reports.reports][limit]=2", nil},
			{"/people?" + ten + ",books.editor", []string{"too_many_values include"}},
			{"/people?include=reports.reports.reports", nil}, // 10 * 10 * 10
			{"/people?include=reports.reports.reports&include[reports.reports][limit]=11", []string{"limit_too_large include"}},
			{"/people?include=reports.reports.reports&include[reports.reports.reports][limit]=-11", []string{"limit_too_large include[reports.reports.reports][limit]"}},
			{"/people?include=reports&include[reports][limit]=1000", nil},
			{"/people?include=reports.boss&include[reports][limit]=-1000", nil},
			{"/people?include=reports&include[reports][limit]=1001", []string{"limit_too_large include[reports][limit]"}},
			{"/people?include=reports&include[reports][limit]=99999999999999999999", []string{"limit_too_large include[reports][limit]"}},
			{"/people?include=reports.reports&include[reports.reports][limit]=0&include[reports][limit]=1000", nil},
			{"/people?include=reports&include[reports][limit]=x", []string{"invalid_parameter include[reports][limit]"}},
			{"/people?include=reports&include[reports][limit]=1&include[reports][limit]=2", []string{"duplicate_parameter include[reports][limit]"}},
			{"/people?include=reports&include[reports][offset]=1", []string{"unknown_parameter include[reports][offset]"}},
			{"/people?include=reports&include[reports][cursor]=" + id(1), []string{"unknown_parameter include[reports][cursor]"}},
			{"/people?include=reports&include[reports][since]=1", []string{"unknown_parameter include[reports][since]"}},
			{"/people?include=reports&include[reports][include]=boss", []string{"unknown_parameter include[reports][include]"}},
			{"/people?include=reports&include[reports]=3", []string{"unknown_parameter include[reports]"}},
			{"/people?include=reports&include[reports][total]=1", []string{"invalid_parameter include[reports][total]"}},
			{"/people?include=reports&include[reports][sort]=nope", []string{"invalid_parameter include[reports][sort]"}},
			{"/people?include=reports&include[reports][filter][nope]=1", []string{"unknown_parameter include[reports][filter][nope]"}},
			{"/people?include=reports&include[reports][filter][boss_id][gte]=1", []string{"invalid_parameter include[reports][filter][boss_id][gte]"}},
			{"/people?include=boss&include[boss][limit]=1", []string{"invalid_parameter include[boss][limit]"}},
			{"/people?include=boss&include[boss][filter][name]=x", []string{"invalid_parameter include[boss][filter][name]"}},
			{"/people?include=boss&include[reports][limit]=1", []string{"invalid_parameter include[reports][limit]"}},
			{"/people?include[reports][limit]=1", []string{"invalid_parameter include[reports][limit]"}},
			{"/people?include=boss&fields[reports]=name", []string{"invalid_parameter fields[reports]"}},
			{"/people?fields[boss]=name", []string{"invalid_parameter fields[boss]"}},
			{"/people?fields=nope", []string{"invalid_parameter fields"}},
			{"/people?fields=", []string{"invalid_parameter fields"}},
			{"/people?fields=name,name", []string{"invalid_parameter fields"}},
			{"/people?fields=name&fields=name", []string{"invalid_parameter fields"}},
			{"/people?fields=boss", []string{"invalid_parameter fields"}},
			{"/people?include=boss&fields[boss]=title", []string{"invalid_parameter fields[boss]"}},
			{"/people/" + id(1) + "?limit=1", []string{"unknown_parameter limit"}},
			{"/people/" + id(1) + "?filter[name]=x", []string{"unknown_parameter filter[name]"}},
			{"/people/" + id(1) + "?include=nobody&fields=nope", []string{"invalid_parameter include", "invalid_parameter fields"}},
			{"/changes?include=boss", []string{"unknown_parameter include"}},
			{"/operations?include=boss", []string{"invalid_parameter include"}},
		} {
			a := s.get(c.path)
			switch {
			case len(c.want) > 0:
				s.expectRefusal(t, "GET", c.path, "", 400, c.want...)
			case a.status != 200:
				t.Errorf("%s: %d %s", c.path, a.status, a.body)
			}
		}
		s.do("POST", "/people?include=boss", `{}`).expectErrors(t, 400, "unknown_parameter include")
		s.do("PATCH", "/people/"+id(1)+"?fields=name", `{}`).expectErrors(t, 400, "unknown_parameter fields")
		s.get("/books?include=comments&include[comments][filter][stars]=>3").expect(t, 400,
			`{"errors":[{"status":400,"code":"invalid_parameter","title":"Invalid query parameter","detail":"The value \">3\" must be an integer. Write include[comments][filter][stars][gt]=3.","source":{"parameter":"include[comments][filter][stars]"}}]}`)
		s.get("/books?include=autor").expect(t, 400,
			`{"errors":[{"status":400,"code":"invalid_parameter","title":"Invalid query parameter","detail":"The collection books has no relation \"autor\" to include. Did you mean author?","source":{"parameter":"include"}}]}`)
		s.get("/books?expand=author").expect(t, 400,
			`{"errors":[{"status":400,"code":"unknown_parameter","title":"Unknown query parameter","detail":"There is no parameter of this name. There are offset, limit, cursor, sort, include, fields, and filter[field] or filter[field][operator]. Use include, with the names of relations: include=author.","source":{"parameter":"expand"}}]}`)
	})
}

// TestEmbeddedMembersAreReadOnly: what was read with include cannot be sent back.
func TestEmbeddedMembersAreReadOnly(t *testing.T) {
	eachStore(t, bookshelf(t), func(t *testing.T, s *server) {
		startBookshelf(s)
		path := "/books/" + id(11)
		read := strings.TrimSuffix(strings.TrimPrefix(s.get(path+"?include=author,comments&include[comments][total]=true").body, `{"data":`), "}")
		for _, method := range []string{"PUT", "PATCH"} {
			s.do(method, path, read).expectErrors(t, 422, "read_only /author", "read_only /comments", "read_only /comments_total")
		}
		s.do("POST", "/books", `{"author":null,"owner_total":1,"author_total":1}`).expectErrors(t, 422, "read_only /author", "unknown_attribute /owner_total", "unknown_attribute /author_total")
		s.do("PATCH", path, `{"author":{"name":"x"}}`).expect(t, 422,
			`{"errors":[{"status":422,"code":"read_only","title":"Read-only member","detail":"author is not an attribute: it comes from related resources of people, and is changed there. Leave it out.","source":{"pointer":"/author"}}]}`)
	})
}
