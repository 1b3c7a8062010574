// The document as the page shows it.
//
// Swagger UI fills every parameter that has an example or a default into the form, and
// sends them all: an offset with a cursor, both names of the limit, an If-Match of some
// other resource. So those of optional parameters are in their description instead.

import { foldFilters, isFolded } from './filters'

type Json = { [name: string]: unknown }

export function forTrying(document: Json): Json {
  const components = (document.components ?? {}) as { parameters?: Record<string, Json> }
  for (const operation of operationsOf(document)) operation.parameters = foldFilters(operation.parameters!, components.parameters ?? {})
  for (const [name, parameter] of Object.entries(components.parameters ?? {})) if (isFolded(parameter)) delete components.parameters![name]
  for (const parameter of parametersOf(document)) {
    if (parameter.required || parameter.$ref) continue
    const schema = (parameter.schema ?? {}) as Json
    const notes = [
      ...(schema.default === undefined ? [] : [`Default: \`${write(schema.default)}\`.`]),
      ...(parameter.example === undefined ? [] : [`Example: \`${write(parameter.example)}\`.`]),
    ]
    parameter.description = [parameter.description, ...notes].filter(Boolean).join(' ')
    parameter.schema = { ...schema }
    for (const name of ['default', 'example', 'examples']) delete (parameter.schema as Json)[name]
    delete parameter.example
    delete parameter.examples
  }
  return document
}

function* parametersOf(document: Json): Iterable<Json> {
  const components = (document.components ?? {}) as { parameters?: Record<string, Json> }
  yield* Object.values(components.parameters ?? {})
  for (const operation of operationsOf(document)) yield* operation.parameters!
}

/** Operations that have parameters, and paths that have some for all of theirs. */
function* operationsOf(document: Json): Iterable<{ parameters?: Json[] }> {
  for (const path of Object.values((document.paths ?? {}) as Record<string, Json>))
    for (const operation of [path, ...Object.values(path)] as { parameters?: Json[] }[]) if (operation?.parameters) yield operation
}

const write = (value: unknown) => (Array.isArray(value) ? value.join(',') : String(value))
