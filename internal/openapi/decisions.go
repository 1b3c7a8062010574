package openapi

import (
	"slices"

	"github.com/plural-go/plural/problem"
	"github.com/plural-go/plural/schema"
)

// decisions is the path that explains what a role may do; none if the reader may not ask.
func (b *builder) decisions() object {
	if len(b.grantable()) == 0 {
		return nil
	}
	roles, verbs := texts(b.grantable()), texts(schema.AccessVerbs())
	if !slices.Contains(b.grantable(), schema.PublicRole) {
		roles = append(roles, schema.PublicRole)
	}
	textOrNull := func(description string) object {
		return object{{"type", list{"string", "null"}}, {"minLength", 1}, {"maxLength", 255}, {"pattern", `^[^\x00-\x1f\x7f-\x9f]*$`}, {"description", description}}
	}
	input := append(closedObject("", object{
		{"type", object{{"type", "string"}, {"const", "decisions"}}},
		{"role", object{{"type", "string"}, {"enum", roles}, {"description", "The role that is asked about: one that your role may grant, or `public`."}}},
		{"sub", textOrNull("What `auth.sub` is in rules. Default: the caller has none.")},
		{"claims", object{{"type", list{"object", "null"}}, {"description", "What `auth.claims` is in rules. Default: empty."}}},
		{"collection", textOrNull("The name of a collection. Default: all that you or the role may know of.")},
		{"resource_id", object{{"type", list{"string", "null"}}, {"format", "uuid"}, {"description", "A resource of the collection that you may read. Default: resources in general."}}},
		{"verb", object{{"type", list{"string", "null"}}, {"enum", append(append(list{}, verbs...), nil)}, {"description", "Default: all verbs."}}},
	}, list{"role"}), member{"if", given("resource_id")}, member{"then", given("collection")})
	nullable := object{{"type", list{"string", "null"}}}
	properties := object{
		{"id", object{{"type", "string"}, {"format", "uuid"}, {"pattern", idOut}}},
		{"type", object{{"type", "string"}, {"const", "decisions"}}},
		{"role", object{{"type", "string"}, {"enum", roles}}},
		{"sub", nullable},
		{"collection", object{{"type", "string"}}},
		{"resource_id", nullable},
		{"verb", object{{"type", "string"}, {"enum", verbs}}},
		{"decision", object{{"type", "string"}, {"enum", list{"yes", "no", "depends"}}, {"description", "`depends`: a rule decides for each resource."}}},
		{"reasons", object{{"type", "array"}, {"items", object{{"type", "string"}}}, {"description", "For people, in the order of evaluation, with the text of rules."}}},
	}
	name := b.exampleName()
	example := object{
		{"id", exampleID}, {"type", "decisions"}, {"role", roles[0]}, {"sub", "ada"}, {"collection", name}, {"resource_id", nil}, {"verb", "read"}, {"decision", "yes"},
		{"reasons", list{roles[0].(string) + " is granted read in " + name, "read has no rule: every resource"}},
	}
	return object{{"/-/can", object{{"post", b.describe(operation{
		id: "explainAccess", tag: serverTag, summary: "Explain what a role may do",
		description: "Explains what a caller with a role may do, as `plural can` does: one decision for each verb and collection that the question is about. It changes nothing. An `Idempotency-Key` is refused.",
		body:        object{{"description", "Who is asked about, and what."}, {"required", true}, {"content", jsonOf(input, object{{"role", roles[0]}, {"sub", "ada"}, {"collection", name}, {"verb", "read"}})}},
		responses:   object{{"200", b.answer("The decisions.", jsonOf(enveloped(arrayOf(fixedObject("", properties))), dataOf(list{example})), "Cache-Control")}},
		codes: append([]problem.Code{
			problem.CodeUnknownParameter, problem.CodeMalformedQuery, problem.CodeNotAcceptable,
			problem.CodeMalformedJSON, problem.CodeTooDeep, problem.CodeBodyTooLarge, problem.CodeUnsupportedMediaType, problem.CodeUnknownAttribute, problem.CodeWrapped, problem.CodeNotAnObject,
			problem.CodeRequired, problem.CodeType, problem.CodeFormat, problem.CodeMinLength, problem.CodeMaxLength, problem.CodePattern, problem.CodeEnum, problem.CodeReadOnly, problem.CodeTooManyItems, problem.CodeNullCharacter, problem.CodeOutOfRange,
			problem.CodeUnknownReference,
		}, b.anywhere()...),
	})}}}}
}

// given requires that a member is there, and not null.
func given(name string) object {
	return object{{"properties", object{{name, object{{"type", "string"}}}}}, {"required", list{name}}}
}
