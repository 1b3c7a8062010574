package store

import (
	"cmp"
	"sort"

	"github.com/plural-go/plural/internal/model"
)

// References is resources, and what each of them refers to. There may be many: they are kept once, in the sets.
type References struct{ Referrers, Referred []model.ID }

// Len, Less and Swap implement sort.Interface.
func (r References) Len() int { return len(r.Referrers) }

func (r References) Less(i, j int) bool {
	return cmp.Or(r.Referred[i].Compare(r.Referred[j]), r.Referrers[i].Compare(r.Referrers[j])) < 0
}

func (r References) Swap(i, j int) {
	r.Referrers[i], r.Referrers[j] = r.Referrers[j], r.Referrers[i]
	r.Referred[i], r.Referred[j] = r.Referred[j], r.Referred[i]
}

// SetsByLink divides the references by a link into sets with this link. The condition of such a set selects everything that refers
// to its Referred, within the lowest and the highest id. So a set has all referrers of several resources, or, if one resource
// has more than SetSize, a part of its referrers.
func (r References) SetsByLink(link model.Link) (sets []Set) {
	sort.Sort(r)
	for start := 0; start < r.Len(); {
		next := start // the end of the referrers that are in the set: those of a resource are complete
		for end := start; end < r.Len(); next = end {
			for end < r.Len() && r.Referred[end] == r.Referred[next] {
				end++
			}
			if next > start && end-start > SetSize {
				break
			}
		}
		for ; start < next; start = min(next, start+SetSize) {
			end := min(next, start+SetSize)
			sets = append(sets, Set{Collection: link.From, Link: &link, IDs: r.Referrers[start:end], Referred: r.Referred[start:end]})
		}
	}
	return sets
}
