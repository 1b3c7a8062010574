// Package openapi describes the interface of a schema as an OpenAPI 3.1 or 3.2 document: every
// path, parameter, header, status and error code. It does no I/O: a document depends only on the
// schema and the options.
package openapi

import (
	"cmp"
	"slices"

	"github.com/plural-go/plural/internal/auth"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/problem"
	"github.com/plural-go/plural/schema"
)

// Options is what the interface depends on, apart from the schema.
type Options struct {
	Info         schema.Info
	Prefix       string // path under which the server is mounted
	DefaultLimit int64  // of resources in a list
	MaxLimit     int64  // 0 is no maximum
	MaxItems     int    // of an array that creates
	MaxBody      int64  // bytes

	Hooks       bool // code of the embedding program takes part in changes
	Rated       bool // requests are counted, and refused when there are too many
	Secure      bool // the server has TLS of its own
	CrossOrigin bool // pages of other origins may use it
	Agents      bool // there is /-/mcp

	Keys []string // roles of the API keys that somebody may manage

	// Versions are those of the interface that the server has, the newest last; none: the interface has no versions. The schema is that
	// of Version, or a view of it.
	Versions []Version
	Version  int

	// View is used instead of the schema of a configuration.
	View *model.Schema

	// Format is the version of OpenAPI: one of Formats, or empty for the default.
	Format string

	// NoIncludes leaves out what include embeds, with its parameters: some generators do not take schemas that refer to each
	// other.
	NoIncludes bool

	// By is what the reader of the document may do and see; nil: everything. What they
	// may not is not in the document.
	By *auth.Permit

	// Public is what can be done without credentials; nil: no credentials are needed.
	Public *auth.Permit
}

// Version is a version of the interface that clients can ask for.
type Version struct {
	Number int
	Sunset string // the date on which it ends, if it is deprecated
}

// Document is the OpenAPI document of a schema, as compact JSON.
func Document(s *model.Schema, options Options) []byte {
	b := newBuilder(s, options)
	paths := b.paths()
	if b.Format == Latest {
		b.addQueries(paths)
	}
	document := object{
		{"openapi", b.format()},
		{"info", b.info()},
		{"servers", list{object{{"url", cmp.Or(b.Prefix, "/")}, {"description", "Where this document came from."}}}},
		{"security", b.security()},
		{"tags", b.tags()},
		{"paths", paths},
		{"components", b.components()},
	}
	return marshal(document)
}

// builder puts a document together. What is used in several places is collected on the way.
type builder struct {
	Options
	schema *model.Schema

	hides        bool // the version does not have everything that is stored
	operationIDs names
	titles       map[*model.Collection]title

	queries map[string]operation // those of GET that there are as QUERY, too, by operation id

	schemas, responses, parameters, headers object

	// componentNames is the names of all components: some generators make types of all of
	// them, in one name space.
	componentNames names
	named          map[string]string // what was named, and how
	met            map[string]bool   // what is in the document already
}

// title is how a collection is called in names of operations and schemas.
type title struct{ one, many string }

func newBuilder(s *model.Schema, options Options) *builder {
	b := &builder{
		Options: options, schema: s, titles: map[*model.Collection]title{},
		operationIDs: names{}, componentNames: names{}, named: map[string]string{}, met: map[string]bool{}, queries: map[string]operation{},
	}
	b.hides = slices.ContainsFunc(s.Collections(), func(c *model.Collection) bool { return c.Shows() != nil })
	for _, name := range ownSchemas {
		b.componentNames.unique(name)
	}
	known := slices.DeleteFunc(slices.Clone(s.All()), func(c *model.Collection) bool { return !b.By.MayKnow(c) })
	for _, c := range append(slices.Clone(known), s.Changes()) {
		b.reserveParameters(c)
	}
	// UserCreate is a variant of users, whether or not there are user-creates too.
	later := func(c *model.Collection) bool {
		return slices.ContainsFunc(known, func(other *model.Collection) bool {
			return isVariantOf(model.Pascal(c.Singular), model.Pascal(other.Singular))
		})
	}
	for _, isLater := range []bool{false, true} {
		for _, c := range known {
			if later(c) == isLater {
				b.titles[c] = title{b.componentNames.uniqueWith(model.Pascal(c.Singular), variantSuffixes), model.Pascal(c.Name)}
			}
		}
	}
	return b
}

// name is the name of something that is used in several places, and whether it is new.
func (b *builder) name(taken names, what, wanted string) (name string, fresh bool) {
	name, known := b.named[what]
	if !known {
		name = taken.unique(wanted)
		b.named[what] = name
	}
	return name, !known
}

// once is a reference to a component, which is made when it is asked for the first time.
func (b *builder) once(components *object, kind, what, wanted string, make func() object) object {
	name, fresh := b.name(b.componentNames, what, wanted)
	if fresh {
		components.add(name, make())
	}
	return reference(kind, name)
}

// isNew reports whether something is met for the first time.
func (b *builder) isNew(what string) bool {
	known := b.met[what]
	b.met[what] = true
	return !known
}

// grantable lists the roles whose API keys the reader may manage.
func (b *builder) grantable() []string {
	if b.By == nil {
		return b.Keys
	}
	return b.By.Grantable()
}

// restricted reports whether there may be more than the reader knows of: by access, or because the version does not have it.
func (b *builder) restricted() bool { return b.By != nil || b.hides }

func (b *builder) secured() bool { return b.Public != nil }

func (b *builder) info() object {
	given := b.Info
	description := infoText
	if given.Description != "" {
		description = given.Description + "\n\n" + infoText
	}
	if text := b.describeVersions(); text != "" {
		description += "\n\n" + text
	}
	info := object{
		{"title", cmp.Or(given.Title, "Plural API")},
		{"version", cmp.Or(given.Version, "1.0.0")},
		{"summary", "Collections of resources over HTTP, in JSON."},
		{"description", description},
	}
	info.addIf(b.versioned(), extension+"version", b.Version)
	info.addIf(b.versioned(), extension+"versions", b.versionList())
	info.addIf(given.Contact != schema.Contact{}, "contact", texted(member{"name", given.Contact.Name}, member{"url", given.Contact.URL}, member{"email", given.Contact.Email}))
	info.addIf(given.License.Name != "", "license", texted(member{"name", given.License.Name}, member{"identifier", given.License.Identifier}, member{"url", given.License.URL}))
	return info
}

// texted is the members that are not empty.
func texted(members ...member) object {
	return slices.DeleteFunc(members, func(m member) bool { return m.value == "" })
}

const infoText = "Every collection has the same operations, envelope, ranges, filters and errors.\n\n" +
	"A success has the one member `data`: an object for one resource, an array for a collection. A failure has the one member `errors`. " +
	"Request bodies are the attributes themselves, not wrapped. The content type of answers is exactly `application/json;charset=utf-8`, but for health, readiness, metrics, the catalog of APIs and this document.\n\n" +
	"What holds on every path and is not repeated below: `HEAD` answers as `GET` does, without the body. `OPTIONS` is 204, with the methods in `Allow`. " +
	"Where these have `QUERY` (RFC 10008), it answers as `GET` does, with the parameters in a body of `application/x-www-form-urlencoded` and without `Link` and `ETag`. " +
	"Any other method is 405, also with `Allow`. A slash at the end of a path is 308 to the path without it. " +
	"Anything that is not here is 404, and a query parameter that is not here is 400, but for health, readiness, metrics, the catalog of APIs and this document, where it is ignored."

func (b *builder) security() list {
	if !b.secured() {
		return list{}
	}
	return list{bearer}
}

// bearer requires credentials.
var bearer = object{{"bearer", list{}}}

func (b *builder) tags() list {
	tags := list{}
	for _, c := range append(b.schema.All(), b.schema.Changes()) {
		if b.By.MayKnow(c) {
			tags = append(tags, b.tag(c))
		}
	}
	return append(tags, object{{"name", serverTag}, {"description", "The server itself: what it has, how it is, and this document."}})
}

func (b *builder) components() object {
	components := object{}
	components.addIf(b.secured(), "securitySchemes", object{{"bearer", object{
		{"type", "http"}, {"scheme", "bearer"},
		{"description", "An API key, `plural_…`, or a JSON Web Token of the issuer that the server trusts."},
	}}})
	b.schemas = append(b.commonSchemas(), b.schemas...)
	for _, each := range (object{{"schemas", b.schemas}, {"parameters", b.parameters}, {"responses", b.responses}, {"headers", b.headers}}) {
		components.addIf(len(each.value.(object)) > 0, each.name, each.value)
	}
	return components
}

// allCodes lists every code, by status and then by name.
func allCodes() []problem.Code {
	codes := problem.Codes()
	slices.SortFunc(codes, func(a, b problem.Code) int {
		return cmp.Or(cmp.Compare(a.Status(), b.Status()), cmp.Compare(a, b))
	})
	return codes
}
