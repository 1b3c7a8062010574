package openapi

import (
	"slices"

	"github.com/plural-go/plural/problem"
	"github.com/plural-go/plural/schema"
)

const examplePrefix = "k7f3q2m5xa"

// keys is the paths of the API keys; none if the reader may not manage any.
func (b *builder) keys() object {
	names := texts(b.grantable())
	if len(names) == 0 {
		return nil
	}
	one := b.keyObject(names)
	withSecret := b.keyObject(names, member{"key", object{{"type", "string"}, {"pattern", "^plural_[a-z2-7]{10}_[a-z2-7]{52}$"}, {"description", "The API key itself. It is shown only here, and cannot be read again."}}})
	given := object{
		{"type", object{{"type", "string"}, {"const", "keys"}}},
		{"name", object{{"type", "string"}, {"minLength", 1}, {"maxLength", 255}, {"pattern", `^[^\x00-\x1f\x7f-\x9f]*$`}, {"description", "What the key is for."}}},
		{"role", object{{"type", "string"}, {"enum", names}, {"description", "The role of its holder: one that your role may grant."}}},
		{"sub", object{{"type", list{"string", "null"}}, {"minLength", 1}, {"maxLength", 255}, {"pattern", `^[^\x00-\x1f\x7f-\x9f]*$`}, {"description", "What `auth.sub` is in rules. Default: the prefix of the key."}}},
		{"expires_at", object{{"type", list{"string", "null"}}, {"format", "date-time"}, {"pattern", dateTimeIn}, {"description", "When the key expires, in the future. Default: never."}}},
	}
	given.addIf(b.versioned(), "api_version", object{{"type", list{"integer", "null"}}, {"minimum", 1},
		{"description", "The version of the interface that requests with the key have, unless they have `API-Version`: one that is served. Default: the newest."}})
	given.add("agent_writes", object{{"type", list{"boolean", "null"}}, {"description", "Whether agents with the key may write what its role may write. Default: they only read."}})
	input := closedObject("", given, list{"name", "role"})
	example := object{
		{"id", exampleID}, {"type", "keys"}, {"prefix", examplePrefix}, {"name", "ci"}, {"role", names[0]}, {"sub", examplePrefix},
		{"created_at", exampleTime}, {"expires_at", nil}, {"revoked_at", nil},
	}
	plain := append([]problem.Code{problem.CodeUnknownParameter, problem.CodeMalformedQuery, problem.CodeNotAcceptable}, b.anywhere()...)
	reading := append([]problem.Code{problem.CodeUnexpectedBody}, plain...)
	answer := func(description string, data, example any, headers ...string) object {
		return b.answer(description, jsonOf(enveloped(data), dataOf(example)), append([]string{"Cache-Control"}, headers...)...)
	}
	prefix := list{object{
		{"name", "prefix"}, {"in", "path"}, {"required", true}, {"description", "The ten characters after `plural_` in the API key."},
		{"schema", object{{"type", "string"}, {"pattern", "^[a-z2-7]{10}$"}}}, {"example", examplePrefix},
	}}
	return object{
		{"/-/keys", object{
			{"get", b.describe(operation{
				id: "listKeys", tag: serverTag, summary: "List API keys",
				description: "The API keys of the roles that your role may grant, the oldest first, also those that are revoked or expired. Secrets are not stored.",
				responses:   object{{"200", answer("All of them.", arrayOf(one), list{example}, "X-Total-Count")}}, codes: reading,
			})},
			{"post", b.describe(operation{
				id: "createKey", tag: serverTag, summary: "Create an API key",
				description: "Creates an API key of a role that your role may grant. The response has the key itself, once. An `Idempotency-Key` is refused, because the secret is not stored.",
				body:        object{{"description", "What the key is for, and its role."}, {"required", true}, {"content", jsonOf(input, object{{"name", "ci"}, {"role", names[0]}})}},
				responses:   object{{"201", answer("The API key, with its secret.", withSecret, append(append(object{}, example...), member{"key", "plural_" + examplePrefix + "_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"}), "Location")}},
				codes: append([]problem.Code{
					problem.CodeMalformedJSON, problem.CodeTooDeep, problem.CodeBodyTooLarge, problem.CodeUnsupportedMediaType, problem.CodeUnknownAttribute, problem.CodeWrapped, problem.CodeNotAnObject,
					problem.CodeRequired, problem.CodeType, problem.CodeFormat, problem.CodeMinLength, problem.CodeMaxLength, problem.CodePattern, problem.CodeMinimum, problem.CodeEnum, problem.CodeOutOfRange, problem.CodeReadOnly, problem.CodeTooManyItems, problem.CodeNullCharacter, problem.CodeStorageFull,
				}, plain...),
			})},
		}},
		{"/-/keys/{prefix}", pathItem(prefix,
			member{"get", b.describe(operation{
				id: "getKey", tag: serverTag, summary: "Get an API key", description: "One API key, without its secret.",
				responses: object{{"200", answer("The API key.", one, example)}}, codes: append([]problem.Code{problem.CodeNotFound}, reading...),
			})},
			member{"delete", b.describe(operation{
				id: "revokeKey", tag: serverTag, summary: "Revoke an API key",
				description: "From now on the key is refused, on every server; its streams end within ten seconds. It stays in the list. One that is revoked already keeps its time.",
				responses:   object{{"200", answer("The API key, with `revoked_at`.", one, append(append(object{}, example[:8]...), member{"revoked_at", exampleTime}))}},
				codes:       append([]problem.Code{problem.CodeNotFound}, reading...),
			})},
		)},
	}
}

// keyObject is the schema of an API key, with more members.
func (b *builder) keyObject(roles list, more ...member) object {
	properties, required := append(keyProperties(roles), more...), list{}
	for _, each := range properties {
		required = append(required, each.name)
	}
	properties.addIf(b.versioned(), "api_version", object{{"type", "integer"}, {"description", "The version of the interface that requests with the key have, unless they have `API-Version`. Left out: the newest."}})
	properties.add("agent_writes", object{{"type", "boolean"}, {"const", true}, {"description", "Agents with the key may write what its role may write. Left out: they only read."}})
	return closedObject("", properties, required)
}

// keyProperties is the members of an API key.
func keyProperties(roles list) object {
	at := object{{"type", "string"}, {"format", "date-time"}, {"pattern", dateTimeOut}}
	never := object{{"type", list{"string", "null"}}, {"format", "date-time"}, {"pattern", dateTimeOut}}
	text := object{{"type", "string"}}
	return object{
		{"id", object{{"type", "string"}, {"format", "uuid"}, {"pattern", idOut}}},
		{"type", object{{"type", "string"}, {"const", "keys"}}},
		{"prefix", object{{"type", "string"}, {"pattern", "^[a-z2-7]{10}$"}, {"description", "What follows `plural_` in the key. It identifies the key."}}},
		{"name", text}, {"role", object{{"type", "string"}, {"enum", roles}}}, {"sub", text},
		{"created_at", at}, {"expires_at", never}, {"revoked_at", never},
	}
}

// me is the path at which callers see who they are.
func (b *builder) me() member {
	textOrNull := func(description string) object {
		return object{{"type", list{"string", "null"}}, {"description", description}}
	}
	names := object{{"type", "array"}, {"items", object{{"type", "string"}}}}
	verbs, example := object{}, object{}
	extents := object{{"type", "string"}, {"enum", list{"yes", "no", "depends"}}}
	for _, verb := range schema.AccessVerbs() {
		verbs.add(string(verb), extents)
		example.add(string(verb), "yes")
	}
	properties := object{
		{"id", object{{"type", "string"}, {"format", "uuid"}, {"pattern", idOut}}},
		{"type", object{{"type", "string"}, {"const", "callers"}}},
		{"caller", textOrNull("Who you are in logs and changes: `key:` and the prefix of your API key, or `token:` and your subject. Null without credentials.")},
		{"role", textOrNull("Null if your credentials give you no role, or if there are no roles.")},
		{"sub", textOrNull("What `auth.sub` is in rules.")},
		{"key_name", textOrNull("The name of your API key.")},
		{"expires_at", object{{"type", list{"string", "null"}}, {"format", "date-time"}, {"description", "When your credentials expire."}}},
		{"metrics", object{{"type", "boolean"}, {"description", "Whether you may read the metrics."}}},
		{"keys", append(append(object{}, names...), member{"description", "The roles whose API keys you may create, list and revoke."})},
		{"collections", object{{"type", "array"}, {"description", "The collections that you may use."}, {"items", closedObject("", object{
			{"name", object{{"type", "string"}}},
			{"may", fixedObject("What you may do: with all resources (`yes`), with none (`no`), or with those that rules select (`depends`).", verbs)},
			{"visible", names}, {"writable", names},
			{"transitions", object{{"type", "object"}, {"description", "Of each lifecycle: whether you may bring resources into a state, if you may otherwise create or update them. Left out if there is none."},
				{"additionalProperties", object{{"type", "object"}, {"additionalProperties", extents}}}}},
		}, list{"name", "may", "visible", "writable"})}}},
	}
	properties.addIf(b.versioned(), "api_version", object{{"type", "integer"}, {"const", b.Version}, {"description", "The version of the interface that the request had."}})
	required := list{}
	for _, each := range properties {
		required = append(required, each.name)
	}
	properties.add("agent_writes", object{{"type", "boolean"}, {"const", true}, {"description", "Agents may write on your behalf at `/-/mcp`. Left out: they only read."}})
	shown := object{
		{"id", exampleID}, {"type", "callers"}, {"caller", "key:" + examplePrefix}, {"role", "editor"}, {"sub", examplePrefix}, {"key_name", "ci"}, {"expires_at", nil},
		{"metrics", false}, {"keys", list{}}, {"collections", list{object{{"name", b.exampleName()}, {"may", example}, {"visible", list{}}, {"writable", list{}}}}},
	}
	shown.addIf(b.versioned(), "api_version", b.Version)
	return member{"/-/me", object{{"get", b.describe(operation{
		id: "getMe", tag: serverTag, public: true,
		summary: "Who am I", description: "Who the caller is, and what the caller may do in each collection.",
		responses: object{{"200", b.answer("The caller.", jsonOf(enveloped(closedObject("", properties, required)), dataOf(shown)), "Cache-Control")}},
		codes:     append(ofReading(), b.anywhere()...),
	})}}}
}

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
