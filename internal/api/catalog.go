package api

import (
	"net/http"

	"github.com/plural-go/plural/internal/model"
)

// catalogPath is where programs look for the APIs of a host (RFC 9727).
const catalogPath = "/.well-known/api-catalog"

// catalogType is the media type of a set of links (RFC 9264) that is such a catalog.
const catalogType = `application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"`

var catalogTarget = target{kind: systemPath, pattern: catalogPath, system: "api-catalog"}

// isCatalog reports whether the target is the catalog, which needs no credentials: it only has fixed paths.
func (t *target) isCatalog() bool { return t.system == catalogTarget.system }

// catalog replies with the catalog of this API.
func (a *API) catalog() *reply {
	type link struct {
		Href string `json:"href"`
		Type string `json:"type"`
	}
	type context struct {
		Anchor      string `json:"anchor"`
		Description []link `json:"service-desc"`
		Reference   []link `json:"service-doc"`
		Status      []link `json:"status"`
	}
	var body struct {
		Linkset []context `json:"linkset"`
	}
	body.Linkset = []context{{
		Anchor:      a.Prefix + "/",
		Description: []link{{a.Prefix + "/-/openapi.json", "application/json"}},
		Reference:   []link{{a.Prefix + "/-/docs", "text/html"}},
		Status:      []link{{a.Prefix + "/-/health", "application/json"}},
	}}
	head := header("Content-Type", catalogType)
	head.Set("Link", "<"+a.Prefix+catalogPath+`>; rel="api-catalog"`)
	return &reply{status: http.StatusOK, header: head, body: model.MustMarshal(body)}
}
