package client_test

import (
	"os"
	"regexp"
	"slices"
	"testing"

	"github.com/plural-go/plural/internal/fault"
)

// TestCodes: the client knows the codes of the server, all of them and no others.
func TestCodes(t *testing.T) {
	text := must(os.ReadFile("code.go"))(t)
	var got, want []string
	for _, constant := range regexp.MustCompile(`(?m)^\tCode\w+ +Code = "(\w+)"`).FindAllSubmatch(text, -1) {
		got = append(got, string(constant[1]))
	}
	for _, code := range fault.Codes() {
		want = append(want, string(code))
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}
