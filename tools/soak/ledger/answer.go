//go:build linux

package ledger

import (
	"bytes"
	"encoding/json"
)

// Shortened is the beginning of a text, for people.
func Shortened(s string) string {
	if len(s) > 400 {
		return s[:400] + "…"
	}
	return s
}

// Data returns the member data of an envelope, byte for byte.
func (a Answer) Data() []json.RawMessage {
	var envelope struct{ Data json.RawMessage }
	if json.Unmarshal([]byte(a.Body), &envelope) != nil {
		return nil
	}
	if !bytes.HasPrefix(envelope.Data, []byte("[")) {
		return []json.RawMessage{envelope.Data}
	}
	var list []json.RawMessage
	if json.Unmarshal(envelope.Data, &list) != nil {
		return nil
	}
	return list
}

// Code is the code of the error of a response, empty if there is none or more than one.
func (a Answer) Code() string {
	var envelope struct{ Errors []struct{ Code string } }
	if json.Unmarshal([]byte(a.Body), &envelope) != nil || len(envelope.Errors) != 1 {
		return ""
	}
	return envelope.Errors[0].Code
}

// identity is the members that every representation has.
type identity struct{ ID, Type string }

// Identify reads the id and the type of a representation.
func Identify(representation json.RawMessage) (id identity) {
	_ = json.Unmarshal(representation, &id) // an empty one is compared as such
	return id
}

// InFlight reports whether another request with the same key is being executed.
func (a Answer) InFlight() bool { return a.Code() == "idempotency_key_in_use" }
