package api

import (
	"encoding/json"
	"net/http"
	"slices"
	"strconv"

	"github.com/plural-go/plural/internal/auth"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/query"
	"github.com/plural-go/plural/internal/rules"
)

// collections answers GET /: the collections as resources.
func (a *API) collections(r *http.Request, t *target) (*reply, error) {
	if err := query.ParseNone(r.URL.RawQuery); err != nil {
		return nil, err
	}
	by := t.path.By
	all := slices.DeleteFunc(append(a.Schema.All(), a.Schema.Changes()), func(c *model.Collection) bool { return !by.MayKnow(c) })
	totals, err := a.Resources.Totals(r.Context(), by, all)
	if err != nil {
		return nil, err
	}
	type representation struct {
		ID         string          `json:"id"`
		Type       string          `json:"type"`
		Name       string          `json:"name"`
		Singular   string          `json:"singular"`
		Total      *int64          `json:"total"`
		Attributes json.RawMessage `json:"attributes"`
		Relations  []relation      `json:"relations"`
		Search     []string        `json:"search,omitempty"`
		Label      string          `json:"label,omitempty"`
		Checks     []model.Check   `json:"checks,omitempty"`
	}
	list := make([]representation, len(all))
	for i, c := range all {
		visible := by.Visible(c)
		shown := rules.Of(c).Shown(visible)
		list[i] = representation{
			ID: model.NamedID(collectionNamespace, []byte(c.Name)).String(), Type: "collections", Name: c.Name, Singular: c.Singular,
			Total: totals[i], Attributes: c.Describe(visible, shown), Relations: relationsOf(by, c), Search: c.SearchNames(visible), Checks: c.ShownChecks(shown),
		}
		if c.Label != "" && visible.Has(c.Field(c.Label).Column) {
			list[i].Label = c.Label
		}
	}
	reply := enveloped(http.StatusOK, model.MustMarshal(list))
	t.addAcceptQuery(reply.header)
	reply.header.Set("X-Total-Count", strconv.Itoa(len(all)))
	if served := a.listVersions(); served != "" {
		reply.header.Set("API-Versions", served)
	}
	return reply, nil
}

// relation is a relation as GET / shows it.
type relation struct {
	Name       string `json:"name"`
	Collection string `json:"collection"` // of the related resources
	Many       bool   `json:"many"`
	Attribute  string `json:"attribute"` // that refers to the other resource
}

// relationsOf lists the relations that a caller may include.
func relationsOf(by *auth.Permit, c *model.Collection) []relation {
	list := []relation{}
	for _, r := range c.Relations() {
		if _, _, may := by.Related(r); may {
			list = append(list, relation{Name: r.Name, Collection: r.To.Name, Many: !r.One, Attribute: r.Referring().Columns()[r.Column].Name})
		}
	}
	return list
}

// collectionNamespace is the UUIDv5 namespace of the ids of collections, which are made of their names.
var collectionNamespace = model.ID{0x6e, 0x1f, 0x2b, 0x9c, 0x57, 0x0d, 0x4a, 0x83, 0x9a, 0x41, 0xd2, 0x7c, 0x35, 0xe8, 0x06, 0xb4}
