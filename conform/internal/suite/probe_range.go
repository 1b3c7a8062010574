package suite

import (
	"fmt"
)

// At is the position in the reference of the resource that the server returns at an offset.
func (p *Probe) At(offset int) int {
	r := p.List(fmt.Sprintf("offset=%d&limit=1", offset))
	found := p.PositionsOf(p.OK(r).Resources())
	if len(found) != 1 {
		p.Fail(r, "one resource", "%s", Describe(found))
	}
	return found[0]
}
