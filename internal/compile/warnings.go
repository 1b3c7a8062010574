package compile

import (
	"fmt"
	"slices"
	"strings"

	"github.com/plural-go/plural/internal/model"
)

// warn warns of what is valid in a schema, and probably not meant.
func warn(s *model.Schema) {
	for _, c := range s.Collections() {
		for i := range c.Attributes {
			warnOfProperties(s, c, &c.Attributes[i], c.Attributes[i].Name)
			warnOfStates(s, c, &c.Attributes[i])
		}
		warnOfUntil(s, c)
	}
}

// warnOfProperties warns of properties that clients cannot filter by. At is the path of the object.
func warnOfProperties(s *model.Schema, c *model.Collection, a *model.Attribute, at string) {
	for i := range a.Properties {
		property := &a.Properties[i]
		path := at + "." + property.Name
		if model.Addressable(property.Name) {
			warnOfProperties(s, c, property, path)
			continue
		}
		other := ""
		if strings.Contains(property.Name, ".") && a.Inside(strings.Split(property.Name, ".")) != nil {
			other = fmt.Sprintf(", and filter[%s] is about another property, inside %s", path, path[:strings.LastIndex(path, ".")])
		}
		s.Warn("%s: the property %q of %s cannot be filtered by or indexed: %s%s: give it another name", c.Name, property.Name, at, model.Unaddressable, other)
	}
}

// warnOfStates warns of states that no resource can reach.
func warnOfStates(s *model.Schema, c *model.Collection, a *model.Attribute) {
	if !a.HasLifecycle() {
		return
	}
	reached := slices.Clone(a.InitialStates())
	for i := 0; i < len(reached); i++ {
		for _, next := range a.Transitions[reached[i]] {
			if !slices.Contains(reached, next) {
				reached = append(reached, next)
			}
		}
	}
	for _, state := range a.States() {
		if !slices.Contains(reached, state) {
			s.Warn("%s: no resource can get the state %s of %s: it is not initial, and no transitions lead to it from a state that is", c.Name, state, a.Name)
		}
	}
}

// warnOfUntil warns of unique groups that bind nothing that clients of the newest version create.
func warnOfUntil(s *model.Schema, c *model.Collection) {
	for _, group := range c.UniqueGroups() {
		var past, names []string
		for _, column := range group {
			a := c.Columns()[column].Attribute
			names = append(names, a.Name)
			if a.Until > 0 && a.DefaultValue().IsNull() {
				past = append(past, a.Name)
			}
		}
		if len(past) > 0 && len(past) < len(group) {
			s.Warn("%s: %s are unique together, but the newest version does not have %s: what its clients create is null there, and equals nothing: give %s a default, or declare another group", c.Name, strings.Join(names, " and "), past[0], past[0])
		}
	}
}
