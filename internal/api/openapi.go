package api

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"

	"github.com/plural-go/plural/internal/auth"
	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/internal/headers"
	"github.com/plural-go/plural/internal/openapi"
	"github.com/plural-go/plural/problem"
	"github.com/plural-go/plural/schema"
)

// openAPI replies with the document of what the caller may do.
func (a *API) openAPI(r *http.Request, by *auth.Permit) (*reply, error) {
	condition, err := conditionOf(r)
	if err != nil {
		return nil, err
	}
	noIncludes, err := withoutIncludes(r.URL.Query())
	if err != nil {
		return nil, err
	}
	format, err := formatOf(r.URL.Query())
	if err != nil {
		return nil, err
	}
	found := a.openapis.Of(fmt.Sprint(by.RightsKey(), " ", noIncludes, " ", format, " ", a.Prefix, " ", a.Schema.Versions().Newest), func() []byte {
		options := a.documentOptions(by)
		options.NoIncludes, options.Format = noIncludes, format
		return openapi.Document(a.Schema, options)
	})
	zipped := headers.AcceptsGzip(r.Header)
	etag := `"` + found.Mark + `"`
	if zipped {
		etag = `"` + found.Mark + `.gzip"`
	}
	unchanged, err := condition.AllowsReading(etag)
	if err != nil {
		return nil, err
	}
	// It changes only when the server is restarted with another schema or access, and revalidation
	// is cheap.
	head := header("Cache-Control", "private, no-cache")
	head.Set("ETag", etag)
	head["Vary"] = acceptEncoding
	if unchanged {
		return &reply{status: http.StatusNotModified, header: head}, nil
	}
	head.Set("Content-Type", "application/json")
	if zipped {
		head.Set("Content-Encoding", "gzip")
	}
	return &reply{status: http.StatusOK, header: head, body: found.Body, zipped: zipped}, nil
}

// withoutIncludes reports whether a request asks for the document without related resources.
func withoutIncludes(query url.Values) (bool, error) {
	given := query["include"]
	if len(given) == 0 {
		return false, nil
	}
	if len(given) > 1 || given[0] != "none" {
		return false, fault.Parameter("include", problem.CodeInvalidParameter, "Of this document, include can only be none: it leaves out the related resources that include embeds.")
	}
	return true, nil
}

// formatOf returns the version of OpenAPI that a request asks for.
func formatOf(query url.Values) (string, error) {
	given := query["openapi"]
	if len(given) == 0 {
		return openapi.Formats[0][0], nil
	}
	known := func(format [2]string) bool { return format[0] == given[0] }
	if len(given) > 1 || !slices.ContainsFunc(openapi.Formats, known) {
		return "", fault.Parameter("openapi", problem.CodeInvalidParameter, "There are documents of OpenAPI 3.1, which is the default, and 3.2. Send openapi=3.2, or leave it out.")
	}
	return given[0], nil
}

// documentOptions returns the options of the document for a caller.
func (a *API) documentOptions(by *auth.Permit) openapi.Options {
	options := a.Document
	options.Prefix = a.Prefix
	if a.version != nil {
		options.Version = a.version.number
		for _, number := range a.servedVersions() {
			options.Versions = append(options.Versions, openapi.Version{Number: number, Sunset: a.Schema.Versions().Deprecated[number]})
		}
	}
	if a.Guard != nil {
		options.By = by
		options.Public = a.Guard.Policy.Permit(auth.Caller{Role: schema.PublicRole})
	}
	return options
}
