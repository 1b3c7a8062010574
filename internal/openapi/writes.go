package openapi

import (
	"strings"

	"github.com/plural-go/plural/internal/auth"
	"github.com/plural-go/plural/internal/model"
	"github.com/plural-go/plural/problem"
	"github.com/plural-go/plural/schema"
)

// What writes to several resources at once: ranges, upserts and transactions.

// onConflict is the parameter that makes an upsert of a creation.
func (b *builder) onConflict(c *model.Collection) object {
	groups := list{"id"}
	for _, group := range c.GivenGroups() {
		var names []string
		for _, column := range group {
			if b.By.Visible(c).Has(column) {
				names = append(names, c.Columns()[column].Name)
			}
		}
		if len(names) == len(group) {
			groups = append(groups, strings.Join(names, ","))
		}
	}
	return b.inQuery(c.Name+".on_conflict", "on_conflict",
		"A unique attribute, or all of a unique group with commas between them. A resource that has the same values is changed as by PATCH, and only the attributes that are sent: 200. Otherwise it is created: 201. Of an array, 201 means that all were created.",
		object{{"type", "string"}, {"enum", groups}}, groups[len(groups)-1])
}

// limitOfRange is the limit of a write, which has no default.
func (b *builder) limitOfRange(name string) object {
	return b.inQuery("Range."+name, name,
		"How many resources are changed: a negative number counts back from where the range starts. Without it, all of them.", limitSchema(b.MaxLimit), 1)
}

// writeRange is an update or a deletion of the resources of a range, which the reader must be able to list.
func (b *builder) writeRange(p place, verb schema.AccessVerb, does string) object {
	o, may := b.beginWrite(verb, p, does, true)
	mayList, publicList := b.may(schema.MayList, p)
	if !may || !mayList {
		return nil
	}
	o.public = o.public && publicList
	o.parameters = append(b.selection(p.collection, b.limitOfRange), b.shared("dry_run"), b.shared("Idempotency-Key"))
	text := " the resources that GET lists with the same query, without a default limit: all of them or none. A filter or a range is required. More than " +
		thousands(int64(b.MaxItems)) + " resources are 413. It is always carried out at once."
	if verb == schema.MayUpdate {
		o.description = "Sets the attributes that are sent, in" + text
		o.body = b.body(p, patchVariant)
		o.codes = append(b.ofRange(p), b.ofWrite(p, patchVariant)...)
	} else {
		o.description = "Deletes" + text + " Answers with the resources as they last were. References between them do not keep them from being deleted."
		o.codes = append(b.ofRange(p), b.ofDelete(p)...)
	}
	o.responses = object{{"200", b.written(p, "Range", "All resources of the range, in its order.", b.allOf)}}
	return b.describe(o)
}

// ofRange is the codes of a write to a range, in addition to those of a write to one resource.
func (b *builder) ofRange(p place) []problem.Code {
	codes := append(b.ofSelection(p.collection), problem.CodeFilterRequired, problem.CodeTooManyItems)
	if p.collection.RequireIfMatch {
		codes = append(codes, problem.CodePreconditionRequired)
	}
	return codes
}

// mayWrite reports whether the reader, or everybody, may write anything.
func (b *builder) mayWrite(by *auth.Permit) bool {
	for _, c := range b.schema.Collections() {
		if by.May(schema.MayCreate, c) || by.May(schema.MayUpdate, c) || by.May(schema.MayDelete, c) {
			return true
		}
	}
	return false
}

// transaction is the path that executes several writes; nil: the reader may write nothing.
func (b *builder) transaction() object {
	if !b.mayWrite(b.By) {
		return nil
	}
	step := closedObject("", object{
		{"method", object{{"type", "string"}, {"enum", list{"POST", "PUT", "PATCH", "DELETE"}}}},
		{"path", object{{"type", "string"}, {"minLength", 1}, {"description", "The path of a collection for POST, which may have on_conflict as its query, and of one resource for the others. It starts at the root of the interface."}}},
		{"body", object{{"type", "object"}, {"description", "The attributes. Not for DELETE."}, {"additionalProperties", true}}},
		{"if_match", object{{"type", "string"}, {"description", "As the header If-Match."}}},
	}, list{"method", "path"})
	shape := object{{"type", "array"}, {"items", step}, {"maxItems", b.MaxItems}}
	one := object{
		{"type", "object"}, {"properties", object{{"id", object{{"type", "string"}, {"format", "uuid"}, {"pattern", idOut}}}, {"type", object{{"type", "string"}}}}},
		{"required", list{"id", "type"}}, {"additionalProperties", true},
	}
	return object{{"post", b.describe(operation{
		id: "runTransaction", tag: serverTag, public: b.secured() && b.mayWrite(b.Public),
		summary:     "Run a transaction",
		description: "Executes the steps in their order, all or none. The first refusal is the answer; its pointer starts with the position of the step. At most " + thousands(int64(b.MaxItems)) + " steps. It is always carried out at once.",
		parameters:  list{b.shared("dry_run"), b.shared("Idempotency-Key")},
		body: object{{"description", "The steps. At most " + thousands(b.MaxBody) + " bytes."}, {"required", true}, {"content", jsonOf(shape, list{
			object{{"method", "DELETE"}, {"path", "/" + b.exampleName() + "/" + exampleID}, {"if_match", `"1a.1.k3"`}},
		})}},
		responses: object{{"200", b.answer("The resource of each step, as it was after the step; of DELETE, as it last was.",
			jsonOf(enveloped(arrayOf(one)), dataOf(list{object{{"id", exampleID}, {"type", b.exampleName()}}})),
			append([]string{"X-Affected", "X-Deleted"}, writeHeaders...)...)}},
		codes: b.ofTransaction(), headers: writeHeaders,
	})}}
}

// ofTransaction is the codes of every write.
func (b *builder) ofTransaction() []problem.Code {
	codes := []problem.Code{
		problem.CodeMalformedJSON, problem.CodeTooDeep, problem.CodeUnknownParameter, problem.CodeMalformedQuery, problem.CodeNotAcceptable, problem.CodeInvalidParameter, problem.CodeDuplicateParameter,
		problem.CodeBodyTooLarge, problem.CodeTooManyItems, problem.CodeUnsupportedMediaType, problem.CodeNotFound, problem.CodeIDExists, problem.CodeNotUnique, problem.CodeReferenced,
		problem.CodePreconditionRequired, problem.CodeParentMismatch, problem.CodeUnknownReference, problem.CodeEnum, problem.CodeRefused, problem.CodeRequired,
	}
	for _, c := range b.schema.Collections() {
		codes = append(append(codes, b.ofRules(c)...), b.ofBody(place{collection: c}, createVariant)...)
	}
	return append(append(append(codes, b.unknown()...), b.ofChange()...), b.anywhere()...)
}
