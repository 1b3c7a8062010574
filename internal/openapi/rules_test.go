package openapi

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/schema"
)

const ruledFile = `
collections:
  bookings:
    attributes:
      starts_on: {type: string, format: date}
      ends_on: {type: string, format: date}
      fee: {type: integer}
      twice: {type: integer, description: Both ways., computed: resource.fee * 2}
      creator: {type: string, computed: auth.sub, when: create}
      code: {type: string, write_once: true}
      state: {type: string, enum: [draft, sent, done], default: draft, transitions: {draft: [sent], sent: [draft, done]}}
    checks:
      - {rule: resource.ends_on >= resource.starts_on, message: It ends before it starts., attribute: ends_on}
      - {rule: resource.fee < 100, message: Too much.}
`

// TestRules: what a document says of the rules of the data, to a reader who sees everything, and to one who does not see a fee.
func TestRules(t *testing.T) {
	file, err := schema.Parse([]byte(ruledFile))
	if err != nil {
		t.Fatal(err)
	}
	s := (*model.Schema)(file.Schema)
	some := options
	some.By = permit(t, s, schema.Role{Name: "clerk", Grants: []schema.Grant{{
		Collection: "bookings", Verbs: []schema.AccessVerb{schema.MayRead, schema.MayUpdate},
		Visible: []string{"starts_on", "ends_on", "twice", "state"}, Writable: []string{"state"},
	}}})
	all, part := decoded(t, Document(s, options)), decoded(t, Document(s, some))
	type fields = map[string]any
	lifecycle := fields{
		"type": "string", "enum": []any{"draft", "sent", "done"},
		"description":          "It begins as `draft`. `draft` can change to `sent`. `sent` can change to `draft` or `done`. Nothing follows `done`.",
		"x-plural-transitions": fields{"draft": []any{"sent"}, "sent": []any{"draft", "done"}, "done": []any{}}, "x-plural-initial": []any{"draft"},
	}
	integer := func(more fields) fields {
		more["type"], more["format"], more["readOnly"] = []any{"integer", "null"}, "int64", true
		return more
	}
	check := func(rule, message, attribute string) any {
		if attribute == "" {
			return fields{"rule": rule, "message": message}
		}
		return fields{"rule": rule, "message": message, "attribute": attribute}
	}
	dates := check("resource.ends_on >= resource.starts_on", "It ends before it starts.", "ends_on")
	listed := "Bookings.\n\nEvery resource must meet these rules:\n\n- `resource.ends_on >= resource.starts_on`: It ends before it starts."
	const sentBack = " May be sent back as it was read; it cannot be set."
	for _, test := range []struct {
		name      string
		got, want any
	}{
		{"a computed attribute", property(all, "Booking", "twice"), integer(fields{"description": "Both ways. The server computes it: `resource.fee * 2`.", "x-plural-computed": "resource.fee * 2"})},
		{"what it reads is hidden", property(part, "Booking", "twice"), integer(fields{"description": "Both ways. The server computes it.", "x-plural-computed": nil})},
		{"none of it is created", property(all, "BookingCreate", "twice"), nil},
		{"it can be sent back", property(all, "BookingPatch", "twice"), integer(fields{"description": "Both ways. The server computes it: `resource.fee * 2`." + sentBack, "x-plural-computed": "resource.fee * 2"})},
		{"computed by the create", property(all, "Booking", "creator"), fields{
			"type": []any{"string", "null"}, "readOnly": true, "description": "The server computes it when the resource is created: `auth.sub`.", "x-plural-computed": "auth.sub", "x-plural-when": "create",
		}},
		{"write-once", property(all, "BookingReplace", "code"), fields{"type": []any{"string", "null"}, "description": "It is set by the create, and does not change.", "x-plural-write-once": true}},
		{"a lifecycle", property(all, "Booking", "state"), lifecycle},
		{"a lifecycle that a role sees", property(part, "Booking", "state"), lifecycle},
		{"checks", at(all, "tags").([]any)[0], fields{"name": "bookings", "description": listed + "\n- `resource.fee < 100`: Too much.", "x-plural-checks": []any{dates, check("resource.fee < 100", "Too much.", "")}}},
		{"checks of what is seen", at(part, "tags").([]any)[0], fields{"name": "bookings", "description": listed, "x-plural-checks": []any{dates}}},
		{"an example of 409", at(all, "components", "responses", "Error409OfUpdate", "content", "application/json", "example", "errors"), []any{fields{
			"status": json.Number("409"), "code": "transition", "title": "The lifecycle does not allow this state", "detail": "The state cannot change from draft to archived. It can change to published.", "source": fields{"pointer": "/state"},
		}}},
	} {
		if !reflect.DeepEqual(test.got, test.want) {
			t.Errorf("%s:\ngot  %v\nwant %v", test.name, test.got, test.want)
		}
	}
}

// property is the schema of an attribute.
func property(document map[string]any, of, name string) any {
	return at(document, "components", "schemas", of, "properties", name)
}
