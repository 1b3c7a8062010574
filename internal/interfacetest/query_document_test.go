package interfacetest

import (
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/plural-go/plural"
	"github.com/plural-go/plural/schema"
)

// TestEventsAreDescribed: each event of a stream, and its data, are as the document of OpenAPI 3.2 says.
func TestEventsAreDescribed(t *testing.T) {
	eachStore(t, schema.Example(), func(t *testing.T, s *server) {
		text, err := plural.OpenAPI(s.config, "", plural.InOpenAPI32)
		if err != nil {
			t.Fatal(err)
		}
		d := documentOf(string(text), documentKind{})
		seedUsers(s, 2)
		for path, place := range map[string]string{
			"/users?filter[active]": "/paths/~1users/get", "/users/" + id(0): "/paths/~1users~1{id}/query", "/changes": "/paths/~1changes/query",
			"/users/" + id(0) + "/changes": "/paths/~1users~1{id}~1changes/get",
		} {
			at, _ := d.follow(place + "/responses/200")
			pointer, _ := d.follow(at + "/content/text~1event-stream/itemSchema")
			e := s.stream(path)
			kinds := map[string]bool{}
			for last := ""; last != "synced"; {
				next, ok := e.next()
				if !ok {
					t.Fatal("the stream ended")
				}
				last = next.kind
				kinds[last] = true
				d.expectEvent(t, pointer, next)
			}
			s.do("PATCH", "/users/"+id(0), `{"name":"`+strings.Repeat("x", 1+len(path))+`"}`)
			next, _ := e.next()
			d.expectEvent(t, pointer, next)
			if kinds[next.kind] || !kinds["listed"] && path != "/changes" && !strings.HasSuffix(path, "/changes") {
				t.Errorf("%s: the events are %v and %s", path, kinds, next.kind)
			}
			e.close()
		}
	})
}

func (d *document) expectEvent(t *testing.T, pointer string, e event) {
	t.Helper()
	if err := d.schema(pointer).Validate(map[string]any{"event": e.kind, "id": e.id, "data": e.data}); err != nil {
		t.Errorf("%+v: %v", e, err)
	}
	data, err := jsonschema.UnmarshalJSON(strings.NewReader(e.data))
	if err == nil {
		err = d.schema(pointer + "/properties/data/contentSchema").Validate(data)
	}
	if err != nil {
		t.Errorf("the data of %+v: %v", e, err)
	}
}
