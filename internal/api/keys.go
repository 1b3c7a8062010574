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
	"github.com/plural-go/plural/problem"
	"github.com/plural-go/plural/schema"
)

// keysAddress is the path of the API keys.
const keysAddress = "/-/keys"

// keyInput declares the body that creates an API key, so that it is read as that of any resource is.
var keyInput = declareInput("keys", legible("name", true), legible("role", true), legible("sub", false), schema.Attribute{Name: "expires_at", Type: schema.String, Format: schema.DateTime})

// declareInput declares a body.
func declareInput(name string, attributes ...schema.Attribute) *model.Collection {
	declared, err := schema.New(schema.Collection{Name: name, NoTimestamps: true, Attributes: attributes})
	if err != nil {
		panic(err) // it is a constant
	}
	return (*model.Schema)(declared).Collection(name)
}

// legible is a short text without control characters.
func legible(name string, required bool) schema.Attribute {
	return schema.Attribute{Name: name, Required: required, Type: schema.String, MinLength: 1, MaxLength: maxKeyText, Pattern: `^[^\x00-\x1f\x7f-\x9f]*$`}
}

// textOf is a text of a body, empty if it is null.
func textOf(input *model.Collection, values model.Record, name string) string {
	value := values[input.Field(name).Column]
	if value.IsNull() {
		return ""
	}
	return value.Text()
}

const maxKeyText = 255

// apiKey is an API key as a resource.
type apiKey struct {
	ID        string  `json:"id"`
	Type      string  `json:"type"`
	Prefix    string  `json:"prefix"`
	Name      string  `json:"name"`
	Role      string  `json:"role"`
	Subject   string  `json:"sub"`
	CreatedAt string  `json:"created_at"`
	ExpiresAt *string `json:"expires_at"`
	RevokedAt *string `json:"revoked_at"`

	// Key is the key with its secret: only in the response to its creation.
	Key string `json:"key,omitempty"`
}

// keyNamespace is the UUIDv5 namespace of the ids of API keys.
var keyNamespace = model.ID{0x3c, 0x90, 0x1e, 0x57, 0x8b, 0x42, 0x4d, 0x0f, 0xa6, 0x11, 0x5e, 0xd7, 0x29, 0xc4, 0x70, 0x88}

func representKey(key auth.APIKey) apiKey {
	never := func(at string) *string {
		if at == "" {
			return nil
		}
		return &at
	}
	return apiKey{
		ID: model.NamedID(keyNamespace, []byte(key.Prefix)).String(), Type: "keys", Prefix: key.Prefix, Name: key.Name, Role: key.Role, Subject: key.Subject,
		CreatedAt: key.Created, ExpiresAt: never(key.Expires), RevokedAt: never(key.Revoked),
	}
}

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
	reply, err := a.manageKeys(r, out, t)
	if err == nil {
		reply.header.Set("Cache-Control", "no-store")
	}
	return reply, err
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

func (a *API) manageKeys(r *http.Request, out *response, t *target) (*reply, error) {
	by := t.path.By
	switch {
	case r.Method == http.MethodPost:
		return a.createKey(r, out, by)
	case r.Method == http.MethodDelete:
		return a.revokeKey(r, out, t)
	case t.kind == keysPath:
		return a.listKeys(r, out, by)
	}
	found, err := a.findKey(r, out, t)
	if err != nil {
		return nil, err
	}
	return enveloped(http.StatusOK, marshal(representKey(*found))), nil
}

func (a *API) listKeys(r *http.Request, out *response, by *auth.Permit) (*reply, error) {
	all, err := a.Guard.Keys.List(out.context(r))
	if err != nil {
		return nil, err
	}
	list := []apiKey{}
	for _, key := range all {
		if slices.Contains(by.Grantable(), key.Role) {
			list = append(list, representKey(key))
		}
	}
	reply := enveloped(http.StatusOK, marshal(list))
	reply.header.Set("X-Total-Count", strconv.Itoa(len(list)))
	return reply, nil
}

// findKey finds the API key of the path.
func (a *API) findKey(r *http.Request, out *response, t *target) (*auth.APIKey, error) {
	found, err := a.Guard.Keys.Find(out.context(r), t.key)
	if err != nil {
		return nil, err
	}
	if found == nil || !slices.Contains(t.path.By.Grantable(), found.Role) {
		return nil, fault.New(problem.CodeNotFound, "There is no API key with the prefix %s. GET %s lists those that you may see.", t.key, a.Prefix+keysAddress)
	}
	return found, nil
}

func (a *API) revokeKey(r *http.Request, out *response, t *target) (*reply, error) {
	found, err := a.findKey(r, out, t)
	if err != nil {
		return nil, err
	}
	revoked, err := a.Guard.Keys.Revoke(out.context(r), found.Prefix, model.FormatTime(time.Now()))
	if err != nil {
		return nil, err
	}
	a.Observer.KeyRevoked(out.id, out.caller, revoked.Prefix, revoked.Role)
	return enveloped(http.StatusOK, marshal(representKey(*revoked))), nil
}

func (a *API) createKey(r *http.Request, out *response, by *auth.Permit) (*reply, error) {
	body, err := a.readBody(r, out)
	if err != nil {
		return nil, err
	}
	now := time.Now()
	key, err := a.decodeKey(body, by, now)
	if err != nil {
		return nil, err
	}
	secret, prefix, hash := auth.NewAPIKey()
	key.Prefix, key.Hash, key.Created = prefix, hash, model.FormatTime(now)
	if key.Subject == "" {
		key.Subject = prefix
	}
	if err := a.Guard.Keys.Add(out.context(r), key); err != nil {
		return nil, err
	}
	a.Observer.KeyCreated(out.id, out.caller, key.Prefix, key.Role)
	shown := representKey(key)
	shown.Key = secret
	reply := enveloped(http.StatusCreated, marshal(shown))
	reply.header.Set("Location", a.Prefix+keysAddress+"/"+key.Prefix)
	return reply, nil
}

// decodeKey reads what an API key is created from.
func (a *API) decodeKey(body []byte, by *auth.Permit, now time.Time) (key auth.APIKey, err error) {
	inputs, many, err := keyInput.Decode(body, model.DecodeOptions{Mode: model.Create, MaxDepth: a.Resources.BodyLimits.Depth, MaxItems: 1})
	switch {
	case err != nil:
		return key, err
	case many:
		return key, fault.New(problem.CodeNotAnObject, "API keys are created one by one. Send one object instead of an array.")
	case inputs[0].HasID():
		return key, fault.At("/id", problem.CodeReadOnly, "The id of an API key is set by the server. Leave it out.")
	}
	text := func(name string) string { return textOf(keyInput, inputs[0].Values, name) }
	key = auth.APIKey{Name: text("name"), Role: text("role"), Subject: text("sub"), Expires: text("expires_at")}
	if key.Expires != "" && key.Expires <= model.FormatTime(now) {
		return key, fault.At("/expires_at", problem.CodeMinimum, "Must be in the future. Leave it out for a key that does not expire.")
	}
	if roles := by.Grantable(); !slices.Contains(roles, key.Role) {
		return key, fault.At("/role", problem.CodeForbidden, "You may not create API keys of this role. You may create keys of %s.", strings.Join(roles, ", "))
	}
	return key, nil
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
