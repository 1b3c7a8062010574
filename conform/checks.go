package conform

import (
	"strings"

	"github.com/plural-go/plural/conform/internal/checks"
)

// Checks lists every check, in the order in which they are run: first those
// that look at the collection as it is, then those that change it.
func Checks() []Check {
	known := checks.All()
	all := make([]Check, len(known))
	for i, c := range known {
		all[i] = Check{
			ID: c.ID, Title: c.Title, Rule: c.Rule, Source: c.Source, Seed: strings.HasPrefix(c.Source, "seed"), Writes: c.Writes,
			Synchronous: c.Synchronous, check: c,
		}
	}
	return all
}
