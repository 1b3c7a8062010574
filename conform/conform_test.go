package conform

import (
	"regexp"
	"strings"
	"testing"
)

func TestChecksAreWellFormed(t *testing.T) {
	form := regexp.MustCompile(`^[a-z]+\.[a-z0-9]+(-[a-z0-9]+)*$`)
	seen := map[string]bool{}
	for _, c := range Checks() {
		if !form.MatchString(c.ID) || seen[c.ID] {
			t.Errorf("%q is no id, or is there twice", c.ID)
		}
		seen[c.ID] = true
		if c.Title == "" || !strings.HasSuffix(c.Rule, ".") || c.check.Run == nil {
			t.Errorf("%s has no title, no rule that is a sentence, or nothing to run", c.ID)
		}
		if c.Convention != strings.HasPrefix(c.Source, "convention: ") || !c.Convention && !strings.HasPrefix(c.Source, "interface: ") && !strings.HasPrefix(c.Source, "errors: ") {
			t.Errorf("%s: source %q", c.ID, c.Source)
		}
	}
}

// What the caller does with the list does not reach the checks themselves.
func TestChecksAreACopy(t *testing.T) {
	first := Checks()
	first[0].ID = "changed"
	if Checks()[0].ID == "changed" {
		t.Error("the list is shared")
	}
}
