package client

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
)

// Description is a collection as the server describes it.
type Description struct {
	Name       string      `json:"name"`
	Singular   string      `json:"singular"`
	Total      *int64      `json:"total"` // nil if the caller may not list it, or a rule decides what it sees
	Attributes []Attribute `json:"attributes"`
	Relations  []Relation  `json:"relations"`
	Search     []string    `json:"search"` // attributes that Search looks at
	Label      string      `json:"label"`  // the attribute that names a resource to people, if any
}

// Relation is what Include can embed, and filters can lead through.
type Relation struct {
	Name       string `json:"name"`
	Collection string `json:"collection"` // that it leads to
	Many       bool   `json:"many"`       // to any number of resources
	Attribute  string `json:"attribute"`  // that refers: of the other collection if Many
}

// Attribute is an attribute of a collection.
type Attribute struct {
	Name       string `json:"name"`
	Required   bool   `json:"required"`
	References string `json:"references"` // the collection that it refers to, if any
	Type       string `json:"type"`
	Format     string `json:"format"`
	Computed   string `json:"computed"` // the rule by which the server sets the value; empty: clients set it

	// Definition is all of it: a JSON Schema property, with the members above.
	Definition json.RawMessage `json:"-"`
}

// UnmarshalJSON keeps the whole definition.
func (a *Attribute) UnmarshalJSON(text []byte) error {
	type plain Attribute
	a.Definition = append(json.RawMessage(nil), text...)
	return json.Unmarshal(text, (*plain)(a))
}

// Collections lists the collections of the server, as far as the caller may see them.
func (c *Client) Collections(ctx context.Context) ([]Description, error) {
	answer, err := c.Do(ctx, Request{Method: http.MethodGet, Path: "/"})
	if err != nil {
		return nil, err
	}
	typed, err := decodeList[struct{ Type string }](answer.Body)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.base, err)
	}
	if len(typed) > 0 && typed[0].Type != "collections" {
		return nil, fmt.Errorf("%s is a list of %s, and not of the collections of a server: its URL has none of them behind it", c.base, typed[0].Type)
	}
	return decodeList[Description](answer.Body)
}
