package plural

import (
	"context"

	"github.com/plural-go/plural/internal/auth"
)

// Caller is who makes a change.
type Caller struct {
	// ID tells callers apart: "key:…", "token:…" or "program:…". It is empty for a caller
	// without credentials.
	ID      string
	Role    string
	Subject string         // auth.sub in rules
	Claims  map[string]any // auth.claims in rules
}

// Principal is a caller whom the embedding program has authenticated itself. The zero value is
// an anonymous caller, who has the role public.
type Principal struct {
	// Subject is who it is, auth.sub in rules. Callers are told apart by it.
	Subject string

	// Roles are the roles of the caller. Of several, the one counts that Access declares
	// first, as with the roles of a token.
	Roles []string

	// Claims are auth.claims in rules. They must be values that encoding/json can marshal.
	Claims map[string]any
}

// WithCaller returns a context in which a principal calls. The rules of Config.Access apply to
// every request that is served, and every typed call or Transaction that is made, with this
// context, as they do to a request with credentials; an Authorization header is not looked at.
// Without Config.Access it is an error. Call it in a middleware in front of the server:
//
//	server.ServeHTTP(w, r.WithContext(plural.WithCaller(r.Context(), principal)))
//
// A typed call whose context has no caller is made by the program itself, which may do everything.
// So is what a hook does with the context that it is given.
func WithCaller(ctx context.Context, principal Principal) context.Context {
	return auth.WithPrincipal(ctx, auth.Principal(principal))
}
