package conform

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
)

// collection is what is known of a collection: by what the server says of it
// at GET /, or by a sample or a resource.
type collection struct {
	Name       string
	Singular   string
	Attributes []attribute
	Relations  []includable
	Search     []string // attributes that are searched
	described  bool     // by the server, so that constraints are known too
}

// includable is a relation that can be included.
type includable struct {
	Name       string
	Collection string // of the related resources
	Many       bool
	Attribute  string // that refers to the other resource
}

func (c collection) path() string { return "/" + c.Name }

// attribute is one attribute with what JSON Schema says of it.
type attribute struct {
	Name       string
	References string
	definition
	required bool
}

// definition is the part of a JSON Schema definition that matters for making
// a valid value.
type definition struct {
	Type, Format                       string
	MinLength, MaxLength               int
	Pattern                            string
	Scale                              int
	Minimum, Maximum                   json.Number
	ExclusiveMinimum, ExclusiveMaximum json.Number
	MultipleOf                         json.Number
	Items                              *definition
	MinItems                           int
	Properties                         map[string]definition
	Enum                               []any
	Default                            any
}

// plain reports whether any text is a value.
func (a attribute) plain() bool {
	return a.Type == "string" && a.Format == "" && a.Pattern == "" && len(a.Enum) == 0 && a.References == ""
}

// optional reports that null is known to be a value.
func (c collection) optional(a attribute) bool { return c.described && !a.required }

func (c collection) find(fits func(attribute) bool) (attribute, bool) {
	at := slices.IndexFunc(c.Attributes, fits)
	if at < 0 {
		return attribute{}, false
	}
	return c.Attributes[at], true
}

// discover reads the collections that the server lists at GET /. A server that
// lists none is fine: then the options have to say what is needed.
func (s *suite) discover() error {
	answer, err := s.send(s.ctx, http.MethodGet, "/", "", "Accept", "application/json")
	if err != nil {
		return err
	}
	if err := s.denied(answer); err != nil {
		return err
	}
	if answer.succeeded() {
		s.catalog = catalog(answer)
	}
	name := s.options.Collection
	// Operations and changes are read only.
	first := slices.IndexFunc(s.catalog, func(c collection) bool { return c.Name != operationsName && c.Name != changesName })
	switch {
	case name != "" && !nameForm.MatchString(name):
		return fmt.Errorf("the collection must be given by its name alone, but is %q", name)
	case name == "" && len(s.catalog) == 0:
		return fmt.Errorf("GET %s/ lists no collections: say which one to use, and give a sample body", s.base)
	case name == "" && first < 0:
		return fmt.Errorf("GET %s/ lists nothing but %s: %s", s.base, operationsName, s.otherCredentials())
	case name == "":
		s.collection = s.catalog[first]
	default:
		found, listed := s.known(name)
		if s.collection = found; !listed {
			s.collection = collection{Name: name}
			return s.tryUnlisted()
		}
	}
	return nil
}

// denied says that the server does not do this for the caller, nil if it is about something else.
func (s *suite) denied(answer *reply) error {
	switch answer.status {
	case http.StatusUnauthorized:
		return fmt.Errorf("the server asks for credentials: %s\n%s\ngot %s", s.otherCredentials(), answer.request(), answer.summary())
	case http.StatusForbidden:
		return fmt.Errorf("the server does not allow this to the caller: %s\n%s\ngot %s", s.otherCredentials(), answer.request(), answer.summary())
	}
	return nil
}

// otherCredentials says what to do about credentials that are missing, or that do not suffice.
func (s *suite) otherCredentials() string {
	for name := range s.options.Headers {
		if http.CanonicalHeaderKey(name) == "Authorization" {
			return "those that were sent are wrong, or do not suffice: give another key or token (--key or PLURAL_KEY)"
		}
	}
	return "none were sent: give an API key or a token (--key or PLURAL_KEY)"
}

// tryUnlisted makes sure that a collection is there although the server lists
// others: its name may be a mistake.
func (s *suite) tryUnlisted() error {
	if len(s.catalog) == 0 {
		return nil
	}
	answer, err := s.send(s.ctx, http.MethodGet, s.collection.path()+"?limit=1", "")
	if err == nil {
		err = s.denied(answer)
	}
	if err != nil || answer.status != http.StatusNotFound {
		return err
	}
	var names []string
	for _, c := range s.catalog {
		names = append(names, c.Name)
	}
	return fmt.Errorf("there is no collection %s: GET / lists %s", s.collection.Name, strings.Join(names, ", "))
}

func (s *suite) known(name string) (collection, bool) {
	at := slices.IndexFunc(s.catalog, func(c collection) bool { return c.Name == name })
	if at < 0 {
		return collection{}, false
	}
	return s.catalog[at], true
}

// catalog reads the list of collections. What does not have the form of one is
// left out; there is a check for that.
func catalog(answer *reply) []collection {
	var items []struct {
		Name, Singular string
		Attributes     []json.RawMessage
		Relations      []includable
		Search         []string
	}
	if json.Unmarshal(answer.data(), &items) != nil {
		return nil
	}
	var found []collection
	for _, item := range items {
		if !nameForm.MatchString(item.Name) || item.Attributes == nil {
			continue
		}
		c := collection{Name: item.Name, Singular: item.Singular, Relations: item.Relations, Search: item.Search, described: true}
		for _, text := range item.Attributes {
			c.Attributes = append(c.Attributes, describedAttribute(text))
		}
		found = append(found, c)
	}
	return found
}

func describedAttribute(text json.RawMessage) attribute {
	var head struct {
		Name, References string
		Required         json.RawMessage
	}
	var a attribute
	// Wrong types leave zero values, and with them an attribute of which less is known.
	_ = json.Unmarshal(text, &head)
	_ = json.Unmarshal(text, &a.definition)
	a.Name, a.References, a.required = head.Name, head.References, string(head.Required) == "true"
	if members, ok := decodeJSON(text).(map[string]any); ok {
		a.Enum, _ = members["enum"].([]any) // with its numbers as they are written
		a.Default = members["default"]
	}
	return a
}

var formats = []struct {
	name string
	form *regexp.Regexp
}{
	{"email", regexp.MustCompile(`^[^@\s]+@[^@\s]+\.[^@\s]+$`)},
	{"uuid", regexp.MustCompile(`^(?i)[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`)},
	{"date-time", regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d`)},
	{"date", regexp.MustCompile(`^\d{4}-\d\d-\d\d$`)},
	{"uri", regexp.MustCompile(`^[a-z][a-z0-9+.-]*:\S+$`)},
}

// inferred is the attribute that a value seems to be of.
func inferred(name string, value any) attribute {
	a := attribute{Name: name}
	switch value := value.(type) {
	case string:
		a.Type = "string"
		for _, format := range formats {
			if format.form.MatchString(value) {
				a.Format = format.name
				break
			}
		}
	case json.Number:
		a.Type = "number"
		if regexp.MustCompile(`^-?\d+$`).MatchString(value.String()) {
			a.Type = "integer"
		}
	case bool:
		a.Type = "boolean"
	case []any:
		a.Type = "array"
	case map[string]any:
		a.Type = "object"
	}
	return a
}

// ownMembers are those of a representation that are not attributes.
var ownMembers = []string{"id", "type", "created_at", "updated_at"}

// infer learns the attributes from an object, unless the server has told them.
func (s *suite) infer(members resource) {
	if s.collection.described {
		return
	}
	for _, name := range members.order {
		if _, known := s.collection.find(func(a attribute) bool { return a.Name == name }); known || slices.Contains(ownMembers, name) {
			continue
		}
		s.collection.Attributes = append(s.collection.Attributes, inferred(name, members.members[name]))
	}
}

// relation is a collection below another.
type relation struct {
	parent, child collection
	attribute     string // of the child, with the id of the parent
}

func (r relation) path(parent string) string { return r.parent.path() + "/" + parent + r.child.path() }

// relate looks for a sub-collection: one below the collection, or the
// collection itself below another. That one refers to the other does not make
// it a sub-collection, so its path is tried.
func (s *suite) relate() error {
	var candidates []relation
	for _, other := range s.catalog {
		for _, a := range other.Attributes {
			if a.References == s.collection.Name && other.Name != s.collection.Name {
				candidates = append(candidates, relation{s.collection, other, a.Name})
			}
		}
	}
	for _, a := range s.collection.Attributes {
		if parent, ok := s.known(a.References); ok && parent.Name != s.collection.Name {
			candidates = append(candidates, relation{parent, s.collection, a.Name})
		}
	}
	var reasons []string
	for _, candidate := range candidates {
		parent := s.firstID(candidate.parent)
		if parent == "" && s.options.ReadOnly {
			continue // those who need a parent write
		}
		if parent == "" {
			var err error
			if parent, err = s.parentID(candidate.parent.Name); err != nil {
				reasons = append(reasons, err.Error())
				continue
			}
		}
		answer, err := s.send(s.ctx, http.MethodGet, candidate.path(parent), "")
		if err != nil {
			return err
		}
		if answer.succeeded() {
			s.children = &candidate
			return nil
		}
		reasons = append(reasons, fmt.Sprintf("%s refers to %s, but is no sub-collection of it: GET %s answered with status %d",
			candidate.child.Name, candidate.parent.Name, candidate.path(parent), answer.status))
	}
	s.noChild = s.unrelated()
	if len(reasons) > 0 {
		s.noChild = strings.Join(reasons, "; ")
	}
	return nil
}

// unrelated says why there is nothing that could be a sub-collection.
func (s *suite) unrelated() string {
	if !s.collection.described {
		return fmt.Sprintf("the server does not say at GET / what %s refers to, and what refers to it", s.collection.Name)
	}
	return fmt.Sprintf("%s refers to no other collection, and none refers to it", s.collection.Name)
}

// firstID is the id of some resource of a collection, "" if there is none.
func (s *suite) firstID(c collection) string {
	answer, err := s.send(s.ctx, http.MethodGet, c.path(), "")
	if err != nil || !answer.succeeded() || len(answer.resources()) == 0 {
		return ""
	}
	return answer.resources()[0].id()
}
