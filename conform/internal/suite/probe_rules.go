package suite

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

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
		d := a.definition
		d.rank = 0
		if value, ok := (generator{p.Tag}).value(a.Name, d, p.counter); ok && (a.free() || a.Checked) && a.References == "" {
			members[a.Name] = value
		}
	}
	return EncodeJSON(members)
}

// ruledOut says which rules of the data refuse a body that is valid otherwise, "" if the response is no
// such refusal. The suite cannot evaluate rules, so this is no mistake of the server.
func (s *Suite) ruledOut(r *Reply) string {
	if r.Status != http.StatusUnprocessableEntity || !isWrite(r.Method) {
		return ""
	}
	var document struct {
		Errors []struct {
			Code, Detail string
			Source       struct{ Pointer string }
		}
	}
	_ = json.Unmarshal(r.Body, &document) // other servers, other errors
	at, _ := s.place(r.URL)
	c, known := s.known(at.collection)
	if !known {
		c = s.Collection // a transaction
	}
	var rules []string
	for _, each := range document.Errors {
		name := each.Source.Pointer[strings.LastIndex(each.Source.Pointer, "/")+1:]
		_, isComputed := c.Find(func(a Attribute) bool { return a.Computed && a.Name == name })
		rule := ""
		switch {
		case each.Code == "check":
			rule = fmt.Sprintf("the check %q", Shorten(each.Detail))
		case isComputed && each.Code != "read_only": // bodies have none
			rule = "the constraints of the computed attribute " + name
		default:
			return ""
		}
		if !slices.Contains(rules, rule) {
			rules = append(rules, rule)
		}
	}
	if len(rules) == 0 {
		return ""
	}
	flag := "--sample"
	if c.Name != s.Collection.Name {
		flag += " " + c.Name + "=FILE"
	}
	return fmt.Sprintf("the values made up for %s do not meet %s: give a valid body with %s", c.Name, strings.Join(rules, " and "), flag)
}
