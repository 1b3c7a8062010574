package move

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/plural-go/plural/client"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/suggest"
)

// Mapping says which attributes the columns of a file are. A member of a JSON object is a column too.
// A column that is not mentioned is the attribute of its name.
type Mapping struct {
	// Columns are ATTRIBUTE=COLUMN, or ATTRIBUTE=@KEY:COLUMN for a reference: the column has values of
	// KEY, a unique attribute of the collection that the attribute refers to.
	Columns []string

	// Constants are ATTRIBUTE=VALUE for all rows, written as a cell of CSV, or ATTRIBUTE=@KEY:VALUE.
	Constants []string

	// Ignored are columns that are not imported.
	Ignored []string

	// Parsed are ATTRIBUTE=FORM: how the values of an attribute are written, see Forms. *=null:TEXT is for all attributes.
	Parsed []string
}

// IsEmpty reports whether columns mean what their names say.
func (m Mapping) IsEmpty() bool {
	return len(m.Columns)+len(m.Constants)+len(m.Ignored)+len(m.Parsed) == 0
}

// Columns says what the columns of a file mean.
type Columns struct {
	attributes []client.Attribute
	attribute  map[string]string // by column, if it has another name
	column     map[string]string // by attribute, if it has another name
	ignored    map[string]bool
	lookups    map[string]*lookup // by attribute
	constants  []constant
	times      bool            // created_at and updated_at are imported
	computed   map[string]bool // attributes that are not imported, because the server computes them

	conversions map[string]*conversion // by attribute, or every
	unseen      map[string]string      // the columns that a flag names and no row has had, with what the flag does

	// Used only by the reader of the rows:
	decoder jsontext.Decoder
	known   map[string]string // names of members that rows have had
}

// mostKnown bounds the names that are remembered: members may have any.
const mostKnown = 1000

func (c *Columns) remember(name string) {
	if c.known == nil {
		c.known = map[string]string{}
	}
	if len(c.known) < mostKnown {
		c.known[name] = name
	}
}

// constant is an attribute that has the same value in all rows.
type constant struct {
	attribute string
	json      []byte
}

// ownMembers are the members of a resource that are no attributes.
var ownMembers = []string{"id", "type", "created_at", "updated_at"}

// ColumnsOf are columns that have the names of attributes.
func ColumnsOf(attributes []client.Attribute) *Columns {
	computed := map[string]bool{}
	for _, each := range attributes {
		computed[each.Name] = each.Computed != ""
	}
	return &Columns{attributes: attributes, computed: computed, attribute: map[string]string{}, column: map[string]string{}, ignored: map[string]bool{}, lookups: map[string]*lookup{},
		conversions: map[string]*conversion{}, unseen: map[string]string{}}
}

// KeepTimestamps imports created_at, updated_at and some computed attributes. The server must accept them.
func (c *Columns) KeepTimestamps(computed []string) {
	c.times = true
	for _, name := range computed {
		delete(c.computed, name)
	}
}

// Map applies a mapping to columns of a collection. It asks the server for the other collections, if there
// are references, and for the resources that constants refer to. It reports all mistakes together.
func (c *Columns) Map(ctx context.Context, server *client.Client, collection client.Description, m Mapping) error {
	var problems []error
	all := &collections{client: server}
	taken := map[string]bool{}
	for _, text := range m.Parsed {
		problems = append(problems, c.parse("--parse "+text, text))
	}
	for _, text := range m.Columns {
		problems = append(problems, c.mapColumn(ctx, all, collection, "--map "+text, text, taken))
	}
	for _, text := range m.Constants {
		problems = append(problems, c.mapConstant(ctx, all, collection, "--set "+text, text, taken))
	}
	for _, name := range m.Ignored {
		if attribute := c.attribute[name]; attribute != "" {
			problems = append(problems, fmt.Errorf("--ignore %s: --map imports this column as %s", name, attribute))
		}
		c.ignored[name] = true
	}
	c.expect()
	return errors.Join(problems...)
}

// expect notes the columns that the flags name.
func (c *Columns) expect() {
	for attribute := range c.conversions {
		if attribute != every && !c.fixed(attribute) {
			c.unseen[cmp.Or(c.column[attribute], attribute)] = "which --parse converts"
		}
	}
	for column, attribute := range c.attribute {
		c.unseen[column] = "from which --map takes " + attribute
	}
	for column := range c.ignored {
		c.unseen[column] = "which --ignore names"
	}
}

// absent reports the columns that the flags name and the file does not have. Names are those that it has.
func (c *Columns) absent(what string, names []string) error {
	problems := make([]error, 0, len(c.unseen))
	for _, column := range slices.Sorted(maps.Keys(c.unseen)) {
		problems = append(problems, fmt.Errorf("%s %q, %s%s", what, column, c.unseen[column], suggest.DidYouMean(column, names)))
	}
	return errors.Join(problems...)
}

// checkMembers reports the members that the flags name and no row has had.
func (c *Columns) checkMembers() error {
	names := slices.Sorted(maps.Keys(c.known))
	err := c.absent("no row has the member", names)
	if err != nil {
		more := ""
		if len(names) > maxProblems {
			names, more = names[:maxProblems], " and others"
		}
		err = fmt.Errorf("%w; the rows have %s%s", err, strings.Join(names, ", "), more)
	}
	return err
}

func (c *Columns) mapColumn(ctx context.Context, all *collections, collection client.Description, flag, text string, taken map[string]bool) error {
	attribute, column, err := c.split(flag, text, "COLUMN", taken)
	if err != nil {
		return err
	}
	found, column, err := all.reference(ctx, collection, attribute, column, flag)
	if err != nil {
		return err
	}
	if found != nil {
		c.lookups[attribute.Name] = found
	}
	if other := c.attribute[column]; other != "" {
		return fmt.Errorf("%s: the column %s is already %s", flag, column, other)
	}
	c.attribute[column], c.column[attribute.Name] = attribute.Name, column
	return nil
}

func (c *Columns) mapConstant(ctx context.Context, all *collections, collection client.Description, flag, text string, taken map[string]bool) error {
	attribute, value, err := c.split(flag, text, "VALUE", taken)
	if err != nil {
		return err
	}
	if attribute.Name == "id" {
		return fmt.Errorf("%s: every row needs its own id", flag)
	}
	found, value, err := all.reference(ctx, collection, attribute, value, flag)
	if err == nil && found != nil {
		if value, err = found.one(ctx, all.client, value); err != nil {
			err = fmt.Errorf("%s: %w", flag, err)
		}
	}
	if err != nil {
		return err
	}
	json, err := c.columnOf(attribute).append(nil, cell{text: []byte(value)})
	if err != nil {
		return fmt.Errorf("%s: %w", flag, err)
	}
	c.constants = append(c.constants, constant{attribute.Name, json})
	return nil
}

// split splits ATTRIBUTE=REST, and finds the attribute.
func (c *Columns) split(flag, text, what string, taken map[string]bool) (attribute client.Attribute, rest string, err error) {
	name, rest, ok := strings.Cut(text, "=")
	if !ok || name == "" || rest == "" && what == "COLUMN" {
		return attribute, "", fmt.Errorf("%s: must be ATTRIBUTE=%s", flag, what)
	}
	if taken[name] {
		return attribute, "", fmt.Errorf("%s: the attribute %s is given twice by --map and --set", flag, name)
	}
	taken[name] = true
	attribute, err = c.find(flag, name)
	return attribute, rest, err
}

// find finds the attribute of a flag.
func (c *Columns) find(flag, name string) (client.Attribute, error) {
	at := slices.IndexFunc(c.attributes, func(a client.Attribute) bool { return a.Name == name })
	switch {
	case c.computed[name]:
		return client.Attribute{}, fmt.Errorf("%s: %s is computed by the server", flag, name)
	case at >= 0:
		return c.attributes[at], nil
	case isTime(name):
		return client.Attribute{Name: name, Type: "string", Format: string(model.DateTime)}, nil
	case slices.Contains(ownMembers, name):
		return client.Attribute{Name: name, Type: "string", Format: "own"}, nil
	}
	return client.Attribute{}, fmt.Errorf("%s: there is no attribute %q: the attributes are %s", flag, name, strings.Join(namesOf(c.attributes), ", "))
}

// namesOf are the names of the members that a row may have.
func namesOf(attributes []client.Attribute) []string {
	names := []string{"id", "type"}
	for _, attribute := range attributes {
		names = append(names, attribute.Name)
	}
	return names
}

// reference reads @KEY:REST of an attribute that refers to other resources, and returns how these are found by the key, and
// the rest. Any other text is returned as it is: @ has a meaning only there.
func (all *collections) reference(ctx context.Context, collection client.Description, attribute client.Attribute, text, flag string) (*lookup, string, error) {
	if attribute.References == "" || !strings.HasPrefix(text, "@") {
		return nil, text, nil
	}
	by, rest, ok := strings.Cut(text[1:], ":")
	if !ok || by == "" || rest == "" {
		return nil, "", fmt.Errorf("%s: a reference must be @KEY:… with a unique attribute of %s, such as %s=@name:…", flag, attribute.References, attribute.Name)
	}
	found, err := all.lookup(ctx, collection, attribute, by)
	if err != nil {
		return nil, "", fmt.Errorf("%s: %w", flag, err)
	}
	return found, rest, nil
}

// attributeOf is the attribute of a column.
func (c *Columns) attributeOf(column string) string {
	if attribute := c.attribute[column]; attribute != "" {
		return attribute
	}
	return column
}

// shown names an attribute for people, with its column if that has another name.
func (c *Columns) shown(attribute string) string {
	if c == nil || c.column[attribute] == "" || c.column[attribute] == attribute {
		return attribute
	}
	return fmt.Sprintf("%s (column %s)", attribute, c.column[attribute])
}

// fixed reports whether an attribute has the same value in all rows.
func (c *Columns) fixed(attribute string) bool {
	return slices.ContainsFunc(c.constants, func(each constant) bool { return each.attribute == attribute })
}

// isMapped reports whether two columns can be the same attribute.
func (c *Columns) isMapped() bool { return len(c.attribute) > 0 }

// twice is the error of an attribute that two columns have, or a column and a constant.
func (c *Columns) twice(attribute, column, again string) error {
	if c.fixed(attribute) {
		return fmt.Errorf("the column %s is in the file, but --set gives %s: leave out one of them, or use --ignore", again, attribute)
	}
	return fmt.Errorf("the columns %s and %s are both %s: leave out one of them, or use --ignore", column, again, attribute)
}

// isTime reports whether a member is a timestamp of the server.
func isTime(name string) bool { return name == "created_at" || name == "updated_at" }

// appendMember appends the name of a member to an object that has begun.
func appendMember(body []byte, name string) []byte {
	if len(body) > 1 {
		body = append(body, ',')
	}
	body, _ = jsontext.AppendQuote(body, name) // which never fails: it is valid UTF-8
	return append(body, ':')
}

// appendConstants ends an object with the constants.
func (c *Columns) appendConstants(body []byte) []byte {
	for _, each := range c.constants {
		body = append(appendMember(body, each.attribute), each.json...)
	}
	return append(body, '}')
}
