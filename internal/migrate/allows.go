package migrate

import (
	"slices"

	"github.com/plural-go/plural/internal/model"
)

// Allows reports what a server may do that has the schema from, while the database has the later schema to.
func Allows(from, to *model.Schema) (reads, writes bool) {
	p := newPlan(from, to)
	return readable(p), writable(p)
}

// readable reports whether a server with the earlier schema can read everything. The later one is as
// stored, without renamed_from.
func readable(p *plan) bool {
	for _, pair := range p.pairs {
		for from, column := range pair.from.Columns() {
			to := slices.Index(pair.source, from)
			if to < 0 || pair.to.Columns()[to].Name != column.Name || pair.to.Columns()[to].Kind != column.Kind {
				return false
			}
		}
		if pair.from.ParentLink() != nil && !pair.sameParent() {
			return false // the new server does not update its totals
		}
		if len(pair.from.SearchColumns()) > 0 && !pair.sameSearch() {
			return false // the index has other words
		}
	}
	return len(p.removed) == 0
}

// writable reports whether everything that a server with the old schema writes is valid in
// the new one. It gives new attributes their defaults (see db.Table). Otherwise computed values would be missing, or deletions would
// cascade differently.
func writable(p *plan) bool {
	if !p.additive() {
		return false
	}
	for _, pair := range p.pairs {
		for to, column := range pair.to.Columns() {
			a := column.Attribute
			if a == nil {
				continue
			}
			rule, when := "", ""
			if from := pair.source[to]; from != noSource {
				earlier := pair.from.Columns()[from].Attribute
				rule, when = earlier.Computed.Text, earlier.When
				if onDelete(earlier) != onDelete(a) {
					return false
				}
			} else if a.Required && a.DefaultValue().IsNull() {
				return false
			}
			if rule != a.Computed.Text || when != a.When {
				return false
			}
		}
		if !pair.sameParent() {
			return false // the old server would not update its totals
		}
		if !pair.sameSearch() {
			return false // nor the words in the index
		}
	}
	return true
}
