package mcp

import (
	"context"
	"net/http"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// tool is one of the tools. There are few, and none is of a collection, because every agent reads all of them before it does anything.
type tool struct {
	name      string
	text      string // describes it
	writes    bool
	arguments []argument
	run       func(s *session, ctx context.Context, a arguments) ([]byte, error)
}

var (
	collectionArgument = argument{"collection", name, true, ""}
	idArgument         = argument{"id", uuid, true, ""}
	parentArgument     = argument{"parent", within, false, "Only the children of this resource: collection/id."}
	searchArgument     = argument{"search", anyText, false, "Words; describe_collection says which attributes are searched."}
	limitArgument      = argument{"limit", count, false, ""}
	cursorArgument     = argument{"cursor", anyText, false, "From the result before, with the same other arguments."}
	ifMatchArgument    = argument{"if_match", anyText, false, "The etag of get: refuse if the resource has changed since."}
	filterArgument     = argument{"filter", members, false, `All must hold: {"state":"open","tags":{"has":["a"]},"price":{"gte":3},"author.country":["DE","FR"],"email":null}. ` +
		`Operators: eq ne lt lte gt gte in not_in contains starts_with search null has has_all exists. Dots lead through relations and into objects; count.orders counts related resources. ` +
		`Groups: "any":[{…},{…}], "some":{"lines":{"quantity":{"gte":5}}}, "none":{…}.`}
	includeArgument = argument{"include", members, false, `Related resources, by relation: {"author":{},"comments":{"limit":5,"sort":["-created_at"],"filter":{…},"fields":["text"],"total":true}}.`}
)

func fieldsArgument(otherwise string) argument {
	return argument{"fields", names, false, "Attributes to return whole. Otherwise " + otherwise}
}

// tools are at most eight.
var tools = []tool{
	{"list_collections", "List the collections, with how many resources each has.", false, nil, (*session).listCollections},
	{"describe_collection", "Describe a collection: attributes, relations, search, rules, and what you may do.", false, []argument{collectionArgument}, (*session).describeCollection},
	{"query", "List resources of a collection.", false, []argument{
		collectionArgument, parentArgument, filterArgument, searchArgument,
		{"sort", names, false, `["-created_at","name"]`}, includeArgument,
		fieldsArgument("all but created_at, updated_at and nulls, with long texts shortened."), limitArgument, cursorArgument,
	}, (*session).query},
	{"get", "Get one resource, with its etag.", false, []argument{collectionArgument, idArgument, includeArgument, fieldsArgument("all.")}, (*session).get},
	{"aggregate", "Count resources, in all or by group, and sum, average and compare attributes.", false, []argument{
		collectionArgument, filterArgument, searchArgument,
		{"by", names, false, `["state","customer.country","created_at:month"]: also year, quarter, week, day, hour.`},
		{"sum", names, false, ""}, {"avg", names, false, ""}, {"min", names, false, ""}, {"max", names, false, ""}, {"distinct", names, false, "Counts different values."},
		{"having", members, false, `{"count":{"gte":2},"sum.total":{"gt":100}}`}, {"sort", names, false, `["-count","-sum.total","state"]`}, limitArgument, cursorArgument,
	}, (*session).aggregate},
	{"history", "List the latest changes: of a resource, of a collection, or of all. The cursor leads to earlier ones.", false, []argument{
		{"collection", name, false, ""}, {"id", uuid, false, "With collection: only of this resource."},
		{"kind", choice("created", "updated", "deleted"), false, "Not with id."}, limitArgument, cursorArgument,
	}, (*session).history},
	{"write", "Create, patch or delete one resource.", true, []argument{
		{"action", choice("create", "patch", "delete"), true, ""}, collectionArgument, {"id", uuid, false, "Of patch and delete."},
		{"parent", within, false, "Of create: collection/id."},
		{"attributes", members, false, "Of create and patch: only the members to set; null clears."}, ifMatchArgument,
		{"idempotency_key", anyText, false, "A repeated call with the same key writes once."}, {"dry_run", yesOrNo, false, "Check, and change nothing."},
	}, (*session).write},
	{"transition", "Bring a resource into another state of its lifecycle.", true, []argument{
		collectionArgument, idArgument, {"attribute", anyText, true, "The attribute with transitions."}, {"state", anyText, true, ""}, ifMatchArgument,
	}, (*session).transition},
}

func toolNames() (names []string) {
	for _, each := range tools {
		names = append(names, each.name)
	}
	return names
}

func isTool(name string) bool { return slices.Contains(toolNames(), name) }

func (t tool) declaration() *sdk.Tool {
	closed := false
	return &sdk.Tool{
		Name: t.name, Description: t.text, InputSchema: inputSchema(t.arguments),
		Annotations: &sdk.ToolAnnotations{ReadOnlyHint: !t.writes, OpenWorldHint: &closed},
	}
}

// methods of the actions of write.
var methods = map[string]string{"create": http.MethodPost, "patch": http.MethodPatch, "delete": http.MethodDelete}

// object writes a JSON object of members whose values are JSON; those without a value are left out.
func object(members ...jsonMember) []byte {
	text := []byte{'{'}
	for _, each := range members {
		if each.value == nil {
			continue
		}
		if len(text) > 1 {
			text = append(text, ',')
		}
		text = append(append(append(text, quote(each.name)...), ':'), each.value...)
	}
	return append(text, '}')
}

type jsonMember struct {
	name  string
	value jsontext.Value
}
