package api

import (
	"net/http"

	"github.com/plural-go/plural/internal/auth"
	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/internal/rights"
	"github.com/plural-go/plural/problem"
)

// callerAddress is the path at which callers see who they are.
const callerAddress = "/-/me"

// decisionsAddress is the path that explains what a role may do, as plural can does.
const decisionsAddress = "/-/can"

// caller replies with who the caller is, and what they may do.
func (a *API) caller(r *http.Request, t *target) (*reply, error) {
	if err := checkPlain(r); err != nil {
		return nil, err
	}
	me, err := rights.DescribeCaller(a.Schema, t.path.By, a.AgentWrites, func(prefix string) (*auth.StoredKey, error) {
		return a.Guard.Keys.APIKey(r.Context(), prefix)
	})
	if err != nil {
		return nil, err
	}
	return uncached(http.StatusOK, me), nil
}

func (a *API) decisionsTarget() (*target, error) {
	if a.Guard == nil {
		return nil, fault.New(problem.CodeNotFound, "This server has no access rules: everybody may do everything. Declare access in the schema file.")
	}
	return &target{kind: decisionsPath, pattern: decisionsAddress}, nil
}

// decisions explains what a role may do, to those who may create API keys of that role: they could also
// find it out with such a key.
func (a *API) decisions(r *http.Request, out *response, t *target) (*reply, error) {
	by := t.path.By
	if len(by.Grantable()) == 0 {
		return nil, by.Denied("You may not ask what roles may do. The roles that may are in access.keys of the schema file.")
	}
	if len(r.Header.Values("Idempotency-Key")) > 0 {
		return nil, fault.Header("Idempotency-Key", problem.CodeMalformedRequest, "A question changes nothing and can be repeated without an Idempotency-Key. Leave it out.")
	}
	if err := checkPlain(r); err != nil {
		return nil, err
	}
	body, err := a.readBody(r, out, a.MaxBody)
	if err != nil {
		return nil, err
	}
	q, err := rights.DecodeQuestion(body, a.Resources.BodyLimits.Depth, a.Guard.Policy, by)
	if err != nil {
		return nil, err
	}
	list, err := rights.Decide(r.Context(), a.Schema, a.Resources.Reader, by, q)
	if err != nil {
		return nil, err
	}
	return uncached(http.StatusOK, list), nil
}
