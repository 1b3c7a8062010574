package ts

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/plural-go/plural/problem"
)

// TestErrorCodes: the client knows every code that a server has, and no other.
func TestErrorCodes(t *testing.T) {
	_, text, _ := strings.Cut(fixedPart(), "export type KnownErrorCode =")
	text, _, _ = strings.Cut(text, ";")
	var known, want []string
	for _, match := range regexp.MustCompile(`"([a-z_]+)"`).FindAllStringSubmatch(text, -1) {
		known = append(known, match[1])
	}
	for _, code := range problem.Codes() {
		want = append(want, string(code))
	}
	slices.Sort(known)
	slices.Sort(want)
	if !slices.Equal(known, want) {
		t.Errorf("got  %v\nwant %v", known, want)
	}
}
