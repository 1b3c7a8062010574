package api

import (
	"context"
	"net/http"

	"github.com/plural-go/plural/internal/auth"
	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/schema"
)

// admit finds out who is calling, and refuses what they may not do at all. What they
// may do with certain resources only is decided where these are read. The path has the
// permit from here on.
func (a *API) admit(r *http.Request, t *target) (*http.Request, error) {
	if a.Guard == nil || t.system == "health" || t.system == "ready" {
		return r, nil
	}
	by, err := a.Guard.Identify(r.Context(), r.Header.Values("Authorization"))
	if err != nil {
		return nil, err
	}
	t.path.By = by
	if c := t.path.Collection; c != nil {
		if verb := t.verb(r.Method); !by.May(verb, c) {
			return nil, by.Denied("You may not %s resources of %s.", verb, c.Name)
		}
	}
	return r.WithContext(context.WithValue(r.Context(), permitKey{}, by)), nil
}

type permitKey struct{}

// permitOf is what the caller of a request may do; nil is everything.
func permitOf(r *http.Request) *auth.Permit {
	by, _ := r.Context().Value(permitKey{}).(*auth.Permit)
	return by
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
func challenge(code fault.Code) string {
	if code == fault.CodeInvalidCredentials {
		return `Bearer realm="plural", error="invalid_token"`
	}
	return `Bearer realm="plural"`
}
