package interfacetest

import (
	"strings"
	"testing"
)

// TestFieldsOfStreams: a stream with fields shows only those, tells of changes of those only, and resumes only
// where the same are selected.
func TestFieldsOfStreams(t *testing.T) {
	eachStore(t, bookshelf(t), func(t *testing.T, s *server) {
		startBookshelf(s)
		part := func(n int, title string) string {
			return `{"id":"` + id(n) + `","type":"books","title":"` + title + `"}`
		}
		list := s.get("/books?fields=title&include=author&limit=1")
		link := strings.TrimPrefix(strings.Split(list.header.Get("Link"), ">")[0], "<")
		if !strings.HasPrefix(link, "/books?fields=title&since=") {
			t.Fatalf("the link is %s", link)
		}
		all, one, resumed := s.stream("/books?fields=title"), s.stream("/books/"+id(12)+"?fields=title"), s.stream(link)
		for _, e := range []struct {
			of   *events
			data []string
		}{{all, []string{part(11, "B11"), part(12, "B12"), part(13, "B13")}}, {one, []string{part(12, "B12")}}} {
			for _, want := range e.data {
				if got, _ := e.of.next(); got.kind != "listed" || got.data != `{"data":`+want+`}` {
					t.Errorf("got %v, want %s", got, want)
				}
			}
			if got, _ := e.of.next(); got.kind != "synced" {
				t.Errorf("got %v", got)
			}
		}
		// Not of the price, which is not selected.
		for _, body := range []string{`{"price":1}`, `{"price":2,"title":"New"}`} {
			if a := s.do("PATCH", "/books/"+id(12), body); a.status != 200 {
				t.Fatal(a.body)
			}
		}
		position := ""
		for _, stream := range []*events{all, one, resumed} {
			got, _ := stream.next()
			want := `{"data":` + part(12, "New") + `,"previous":{"title":"B12"},"change":`
			if got.kind != "updated" || !strings.HasPrefix(got.data, want) {
				t.Errorf("got %v, want %s", got, want)
			}
			position = got.id
		}
		// A position belongs to a selection.
		again := s.stream("/books?fields=title&since=" + position)
		other := s.stream("/books?fields=price&since=" + position)
		if a := s.do("PATCH", "/books/"+id(13), `{"title":"Third","price":3}`); a.status != 200 {
			t.Fatal(a.body)
		}
		if got, _ := again.next(); got.kind != "updated" || !strings.HasPrefix(got.data, `{"data":`+part(13, "Third")) {
			t.Errorf("got %v", got)
		}
		if got, _ := other.next(); got.kind != "reset" {
			t.Errorf("got %v", got)
		}
		stream := []string{"Accept", "text/event-stream"}
		s.get("/books?include=author", stream...).expectErrors(t, 400, "unknown_parameter include")
		s.get("/books/"+id(11)+"?include=author&fields=nope", stream...).expectErrors(t, 400, "unknown_parameter include", "invalid_parameter fields")
		s.get("/books?fields[author]=name", stream...).expectErrors(t, 400, "invalid_parameter fields[author]")
	})
}
