//go:build linux

package soak

import (
	"encoding/json"
	"hash/fnv"
	"strings"
)

// text derives a text from a token: mostly short, sometimes longer than a page of the database.
func text(token string) string {
	h := fnv.New32a()
	h.Write([]byte(token))
	sum := h.Sum32()
	length := int(sum % 200)
	if sum%31 == 0 {
		length = int(sum % 9000)
	}
	return strings.Repeat(token+" ", length/(len(token)+1)+1)
}

// plain removes the attribute that a migration adds, which no writer sets.
func plain(representation []byte) string {
	return strings.Replace(string(representation), `,"`+added+`":null`, "", 1)
}

// added is the attribute that a migration adds.
const added = "extra"

// parseValue reads the token and the text of a representation.
func parseValue(representation []byte) Value {
	var r struct{ Token, Text string }
	err := json.Unmarshal(representation, &r)
	return Value{Token: r.Token, Representation: plain(representation), Torn: err != nil || r.Text != text(r.Token)}
}
