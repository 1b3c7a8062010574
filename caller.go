package plural

import (
	"context"

	"github.com/plural-go/plural/internal/auth"
)

// Caller is who makes a change: the id "key:…", "token:…" or "program:…", with the role, and
// what rules know as auth.sub and auth.claims.
type Caller = auth.Caller

// Principal is a caller whom the embedding program has authenticated itself. The zero value is
// an anonymous caller, who has the role public.
type Principal = auth.Principal

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
	return auth.WithPrincipal(ctx, principal)
}
