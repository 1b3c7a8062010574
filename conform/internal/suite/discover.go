package suite

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
)

// Collection is what is known of a collection: by what the server says of it
// at GET /, or by a sample or a resource.
type Collection struct {
	Name       string
	Singular   string
	Attributes []Attribute
	Relations  []includable
	Search     []string // attributes that are searched
	Described  bool     // by the server, so that constraints are known too
	Checks     []DataCheck
}

// DataCheck is a rule that every resource must meet.
type DataCheck struct{ Rule, Message, Attribute string }

// includable is a relation that can be included.
type includable struct {
	Name       string
	Collection string // of the related resources
	Many       bool
	Attribute  string // that refers to the other resource
}

func (c Collection) Path() string { return "/" + c.Name }

// PathOf is the path of a resource.
func (c Collection) PathOf(id string) string { return c.Path() + "/" + id }

// Attribute is one attribute with what JSON Schema says of it.
type Attribute struct {
	Name       string
	References string
	definition
	Required bool

	// Rules of the data.
	Computed    bool                // by the server
	expression  string              // of a computed attribute, "" if it is not shown
	WriteOnce   bool                // only a create sets it
	Transitions map[string][]string // the states that each state can change to; nil: it has no lifecycle
	Initial     []string            // of a lifecycle; at least one
	Checked     bool                // a check reads it
}

// free reports whether any value can follow any other.
func (a Attribute) free() bool {
	return !a.Computed && !a.WriteOnce && a.Transitions == nil && !a.Checked
}

// First is a state that a new resource can have.
func (a Attribute) First() string { return a.Initial[0] }

// States lists the states of a lifecycle.
func (a Attribute) States() []string {
	states := []string{}
	for _, value := range a.Enum {
		if state, isText := value.(string); isText {
			states = append(states, state)
		}
	}
	return states
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
	Unique                             bool

	rank int // among the attributes, from 1, if a check or a computed attribute reads it; else 0
}

// Plain reports whether any text is a value.
func (a Attribute) Plain() bool {
	return a.Type == "string" && a.Format == "" && a.Pattern == "" && len(a.Enum) == 0 && a.References == ""
}

// optional reports that null is known to be a value.
func (c Collection) optional(a Attribute) bool { return c.Described && !a.Required }

func (c Collection) Find(fits func(Attribute) bool) (Attribute, bool) {
	at := slices.IndexFunc(c.Attributes, fits)
	if at < 0 {
		return Attribute{}, false
	}
	return c.Attributes[at], true
}

// discover reads the collections that the server lists at GET /. A server that
// lists none is fine: then the options have to say what is needed.
func (s *Suite) discover() error {
	answer, err := s.send(s.Ctx, http.MethodGet, "/", "", "Accept", "application/json")
	if err != nil {
		return err
	}
	if err := s.denied(answer); err != nil {
		return err
	}
	if answer.Status == http.StatusGone || answer.Status == http.StatusBadRequest && s.options.Headers.Get("API-Version") != "" {
		return fmt.Errorf("the server does not serve this version of the interface: give another one (--api-version)\n%s\ngot %s", answer.request(), answer.Summary())
	}
	if answer.Succeeded() {
		s.Catalog = catalog(answer)
	}
	name := s.options.Collection
	// Operations and changes are read only.
	first := slices.IndexFunc(s.Catalog, func(c Collection) bool { return c.Name != OperationsName && c.Name != ChangesName })
	switch {
	case name != "" && !nameForm.MatchString(name):
		return fmt.Errorf("the collection must be given by its name alone, but is %q", name)
	case name == "" && len(s.Catalog) == 0:
		return fmt.Errorf("GET %s/ lists no collections: say which one to use, and give a sample body", s.Base)
	case name == "" && first < 0:
		return fmt.Errorf("GET %s/ lists nothing but %s: %s", s.Base, OperationsName, s.otherCredentials())
	case name == "":
		s.Collection = s.Catalog[first]
	default:
		found, listed := s.known(name)
		if s.Collection = found; !listed {
			s.Collection = Collection{Name: name}
			return s.tryUnlisted()
		}
	}
	return nil
}

// denied says that the server does not do this for the caller, nil if it is about something else.
func (s *Suite) denied(answer *Reply) error {
	switch answer.Status {
	case http.StatusUnauthorized:
		return fmt.Errorf("the server asks for credentials: %s\n%s\ngot %s", s.otherCredentials(), answer.request(), answer.Summary())
	case http.StatusForbidden:
		return fmt.Errorf("the server does not allow this to the caller: %s\n%s\ngot %s", s.otherCredentials(), answer.request(), answer.Summary())
	}
	return nil
}

// otherCredentials says what to do about credentials that are missing, or that do not suffice.
func (s *Suite) otherCredentials() string {
	for name := range s.options.Headers {
		if http.CanonicalHeaderKey(name) == "Authorization" {
			return "those that were sent are wrong, or do not suffice: give another key or token (--key or PLURAL_KEY)"
		}
	}
	return "none were sent: give an API key or a token (--key or PLURAL_KEY)"
}

// tryUnlisted makes sure that a collection is there although the server lists
// others: its name may be a mistake.
func (s *Suite) tryUnlisted() error {
	if len(s.Catalog) == 0 {
		return nil
	}
	answer, err := s.send(s.Ctx, http.MethodGet, s.Collection.Path()+"?limit=1", "")
	if err == nil {
		err = s.denied(answer)
	}
	if err != nil || answer.Status != http.StatusNotFound {
		return err
	}
	var names []string
	for _, c := range s.Catalog {
		names = append(names, c.Name)
	}
	return fmt.Errorf("there is no collection %s: GET / lists %s", s.Collection.Name, strings.Join(names, ", "))
}

func (s *Suite) known(name string) (Collection, bool) {
	at := slices.IndexFunc(s.Catalog, func(c Collection) bool { return c.Name == name })
	if at < 0 {
		return Collection{}, false
	}
	return s.Catalog[at], true
}

// catalog reads the list of collections. What does not have the form of one is
// left out; there is a check for that.
func catalog(answer *Reply) []Collection {
	var items []struct {
		Name, Singular string
		Attributes     []json.RawMessage
		Relations      []includable
		Search         []string
		Checks         []DataCheck
	}
	if json.Unmarshal(answer.Data(), &items) != nil {
		return nil
	}
	var found []Collection
	for _, item := range items {
		if !nameForm.MatchString(item.Name) || item.Attributes == nil {
			continue
		}
		c := Collection{Name: item.Name, Singular: item.Singular, Relations: item.Relations, Search: item.Search, Checks: item.Checks, Described: true}
		var checked, computed []string // what the expressions read
		for _, check := range item.Checks {
			checked = append(checked, readNames.FindAllString(check.Rule, -1)...)
		}
		for _, text := range item.Attributes {
			a := describedAttribute(text)
			c.Attributes = append(c.Attributes, a)
			computed = append(computed, readNames.FindAllString(a.expression, -1)...)
		}
		for i := range c.Attributes {
			a, name := &c.Attributes[i], "resource."+c.Attributes[i].Name
			if a.Checked = slices.Contains(checked, name); a.Checked || slices.Contains(computed, name) {
				a.rank = i + 1
			}
		}
		found = append(found, c)
	}
	return found
}

// readNames finds what an expression reads.
var readNames = regexp.MustCompile(`resource\.[a-z0-9_]+`)

func describedAttribute(text json.RawMessage) Attribute {
	var head struct {
		Name, References string
		Required         json.RawMessage
		WriteOnce        bool `json:"write_once"`
		Transitions      map[string][]string
		Initial          []string
	}
	var a Attribute
	// Wrong types leave zero values, and with them an attribute of which less is known.
	_ = json.Unmarshal(text, &head)
	_ = json.Unmarshal(text, &a.definition)
	a.Name, a.References, a.Required = head.Name, head.References, string(head.Required) == "true"
	if members, ok := DecodeJSON(text).(map[string]any); ok {
		a.Enum, _ = members["enum"].([]any) // with its numbers as they are written
		a.Default = members["default"]
		_, a.Computed = members["computed"]
		a.expression, _ = members["computed"].(string)
	}
	if a.WriteOnce = head.WriteOnce; len(head.Initial) > 0 {
		a.Transitions, a.Initial = head.Transitions, head.Initial
	}
	return a
}

var formats = []struct {
	name string
	form *regexp.Regexp
}{
	{"email", regexp.MustCompile(`^[^@\s]+@[^@\s]+\.[^@\s]+$`)},
	{"uuid", UUIDForm},
	{"date-time", regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d`)},
	{"date", regexp.MustCompile(`^\d{4}-\d\d-\d\d$`)},
	{"uri", regexp.MustCompile(`^[a-z][a-z0-9+.-]*:\S+$`)},
}

// inferred is the attribute that a value seems to be of.
func inferred(name string, value any) Attribute {
	a := Attribute{Name: name}
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

// OwnMembers are those of a representation that are not attributes.
var OwnMembers = []string{"id", "type", "created_at", "updated_at"}

// infer learns the attributes from an object, unless the server describes them.
func (s *Suite) infer(members Resource) {
	if s.Collection.Described {
		return
	}
	for _, name := range members.Order {
		if _, known := s.Collection.Find(func(a Attribute) bool { return a.Name == name }); known || slices.Contains(OwnMembers, name) {
			continue
		}
		s.Collection.Attributes = append(s.Collection.Attributes, inferred(name, members.Members[name]))
	}
}

// relation is a collection below another.
type relation struct {
	Parent, Child Collection
	Attribute     string // of the child, with the id of the parent
}

func (r relation) Path(parent string) string { return r.Parent.Path() + "/" + parent + r.Child.Path() }

// relate looks for a sub-collection: one below the collection, or the
// collection itself below another. That one refers to the other does not make
// it a sub-collection, so its path is tried.
func (s *Suite) relate() error {
	var candidates []relation
	for _, other := range s.Catalog {
		for _, a := range other.Attributes {
			if a.References == s.Collection.Name && other.Name != s.Collection.Name {
				candidates = append(candidates, relation{s.Collection, other, a.Name})
			}
		}
	}
	for _, a := range s.Collection.Attributes {
		if parent, ok := s.known(a.References); ok && parent.Name != s.Collection.Name {
			candidates = append(candidates, relation{parent, s.Collection, a.Name})
		}
	}
	var reasons []string
	for _, candidate := range candidates {
		parent := s.firstID(candidate.Parent)
		if parent == "" && s.options.ReadOnly {
			continue // those who need a parent write
		}
		if parent == "" {
			var err error
			if parent, err = s.parentID(candidate.Parent.Name); err != nil {
				reasons = append(reasons, err.Error())
				continue
			}
		}
		answer, err := s.send(s.Ctx, http.MethodGet, candidate.Path(parent), "")
		if err != nil {
			return err
		}
		if answer.Succeeded() {
			s.children = &candidate
			return nil
		}
		reasons = append(reasons, fmt.Sprintf("%s refers to %s, but is no sub-collection of it: GET %s answered with status %d",
			candidate.Child.Name, candidate.Parent.Name, candidate.Path(parent), answer.Status))
	}
	s.noChild = cmp.Or(strings.Join(reasons, "; "), s.unrelated())
	return nil
}

// unrelated says why there is nothing that could be a sub-collection.
func (s *Suite) unrelated() string {
	if !s.Collection.Described {
		return fmt.Sprintf("the server does not say at GET / what %s refers to, and what refers to it", s.Collection.Name)
	}
	return fmt.Sprintf("%s refers to no other collection, and none refers to it", s.Collection.Name)
}

// firstID is the id of some resource of a collection, "" if there is none.
func (s *Suite) firstID(c Collection) string {
	answer, err := s.send(s.Ctx, http.MethodGet, c.Path(), "")
	if err != nil || !answer.Succeeded() || len(answer.Resources()) == 0 {
		return ""
	}
	return answer.Resources()[0].ID()
}
