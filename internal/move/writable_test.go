package move

import (
	"context"
	"strings"
	"testing"

	"github.com/plural-go/plural"
	"github.com/plural-go/plural/schema"
)

const accounts = `
collections:
  accounts:
    attributes:
      name: {type: string}
      password: {type: string}
      limit: {type: integer}
      secret: {type: string}
    required: [name, password]
access:
  roles:
    public:
      accounts: {create: true, read: true, list: true, visible: [name], writable: [name, password, limit]}
`

// TestWriteOnly: a column can be one that the caller sets and does not see, and has its type.
func TestWriteOnly(t *testing.T) {
	file, err := schema.Parse([]byte(accounts))
	if err != nil {
		t.Fatal(err)
	}
	eachStore(t, func(t *testing.T, w *dataset) {
		attributes, err := Writable(context.Background(), w.client, w.people)
		if err != nil {
			t.Fatal(err)
		}
		var known []string
		for _, each := range attributes {
			known = append(known, each.Name+" "+each.Type)
		}
		same(t, known, "[name string limit integer password string]")
		w.people.Attributes = attributes
		done, bad, err := w.take("name,password,limit\nAda,007,3\nGrace,,x\n", CSV, skip)
		same(t, done, Imported{Created: 1, Bad: 1, Next: 3})
		same(t, bad, []string{`3: password: The attribute password is required and cannot be null. limit "x": Must be an integer, but is a string.`})
		same(t, err, nil)
		w.expect("Ada")
		_, err = NewReader(strings.NewReader("name,secret\n"), CSV, ColumnsOf(attributes))
		same(t, err, `line 1: there is no attribute "secret": the attributes are id, type, name, limit, password; use --map for a column with another name, or --ignore`)
	}, func(c *plural.Config) { c.Schema, c.Access = file.Schema, file.Access })
}

// TestCircularReferences: a document whose references lead to themselves has no schema, and is
// read to its end.
func TestCircularReferences(t *testing.T) {
	round := map[string]any{"$ref": "#/paths/~1people"}
	d := &openAPI{root: map[string]any{"paths": map[string]any{"/people": round}}, follow: 1000}
	if definition := d.createSchema("people"); definition != nil {
		t.Errorf("got %v", definition)
	}
}
