package openapi

import (
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/problem"
)

// serverTag is the tag of what is about no collection. No collection has such a name.
const serverTag = "Server"

// root is GET /, the collections themselves.
func (b *builder) root() object {
	headers := []string{"Accept-Query", "X-Total-Count"}
	if b.versioned() {
		headers = append(headers, "API-Versions")
	}
	return object{{"get", b.describe(operation{
		queried: true, id: "listCollections", tag: serverTag, public: true,
		summary:     "List the collections",
		description: "The collections as resources: those that the caller may use, each with the attributes that the caller may see.",
		responses: object{{"200", b.answer("The collections, in the order of the schema.",
			jsonOf(enveloped(arrayOf(reference("schemas", collectionSchema))), dataOf(list{b.exampleCollection()})), headers...),
		}, {"303", object{
			{"description", "A browser, which would rather have `text/html`, is sent to the explorer."}, {"headers", b.headersOf("Location")},
		}}},
		codes: append(ofReading(), b.anywhere()...),
	})}}
}

// firstKnown is the first collection that the reader knows; there are always the operations.
func (b *builder) firstKnown() *model.Collection {
	for _, c := range b.schema.Collections() {
		if b.By.MayKnow(c) {
			return c
		}
	}
	return b.schema.Operations()
}

// exampleName is the name of a collection that the reader knows.
func (b *builder) exampleName() string { return b.firstKnown().Name }

// exampleCollection is a collection that the reader knows, as a resource.
func (b *builder) exampleCollection() object {
	c := b.firstKnown()
	return object{
		{"id", exampleID}, {"type", "collections"}, {"name", c.Name}, {"singular", c.Singular}, {"total", 250},
		{"attributes", b.exampleAttributes(c)}, {"relations", list{}},
	}
}

// exampleAttributes describes some attributes of a collection, in their simplest form:
// linters take an example that looks like a schema for one.
func (b *builder) exampleAttributes(c *model.Collection) list {
	attributes := list{}
	for i := range c.Attributes {
		a := &c.Attributes[i]
		if b.has(c, a.Name, readVariant) && a.Type != model.Object && a.Type != model.Array && len(attributes) < 3 {
			attributes = append(attributes, object{{"name", a.Name}, {"required", a.Required}, {"type", string(a.Type)}})
		}
	}
	return attributes
}

// system is what is below /-/.
func (b *builder) system() object {
	paths := object{
		{"/-/health", object{{"get", b.probe("getHealth", "Whether the server is alive", "503 when writing has failed on the disk, which only a new start can help.", "ok", "failed")}}},
		{"/-/ready", object{{"get", b.probe("getReadiness", "Whether requests can be served", "503 when the database does not answer or has come to another schema, or the server is stopping.", "ready", "unavailable")}}},
	}
	if b.By.MaySeeMetrics() {
		paths.add("/-/metrics", b.withoutVersion(func() object {
			return object{{"get", b.describe(operation{
				id: "getMetrics", tag: serverTag, public: b.secured() && b.Public.MaySeeMetrics(),
				summary: "Metrics", description: "What the server measures, in the format of Prometheus.",
				responses: object{{"200", b.answer("All metrics.", object{{"text/plain", object{{"schema", aText}}}}, "Content-Encoding")}},
				codes:     b.anywhere(),
			})}}
		}))
	}
	paths.add("/.well-known/api-catalog", b.catalog())
	paths.add("/-/openapi.json", object{{"get", b.describe(operation{
		id: "getOpenAPI", tag: serverTag, public: true, anyVersion: true,
		summary: "This document", description: "The OpenAPI document of what the caller may do.",
		parameters: append(b.documentParameters(), b.shared("If-Match"), b.shared("If-None-Match")),
		responses: object{
			{"200", b.answer("The document.", jsonOf(object{
				{"type", "object"},
				{"properties", object{{"openapi", object{{"type", "string"}, {"enum", list{Formats[0][1], Formats[1][1]}}}}, {"info", object{{"type", "object"}}}, {"paths", object{{"type", "object"}}}}},
				{"required", list{"openapi", "info", "paths"}},
			}, nil), "ETag", "Cache-Control", "Content-Encoding")},
			{"304", b.unchanged("ETag", "Cache-Control")},
		},
		codes: append(b.anywhere(), problem.CodePreconditionFailed, problem.CodeInvalidParameter),
	})}})
	paths = append(append(append(paths, b.keys()...), b.decisions()...), b.me())
	if b.Agents {
		paths.add("/-/mcp", b.agents())
	}
	if transaction := b.transaction(); transaction != nil {
		paths.add("/-/transaction", transaction)
	}
	return paths
}

// catalog is the catalog of APIs (RFC 9727).
func (b *builder) catalog() object {
	links := arrayOf(fixedObject("", object{{"href", aReference}, {"type", aText}}))
	return b.withoutVersion(func() object {
		return object{{"get", b.describe(operation{
			id: "getAPICatalog", tag: serverTag, public: true,
			summary: "The catalog of APIs", description: "Where this document, the reference for people and the health check are (RFC 9727).",
			responses: object{{"200", b.answer("The catalog.", object{{"application/linkset+json", object{
				{"schema", fixedObject("", object{{"linkset", arrayOf(fixedObject("", object{{"anchor", aReference}, {"service-desc", links}, {"service-doc", links}, {"status", links}}))}})},
			}}}, "Link")}},
			codes: b.anywhereWithoutCaller(),
		})}}
	})
}

// documentParameters select the document.
func (b *builder) documentParameters() list {
	parameters := list{parameterIn("query", "include", "`none`: without the related resources that `include` embeds. Some generators do not take schemas that refer to each other.",
		object{{"type", "string"}, {"enum", list{"none"}}}, "none"), parameterIn("query", "openapi", "The version of OpenAPI. Default: `"+Formats[0][0]+"`.", object{{"type", "string"}, {"enum", list{Formats[0][0], Latest}}}, Latest)}
	if !b.versioned() {
		return parameters
	}
	return append(parameters, parameterIn("query", "version", "The version of the interface that the document describes. Default: as for any other request.",
		object{{"type", "integer"}, {"enum", b.versionNumbers()}}, b.Version))
}

// probe is an operation for those who watch over the server. It takes no credentials, and
// is never too much.
func (b *builder) probe(id, summary, description, well, unwell string) object {
	defer func(rated bool, versions []Version) { b.Rated, b.Versions = rated, versions }(b.Rated, b.Versions)
	b.Rated, b.Versions = false, nil
	state := func(description, status string) object {
		return b.answer(description, jsonOf(reference("schemas", stateSchema), object{{"status", status}}), "Cache-Control")
	}
	probe := object{
		{"tags", list{serverTag}}, {"operationId", b.operationIDs.unique(id)}, {"summary", summary}, {"description", description},
		{"security", list{}}, {"parameters", list{b.shared("X-Request-Id")}},
	}
	responses := object{{"200", state("It is.", well)}}
	b.refuse(&responses, id, []problem.Code{problem.CodeMalformedRequest, problem.CodeInternal})
	responses = append(responses[:len(responses)-1], member{"503", state("It is not.", unwell)}, responses[len(responses)-1])
	probe.add("responses", responses)
	return probe
}
