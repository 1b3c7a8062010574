package interfacetest

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/plural-go/plural"
)

// versionedDocument is what an OpenAPI document says of versions.
type versionedDocument struct {
	Info struct {
		Description string
		Version     int               `json:"x-plural-version"`
		Versions    []json.RawMessage `json:"x-plural-versions"`
	}
	Tags  []struct{ Name string }
	Paths map[string]struct {
		Get struct {
			Deprecated bool
			Parameters json.RawMessage
		}
	}
	Components struct {
		Schemas    map[string]struct{ Properties map[string]json.RawMessage }
		Parameters map[string]struct{ Schema json.RawMessage }
		Headers    map[string]json.RawMessage
	}
}

// TestDocumentOfEachVersion: the OpenAPI document of a version has its names and nothing else, and says how to ask for it.
func TestDocumentOfEachVersion(t *testing.T) {
	eachVersioned(t, func(t *testing.T, s *server) {
		read := func(path string, headers ...string) (answer, versionedDocument) {
			t.Helper()
			a := s.do("GET", path, "", headers...)
			var document versionedDocument
			if err := json.Unmarshal([]byte(a.body), &document); err != nil || a.status != 200 {
				t.Fatalf("%s %v: %d %s", path, headers, a.status, a.body)
			}
			return a, document
		}
		tags := map[int]string{1: "clients orders operations changes Server", 2: "customers orders labels operations changes Server", 3: "customers orders tags operations changes Server"}
		clients := map[int]string{
			1: "created_at fax id mail name note orders orders_total rating referred referred_total referrer referrer_id state type updated_at",
			2: "created_at email id name note orders orders_total phone rating referred referred_total referrer referrer_id state type updated_at",
			3: "company created_at email id note orders orders_total rating referred referred_total referrer referrer_id state type updated_at vip",
		}
		etags := map[string]bool{}
		for version, wantTags := range tags {
			number := string(rune('0' + version))
			a, document := read("/-/openapi.json?version=" + number)
			etags[a.header.Get("ETag")] = true
			var names []string
			for _, tag := range document.Tags {
				names = append(names, tag.Name)
			}
			if got := strings.Join(names, " "); got != wantTags {
				t.Errorf("version %d has the collections %s, want %s", version, got, wantTags)
			}
			name := map[int]string{1: "Client", 2: "Customer", 3: "Customer"}[version]
			if got := strings.Join(slices.Sorted(maps.Keys(document.Components.Schemas[name].Properties)), " "); got != clients[version] {
				t.Errorf("%s of version %d has %s, want %s", name, version, got, clients[version])
			}
			if strings.Contains(a.body, `"-`+"fax") || strings.Contains(a.body, `/-tags`) {
				t.Errorf("version %d has names that nobody can send", version)
			}
			if document.Info.Version != version || len(document.Info.Versions) != 3 || string(document.Info.Versions[0]) != `{"version":1,"sunset":"2027-01-01"}` {
				t.Errorf("version %d: %+v", version, document.Info)
			}
			if got, want := string(document.Components.Parameters["API-Version"].Schema), `{"type":"integer","const":`+number+`,"default":`+number+`}`; got != want {
				t.Errorf("version %d: the parameter is %s, want %s", version, got, want)
			}
			if got, want := document.Paths["/orders"].Get.Deprecated, version == 1; got != want {
				t.Errorf("version %d: deprecated is %t", version, got)
			}
			if _, got := document.Components.Headers["Sunset"]; got != (version == 1) {
				t.Errorf("version %d: the header Sunset is described: %t", version, got)
			}
			if document.Paths["/-/health"].Get.Deprecated || strings.Contains(string(document.Paths["/-/health"].Get.Parameters), "API-Version") {
				t.Errorf("version %d: the health check has a version", version)
			}
			if got := a.header.Get("API-Version"); got != number {
				t.Errorf("version %d: API-Version is %s", version, got)
			}
			if again := s.do("GET", "/-/openapi.json", "", "API-Version", number, "If-None-Match", a.header.Get("ETag")); again.status != 304 {
				t.Errorf("version %d by the header is %d %.100s", version, again.status, again.body)
			}
			if other := s.do("GET", "/-/openapi.json?version="+number, "", "API-Version", "2"); other.header.Get("API-Version") != number || other.body != a.body {
				t.Errorf("version %d by the parameter and another one by the header: %s", version, other.header)
			}
		}
		if len(etags) != 3 {
			t.Errorf("the ETags are %v", etags)
		}
		latest := s.do("GET", "/-/openapi.json?version=1&openapi=3.2", "")
		if latest.header.Get("API-Version") != "1" || !strings.HasPrefix(latest.body, `{"openapi":"3.2.0"`) || !strings.Contains(latest.body, `"/people":{"get":`) && !strings.Contains(latest.body, `"queryList`) {
			t.Errorf("version 1 in OpenAPI 3.2: %.200s", latest.body)
		}
		newest, _ := read("/-/openapi.json?version=3")
		if unasked, _ := read("/-/openapi.json"); unasked.body != newest.body || unasked.header.Get("ETag") != newest.header.Get("ETag") {
			t.Error("without a version, it is not the newest one")
		}
		s.do("GET", "/-/openapi.json?version=4", "").expectErrors(t, 400, "unknown_version version")
		s.do("GET", "/-/openapi.json?version=", "").expectErrors(t, 400, "unknown_version version")
		s.do("GET", "/-/openapi.json?version=1&version=2", "").expectErrors(t, 400, "unknown_version version")
		page := s.do("GET", "/-/explorer", "")
		if !strings.Contains(page.body, `<meta name="api-version" content="3" />`) {
			t.Errorf("the explorer does not know the newest version: %s", page.body)
		}
	})
}

// TestDocumentWithoutVersions: a schema without versions has one document.
func TestDocumentWithoutVersions(t *testing.T) {
	eachStore(t, nil, func(t *testing.T, s *server) {
		a := s.do("GET", "/-/openapi.json", "")
		if strings.Contains(a.body, `"API-Version"`) || strings.Contains(a.body, "x-plural-version") {
			t.Error("the document has versions")
		}
		s.do("GET", "/-/openapi.json?version=1", "").expectErrors(t, 400, "unknown_version version")
		if page := s.do("GET", "/-/explorer", ""); strings.Contains(page.body, "api-version") {
			t.Errorf("the explorer has a version: %s", page.body)
		}
	}, func(*plural.Config) {})
}
