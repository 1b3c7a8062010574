package openapi

import "github.com/plural-go/plural/internal/model"

// jsonOf is the content of an answer or a body.
func jsonOf(jsonSchema, example any) object {
	media := object{{"schema", jsonSchema}}
	media.addIf(example != nil, "example", example)
	return object{{"application/json", media}}
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
	result := object{{"type", "object"}}
	result.addIf(description != "", "description", description)
	return append(result, member{"properties", properties}, member{"required", required}, member{"additionalProperties", false})
}

// arrayOf is the schema of an array.
func arrayOf(items any) object { return object{{"type", "array"}, {"items", items}} }

// response is a reference to an answer about a collection, which is made when it is asked
// for the first time.
func (b *builder) response(c *model.Collection, kind string, make func() object) object {
	name, fresh := b.name(b.componentNames, "response "+c.Name+" "+kind, b.titles[c].one+kind+"Response")
	if fresh {
		b.responses.add(name, make())
	}
	return reference("responses", name)
}

func (b *builder) listed(p place) object {
	c := p.collection
	return b.response(c, "List", func() object {
		headers := []string{"Link", "X-Total-Count", "Preference-Applied", "Content-Encoding"}
		content := jsonOf(enveloped(arrayOf(b.schemaOf(p, readVariant))), dataOf(list{b.example(c, readVariant, "")}))
		if !streams(c) {
			return object{{"description", "A range of the collection, in its order."}, {"headers", b.headersOf(headers...)}, {"content", content}}
		}
		return withStream(object{{"description", "A range of the collection, in its order."}, {"headers", b.headersOf(append(headers, streamHeaders...)...)}, {"content", content}})
	})
}

// found is the answer with a resource that was read; by its singular it says where that is.
func (b *builder) found(p place, singular bool) object {
	kind, headers := "", []string{"ETag"}
	if singular {
		kind, headers = "AtSingular", append(headers, "Content-Location")
	}
	return b.response(p.collection, kind, func() object {
		if !streams(p.collection) {
			return object{{"description", "The resource."}, {"headers", b.headersOf(headers...)}, {"content", b.oneOf(p)}}
		}
		return withStream(object{{"description", "The resource."}, {"headers", b.headersOf(append(headers, streamHeaders...)...)}, {"content", b.oneOf(p)}})
	})
}

// oneOf is the content with one resource.
func (b *builder) oneOf(p place) object {
	return jsonOf(enveloped(b.schemaOf(p, readVariant)), dataOf(b.example(p.collection, readVariant, "")))
}

// unchanged is the response to a client that has the resource already.
func (b *builder) unchanged(headers ...string) object {
	return object{{"description", "The client has it already, by `If-None-Match`."}, {"headers", b.headersOf(headers...)}}
}

var writeHeaders = []string{"Preference-Applied", "Idempotency-Replayed"}

func (b *builder) created(p place) object {
	return b.response(p.collection, "Created", func() object {
		one := b.schemaOf(p, readVariant)
		return object{
			{"description", "The resource, or for an array all of them. `Location` and `ETag` are those of one resource."},
			{"headers", b.headersOf(append([]string{"Location", "ETag", "X-Affected", "X-Deleted"}, writeHeaders...)...)},
			{"content", jsonOf(enveloped(object{{"oneOf", list{one, arrayOf(one)}}}), dataOf(b.example(p.collection, readVariant, "")))},
		}
	})
}

func (b *builder) changed(p place) object {
	return b.response(p.collection, "Changed", func() object {
		return object{
			{"description", "The resource as it is now."}, {"headers", b.headersOf(append([]string{"ETag", "X-Affected", "X-Deleted"}, writeHeaders...)...)},
			{"content", b.oneOf(p)},
		}
	})
}

func (b *builder) deleted(p place) object {
	return b.response(p.collection, "Deleted", func() object {
		return object{
			{"description", "The resource as it last was."}, {"headers", b.headersOf(append([]string{"X-Affected", "X-Deleted"}, writeHeaders...)...)},
			{"content", b.oneOf(p)},
		}
	})
}

func (b *builder) accepted(p place) object {
	return b.response(p.collection, "Accepted", func() object {
		identity := fixedObject("", object{
			{"id", object{{"type", "string"}, {"format", "uuid"}, {"pattern", idOut}}},
			{"type", object{{"type", "string"}, {"const", p.collection.Name}}},
		})
		return object{
			{"description", "It is stored, and will be carried out. `Location` is the operation, which tells how it is getting on."},
			{"headers", b.headersOf(append([]string{"Location"}, writeHeaders...)...)},
			{"content", jsonOf(enveloped(identity), dataOf(object{{"id", b.idOf(p.collection)}, {"type", p.collection.Name}}))},
		}
	})
}

func dataOf(value any) any {
	if value == nil {
		return nil
	}
	return object{{"data", value}}
}
