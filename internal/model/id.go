package model

import (
	"bytes"
	"crypto/sha1" // #nosec G505 -- UUIDv5 is made with it, and protects nothing
	"encoding/hex"
)

// ID is a UUID, the key, order and cursor of a resource.
type ID [16]byte

// ParseID reads the canonical form of a UUID, in lower or upper case. Braced,
// undashed and urn forms are refused.
func ParseID[T string | []byte](text T) (ID, bool) {
	var id ID
	if len(text) != 36 || text[8] != '-' || text[13] != '-' || text[18] != '-' || text[23] != '-' {
		return ID{}, false
	}
	var digits [32]byte
	for i, part := range [...]struct{ from, to int }{{0, 8}, {9, 13}, {14, 18}, {19, 23}, {24, 36}} {
		copy(digits[part.from-i:], text[part.from:part.to])
	}
	if _, err := hex.Decode(id[:], digits[:]); err != nil {
		return ID{}, false
	}
	return id, true
}

// Append appends the canonical, lower-case text of the id.
func (id ID) Append(dst []byte) []byte {
	dst = hex.AppendEncode(dst, id[0:4])
	dst = hex.AppendEncode(append(dst, '-'), id[4:6])
	dst = hex.AppendEncode(append(dst, '-'), id[6:8])
	dst = hex.AppendEncode(append(dst, '-'), id[8:10])
	return hex.AppendEncode(append(dst, '-'), id[10:16])
}

// String is the canonical, lower-case text of the id.
func (id ID) String() string { return string(id.Append(make([]byte, 0, 36))) }

// Compare compares ids in the order of lists.
func (id ID) Compare(other ID) int { return bytes.Compare(id[:], other[:]) }

// NamedID is the UUIDv5 of a name in a namespace.
func NamedID(namespace ID, name []byte) ID {
	sum := sha1.Sum(append(namespace[:], name...)) // #nosec G401 -- see the import
	id := ID(sum[:16])
	id[6] = id[6]&0x0f | 0x50
	id[8] = id[8]&0x3f | 0x80
	return id
}
