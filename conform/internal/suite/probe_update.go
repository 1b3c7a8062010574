package suite

import (
	"maps"
	"time"
)

// AttributesOf is a body with the attributes of a representation alone.
func (p *Probe) AttributesOf(of Resource) string {
	members := maps.Clone(of.Members)
	for _, name := range OwnMembers {
		delete(members, name)
	}
	return EncodeJSON(members)
}

// AsRead is a representation to send back. Other checks look at id and type in representations.
func (p *Probe) AsRead(path string, of Resource) map[string]any {
	members := map[string]any{"id": IDOf(path), "type": p.Collection.Name}
	for name, value := range of.Members {
		if _, set := members[name]; !set {
			members[name] = value
		}
	}
	return members
}

// Later waits until the clock of the server has another millisecond, so that a new timestamp
// differs from the old one.
func (p *Probe) Later() {
	select {
	case <-time.After(5 * time.Millisecond):
	case <-p.Ctx.Done():
	}
}

// sameMoment compares date-times, which come back in UTC.
func sameMoment(a, b any) bool {
	one, _ := a.(string)
	other, _ := b.(string)
	x, err1 := time.Parse(time.RFC3339, one)
	y, err2 := time.Parse(time.RFC3339, other)
	return err1 == nil && err2 == nil && x.Equal(y)
}
