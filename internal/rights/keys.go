package rights

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/plural-go/plural/internal/auth"
	"github.com/plural-go/plural/internal/fault"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/problem"
	"github.com/plural-go/plural/schema"
)

// keyInput declares the body that creates an API key, so that it is read as that of any resource is.
var keyInput = declareInput("keys", legible("name", true), legible("role", true), legible("sub", false), schema.Attribute{Name: "expires_at", Type: schema.String, Format: schema.DateTime},
	schema.Attribute{Name: "api_version", Type: schema.Integer}, schema.Attribute{Name: "agent_writes", Type: schema.Boolean})

// declareInput declares a body.
func declareInput(name string, attributes ...schema.Attribute) *model.Collection {
	declared, err := schema.New(schema.Collection{Name: name, NoTimestamps: true, Attributes: attributes})
	if err != nil {
		panic(err) // it is a constant
	}
	return (*model.Schema)(declared).Collection(name)
}

// decodeOne reads a body that is one object without an id. It returns the texts of its attributes, empty where they are
// null.
func decodeOne(input *model.Collection, body []byte, maxDepth int, onlyOne, noID string) (values model.Record, text func(name string) string, err error) {
	inputs, many, err := input.Decode(body, model.DecodeOptions{Mode: model.Create, MaxDepth: maxDepth, MaxItems: 1})
	switch {
	case err != nil:
		return nil, nil, err
	case many:
		return nil, nil, fault.New(problem.CodeNotAnObject, "%s", onlyOne)
	case inputs[0].HasID():
		return nil, nil, fault.At("/id", problem.CodeReadOnly, "%s", noID)
	}
	values = inputs[0].Values
	return values, func(name string) string {
		if value := values[input.Field(name).Column]; !value.IsNull() {
			return value.Text()
		}
		return ""
	}, nil
}

// legible is a short text without control characters.
func legible(name string, required bool) schema.Attribute {
	return schema.Attribute{Name: name, Required: required, Type: schema.String, MinLength: 1, MaxLength: maxKeyText, Pattern: `^[^\x00-\x1f\x7f-\x9f]*$`}
}

const maxKeyText = 255

// KeyResource is an API key as a resource.
type KeyResource struct {
	ID        string  `json:"id"`
	Type      string  `json:"type"`
	Prefix    string  `json:"prefix"`
	Name      string  `json:"name"`
	Role      string  `json:"role"`
	Subject   string  `json:"sub"`
	CreatedAt string  `json:"created_at"`
	ExpiresAt *string `json:"expires_at"`
	RevokedAt *string `json:"revoked_at"`

	// APIVersion is the version of the interface that requests with the key have unless they say otherwise. 0: the newest.
	APIVersion int `json:"api_version,omitempty"`

	// AgentWrites says that agents with the key may write.
	AgentWrites bool `json:"agent_writes,omitempty"`

	// Secret is the whole key: only in the response to its creation.
	Secret string `json:"key,omitempty"`
}

// keyNamespace is the UUIDv5 namespace of the ids of API keys.
var keyNamespace = model.ID{0x3c, 0x90, 0x1e, 0x57, 0x8b, 0x42, 0x4d, 0x0f, 0xa6, 0x11, 0x5e, 0xd7, 0x29, 0xc4, 0x70, 0x88}

// RepresentKey represents an API key without its secret.
func RepresentKey(key auth.StoredKey) KeyResource {
	return KeyResource{
		ID: model.NamedID(keyNamespace, []byte(key.Prefix)).String(), Type: "keys", Prefix: key.Prefix, Name: key.Name, Role: key.Role, Subject: key.Subject,
		CreatedAt: key.Created, ExpiresAt: orNull(key.Expires), RevokedAt: orNull(key.Revoked), APIVersion: key.Version, AgentWrites: key.AgentWrites,
	}
}

// NewKey makes an API key of a body, and its secret. The role must be one that the caller may grant, and the version of the interface
// one that is served.
func NewKey(body []byte, maxDepth int, by *auth.Permit, served []int, now time.Time) (key auth.StoredKey, secret string, err error) {
	values, text, err := decodeOne(keyInput, body, maxDepth,
		"API keys are created one by one. Send one object instead of an array.", "The id of an API key is set by the server. Leave it out.")
	if err != nil {
		return key, "", err
	}
	key = auth.StoredKey{Name: text("name"), Role: text("role"), Subject: text("sub"), Expires: text("expires_at")}
	if key.Expires != "" && key.Expires <= model.FormatTime(now) {
		return key, "", fault.At("/expires_at", problem.CodeMinimum, "Must be in the future. Leave it out for a key that does not expire.")
	}
	if roles := by.Grantable(); !slices.Contains(roles, key.Role) {
		return key, "", fault.At("/role", problem.CodeForbidden, "You may not create API keys of this role. You may create keys of %s.", strings.Join(roles, ", "))
	}
	agentWrites := values[keyInput.Field("agent_writes").Column]
	key.AgentWrites = !agentWrites.IsNull() && agentWrites.Bool()
	if version := values[keyInput.Field("api_version").Column]; !version.IsNull() {
		at := slices.IndexFunc(served, func(number int) bool { return int64(number) == version.Int() })
		switch {
		case len(served) == 0:
			return key, "", fault.At("/api_version", problem.CodeEnum, "The interface has no versions. Leave it out.")
		case at < 0:
			return key, "", fault.At("/api_version", problem.CodeEnum, "Must be a version that is served: %s.", strings.Trim(fmt.Sprint(served), "[]"))
		}
		key.Version = served[at]
	}
	key, secret = auth.NewAPIKey(key, now)
	return key, secret, nil
}
