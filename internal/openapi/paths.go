package openapi

import (
	"slices"
	"strings"

	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/internal/suggest"
	"github.com/plural-go/plural/problem"
	"github.com/plural-go/plural/schema"
)

// place is where operations are: in a collection, or in that of a parent.
type place struct {
	collection *model.Collection
	parent     *model.Link // nil: in the collection
}

func (p place) parentAttribute() *model.Attribute {
	return p.collection.Columns()[p.parent.Column].Attribute
}

func (p place) path() string {
	if p.parent == nil {
		return "/" + p.collection.Name
	}
	return "/" + p.parent.To.Name + "/{" + p.parentAttribute().Name + "}/" + p.collection.Name
}

// paths lists every path that the reader can use, in the order of the schema.
func (b *builder) paths() object {
	paths := object{{"/", b.root()}}
	for _, c := range b.schema.All() {
		if !b.By.MayKnow(c) {
			continue
		}
		p := place{collection: c}
		b.addPlace(&paths, p)
		if b.schema.Singular(c.Singular) == c && b.By.May(schema.MayRead, c) {
			paths.add("/"+c.Singular+"/{id}", pathItem(b.pathParameters(p, true), member{"get", b.read(p, true)}))
		}
		for _, child := range b.schema.Collections() {
			if link := child.ParentLink(); link != nil && link.To == c && b.hasBelow(link) {
				b.addPlace(&paths, place{collection: child, parent: link})
			}
		}
	}
	return append(append(append(paths, b.changes()...), b.system()...), b.groups()...)
}

// hasBelow reports whether a sub-collection is there for the reader, who must see the
// parents, and which child belongs to which.
func (b *builder) hasBelow(link *model.Link) bool {
	return b.By.MayKnow(link.From) && b.By.May(schema.MayRead, link.To) && b.By.Visible(link.From).Has(link.Column)
}

func (b *builder) addPlace(paths *object, p place) {
	collection := pathItem(b.pathParameters(p, false),
		member{"get", b.list(p)}, member{"post", b.create(p)}, member{"patch", b.writeRange(p, schema.MayUpdate, "Update")}, member{"delete", b.writeRange(p, schema.MayDelete, "Delete")})
	item := pathItem(b.pathParameters(p, true),
		member{"get", b.read(p, false)}, member{"put", b.update(p, replaceVariant)}, member{"patch", b.update(p, patchVariant)}, member{"delete", b.delete(p)})
	paths.addIf(collection != nil, p.path(), collection)
	paths.addIf(item != nil, p.path()+"/{id}", item)
	b.history(paths, p)
}

// parameters of the path itself.
func (b *builder) pathParameters(p place, item bool) list {
	all := list{}
	if p.parent != nil {
		all = append(all, idParameter(p.parentAttribute().Name, "The id of the "+spaced(p.parent.To.Singular)+"."))
	}
	if item {
		all = append(all, idParameter("id", "The id of the "+spaced(p.collection.Singular)+"."))
	}
	return all
}

// pathItem is a path with operations, nil if there are none.
func pathItem(parameters list, operations ...member) object {
	item := object{}
	item.addIf(len(parameters) > 0, "parameters", parameters)
	before := len(item)
	for _, each := range operations {
		if each.value.(object) != nil {
			item = append(item, each)
		}
	}
	if len(item) == before {
		return nil
	}
	return item
}

// may reports whether the reader may do something at a place, and whether everybody may.
func (b *builder) may(verb schema.AccessVerb, p place) (may, public bool) {
	may = b.By.May(verb, p.collection)
	public = b.Public != nil && b.Public.May(verb, p.collection) && (p.parent == nil || b.Public.May(schema.MayRead, p.parent.To))
	return may, public
}

// operation is one operation. The verb comes first in its id, and in its summary.
type operation struct {
	id, summary, description string
	tag                      string
	public                   bool
	anyVersion               bool // a parameter says of which version it is
	queried                  bool // it is a GET that there is as QUERY, too
	parameters               list
	body                     object
	responses                object
	codes                    []problem.Code
	headers                  []string // that refusals may have
}

// moveToSingular makes a read by the singular of one at the canonical path.
func (o *operation) moveToSingular(c *model.Collection) {
	o.id, o.summary = o.id+"AtSingular", o.summary+", by the singular"
	o.description = "As `/" + c.Name + "/{id}`, which `Content-Location` names."
}

func (b *builder) describe(o operation) object {
	id := b.operationIDs.unique(o.id)
	if o.queried {
		b.queries[id] = o
	}
	described := object{
		{"tags", list{o.tag}}, {"operationId", id}, {"summary", o.summary}, {"description", o.description},
	}
	described.addIf(b.sunset() != "", "deprecated", true)
	described.addIf(b.secured() && o.public, "security", list{object{}, bearer}) // otherwise as the whole document says
	if b.versioned() && !o.anyVersion {
		o.parameters = append(o.parameters, b.versionParameter())
	}
	described.add("parameters", append(o.parameters, b.shared("X-Request-Id")))
	described.addIf(o.body != nil, "requestBody", o.body)
	responses := o.responses
	b.refuse(&responses, id, o.codes, o.headers...)
	described.add("responses", responses)
	return described
}

// nameAt is the name of one resource or of all, at a place, in the ids of operations: PostOfUser.
func (b *builder) nameAt(p place, many bool) string {
	name := b.titles[p.collection].one
	if many {
		name = b.titles[p.collection].many
	}
	if p.parent != nil {
		name += "Of" + b.titles[p.parent.To].one
	}
	return name
}

// phraseAt adds the place to a phrase for people: "a post" becomes "a post of a user".
func (b *builder) phraseAt(p place, text string) string {
	if p.parent != nil {
		text += " of " + suggest.Article(spaced(p.parent.To.Singular))
	}
	return text
}

// begin begins an operation on one resource or on many, such as "Get a post of a user". False: the reader may not.
func (b *builder) begin(verb schema.AccessVerb, p place, does string, many bool) (o operation, may bool) {
	c := p.collection
	what := suggest.Article(spaced(c.Singular))
	if many {
		what = spaced(c.Name)
	}
	o = operation{id: strings.ToLower(does) + b.nameAt(p, many), tag: c.Name, summary: does + " " + b.phraseAt(p, what)}
	may, o.public = b.may(verb, p)
	return o, may
}

// beginWrite is begin for a write.
func (b *builder) beginWrite(verb schema.AccessVerb, p place, does string, many bool) (o operation, may bool) {
	o, may = b.begin(verb, p, does, many)
	o.headers = writeHeaders
	return o, may && !p.collection.ReadOnly()
}

func (b *builder) list(p place) object {
	o, may := b.begin(schema.MayList, p, "List", true)
	if !may {
		return nil
	}
	o.queried = true
	c := p.collection
	o.description = "A range of the collection, filtered and sorted. The range is the half-open interval between `offset` and `offset + limit`, whichever is smaller first, cut to what exists. All filters that are given must hold."
	o.parameters = b.selection(c, b.limit)
	if p.parent == nil {
		o.parameters = append(o.parameters, b.fieldFilters(c)...)
	}
	o.parameters = append(append(o.parameters, b.partParameters(c)...), b.shared("Prefer-Count"), b.shared("If-Match"), b.shared("If-None-Match"))
	if streams(c) {
		o.parameters = append(o.parameters, b.streamParameters()...)
	}
	o.responses = object{{"200", b.listed(p)}, {"304", b.unchanged()}}
	o.codes = b.ofList(p)
	return b.describe(o)
}

func (b *builder) read(p place, singular bool) object {
	o, may := b.begin(schema.MayRead, p, "Get", false)
	if !may {
		return nil
	}
	o.queried = true
	c := p.collection
	o.description = "The whole resource, with its state as `ETag`, which a resource with related ones does not have."
	o.parameters = append(b.partParameters(c), b.shared("If-Match"), b.shared("If-None-Match"))
	o.responses = object{{"200", b.found(p, singular)}}
	o.codes = b.ofRead(p)
	if streams(c) {
		o.parameters = append(o.parameters, b.streamParameters()...)
		o.codes = append(o.codes, problem.CodeInvalidParameter, problem.CodeDuplicateParameter, problem.CodeTooManyRequests)
	}
	headers := []string{"ETag"}
	if singular {
		o.moveToSingular(c)
		headers = append(headers, "Content-Location")
	}
	o.responses.add("304", b.unchanged(headers...))
	return b.describe(o)
}

func (b *builder) create(p place) object {
	o, may := b.beginWrite(schema.MayCreate, p, "Create", false)
	if !may || p.parent != nil && !b.By.Writable(p.collection).Has(p.parent.Column) {
		return nil
	}
	c := p.collection
	o.description = "Creates one resource from an object, or all of an array or none, at most " + thousands(int64(b.MaxItems)) + "."
	if p.parent != nil {
		o.description += " The path says which " + spaced(p.parent.To.Singular) + " they belong to."
	}
	o.description += b.asyncText(c, "POST")
	o.parameters = list{b.onConflict(c), b.shared("dry_run"), b.shared("Idempotency-Key"), b.shared("Prefer-Async"), b.shared("If-Match"), b.shared("If-None-Match")}
	o.body = b.body(p, createVariant)
	o.responses = object{
		{"200", b.written(p, "Upserted", "With `on_conflict`: the resource that exists, as it is now, or for an array all of them. `ETag` is that of one resource.", b.oneOrAllOf, "ETag")},
		{"201", b.written(p, "Created", "The resource, or for an array all of them. `Location` and `ETag` are those of one resource.", b.oneOrAllOf, "Location", "ETag")},
		{"202", b.accepted(p)},
	}
	o.codes = b.ofWrite(p, createVariant)
	return b.describe(o)
}

func (b *builder) update(p place, v variant) object {
	does, method := "Replace", "PUT"
	description := "Sets every attribute: one that is left out goes to its default, or to null. It never creates a resource."
	if v == patchVariant {
		does, method = "Update", "PATCH"
		description = "Sets the attributes that are sent, each as a whole; null clears one."
	}
	o, may := b.beginWrite(schema.MayUpdate, p, does, false)
	if !may {
		return nil
	}
	c := p.collection
	o.description = description + " A change to the same values writes nothing." + b.asyncText(c, method)
	o.parameters = b.changeParameters(c)
	o.body = b.body(p, v)
	o.responses = object{{"200", b.written(p, "Changed", "The resource as it is now.", b.oneOf, "ETag")}, {"202", b.accepted(p)}}
	o.codes = b.ofWrite(p, v)
	return b.describe(o)
}

func (b *builder) delete(p place) object {
	o, may := b.beginWrite(schema.MayDelete, p, "Delete", false)
	if !may {
		return nil
	}
	o.description = "Answers with the resource as it last was." + b.asyncText(p.collection, "DELETE")
	o.parameters = b.changeParameters(p.collection)
	o.responses = object{{"200", b.written(p, "Deleted", "The resource as it last was.", b.oneOf)}, {"202", b.accepted(p)}}
	o.codes = b.ofDelete(p)
	return b.describe(o)
}

func (b *builder) changeParameters(c *model.Collection) list {
	ifMatch := "If-Match"
	if c.RequireIfMatch {
		ifMatch = "If-Match-Required"
	}
	return list{b.shared("dry_run"), b.shared(ifMatch), b.shared("If-None-Match"), b.shared("Idempotency-Key"), b.shared("Prefer-Async")}
}

// asyncText says that a collection answers a method before it is done.
func (b *builder) asyncText(c *model.Collection, method string) string {
	if !slices.Contains(c.Async, method) {
		return ""
	}
	return " Here it is always carried out later, and answered with 202, as if `Prefer: respond-async` had been sent."
}

// body is the body of a change. It stands in its operation: some generators of clients take no reference there.
func (b *builder) body(p place, v variant) object {
	c, givenByPath := p.collection, ""
	if p.parent != nil && v != patchVariant {
		givenByPath = p.parentAttribute().Name
	}
	one, example := b.schemaOf(p, v), b.example(c, v, givenByPath)
	content := jsonOf(one, example)
	if v == createVariant {
		media := object{{"schema", b.input(p, one)}}
		if example != nil {
			media.add("examples", object{
				{"one", object{{"summary", "One resource"}, {"value", example}}},
				{"several", object{{"summary", "Several, all or none"}, {"value", list{example}}}},
			})
		}
		content = object{{"application/json", media}}
	}
	return object{{"description", b.describeVariant(c, v) + " At most " + thousands(b.MaxBody) + " bytes."}, {"required", true}, {"content", content}}
}

// input refers to the schema of what creates: one resource, or an array of them. It has a name, because some generators have no
// usable type for a schema without.
func (b *builder) input(p place, one object) object {
	wanted := b.titles[p.collection].one + variantSuffixes[createVariant]
	if p.parent != nil {
		wanted += "Below" + b.titles[p.parent.To].one
	}
	return b.once(&b.schemas, "schemas", "input "+p.collection.Name+" "+wanted, wanted+"Input", func() object {
		return object{
			{"description", "One resource, or several of which all are created or none."},
			{"oneOf", list{one, object{{"type", "array"}, {"items", one}, {"maxItems", b.MaxItems}}}},
		}
	})
}
