package observe

import (
	"os"
	"regexp"
	"slices"
	"testing"
)

// TestMetricsAreDocumented: the table of docs/deploy.md has the metrics of the code, and no others.
func TestMetricsAreDocumented(t *testing.T) {
	names := func(pattern string, files ...string) []string {
		var found []string
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, match := range regexp.MustCompile(pattern).FindAllStringSubmatch(string(text), -1) {
				found = append(found, match[1])
			}
		}
		slices.Sort(found)
		return slices.Compact(found)
	}
	registered := names(`"(plural_[a-z_]+)"`, "observe.go", "streams.go")
	documented := names("`(plural_[a-z_]+)[`{]", "../../docs/deploy.md")
	if !slices.Equal(registered, documented) {
		t.Errorf("the code has the metrics\n%v\nand docs/deploy.md has\n%v", registered, documented)
	}
}
