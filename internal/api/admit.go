package api

import (
	"cmp"
	"net/http"

	"github.com/plural-go/plural/internal/auth"
	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/internal/resource"
	"github.com/plural-go/plural/problem"
	"github.com/plural-go/plural/schema"
)

// checkLoad refuses a request when the server or the client has reached a limit. Probes are
// never refused.
func (a *API) checkLoad(out *response, t *target) error {
	if t != nil && t.isProbe() {
		return nil
	}
	if out.refusal != nil {
		return out.refusal
	}
	return a.limitAddress(out)
}

// isProbe reports whether the path is a health or readiness check.
func (t *target) isProbe() bool { return t.system == "health" || t.system == "ready" }

// identify identifies the caller, from the context if the embedding program has authenticated them. Nil: there is no access control.
func (a *API) identify(r *http.Request, out *response) (*auth.Permit, error) {
	if out.permit != nil || out.unidentified != nil { // it was called for the version already
		return out.permit, out.unidentified
	}
	by, handed, err := a.Guard.FromContext(r.Context())
	switch {
	case handed:
		out.Header().Set("Cache-Control", "private") // only the program knows what the reply depends on
	case a.Guard == nil:
		return nil, nil
	default:
		out.Header().Add("Vary", "Authorization")             // the reply depends on the caller
		out.context.reader.Key = "credentials:" + out.address // slow reads from the address do not delay it
		by, err = a.Guard.Identify(r.Context(), r.Header.Values("Authorization"))
		if fault.Is(err, problem.CodeInvalidCredentials) {
			err = cmp.Or(a.limitWrong(out), err)
		}
	}
	out.permit, out.unidentified = by, err
	return by, err
}

// admit identifies the caller, and refuses what their role never allows. Rules on single resources are applied where these are read.
// From here on the path carries the permit.
func (a *API) admit(r *http.Request, out *response, t *target) error {
	if t.isProbe() || t.isWebPage() || t.isCatalog() {
		return nil
	}
	by, err := a.identify(r, out)
	if by == nil || err != nil {
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
		switch verb := t.verb(r.Method); {
		case by.May(verb, c):
		case t.mayUpsert(verb) && r.URL.Query().Has("on_conflict"):
		case t.history:
			return by.Denied("You may not see the changes of resources of %s: that needs the verb changes.", c.Name)
		case a.isLog(t):
			return by.Denied("You may not see changes: you need the verb changes in a collection.")
		default:
			return by.Denied("You may not %s resources of %s.", verb, c.Name)
		}
	}
	return nil
}

// mayUpsert reports whether a caller without the verb may send an upsert nevertheless: it may only update. Which verb an
// upsert needs is known in the transaction, where package resource checks it (checkUpserts).
func (t *target) mayUpsert(verb schema.AccessVerb) bool {
	return verb == schema.MayCreate && t.path.By.May(schema.MayUpdate, t.path.Collection)
}

// verb is the access verb that a method requires.
func (t *target) verb(method string) schema.AccessVerb {
	switch {
	case !isRead(method):
		return resource.VerbOf(method)
	case t.history:
		return schema.MayChanges
	case t.isCollection() || t.kind == groupsPath:
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
