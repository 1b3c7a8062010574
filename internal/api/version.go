package api

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/versions"
	"github.com/plural-go/plural/problem"
)

// versionHeader is the header by which a client asks for a version of the interface, and by which the server says which one it has used.
const versionHeader = "API-Version"

// version is one version of the interface. The API itself handles requests of the newest version. For each other version, a copy of the
// API has the schema of that version: see as.
type version struct {
	number   int
	earlier  bool          // than the newest of this server
	schema   *model.Schema // nil: the version has ended
	reasons  []versions.Reason
	patterns map[*model.Collection]patterns
	header   http.Header // of each response
	listed   string      // as GET / lists it
	count    func()      // a request
}

// versionsOf are the versions of the interface that the database remembers, and the newest one. A schema without versions has none.
func versionsOf(config Config) (all []*version, newest *version) {
	declared := config.Schema.Versions()
	if declared.Newest == 0 {
		return nil, nil
	}
	for _, each := range config.Versions {
		v := &version{
			number: each.Number, earlier: each.Number < declared.Newest, schema: each.Schema, reasons: each.Ended,
			header: header(versionHeader, strconv.Itoa(each.Number)), listed: strconv.Itoa(each.Number),
		}
		all = append(all, v)
		if v.number == declared.Newest {
			v.schema, newest = config.Schema, v
		}
		if v.schema == nil {
			continue
		}
		v.patterns, v.count = patternsOf(v.schema), config.Observer.VersionCounter(v.number)
		if sunset, deprecated := declared.Deprecated[v.number]; deprecated {
			v.deprecate(each.Deprecated, sunset)
		}
	}
	return all, newest
}

// deprecate adds when the version was deprecated (RFC 9745), and on which date it ends (RFC 8594). The schema was checked.
func (v *version) deprecate(since, sunset string) {
	if at, err := time.Parse(time.RFC3339, since); err == nil {
		v.header.Set("Deprecation", "@"+strconv.FormatInt(at.Unix(), 10))
		v.listed += ";deprecation=" + v.header.Get("Deprecation")
	}
	if at, err := time.Parse(time.DateOnly, sunset); err == nil {
		v.header.Set("Sunset", at.Format(http.TimeFormat))
		v.listed += ";sunset=@" + strconv.FormatInt(at.Unix(), 10)
	}
}

// listVersions is the header that lists the versions that are served, as a structured field (RFC 9651). Empty: there are none.
func (a *API) listVersions() string {
	var list []string
	for _, v := range a.versions {
		if v.schema != nil {
			list = append(list, v.listed)
		}
	}
	return strings.Join(list, ", ")
}

// as returns the API of a version that is served.
func (a *API) as(v *version) *API {
	if v == a.version {
		return a
	}
	other := *a
	other.version, other.Schema, other.patterns = v, v.schema, v.patterns
	return &other
}

// dependsOnVersion reports whether the response to a request depends on the schema. NotFound is the error of a path that has no target.
func dependsOnVersion(r *http.Request, t *target, notFound error) bool {
	switch {
	case t == nil:
		return !errors.Is(notFound, errSystemRoot)
	case t.redirect != "" || t.kind == serverPath:
		return false
	case t.kind == systemPath:
		return t.system == "openapi.json"
	case t.kind == rootPath:
		return !prefersPage(r)
	}
	return true
}

// inVersion returns the API of the version that a request is for: that of the parameter version of the OpenAPI document or of the header
// of the request, else that to which the API key of the caller is pinned, else the newest. It adds the version to the header of the
// response.
func (a *API) inVersion(r *http.Request, t *target, out *response) (*API, error) {
	given, source := r.Header["Api-Version"], problem.Source{Header: versionHeader}
	if t != nil && t.system == "openapi.json" {
		if parameter, ok := r.URL.Query()["version"]; ok {
			given, source = parameter, problem.Source{Parameter: "version"}
		}
	}
	if a.version == nil {
		if len(given) > 0 {
			refusal := fault.New(problem.CodeUnknownVersion, "The interface of this server has no versions. Leave %s out.", source.Header+source.Parameter)
			refusal.Source = source
			return nil, refusal
		}
		return a, nil
	}
	out.Header().Add("Vary", versionHeader)
	chosen, refusal := a.version, (*problem.Error)(nil)
	switch {
	case len(given) > 0:
		chosen, refusal = a.versionNamed(strings.Join(given, ", "))
	case isPreflight(r):
		chosen = a.versionOfPreflight(r)
	default:
		// Whether the caller may do this, and whether the credentials are valid, is checked by admit.
		if by, err := a.identify(r, out); err == nil && by != nil && by.Caller.Version != 0 {
			if chosen, refusal = a.versionNamed(strconv.Itoa(by.Caller.Version)); refusal != nil {
				refusal.Detail = "The API key is for another version than this server has. " + refusal.Detail
			}
		}
	}
	if refusal != nil {
		refusal.Source = source
		return nil, refusal
	}
	maps.Copy(out.Header(), chosen.header)
	return a.as(chosen), nil
}

// servedVersions are the numbers of the versions that are served, the newest last.
func (a *API) servedVersions() (numbers []int) {
	for _, v := range a.versions {
		if v.schema != nil {
			numbers = append(numbers, v.number)
		}
	}
	return numbers
}

// versionNamed finds a version that is served by its number.
func (a *API) versionNamed(text string) (*version, *problem.Error) {
	for _, v := range a.versions {
		switch {
		case strconv.Itoa(v.number) != text:
		case v.schema != nil:
			return v, nil
		default:
			return nil, fault.New(problem.CodeVersionGone, "Version %d has ended%s. %s", v.number, a.whyEnded(v), a.describeServed())
		}
	}
	return nil, fault.New(problem.CodeUnknownVersion, "There is no version %s. %s", fault.Quote(text), a.describeServed())
}

// describeServed tells which versions a client can use. The newest version is always served.
func (a *API) describeServed() string {
	var served []string
	for _, number := range a.servedVersions() {
		served = append(served, strconv.Itoa(number))
	}
	last := len(served) - 1
	if last == 0 {
		return "The version that is served is " + served[0] + "."
	}
	return "The versions that are served are " + strings.Join(served[:last], ", ") + " and " + served[last] + "."
}

// whyEnded is why a version has ended. With access control it is not shown, because a caller may not know all that the version had.
func (a *API) whyEnded(v *version) string {
	if a.Guard != nil || len(v.reasons) == 0 {
		return ""
	}
	var reasons []string
	for _, reason := range v.reasons {
		reasons = append(reasons, reason.String())
	}
	return ": " + strings.Join(reasons, "; ")
}

// versionOfPreflight is the newest version in which the path and the method exist. A CORS preflight has neither the header nor
// credentials, but a browser sends the request only if the preflight succeeds.
func (a *API) versionOfPreflight(r *http.Request) *version {
	for _, v := range slices.Backward(a.versions) {
		if v.schema == nil {
			continue
		}
		if t, err := a.as(v).route(r); err == nil && slices.Contains(t.allowed(), r.Header.Get("Access-Control-Request-Method")) {
			return v
		}
	}
	return a.version
}

// countUse counts an admitted request by its version, and remembers who used an earlier one.
func (a *API) countUse(out *response) {
	if a.version == nil {
		return
	}
	a.version.count()
	if a.version.earlier {
		a.uses.Note(a.version.number, out.caller, time.Now())
	}
}

// StoreUses stores which callers have used earlier versions since it was called last.
func (a *API) StoreUses(ctx context.Context, store func(context.Context, []versions.Use) error) error {
	return a.uses.Store(ctx, store)
}
