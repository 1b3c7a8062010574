package compile

import (
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/plural-go/plural/internal/model"
)

// WrongVersion stands for a declared version that is no positive number. Its error is reported already, and until and deprecated are
// not checked.
const WrongVersion = -1

// checkVersions checks what the schema declares of the versions of its interface.
func (k *Checker) checkVersions() {
	newest, at := k.versions.Newest, Path{"deprecated"}
	switch {
	case newest < 0:
		k.Report(Path{"version"}, "version must be 1 or more, but is %d", newest)
		return
	case newest == 0 && len(k.versions.Deprecated) > 0:
		k.Report(at, "deprecated belongs to a schema with versions: add version with the number of the newest one, or remove deprecated")
		return
	}
	for _, number := range slices.Sorted(maps.Keys(k.versions.Deprecated)) {
		end, place := k.versions.Deprecated[number], at.To(strconv.Itoa(number))
		if number < 1 {
			k.Report(place, "%d is not the number of a version: they begin with 1", number)
		} else if number >= newest {
			k.Report(place, "the newest version is %d, and only versions before it can be deprecated: remove %d", newest, number)
		} else if _, err := time.Parse(time.DateOnly, end); err != nil {
			k.Report(place, "the date on which version %d ends must be written as 2027-01-01, but is %q", number, end)
		}
	}
}

// until checks an attribute that the newest version does not have. Clients of that version do not set it, so that what they
// create has its default, or null. Rules, searches, indexes and rights may name it: it stays stored, and earlier versions
// show it.
func (k *Checker) until(c *model.Collection, a *model.Attribute, at Path) {
	newest := k.versions.Newest
	at = at.To("until")
	switch {
	case a.Until == 0 || newest < 0:
	case newest == 0:
		k.Report(at, "until belongs to a schema with versions: add version with the number of the newest one, or remove until")
	case a.Until < 0:
		k.Report(at, "until must be 1 or more, but is %d", a.Until)
	case a.Until >= newest:
		k.Report(at, "until is the last version that has %s, which must be before the newest version, %d: lower it, or remove it", a.Name, newest)
	case c.Parent != nil && c.Parent.Attribute == a.Name:
		k.Report(at, "%s holds the id of the parent, which every version has: remove until", a.Name)
	case a.IsComputed():
		k.Report(at, "%s is computed, whichever version writes: remove until or computed", a.Name)
	case a.Required && a.Default == nil:
		k.Report(at, "%s is required, and clients of the newest version cannot set it: give it a default, or remove it from required", a.Name)
	}
}

// repeated reports a unique group that is the same in everything that clients of the newest version create.
func (k *Checker) repeated(members []*model.Attribute, g group) {
	isVaried := func(a *model.Attribute) bool { return a.Until == 0 || a.Default == nil }
	if g.keyword == "unique" && len(members) > 0 && !slices.ContainsFunc(members, isVaried) {
		k.Report(g.at, "clients of the newest version do not set %s, so that all they create would have its default: remove unique, the default or until", members[0].Name)
	}
}
