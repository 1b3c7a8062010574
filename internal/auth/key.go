package auth

import (
	"cmp"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base32"
	"encoding/hex"
	"strings"
	"time"

	"github.com/plural-go/plural/internal/model"
)

// An API key is plural_<prefix>_<secret>. The prefix identifies it. The secret has 256 random
// bits, and only its hash is stored. Secrets cannot be guessed, so the hash need not be slow.

const (
	keyMark      = "plural_"
	prefixLength = 10
	secretLength = 52 // 32 bytes in base32
)

var keyEncoding = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)

// NewAPIKey makes an API key with a name, a role and perhaps a subject, which otherwise is the prefix. The whole key is
// not stored.
func NewAPIKey(stored StoredKey, now time.Time) (_ StoredKey, whole string) {
	var random [40]byte
	_, _ = rand.Read(random[:]) // it never fails
	secret := keyEncoding.EncodeToString(random[:32])
	stored.Prefix, stored.Hash = keyEncoding.EncodeToString(random[32:])[:prefixLength], hashOf(secret)
	stored.Created, stored.Subject = model.FormatTime(now), cmp.Or(stored.Subject, stored.Prefix)
	return stored, keyMark + stored.Prefix + "_" + secret
}

func hashOf(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}

// IsAPIKey reports whether credentials look like an API key, and not like a token.
func IsAPIKey(credentials string) bool { return strings.HasPrefix(credentials, keyMark) }

// ParseAPIKey splits an API key. False means that it is malformed.
func ParseAPIKey(credentials string) (prefix, secret string, ok bool) {
	rest, marked := strings.CutPrefix(credentials, keyMark)
	prefix, secret, ok = strings.Cut(rest, "_")
	return prefix, secret, marked && ok && IsPrefix(prefix) && len(secret) == secretLength && isBase32(secret)
}

// PrefixOf returns the prefix of an API key, given the prefix or the whole key. False means
// that the text is neither, and might be a secret.
func PrefixOf(text string) (prefix string, ok bool) {
	prefix, _, _ = strings.Cut(strings.TrimPrefix(text, keyMark), "_")
	return prefix, len(prefix) <= prefixLength
}

func isBase32(text string) bool {
	return strings.Trim(text, "abcdefghijklmnopqrstuvwxyz234567") == ""
}

// Matches compares a secret with a hash, in constant time.
func Matches(secret, hash string) bool {
	return subtle.ConstantTimeCompare([]byte(hashOf(secret)), []byte(hash)) == 1
}

// IsPrefix reports whether text is the prefix of an API key. Other text might be a secret.
func IsPrefix(text string) bool { return len(text) == prefixLength && isBase32(text) }
