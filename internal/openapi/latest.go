package openapi

import (
	"slices"
	"strings"

	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/query"
	"github.com/plural-go/plural/problem"
)

// What OpenAPI 3.2 can describe and 3.1 cannot: QUERY, the events of streams, and which tag is below which.

// Formats are the versions of OpenAPI that a document can have, the default first, and what they are in the document.
var Formats = [][2]string{{"3.1", "3.1.0"}, {Latest, "3.2.0"}}

// Latest is the newest version of OpenAPI.
const Latest = "3.2"

// format is the version of OpenAPI as it is in the document.
func (b *builder) format() string {
	if b.Format == Latest {
		return Formats[1][1]
	}
	return Formats[0][1]
}

// addQueries adds the QUERY of each operation that has one, behind its GET.
func (b *builder) addQueries(paths object) {
	components := map[string]object{}
	for _, each := range b.parameters {
		components[each.name] = each.value.(object)
	}
	for i := range paths {
		item := paths[i].value.(object)
		at := slices.IndexFunc(item, func(m member) bool { return m.name == "get" })
		if at < 0 {
			continue
		}
		id, _ := item[at].value.(object).get("operationId").(string)
		if o, found := b.queries[id]; found {
			paths[i].value = slices.Insert(slices.Clone(item), at+1, member{"query", b.query(o, id, components)})
		}
	}
}

// query is the QUERY that does what a GET does.
func (b *builder) query(o operation, id string, components map[string]object) object {
	o.id, o.summary = "query"+capital(id), o.summary+", with QUERY"
	o.description = "As `GET`, with the parameters in the body, which can be longer than a URL. The response has neither `Link` nor `ETag`."
	properties, patterns, encoding, headers := object{}, object{}, object{}, list{}
	for _, each := range o.parameters {
		parameter := each.(object)
		if to, ok := parameter.get("$ref").(string); ok {
			parameter = components[to[strings.LastIndexByte(to, '/')+1:]]
		}
		name, _ := parameter.get("name").(string)
		shape, _ := parameter.get("schema").(object)
		open, isOpen := shape.get("patternProperties").(object)
		switch {
		case parameter.get("in") == "header":
			if name != "If-Match" && name != "If-None-Match" {
				headers = append(headers, each)
			}
		case isOpen:
			patterns = append(patterns, open...)
		default:
			if shape.get("type") == "array" {
				encoding.add(name, object{{"style", "form"}, {"explode", true}})
			}
			properties.add(name, inBody(shape))
		}
	}
	o.parameters = headers
	if len(properties) > 0 {
		form := object{{"type", "object"}, {"description", "The parameters of `GET`."}, {"properties", properties}}
		form.addIf(len(patterns) > 0, "patternProperties", patterns)
		media := object{{"schema", form}}
		media.addIf(len(encoding) > 0, "encoding", encoding)
		o.body = object{{"description", "At most " + thousands(min(b.MaxBody, 1<<20)) + " bytes, with at most " + thousands(query.MaxValuesInBody) + " values of filters."},
			{"content", object{{"application/x-www-form-urlencoded", media}}}}
	}
	o.responses = slices.DeleteFunc(slices.Clone(o.responses), func(m member) bool { return m.name == "304" })
	o.codes = append(slices.DeleteFunc(slices.Clone(o.codes), func(code problem.Code) bool {
		return code == problem.CodePreconditionFailed || code == problem.CodeUnexpectedBody
	}), problem.CodeBodyTooLarge, problem.CodeUnsupportedMediaType)
	o.queried = false
	return b.describe(o)
}

// inBody is the schema of a parameter in a body, which can have more values of a filter.
func inBody(shape object) object {
	shape = slices.Clone(shape)
	for i, each := range shape {
		if each.name == "maxItems" && each.value == query.MaxValues {
			shape[i].value = query.MaxValuesInBody
		}
	}
	return shape
}

// event is a reference to the schema of the events of a stream, with that of the data of one.
func (b *builder) event(what, name string, data object) object {
	return b.once(&b.schemas, "schemas", "event "+what, name+"Event", func() object {
		change := fixedObject("The change.", object{
			{"id", object{{"type", "string"}, {"format", "uuid"}}}, {"by", object{{"type", list{"string", "null"}}}},
			{"at", object{{"type", "string"}, {"format", "date-time"}}}, {"revision", object{{"type", "integer"}, {"format", "int64"}}},
		})
		shape := closedObject("", object{{"data", data}, {"previous", object{{"type", "object"}, {"description", "The former values of what has changed."}}}, {"change", change}}, nil)
		return object{{"type", "object"}, {"description", streamText}, {"properties", object{
			{"event", object{{"type", "string"}, {"enum", list{"listed", "synced", "created", "updated", "deleted", "entered", "left", "bookmark", "reset"}}}},
			{"id", object{{"type", "string"}, {"description", "The position to continue from."}}},
			{"data", object{{"type", "string"}, {"contentMediaType", "application/json"}, {"contentSchema", shape}}},
			{"retry", object{{"type", "integer"}, {"description", "Milliseconds after which to connect again."}}},
		}}}
	})
}

// eventOf is the schema of the events of a collection.
func (b *builder) eventOf(c *model.Collection) object {
	identity := fixedObject("A resource that left.", object{{"id", object{{"type", "string"}, {"format", "uuid"}}}, {"type", exactly(c.Name)}})
	return b.event(c.Name, b.titles[c].one, object{{"anyOf", list{b.schemaOf(place{collection: c}, readVariant), identity}}})
}

// withStream adds an event stream to a response. In OpenAPI 3.1 it is an extension: as a second content, generators
// of clients would make every list and resource a union with a text.
func (b *builder) withStream(response object, event func() object) object {
	if b.Format != Latest {
		return append(response, member{"x-event-stream", object{{"mediaType", streamType}, {"description", streamText}}})
	}
	for i, each := range response {
		if each.name == "content" {
			response[i].value = append(slices.Clone(each.value.(object)), member{streamType, object{{"itemSchema", event()}}})
		}
	}
	return response
}
