package client

import (
	"context"
	"fmt"
	"net/http"
	"regexp"
	"time"
)

// Extent is how far something is allowed.
type Extent string

// The extents. Depends: a rule decides about each resource.
const (
	ExtentYes     Extent = "yes"
	ExtentNo      Extent = "no"
	ExtentDepends Extent = "depends"
)

// Caller is who sends the requests of a client, as the server knows them. What they do not have is empty.
type Caller struct {
	ID        string     `json:"caller"` // as in the change log: "key:" and the prefix, or "token:" and the subject
	Role      string     `json:"role"`
	Subject   string     `json:"sub"`
	KeyName   string     `json:"key_name"`   // of the API key
	ExpiresAt *time.Time `json:"expires_at"` // of the credentials; nil: never
	Metrics   bool       `json:"metrics"`    // may read the metrics
	Keys      []string   `json:"keys"`       // the roles whose API keys the caller may manage

	// AgentWrites says that agents may write on behalf of the caller.
	AgentWrites bool `json:"agent_writes"`

	// Collections are those that the caller may use.
	Collections []Right `json:"collections"`
}

// Right is what a caller may do in a collection.
type Right struct {
	Collection string            `json:"name"`
	May        map[string]Extent `json:"may"` // by the verb: list, read, create, update, delete, changes
	Visible    []string          `json:"visible"`
	Writable   []string          `json:"writable"`

	// Transitions is, of each attribute with a lifecycle, whether the caller may bring resources into a state, if they may
	// otherwise create or update them.
	Transitions map[string]map[string]Extent `json:"transitions"`
}

// Me tells who the caller is, and what they may do.
func (c *Client) Me(ctx context.Context) (Caller, error) {
	return getOne[Caller](ctx, c, Request{Method: http.MethodGet, Path: "/-/me"})
}

// Question asks what a caller may do. Only the Role is required. Without a Collection or a Verb it is
// about all of them.
type Question struct {
	Role       string         `json:"role"`
	Subject    string         `json:"sub,omitempty"` // empty: the caller has none
	Claims     map[string]any `json:"claims,omitempty"`
	Collection string         `json:"collection,omitempty"`
	ResourceID string         `json:"resource_id,omitempty"` // empty: resources in general
	Verb       string         `json:"verb,omitempty"`        // list, read, create, update, delete or changes
}

// Decision is the answer to a Question for one verb in one collection.
type Decision struct {
	Role       string   `json:"role"`
	Subject    string   `json:"sub"`
	Collection string   `json:"collection"`
	ResourceID string   `json:"resource_id"`
	Verb       string   `json:"verb"`
	Decision   Extent   `json:"decision"`
	Reasons    []string `json:"reasons"` // for people, in the order of evaluation
}

// Can explains what a caller with a role may do. The role must be one whose API keys the caller of
// this client may manage, or "public".
func (c *Client) Can(ctx context.Context, question Question) ([]Decision, error) {
	body, err := marshal(question)
	if err != nil {
		return nil, err
	}
	return getList[Decision](ctx, c, Request{Method: http.MethodPost, Path: "/-/can", Body: body, Repeatable: true})
}

// Key is an API key.
type Key struct {
	ID        string     `json:"id"`
	Prefix    string     `json:"prefix"` // identifies it: what follows plural_ in the key
	Name      string     `json:"name"`
	Role      string     `json:"role"`
	Subject   string     `json:"sub"`
	CreatedAt time.Time  `json:"created_at"`
	ExpiresAt *time.Time `json:"expires_at"` // nil: never
	RevokedAt *time.Time `json:"revoked_at"` // nil: it is not revoked

	// AgentWrites says that agents with the key may write what its role may write.
	AgentWrites bool `json:"agent_writes"`

	// Secret is the key itself. Only Create returns it.
	Secret string `json:"key"`
}

// NewKey is what an API key is created from.
type NewKey struct {
	Name      string     `json:"name"`
	Role      string     `json:"role"`
	Subject   string     `json:"sub,omitempty"`        // empty: the prefix of the key
	ExpiresAt *time.Time `json:"expires_at,omitempty"` // nil: never

	// AgentWrites lets agents with the key write what its role may write.
	AgentWrites bool `json:"agent_writes,omitempty"`
}

// Keys manages the API keys of the roles that the caller may grant.
type Keys struct{ client *Client }

// Keys returns the API keys of the server.
func (c *Client) Keys() Keys { return Keys{c} }

// List lists all API keys that the caller may manage, the oldest first, also revoked and expired ones.
func (k Keys) List(ctx context.Context) ([]Key, error) {
	return getList[Key](ctx, k.client, Request{Method: http.MethodGet, Path: "/-/keys"})
}

// Get reads one API key.
func (k Keys) Get(ctx context.Context, prefix string) (Key, error) {
	return k.one(ctx, http.MethodGet, prefix)
}

// Create creates an API key. If the response is lost, IsLost is true of the error: there may be a key that
// nobody knows, which List finds. The request is not sent again then, as that could create another.
func (k Keys) Create(ctx context.Context, key NewKey) (Key, error) {
	body, err := marshal(key)
	if err != nil {
		return Key{}, err
	}
	return getOne[Key](ctx, k.client, Request{Method: http.MethodPost, Path: "/-/keys", Body: body, Once: true})
}

// Revoke revokes an API key: from then on it is refused. It stays in the list.
func (k Keys) Revoke(ctx context.Context, prefix string) (Key, error) {
	return k.one(ctx, http.MethodDelete, prefix)
}

var keyPrefix = regexp.MustCompile(`^[a-z2-7]{10}$`)

func (k Keys) one(ctx context.Context, method, prefix string) (Key, error) {
	if !keyPrefix.MatchString(prefix) { // it may be a whole key, which must not be sent or shown
		return Key{}, fmt.Errorf("an API key is named by its prefix, the ten characters after plural_")
	}
	return getOne[Key](ctx, k.client, Request{Method: method, Path: "/-/keys/" + prefix, Repeatable: true})
}

// getOne sends a request whose response has one resource.
func getOne[T any](ctx context.Context, c *Client, request Request) (value T, err error) {
	answer, err := c.Do(ctx, request)
	if err != nil {
		return value, err
	}
	err = decodeData(answer.Body, "a resource", &value)
	return value, err
}
