package suite

import "slices"

// What checks of the rules of the data need.

// Ruled is the first attribute that fits, also one that cannot have any value at any time.
func (p *Probe) Ruled(what string, fits func(Attribute) bool) Attribute {
	a, found := p.Collection.Find(fits)
	p.SkipIf(!found, "the collection has no %s", what)
	return a
}

// Other is a valid value of an attribute that it does not have now.
func (p *Probe) Other(a Attribute, now any) any {
	for range 10 {
		p.counter++
		if value, ok := (generator{p.Tag}).value(a.Name, a.definition, p.counter); ok && !EqualJSON(value, now) {
			return value
		}
	}
	p.Skip("no other value of %s is known", a.Name)
	return nil
}

// Refused fails unless an error of a response has a status, a code, and a pointer into the body.
func (p *Probe) Refused(r *Reply, status int, code, place string) *Reply {
	p.SkipIf(r.Status == 403 || r.Status == 428, "the caller may not do this: %s", r.Summary())
	p.Status(r, status)
	named := slices.ContainsFunc(p.Errors(r), func(each map[string]any) bool {
		source, _ := each["source"].(map[string]any)
		return each["code"] == code && source["pointer"] == "/"+place
	})
	p.FailIf(!named, r, "an error "+code+" with the pointer /"+place, "%s", r.Summary())
	return r
}

// Mixed is the body of a new resource whose values have nothing to do with each other.
func (p *Probe) Mixed(id string) string {
	members := p.NewMembers(map[string]any{"id": id})
	for _, a := range p.Collection.Attributes {
		p.counter++
		if value, ok := (generator{p.Tag}).value(a.Name, a.definition, p.counter); ok && (a.free() || a.Checked) && a.References == "" {
			members[a.Name] = value
		}
	}
	return EncodeJSON(members)
}
