package schema

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/plural-go/plural/internal/model"
)

// Shipment declares what TestRulesOfTheData has in a file.
type Shipment struct {
	Reference string  `json:"reference" plural:"required,write_once"`
	Weight    int     `json:"weight"`
	Label     string  `json:"label" plural:"computed=resource.weight == null ? 'none' : ['none'\\, resource.reference][1]"`
	CreatedBy *string `json:"created_by" plural:"computed=auth.sub,when=create"`
	State     *string `json:"state,omitempty" plural:"enum=packed|sent|lost,default=packed,transitions=packed>sent|packed>lost|sent>lost,initial=packed|sent"`
}

// TestRulesOfTheData compares a file with the same declarations in Go, and with a struct.
func TestRulesOfTheData(t *testing.T) {
	file, err := Parse([]byte(`
collections:
  shipments:
    timestamps: false
    attributes:
      reference: {type: string, write_once: true}
      weight: {type: integer}
      label: {type: string, computed: "resource.weight == null ? 'none' : resource.reference"}
      created_by: {type: string, computed: auth.sub, when: create}
      state:
        type: string
        enum: [packed, sent, lost]
        default: packed
        transitions: {packed: [sent, lost], sent: [lost]}
        initial: [packed, sent]
    required: [reference, state]
    checks:
      - rule: >
          resource.weight > 0
        message: It has no weight.
        attribute: weight
      - {rule: resource.reference != 'x', message: The reference is not valid.}
access:
  roles:
    sender:
      shipments: {read: true, update: true, transitions: {state: {sent: "auth.role == 'sender'", lost: false}}}
`))
	if err != nil {
		t.Fatal(err)
	}
	const label = "resource.weight == null ? 'none' : resource.reference"
	checks := []Check{
		{Rule: Rule{Text: "resource.weight > 0\n", Line: 19, Column: 11}, Message: "It has no weight.", Attribute: "weight"},
		{Rule: Rule{Text: "resource.reference != 'x'", Line: 22, Column: 16}, Message: "The reference is not valid."},
	}
	ofStruct, err := Of[Shipment]()
	if err != nil {
		t.Fatal(err)
	}
	want := Collection{
		Name: "shipments", NoTimestamps: true,
		Attributes: []Attribute{
			{Name: "reference", Type: String, Required: true, WriteOnce: true},
			{Name: "weight", Type: Integer},
			{Name: "label", Type: String, Computed: Rule{Text: "resource.weight == null ? 'none' : ['none', resource.reference][1]"}},
			{Name: "created_by", Type: String, Computed: Rule{Text: "auth.sub"}, When: "create"},
			{Name: "state", Type: String, Enum: []any{"packed", "sent", "lost"}, Default: "packed",
				Transitions: map[string][]string{"packed": {"sent", "lost"}, "sent": {"lost"}}, Initial: []string{"packed", "sent"}},
		},
	}
	if !reflect.DeepEqual(ofStruct, want) {
		t.Errorf("the struct declares\n%+v\nwant\n%+v", ofStruct, want)
	}
	want.Attributes[2].Computed.Text = label
	want.Checks = checks
	inGo, err := New(want)
	if err != nil {
		t.Fatal(err)
	}
	got := (*model.Schema)(file.Schema)
	if got, want := got.Document(), (*model.Schema)(inGo).Document(); !bytes.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	for i, check := range got.Collection("shipments").Checks {
		if (Check{Rule(check.Rule), check.Message, check.Attribute}) != checks[i] {
			t.Errorf("check %d is %+v, want %+v", i, check, checks[i])
		}
	}
	rules := map[string]map[string]Rule{"state": {
		"sent": {Text: "auth.role == 'sender'", Line: 26, Column: 74}, "lost": {Text: "false", Line: 26, Column: 104},
	}}
	if got := file.Access.Roles[0].Grants[0].Transitions; !reflect.DeepEqual(got, rules) {
		t.Errorf("got the rules %+v, want %+v", got, rules)
	}
}

// TestPlacesInRules: a mistake in a text of several lines is where the file has it, or at least in the line where the text
// begins.
func TestPlacesInRules(t *testing.T) {
	for text, want := range map[string]string{
		"|\n          resource.weight > 0 &&\n            resource.wight < 9":  "9:21",
		"|2\n            resource.weight > 0 &&\n          resource.wight < 9": "9:19",
		"|-\n\n          resource.wight < 9\n":                                 "9:19",
		">\n          resource.wight < 9":                                      "8:19",
		">\n          resource.weight > 0 &&\n          resource.wight < 9":    "7:1",
		"resource.weight > 0 &&\n          resource.wight < 9":                 "7:1",
		"'resource.weight > 0 &&\n          resource.wight < 9'":               "7:1",
		"'resource.wight < 9'":                                                 "7:24",
		"resource.wight < 9":                                                   "7:23",
	} {
		_, err := Parse([]byte("collections:\n  shipments:\n    attributes:\n      weight: {type: integer}\n    checks:\n      - message: It is wrong.\n        rule: " + text))
		var problems Problems
		if !errors.As(err, &problems) || len(problems) != 1 {
			t.Fatalf("%q: %v", text, err)
		}
		if got := fmt.Sprintf("%d:%d", problems[0].Line, problems[0].Column); got != want {
			t.Errorf("%q: the place is %s, want %s: %v", text, got, want, err)
		}
	}
}

func TestTransitionsOfATag(t *testing.T) {
	_, err := Of[struct {
		A string `json:"a" plural:"enum=a|b,transitions=a>b|b"`
	}]()
	const want = `.A: transitions must be pairs such as draft>published, with | between them, but one is "b"`
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}
