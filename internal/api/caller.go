package api

import (
	"net/http"
	"strings"
	"time"

	"github.com/plural-go/plural/internal/auth"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/schema"
)

// callerAddress is the path at which callers see who they are.
const callerAddress = "/-/me"

// callerNamespace is the UUIDv5 namespace of the ids of callers.
var callerNamespace = model.ID{0x91, 0x0a, 0x5d, 0xe3, 0x27, 0xfc, 0x4b, 0x66, 0x8e, 0x35, 0x04, 0x9b, 0xd8, 0x1f, 0xa2, 0x73}

// caller replies with who the caller is, and what they may do.
func (a *API) caller(r *http.Request, out *response, t *target) (*reply, error) {
	if err := checkPlain(r); err != nil {
		return nil, err
	}
	type right struct {
		Name     string                            `json:"name"`
		May      map[schema.AccessVerb]auth.Extent `json:"may"`
		Visible  []string                          `json:"visible"`
		Writable []string                          `json:"writable"`
	}
	me := struct {
		ID          string   `json:"id"`
		Type        string   `json:"type"`
		Caller      *string  `json:"caller"`
		Role        *string  `json:"role"`
		Subject     *string  `json:"sub"`
		KeyName     *string  `json:"key_name"`
		ExpiresAt   *string  `json:"expires_at"`
		Metrics     bool     `json:"metrics"`
		Keys        []string `json:"keys"`
		Collections []right  `json:"collections"`
	}{Type: "callers", Keys: []string{}, Collections: []right{}}
	by := t.path.By
	me.ID = model.NamedID(callerNamespace, []byte(out.caller)).String()
	me.Metrics, me.Keys = by.MaySeeMetrics(), append(me.Keys, by.Grantable()...)
	if by != nil {
		me.Caller, me.Role, me.Subject = some(by.Caller.ID), some(by.Caller.Role), some(by.Caller.Subject)
		if !by.Caller.Expires.IsZero() {
			me.ExpiresAt = some(model.FormatTime(by.Caller.Expires.Truncate(time.Millisecond)))
		}
		if prefix, isKey := strings.CutPrefix(by.Caller.ID, auth.KeyCaller); isKey {
			key, err := a.Guard.Keys.Find(out.context(r), prefix)
			if err != nil {
				return nil, err
			}
			if key != nil {
				me.KeyName = &key.Name
			}
		}
	}
	for _, c := range append(a.Schema.All(), a.Schema.Changes()) {
		if !a.mayKnow(by, c) {
			continue
		}
		allowed := right{Name: c.Name, May: map[schema.AccessVerb]auth.Extent{}, Visible: []string{}, Writable: []string{}}
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
			}
			if by.Writable(c).Has(i) && writes {
				allowed.Writable = append(allowed.Writable, column.Name)
			}
		}
		me.Collections = append(me.Collections, allowed)
	}
	reply := enveloped(http.StatusOK, marshal(me))
	reply.header.Set("Cache-Control", "no-store")
	return reply, nil
}

// some is a text, nil if it is empty.
func some(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}
