package api

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/plural-go/plural/internal/auth"
	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/query"
	"github.com/plural-go/plural/internal/rights"
	"github.com/plural-go/plural/problem"
)

// keysAddress is the path of the API keys.
const keysAddress = "/-/keys"

// keysTarget finds the API keys, or one of them. A path with a secret is not found.
func (a *API) keysTarget(segments []string) (*target, error) {
	if a.Guard == nil {
		return nil, fault.New(problem.CodeNotFound, "This server has no access rules, so it has no API keys. Declare access in the schema file.")
	}
	if len(segments) == 0 {
		return &target{kind: keysPath, pattern: keysAddress}, nil
	}
	if !auth.IsPrefix(segments[0]) {
		return nil, fault.New(problem.CodeNotFound, "An API key is named by its prefix: the ten characters after plural_. Do not send the rest of the key.")
	}
	return &target{kind: keyPath, pattern: keysAddress + "/{prefix}", key: segments[0]}, nil
}

// apiKeys creates, lists and revokes API keys of the roles that the caller may grant. Those of other
// roles do not exist for the caller.
func (a *API) apiKeys(r *http.Request, out *response, t *target) (*reply, error) {
	by := t.path.By
	if len(by.Grantable()) == 0 {
		return nil, by.Denied("You may not manage API keys. The roles that may are in access.keys of the schema file.")
	}
	// The response to a repeated creation would need the secret, which is not stored.
	if len(r.Header.Values("Idempotency-Key")) > 0 && !isRead(r.Method) {
		return nil, fault.Header("Idempotency-Key", problem.CodeMalformedRequest, "API keys cannot be created or revoked with an Idempotency-Key, because the response would have to be stored. Leave it out.")
	}
	if err := checkPlain(r); err != nil {
		return nil, err
	}
	switch {
	case r.Method == http.MethodPost:
		return a.createKey(r, out, by)
	case t.kind == keysPath:
		return a.listKeys(r, by)
	}
	key, err := a.findKey(r, t)
	if err == nil && r.Method == http.MethodDelete {
		key, err = a.revokeKey(r, out, key)
	}
	if err != nil {
		return nil, err
	}
	return uncached(http.StatusOK, rights.RepresentKey(*key)), nil
}

// checkPlain refuses conditions and query parameters, for what has neither.
func checkPlain(r *http.Request) error {
	for _, name := range []string{"If-Match", "If-None-Match"} {
		if len(r.Header.Values(name)) > 0 {
			return fault.Header(name, problem.CodeMalformedRequest, "This has no ETag. Leave %s out.", name)
		}
	}
	return query.ParseNone(r.URL.RawQuery)
}

func (a *API) listKeys(r *http.Request, by *auth.Permit) (*reply, error) {
	all, err := a.Guard.Keys.APIKeys(r.Context())
	if err != nil {
		return nil, err
	}
	list := []rights.KeyResource{}
	for _, key := range all {
		if slices.Contains(by.Grantable(), key.Role) {
			list = append(list, rights.RepresentKey(key))
		}
	}
	reply := uncached(http.StatusOK, list)
	reply.header.Set("X-Total-Count", strconv.Itoa(len(list)))
	return reply, nil
}

// findKey finds the API key of the path.
func (a *API) findKey(r *http.Request, t *target) (*auth.StoredKey, error) {
	found, err := a.Guard.Keys.APIKey(r.Context(), t.key)
	if err != nil {
		return nil, err
	}
	if found == nil || !slices.Contains(t.path.By.Grantable(), found.Role) {
		return nil, a.noKey(t.key)
	}
	return found, nil
}

func (a *API) noKey(prefix string) error {
	return fault.New(problem.CodeNotFound, "There is no API key with the prefix %s. GET %s lists those that you may see.", prefix, a.Prefix+keysAddress)
}

// revokeKey revokes a key that was found. A restore, or another program, may have removed it since.
func (a *API) revokeKey(r *http.Request, out *response, key *auth.StoredKey) (*auth.StoredKey, error) {
	revoked, err := a.Guard.Keys.RevokeAPIKey(r.Context(), key.Prefix, model.FormatTime(time.Now()))
	switch {
	case err != nil:
		return nil, err
	case revoked == nil:
		return nil, a.noKey(key.Prefix)
	}
	a.Observer.KeyRevoked(out.origin(), out.caller, revoked.Prefix, revoked.Role)
	return revoked, nil
}

func (a *API) createKey(r *http.Request, out *response, by *auth.Permit) (*reply, error) {
	body, err := a.readBody(r, out, a.MaxBody)
	if err != nil {
		return nil, err
	}
	key, secret, err := rights.NewKey(body, a.Resources.BodyLimits.Depth, by, a.servedVersions(), time.Now())
	if err != nil {
		return nil, err
	}
	if err := a.Guard.Keys.AddAPIKey(r.Context(), key); err != nil {
		return nil, err
	}
	a.Observer.KeyCreated(out.origin(), out.caller, key.Prefix, key.Role)
	shown := rights.RepresentKey(key)
	shown.Secret = secret
	reply := uncached(http.StatusCreated, shown)
	reply.header.Set("Location", a.Prefix+keysAddress+"/"+key.Prefix)
	return reply, nil
}

// loggedPath is the path of a request as it is logged. Somebody may have sent a whole API key in place of
// its prefix.
func loggedPath(u *url.URL) string {
	before, rest, found := strings.Cut(u.Path, keysAddress+"/")
	if !found || auth.IsPrefix(rest) {
		return u.Path
	}
	return before + keysAddress + "/…"
}
