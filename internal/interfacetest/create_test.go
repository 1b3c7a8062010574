package interfacetest

import (
	"testing"

	"github.com/plural-go/plural/schema"
)

const (
	id1 = "00000000-0000-7000-8000-000000000001"
	id2 = "00000000-0000-7000-8000-000000000002"
	id3 = "00000000-0000-7000-8000-000000000003"
)

func TestCreateReadList(t *testing.T) {
	eachStore(t, schema.Example(), func(t *testing.T, s *server) {
		created := s.do("POST", "/users", `{"id":"`+id1+`","name":"Ada","email":"ada@example.com"}`)
		created.expect(t, 201, `{"data":{"id":"`+id1+`","type":"users","name":"Ada","email":"ada@example.com","active":true,"created_at":"TIME","updated_at":"TIME"}}`)
		if got := created.header.Get("Location"); got != "/users/"+id1 {
			t.Errorf("Location is %q", got)
		}
		s.get("/users/"+id1).expect(t, 200, created.timeless())
		s.get("/users").expect(t, 200, `{"data":[{"id":"`+id1+`","type":"users","name":"Ada","email":"ada@example.com","active":true,"created_at":"TIME","updated_at":"TIME"}]}`)
		s.do("POST", "/users", `{"id":"`+id1+`","name":"Ada","email":"ada@example.com"}`).expectErrors(t, 409, "id_exists /id")
	})
}
