package interfacetest

import (
	"strings"
	"testing"

	"github.com/plural-go/plural"
	"github.com/plural-go/plural/schema"
)

// TestAPICatalog: programs find the document, the reference and the health check without credentials, also at the root of a host whose
// API has a prefix. What it links to is there.
func TestAPICatalog(t *testing.T) {
	eachStore(t, schema.Example(), func(t *testing.T, s *server) {
		const at = "/.well-known/api-catalog"
		want := `{"linkset":[{"anchor":"/api/","service-desc":[{"href":"/api/-/openapi.json","type":"application/json"}],` +
			`"service-doc":[{"href":"/api/-/docs","type":"text/html"}],"status":[{"href":"/api/-/health","type":"application/json"}]}]}`
		for _, path := range []string{at, "/api" + at} {
			for _, method := range []string{"GET", "HEAD"} {
				got := s.do(method, path, "", "Accept", "application/linkset+json")
				body := want
				if method == "HEAD" {
					body = ""
				}
				got.expect(t, 200, body)
				for name, value := range map[string]string{
					"Content-Type": `application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"`, "Link": `</api` + at + `>; rel="api-catalog"`,
				} {
					if got.header.Get(name) != value {
						t.Errorf("%s %s: %s is %q", method, path, name, got.header.Get(name))
					}
				}
			}
		}
		refused := s.do("POST", "/api"+at, "{}")
		refused.expectErrors(t, 405, "method_not_allowed")
		refused.expectHeaders(t, "Allow: GET, HEAD, OPTIONS")
		for _, path := range []string{"/.well-known", "/.well-known/other", "/api/.well-known/api-catalog/x"} {
			s.get(path).expectErrors(t, 404, "not_found")
		}
		for part := range strings.SplitSeq(want, `"href":"`) {
			if path, _, _ := strings.Cut(part, `"`); strings.HasPrefix(path, "/") {
				if got := s.get(path); got.status != 200 {
					t.Errorf("%s: %d", path, got.status)
				}
			}
		}
	}, func(c *plural.Config) { c.Prefix = "/api" })
}
