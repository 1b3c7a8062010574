package api

import (
	"cmp"
	"net/http"

	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/problem"
	"github.com/plural-go/plural/schema"
)

// takesMore refuses more requests than there may be, wherever they lead. Those who watch
// over the server are always answered.
func (a *API) takesMore(out *response, t *target) error {
	if t != nil && t.isProbe() {
		return nil
	}
	if out.refusal != nil {
		out.Header().Set("Connection", "close") // the next request should go to another server
		return out.refusal
	}
	if out.busy {
		return fault.New(problem.CodeOverloaded, "More than %d requests are being answered. Try again later.", a.MaxRequests)
	}
	return a.limitAddress(out)
}

// isProbe: it is asked whether the server is there, and nothing else.
func (t *target) isProbe() bool { return t.system == "health" || t.system == "ready" }

// admit finds out who is calling, from the context if the embedding program has
// authenticated them, and refuses what they may not do at all. What they
// may do with certain resources only is decided where these are read. The path has the
// permit from here on.
func (a *API) admit(r *http.Request, out *response, t *target) error {
	if t.isProbe() || t.isPage() {
		return nil
	}
	by, handed, err := a.Guard.Handed(r.Context())
	switch {
	case handed:
		out.Header().Set("Cache-Control", "private") // only the program knows what the answer depends on
	case a.Guard == nil:
		return nil
	default:
		out.Header().Add("Vary", "Authorization") // what is shown, and whether
		by, err = a.Guard.Identify(r.Context(), r.Header.Values("Authorization"))
		if fault.Is(err, problem.CodeInvalidCredentials) {
			return cmp.Or(a.limitWrong(out), err)
		}
	}
	if err != nil {
		return err
	}
	t.path.By, out.caller = by, by.Caller.ID
	if err := a.limitCaller(out, by); err != nil {
		return err
	}
	if t.path.IsHidden() {
		return a.unknownPath()
	}
	if c := t.path.Collection; c != nil {
		if verb := t.verb(r.Method); !by.May(verb, c) {
			return by.Denied("You may not %s resources of %s.", verb, c.Name)
		}
	}
	return nil
}

// verb is what must be granted for a method.
func (t *target) verb(method string) schema.AccessVerb {
	switch method {
	case http.MethodPost:
		return schema.MayCreate
	case http.MethodPut, http.MethodPatch:
		return schema.MayUpdate
	case http.MethodDelete:
		return schema.MayDelete
	}
	if t.lists() {
		return schema.MayList
	}
	return schema.MayRead
}

// challenge says how to authenticate (RFC 6750, section 3).
func challenge(code problem.Code) string {
	if code == problem.CodeInvalidCredentials {
		return `Bearer realm="plural", error="invalid_token"`
	}
	return `Bearer realm="plural"`
}
