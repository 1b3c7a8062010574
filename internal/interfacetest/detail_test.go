package interfacetest

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/plural-go/plural/schema"
)

// details lists the details of the errors of a response.
func (a answer) details(t testing.TB) (all []string) {
	t.Helper()
	var got struct {
		Errors []struct{ Detail string }
	}
	if err := json.Unmarshal([]byte(a.body), &got); err != nil {
		t.Fatalf("%v: %s", err, a.body)
	}
	for _, each := range got.Errors {
		all = append(all, each.Detail)
	}
	return all
}

const detailFile = `
collections:
  orders:
    timestamps: false
    attributes:
      n: {type: integer}
      fee: {type: string, format: decimal, scale: 2}
      lines_total: {type: integer}
      address:
        type: object
        properties:
          city: {type: string}
          a.b: {type: string}
          a: {type: object, properties: {b: {type: string}}}
          'x[0]': {type: string}
          'say "hi"': {type: string}
          'back\slash': {type: string}
      customer_id: {references: orders}
  lines:
    timestamps: false
    parent: {collection: orders}
    attributes: {text: {type: string}}
`

// TestDetails: what errors say is true, and says what to write.
func TestDetails(t *testing.T) {
	file, err := schema.Parse([]byte(detailFile))
	if err != nil {
		t.Fatal(err)
	}
	const odd = ` of the field address cannot be filtered by: its name is empty, or contains a dot, a bracket, a quotation mark or a backslash. Filter by another property.`
	eachStore(t, file.Schema, func(t *testing.T, s *server) {
		s.createAll("/orders", `{"id":"`+id(0)+`","n":1,"address":{"a.b":"x","a":{"b":"y"},"x[0]":"z"}}`, `{"id":"`+id(1)+`","n":2,"address":{"a.b":"y","a":{"b":"x"}}}`)
		for path, want := range map[string]string{
			"/-/groups/orders?by=address.city": `Resources cannot be grouped by "address.city", which is inside an object.` +
				" To group those that have one value, write filter[address.city]=value. To group by all values, declare the property as an attribute of its own.",
			"/-/groups/orders?by=customer_id.n":                `The field customer_id has no declared property "n" to group by. It refers to another resource. Use customer.n.`,
			"/-/groups/orders?sum=customer.n":                  "The parameter sum takes the fields of orders itself, and not values inside objects or of related resources.",
			"/-/groups/orders?by=nope.n":                       `The collection orders has no field "nope" to group by.`,
			"/orders?sort=customer_id.n":                       `The field customer_id has no declared property "n" to sort by. It refers to another resource. Use customer.n.`,
			"/orders?filter[text]=x":                           `The collection orders has no field "text" to filter by. Did you mean lines.text?`,
			"/orders?filter[lines.count]=2":                    `The collection lines has no field "count" to filter by. For their number, use count.lines.`,
			"/orders?filter[n]=01":                             `The value "01" must be an integer. Write it without leading zeros and without a plus sign: 1.`,
			"/orders?filter[n][gt]=-007":                       `The value "-007" must be an integer. Write it without leading zeros and without a plus sign: -7.`,
			"/orders?filter[n]=+0":                             `The value " 0" must be an integer. Write it without leading zeros and without a plus sign: 0.`,
			"/orders?filter[n]=0x1":                            `The value "0x1" must be an integer.`,
			"/orders?filter[fee]=00.5":                         `The value "00.5" must be a decimal such as 12.50, with at most 2 digits after the point and at most 18 in all. Write it without leading zeros and without a plus sign: 0.5.`,
			"/orders?include=lines&include[lines][total]=true": "The total would be the member lines_total, but orders has something else with this name. Leave the total out. The relation gets another name by inverse beside the references of order_id in lines.",
			"/orders?filter[address.x[0]]=z":                   `The property "x[0]"` + odd,
			`/orders?filter[address.say%20"hi"]=z`:             `The property "say \"hi\""` + odd,
			`/orders?filter[address.back\slash]=z`:             `The property "back\\slash"` + odd,
			"/orders?filter[address.nope]=z":                   `The field address has no declared property "nope" to filter by.`,
			"/orders?filter[address.a.c]=z":                    `The field address has no declared property "a.c" to filter by.`,
		} {
			if got := s.get(path).details(t); !slices.Equal(got, []string{want}) {
				t.Errorf("%s\ngot  %q\nwant %q", path, got, want)
			}
		}
		// The path leads into objects, even where a property has a name that looks like it.
		s.get("/orders?filter[address.a.b]=x").expectPositions(t, "inside", 1)
	})
}
