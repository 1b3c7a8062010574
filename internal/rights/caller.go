// Package rights has the resources that show and give rights, without HTTP: the caller, API keys, and decisions on what
// a role may do. It decodes bodies, evaluates rights, and makes representations.
package rights

import (
	"strings"
	"time"

	"github.com/plural-go/plural/internal/auth"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/schema"
)

// callerNamespace is the UUIDv5 namespace of the ids of callers.
var callerNamespace = model.ID{0x91, 0x0a, 0x5d, 0xe3, 0x27, 0xfc, 0x4b, 0x66, 0x8e, 0x35, 0x04, 0x9b, 0xd8, 0x1f, 0xa2, 0x73}

// CallerResource is who a caller is, and what they may do.
type CallerResource struct {
	ID          string             `json:"id"`
	Type        string             `json:"type"`
	Caller      *string            `json:"caller"`
	Role        *string            `json:"role"`
	Subject     *string            `json:"sub"`
	KeyName     *string            `json:"key_name"`
	ExpiresAt   *string            `json:"expires_at"`
	Metrics     bool               `json:"metrics"`
	Keys        []string           `json:"keys"`
	Collections []CollectionRights `json:"collections"`

	// APIVersion is the version of the interface that the request has used. 0: there are none.
	APIVersion int `json:"api_version,omitempty"`

	// AgentWrites says that agents may write on behalf of the caller.
	AgentWrites bool `json:"agent_writes,omitempty"`
}

// CollectionRights is what a caller may do in a collection.
type CollectionRights struct {
	Name     string                            `json:"name"`
	May      map[schema.AccessVerb]auth.Extent `json:"may"`
	Visible  []string                          `json:"visible"`
	Writable []string                          `json:"writable"`

	// Transitions is, of each lifecycle that the caller sees, whether its rules let the caller bring resources into a state.
	Transitions map[string]map[string]auth.Extent `json:"transitions,omitempty"`
}

// DescribeCaller describes the caller with a permit; nil: without access control. AgentWrites says whether agents may write whose callers
// have no credentials because there is no access control, or because the embedding program has authenticated them. KeyOf finds the API key
// with a prefix.
func DescribeCaller(s *model.Schema, by *auth.Permit, agentWrites bool, keyOf func(prefix string) (*auth.StoredKey, error)) (CallerResource, error) {
	var caller auth.Caller
	if by != nil {
		caller = by.Caller
	}
	me := CallerResource{
		ID: model.NamedID(callerNamespace, []byte(caller.ID)).String(), Type: "callers",
		Caller: orNull(caller.ID), Role: orNull(caller.Role), Subject: orNull(caller.Subject),
		Metrics: by.MaySeeMetrics(), Keys: append([]string{}, by.Grantable()...), Collections: []CollectionRights{},
		APIVersion: s.Versions().Newest, AgentWrites: caller.AgentWrites || agentWrites && (by == nil || caller.ByProgram()),
	}
	if !caller.Expires.IsZero() {
		me.ExpiresAt = orNull(model.FormatTime(caller.Expires.Truncate(time.Millisecond)))
	}
	if prefix, isKey := strings.CutPrefix(caller.ID, auth.KeyCaller); isKey {
		key, err := keyOf(prefix)
		if err != nil {
			return me, err
		}
		if key != nil {
			me.KeyName = &key.Name
		}
	}
	for _, c := range append(s.All(), s.Changes()) {
		if by.MayKnow(c) {
			me.Collections = append(me.Collections, rightsIn(by, c))
		}
	}
	return me, nil
}

func rightsIn(by *auth.Permit, c *model.Collection) CollectionRights {
	allowed := CollectionRights{Name: c.Name, May: map[schema.AccessVerb]auth.Extent{}, Visible: []string{}, Writable: []string{}}
	for _, verb := range schema.AccessVerbs() {
		allowed.May[verb] = by.Extent(verb, c)
		if c.ReadOnly() && verb != schema.MayList && verb != schema.MayRead {
			allowed.May[verb] = auth.AllowsNone
		}
	}
	writes := allowed.May[schema.MayCreate] != auth.AllowsNone || allowed.May[schema.MayUpdate] != auth.AllowsNone
	for i, column := range c.Columns() {
		if column.Attribute == nil {
			continue
		}
		if by.Visible(c).Has(i) {
			allowed.Visible = append(allowed.Visible, column.Name)
			if column.Attribute.HasLifecycle() {
				allowed.addTransitions(by, c, column.Attribute)
			}
		}
		if by.Writable(c).Has(i) && writes {
			allowed.Writable = append(allowed.Writable, column.Name)
		}
	}
	return allowed
}

func (r *CollectionRights) addTransitions(by *auth.Permit, c *model.Collection, a *model.Attribute) {
	if r.Transitions == nil {
		r.Transitions = map[string]map[string]auth.Extent{}
	}
	r.Transitions[a.Name] = map[string]auth.Extent{}
	for _, state := range a.States() {
		r.Transitions[a.Name][state] = by.Transition(c, a.Name, state)
	}
}

// orNull is a text, nil if it is empty.
func orNull(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}
