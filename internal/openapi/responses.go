package openapi

import (
	"slices"

	"github.com/plural-go/plural/internal/model"
)

// jsonOf is the content of an answer or a body.
func jsonOf(jsonSchema, example any) object {
	media := object{{"schema", jsonSchema}}
	media.addIf(example != nil, "example", example)
	return object{{"application/json", media}}
}

// answer is a response with content.
func (b *builder) answer(description string, content object, headers ...string) object {
	return object{{"description", description}, {"headers", b.headersOf(headers...)}, {"content", content}}
}

// enveloped is the schema of a response with data.
func enveloped(data any) object {
	return fixedObject("", object{{"data", data}})
}

// fixedObject is the schema of an object that has all of these members, and no others. The description may be empty.
func fixedObject(description string, properties object) object {
	required := list{}
	for _, each := range properties {
		required = append(required, each.name)
	}
	return closedObject(description, properties, required)
}

// closedObject is the schema of an object that may have these members, and no others.
func closedObject(description string, properties object, required list) object {
	result := object{{"type", "object"}}
	result.addIf(description != "", "description", description)
	result.add("properties", properties)
	result.addIf(len(required) > 0, "required", required)
	result.add("additionalProperties", false)
	return result
}

// arrayOf is the schema of an array.
func arrayOf(items any) object { return object{{"type", "array"}, {"items", items}} }

// response is a reference to an answer about a collection, which is made when it is asked
// for the first time.
func (b *builder) response(c *model.Collection, kind string, make func() object) object {
	return b.once(&b.responses, "responses", "response "+c.Name+" "+kind, b.titles[c].one+kind+"Response", make)
}

func (b *builder) listed(p place) object {
	return b.response(p.collection, "List", func() object {
		return b.readable(p.collection, "A range of the collection, in its order.", b.allOf(p), "Accept-Query", "Link", "X-Total-Count", "Preference-Applied", "Content-Encoding")
	})
}

// readable is the answer with what was read, which most collections also have as a stream.
func (b *builder) readable(c *model.Collection, description string, content object, headers ...string) object {
	if !streams(c) {
		return b.answer(description, content, headers...)
	}
	return b.withStream(b.answer(description, content, append(headers, streamHeaders...)...), func() object { return b.eventOf(c) })
}

// found is the answer with a resource that was read; by its singular it says where that is.
func (b *builder) found(p place, singular bool) object {
	kind, headers := "", []string{"ETag"}
	if singular {
		kind, headers = "AtSingular", append(headers, "Content-Location")
	}
	return b.response(p.collection, kind, func() object {
		return b.readable(p.collection, "The resource.", b.oneOf(p), headers...)
	})
}

// oneOf is the content with one resource.
func (b *builder) oneOf(p place) object {
	return jsonOf(enveloped(b.schemaOf(p, readVariant)), dataOf(b.example(p.collection, readVariant, "")))
}

// allOf is the content with several resources.
func (b *builder) allOf(p place) object {
	return jsonOf(enveloped(arrayOf(b.schemaOf(p, readVariant))), dataOf(list{b.example(p.collection, readVariant, "")}))
}

// oneOrAllOf is the content with one resource, or with several.
func (b *builder) oneOrAllOf(p place) object {
	one := b.schemaOf(p, readVariant)
	return jsonOf(enveloped(object{{"oneOf", list{one, arrayOf(one)}}}), dataOf(b.example(p.collection, readVariant, "")))
}

// unchanged is the response to a client that has the resource already.
func (b *builder) unchanged(headers ...string) object {
	return object{{"description", "The client has it already, by `If-None-Match`."}, {"headers", b.headersOf(headers...)}}
}

var writeHeaders = []string{"Preference-Applied", "Idempotency-Replayed"}

// written is a reference to the answer to a write, or to a dry run of one.
func (b *builder) written(p place, kind, description string, content func(place) object, headers ...string) object {
	return b.response(p.collection, kind, func() object {
		return b.answer(description, content(p), slices.Concat(headers, []string{"X-Affected", "X-Deleted"}, writeHeaders)...)
	})
}

func (b *builder) accepted(p place) object {
	return b.response(p.collection, "Accepted", func() object {
		identity := fixedObject("", object{
			{"id", object{{"type", "string"}, {"format", "uuid"}, {"pattern", idOut}}},
			{"type", object{{"type", "string"}, {"const", p.collection.Name}}},
		})
		return b.answer("It is stored, and will be carried out. `Location` is the operation, which tells how it is getting on.",
			jsonOf(enveloped(identity), dataOf(object{{"id", b.idOf(p.collection)}, {"type", p.collection.Name}})),
			append([]string{"Location"}, writeHeaders...)...)
	})
}

func dataOf(value any) any {
	if value == nil {
		return nil
	}
	return object{{"data", value}}
}
