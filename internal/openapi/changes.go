package openapi

import (
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/suggest"
	"github.com/plural-go/plural/problem"
	"github.com/plural-go/plural/schema"
)

// streamType is the media type of event streams.
const streamType = "text/event-stream"

// streams reports whether a collection has event streams.
func streams(c *model.Collection) bool { return !c.ReadOnly() }

const streamText = "Events in the format of EventSource: `listed` and `synced` of the snapshot, then `created`, `updated`, `deleted`, `entered` and `left`; `bookmark` is a position only, and after `reset` a snapshot follows. " +
	"The data of an event is `{\"data\":…,\"previous\":…,\"change\":…}`, and its id the position to resume from."

// streamHeaders are those of a stream that a list or a resource does not have.
var streamHeaders = []string{"Cache-Control" + ofStream, "X-Accel-Buffering"}

// streamParameters are those of a stream.
func (b *builder) streamParameters() list {
	return list{b.shared("Since" + ofStream), b.shared("Last-Event-ID")}
}

// changes is the paths of the change log.
func (b *builder) changes() object {
	c := b.schema.Changes()
	if !b.By.May(schema.MayList, c) {
		return nil
	}
	public := b.Public != nil && b.Public.May(schema.MayList, c)
	return object{
		{"/" + c.Name, object{{"get", b.listChanges("listChanges", c.Name, "List changes", "The changes of all resources that the caller may see, in the order of the change log.", public)}}},
		{"/" + c.Name + "/{id}", pathItem(list{changeID()}, member{"get", b.readChange(public, false)})},
		{"/" + c.Singular + "/{id}", pathItem(list{changeID()}, member{"get", b.readChange(public, true)})},
	}
}

func changeID() object { return idParameter("id", "The id of the change.") }

// history adds the path of the changes of one resource at a place.
func (b *builder) history(paths *object, p place) {
	may, public := b.may(schema.MayChanges, p)
	if !may || p.collection.ReadOnly() {
		return
	}
	one := b.phraseAt(p, suggest.Article(spaced(p.collection.Singular)))
	paths.add(p.path()+"/{id}/"+model.ChangesName, pathItem(b.pathParameters(p, true), member{"get", b.listChanges("listChangesOf"+b.nameAt(p, false), p.collection.Name,
		"List changes of "+one, "The history of one resource, also after it was deleted, as far back as the server keeps changes.", public)}))
}

func (b *builder) listChanges(id, tag, summary, description string, public bool) object {
	c := b.schema.Changes()
	parameters := list{b.limit("limit"), b.limit("l"), b.shared("cursor"), b.shared("since")}
	for _, name := range []string{model.ChangeCollection, model.ChangeResourceID, "kind", "by", "created_at"} {
		parameters = append(parameters, b.filters(c, c.Field(name))...)
	}
	parameters = append(parameters, b.shared("Last-Event-ID"), b.shared("Prefer-Wait"), b.shared("If-Match"), b.shared("If-None-Match"))
	codes := append(ofReading(), problem.CodeDuplicateParameter, problem.CodeInvalidParameter, problem.CodeConflictingRange, problem.CodeTooManyValues, problem.CodeUnknownCursor,
		problem.CodePositionGone, problem.CodePreconditionFailed, problem.CodeTooExpensive, problem.CodeTooManyRequests)
	if b.MaxLimit > 0 {
		codes = append(codes, problem.CodeLimitTooLarge)
	}
	if tag != c.Name {
		codes = append(codes, problem.CodeNotFound)
	}
	return b.describe(operation{
		queried: true, id: id, tag: tag, public: public, summary: summary, description: description, parameters: parameters,
		responses: object{{"200", b.listedChanges()}, {"304", b.unchanged()}}, codes: append(codes, b.anywhere()...),
	})
}

func (b *builder) readChange(public, singular bool) object {
	c := b.schema.Changes()
	o := operation{
		queried: true, id: "getChange", tag: c.Name, public: public, summary: "Get a change", description: "One change, with its state as `ETag`.",
		parameters: list{b.shared("If-Match"), b.shared("If-None-Match")},
		codes:      append(append(ofReading(), problem.CodeNotFound, problem.CodePreconditionFailed), b.anywhere()...),
	}
	headers := []string{"ETag"}
	if singular {
		o.moveToSingular(c)
		headers = append(headers, "Content-Location")
	}
	content := jsonOf(enveloped(reference("schemas", changeSchema)), dataOf(exampleChange()))
	o.responses = object{{"200", b.answer("The change.", content, headers...)}, {"304", b.unchanged(headers...)}}
	return b.describe(o)
}

func (b *builder) listedChanges() object {
	return b.once(&b.responses, "responses", "response changes", "ChangeListResponse", func() object {
		content := jsonOf(enveloped(arrayOf(reference("schemas", changeSchema))), dataOf(list{exampleChange()}))
		headers := append([]string{"Accept-Query", "Link", "X-Total-Count", "X-History-Since", "Preference-Applied", "Content-Encoding"}, streamHeaders...)
		return b.withStream(b.answer("A range of the change log, in its order.", content, headers...), func() object {
			return b.event("changes", changeSchema, reference("schemas", changeSchema))
		})
	})
}

// changeSchema is the name of the schema of a change.
const changeSchema = "Change"

func (b *builder) changeObject() object {
	c := b.schema.Changes()
	text := func(name string) string { return c.Declared(name).Description }
	anything := func(name string) object {
		return object{{"type", list{"object", "null"}}, {"description", text(name)}, {"additionalProperties", true}}
	}
	id := object{{"type", "string"}, {"format", "uuid"}, {"pattern", idOut}}
	return fixedObject("A change of a resource.", object{
		{"id", id}, {"type", object{{"type", "string"}, {"const", c.Name}}},
		{"kind", object{{"type", "string"}, {"enum", list(c.Declared("kind").Enum)}, {"description", text("kind")}}},
		{"resource", fixedObject(text("resource"), object{{"id", id}, {"type", object{{"type", "string"}}}})},
		{"revision", object{{"type", "integer"}, {"format", "int64"}, {"minimum", 1}, {"description", text("revision")}}},
		{"by", object{{"type", list{"string", "null"}}, {"description", text("by")}}},
		{"previous", anything("previous")}, {"data", anything("data")},
		{"created_at", timestampSchema("When the change was made.", readVariant)},
	})
}

func exampleChange() object {
	return object{
		{"id", "00000000-0000-8001-9c5d-0123456789ab"}, {"type", model.ChangesName}, {"kind", "updated"}, {"resource", object{{"id", exampleID}, {"type", "users"}}},
		{"revision", 26}, {"by", nil}, {"previous", object{{"name", "Ada"}}}, {"data", object{{"id", exampleID}, {"type", "users"}, {"name", "Ada Lovelace"}}}, {"created_at", exampleTime},
	}
}
