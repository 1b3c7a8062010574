//go:build linux

package ledger

import (
	"encoding/json"
	"hash/fnv"
	"strings"
)

// Text derives a text from a token: mostly short, sometimes longer than a page of the database.
func Text(token string) string {
	h := fnv.New32a()
	h.Write([]byte(token))
	sum := h.Sum32()
	length := int(sum % 200)
	if sum%31 == 0 {
		length = int(sum % 9000)
	}
	return strings.Repeat(token+" ", length/(len(token)+1)+1)
}

// Plain removes the attribute that a migration adds, which no writer sets.
func Plain(representation []byte) string {
	return strings.Replace(string(representation), `,"`+Added+`":null`, "", 1)
}

// Added is the attribute that a migration adds.
const Added = "extra"

// ParseValue reads the token and the text of a representation.
func ParseValue(representation []byte) Value {
	var r struct{ Token, Text string }
	err := json.Unmarshal(representation, &r)
	return Value{Token: r.Token, Representation: Plain(representation), Torn: err != nil || r.Text != Text(r.Token)}
}
