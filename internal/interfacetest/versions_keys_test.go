package interfacetest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/plural-go/plural"
	"github.com/plural-go/plural/admin"
	"github.com/plural-go/plural/internal/db"
	"github.com/plural-go/plural/internal/db/databases"
	"github.com/plural-go/plural/internal/versions"
)

// shopAccess declares who may do what in the newest version of the shop.
const shopAccess = `
access:
  keys: {admin: [admin, guest]}
  roles:
    admin:
      customers: {list: true, read: true, create: true, update: true, delete: true, changes: true}
      orders: {list: true, read: true, create: true}
      tags: {list: true, read: true, create: true}
    guest:
      customers: {list: true, read: true, visible: [company, vip]}
`

func withShopAccess(t *testing.T) func(*plural.Config) {
	access := parsed(t, shopVersions[len(shopVersions)-1]+shopAccess).Access
	return func(c *plural.Config) { c.Access = access }
}

// holder is the server for the holder of an API key with a role, which may be for a version.
func (s *server) holder(role string, version int) *server {
	s.t.Helper()
	secret, err := admin.CreateKey(context.Background(), s.config.Database, admin.Key{Name: fmt.Sprint(role, version), Role: role, APIVersion: version})
	if err != nil {
		s.t.Fatal(err)
	}
	s.checker.knows("Bearer "+secret, role)
	client := *s
	client.headers = append(s.headers[:len(s.headers):len(s.headers)], "Authorization", "Bearer "+secret)
	return &client
}

// TestKeysForVersions: requests with an API key have the version of the key, unless they have the header.
func TestKeysForVersions(t *testing.T) {
	eachVersioned(t, func(t *testing.T, s *server) {
		plain, first, second := s.holder("admin", 0), s.holder("guest", 1), s.holder("admin", 2)
		for _, c := range []struct {
			by                     *server
			request, version, want string
		}{
			{plain, "GET /customers", "", "200 3"},
			{plain, "GET /clients", "1", "200 1"},
			{first, "GET /clients", "", "200 1"},
			{first, "GET /customers", "", "404 1"},
			{first, "GET /customers", "2", "200 2"},
			{first, "GET /customers", "3", "200 3"},
			{first, "GET /customers", "4", "400 "},
			{first, "GET /clientz", "", "404 1"},
			{first, "DELETE /clients", "", "403 1"},
			{first, "PUT /clients", "", "405 1"},
			{first, "OPTIONS /clients", "", "204 1"},
			{first, "GET /-/groups/clients", "", "200 1"},
			{second, "GET /labels", "", "200 2"},
			{second, "GET /tags", "", "404 2"},
			{second, "GET /-/openapi.json", "", "200 2"},
			{s, "GET /customers", "", "401 3"},
			{s, "GET /clients", "1", "401 1"},
		} {
			method, path, _ := strings.Cut(c.request, " ")
			a := c.by.do(method, path, "", "API-Version", c.version)
			if got := fmt.Sprint(a.status, " ", a.header.Get("API-Version")); got != c.want {
				t.Errorf("%s of version %q: %s, want %s\n%s", c.request, c.version, got, c.want, a.body)
			}
			if vary := a.header.Values("Vary"); !slices.Contains(vary, "API-Version") || c.version == "" && !slices.Contains(vary, "Authorization") {
				t.Errorf("%s of version %q: Vary: %s", c.request, c.version, vary)
			}
		}
		if a := s.do("GET", "/customers", "", "Authorization", "Bearer plural_aaaaaaaaaa_"+strings.Repeat("a", 52)); a.status != 401 || a.header.Get("API-Version") != "3" {
			t.Errorf("an unknown key: %d %v", a.status, a.header)
		}
		for by, want := range map[*server]string{plain: `,"api_version":3}}`, first: `,"api_version":1}}`} {
			if a := by.get("/-/me"); a.status != 200 || !strings.HasSuffix(a.body, want) {
				t.Errorf("%d %s", a.status, a.body)
			}
		}
		me := first.get("/-/me")
		if want := `[{"name":"clients","may":{"changes":"no","create":"no","delete":"no","list":"yes","read":"yes","update":"no"},"visible":["name"],"writable":[]}`; !strings.Contains(me.body, want) {
			t.Errorf("%s has no %s", me.body, want)
		}
	}, withShopAccess(t))
}

// TestKeysForVersionsOverHTTP: POST /-/keys makes keys for versions that are served, and they are shown with these.
func TestKeysForVersionsOverHTTP(t *testing.T) {
	eachVersioned(t, func(t *testing.T, s *server) {
		by := s.holder("admin", 0)
		created := by.do("POST", "/-/keys", `{"name":"old","role":"guest","api_version":1}`)
		key := created.key(t)
		shown := fmt.Sprintf(`{"id":"%s","type":"keys","prefix":"%s","name":"old","role":"guest","sub":"%[2]s","created_at":"TIME","expires_at":null,"revoked_at":null,"api_version":1`, key.ID, key.Prefix)
		created.expect(t, 201, `{"data":`+shown+`,"key":"`+key.Key+`"}}`)
		by.get("/-/keys/"+key.Prefix).expect(t, 200, `{"data":`+shown+`}}`)
		if list := by.get("/-/keys"); strings.Count(list.body, `"api_version":1`) != 1 || strings.Count(list.body, `"api_version"`) != 1 {
			t.Error(list.body)
		}
		if a := s.get("/clients", "Authorization", "Bearer "+key.Key); a.status != 200 || a.header.Get("API-Version") != "1" {
			t.Errorf("%d %v %s", a.status, a.header, a.body)
		}
		for value, want := range map[string]string{"0": "enum /api_version", "4": "enum /api_version", "-1": "enum /api_version", `"1"`: "type /api_version", "1.5": "type /api_version"} {
			by.do("POST", "/-/keys", `{"name":"x","role":"guest","api_version":`+value+`}`).expectErrors(t, 422, want)
		}
		if a := by.do("POST", "/-/keys", `{"name":"x","role":"guest","api_version":null}`); a.status != 201 || strings.Contains(a.body, "api_version") {
			t.Errorf("%d %s", a.status, a.body)
		}
	}, withShopAccess(t))
}

// TestKeysForVersionsByCommand: the command makes keys for versions that the database can serve.
func TestKeysForVersionsByCommand(t *testing.T) {
	eachVersioned(t, func(t *testing.T, s *server) {
		s.holder("admin", 2)
		keys, err := admin.Keys(t.Context(), s.config.Database)
		if err != nil || len(keys) != 1 || keys[0].APIVersion != 2 {
			t.Errorf("%+v, %v", keys, err)
		}
		_, err = admin.CreateKey(t.Context(), s.config.Database, admin.Key{Name: "x", Role: "admin", APIVersion: 4})
		if want := "an API key cannot be for version 4: the versions that the database can serve are 1, 2, 3"; err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}, withShopAccess(t))
	eachStore(t, parsed(t, "collections: {things: {attributes: {name: {type: string}}}}").Schema, func(t *testing.T, s *server) {
		_, err := admin.CreateKey(t.Context(), s.config.Database, admin.Key{Name: "x", Role: "admin", APIVersion: 1})
		if want := "the schema of the database has no versions, so no API key can be for one"; err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	})
}

// TestUsesOfVersions: who used an earlier version is stored when the server stops, and counted.
func TestUsesOfVersions(t *testing.T) {
	eachVersioned(t, func(t *testing.T, s *server) {
		first, second := s.holder("guest", 1), s.holder("admin", 0)
		first.get("/clients")
		first.get("/clients")
		first.get("/customers") // unknown: no use
		first.get("/customers", "API-Version", "3")
		second.get("/customers", "API-Version", "2")
		second.get("/customers")
		s.get("/clients", "API-Version", "1") // refused: no use
		metrics := second.get("/-/metrics")
		for _, line := range []string{`plural_version_requests_total{version="1"} 2`, `plural_version_requests_total{version="2"} 1`, `plural_version_requests_total{version="3"} 2`} {
			if !strings.Contains(metrics.body, line+"\n") {
				t.Errorf("no %s in\n%s", line, metrics.body)
			}
		}
		stop(t, s.opened, context.Background())
		var stored []versions.Use
		if err := databases.Read(t.Context(), s.config.Database, func(_ db.Database, c db.Conn) (err error) {
			stored, err = versions.Uses(c)
			return err
		}); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, use := range stored {
			got = append(got, fmt.Sprint(use.Version, " ", use.Caller))
		}
		slices.Sort(got)
		if want := []string{"1 " + first.caller(), "2 " + second.caller()}; !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	}, withShopAccess(t), func(c *plural.Config) { c.Access.Metrics = []string{"admin"} })
}

// caller is the id of the caller whose API key the requests have.
func (s *server) caller() string { return "key:" + strings.Split(s.headers[len(s.headers)-1], "_")[1] }
