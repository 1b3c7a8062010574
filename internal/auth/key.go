package auth

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base32"
	"encoding/hex"
	"strings"
)

// An API key is plural_<prefix>_<secret>. The prefix finds it, and lets people
// recognise it; the secret has 256 random bits, and only its hash is kept. Nobody
// can try so many secrets, so the hash need not be slow.

const (
	keyMark      = "plural_"
	prefixLength = 10
	secretLength = 52 // 32 bytes in base32
)

var keyEncoding = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)

// NewAPIKey makes an API key, and what is kept of it.
func NewAPIKey() (key, prefix, hash string) {
	var random [40]byte
	_, _ = rand.Read(random[:]) // it never fails
	prefix = keyEncoding.EncodeToString(random[32:])[:prefixLength]
	secret := keyEncoding.EncodeToString(random[:32])
	return keyMark + prefix + "_" + secret, prefix, hashOf(secret)
}

func hashOf(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}

// IsAPIKey reports whether credentials look like an API key, and not like a token.
func IsAPIKey(credentials string) bool { return strings.HasPrefix(credentials, keyMark) }

// ParseAPIKey takes an API key apart. False means that it cannot be one.
func ParseAPIKey(credentials string) (prefix, secret string, ok bool) {
	rest, ok := strings.CutPrefix(credentials, keyMark)
	if !ok {
		return "", "", false
	}
	prefix, secret, ok = strings.Cut(rest, "_")
	if !ok || len(prefix) != prefixLength || len(secret) != secretLength || !isBase32(prefix) || !isBase32(secret) {
		return "", "", false
	}
	return prefix, secret, true
}

// PrefixOf is the prefix that somebody gives, or that of the whole key that they give. False
// means that it cannot be one, and might be a secret.
func PrefixOf(text string) (prefix string, ok bool) {
	prefix, _, _ = strings.Cut(strings.TrimPrefix(text, keyMark), "_")
	return prefix, len(prefix) <= prefixLength
}

func isBase32(text string) bool {
	return strings.Trim(text, "abcdefghijklmnopqrstuvwxyz234567") == ""
}

// Matches compares a secret with the hash of the right one. How long it takes tells
// nothing of the difference.
func Matches(secret, hash string) bool {
	return subtle.ConstantTimeCompare([]byte(hashOf(secret)), []byte(hash)) == 1
}
