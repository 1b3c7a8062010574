package migrate

import (
	"slices"

	"github.com/plural-go/plural/internal/model"
)

// Allows reports what a server that only has the old schema of a database may do.
func Allows(old, now *model.Schema) (reads, writes bool) {
	p := newPlan(old, now)
	return readable(p), writable(p)
}

// readable reports whether a server with the old schema can read everything. The new schema
// is as stored, without renamed_from.
func readable(p *plan) bool {
	for _, pair := range p.pairs {
		for from, column := range pair.old.Columns() {
			to := slices.Index(pair.source, from)
			if to < 0 || pair.now.Columns()[to].Name != column.Name || pair.now.Columns()[to].Kind != column.Kind {
				return false
			}
		}
		if pair.old.ParentLink() != nil && !pair.sameParent() {
			return false // the new server does not update its totals
		}
		if len(pair.old.SearchColumns()) > 0 && !pair.sameSearch() {
			return false // the index has other words
		}
	}
	return len(p.removed) == 0
}

// writable reports whether everything that a server with the old schema writes is valid in
// the new one. Otherwise new defaults would be missing, or deletions would cascade differently.
func writable(p *plan) bool {
	if !p.additive() {
		return false
	}
	for _, pair := range p.pairs {
		for to, column := range pair.now.Columns() {
			a := column.Attribute
			if a == nil {
				continue
			}
			before := model.Null
			if from := pair.source[to]; from != noSource {
				old := pair.old.Columns()[from].Attribute
				if before = old.DefaultValue(); onDelete(old) != onDelete(a) {
					return false
				}
			} else if a.Required {
				return false
			}
			if before != a.DefaultValue() {
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
