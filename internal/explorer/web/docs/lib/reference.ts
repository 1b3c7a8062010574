// What the pages of the reference show, derived from the OpenAPI document.

import { attributesOf, type Attribute } from './attributes'
import { isFilter, operatorsOf, tableOf, type FilterRow, type Operator } from './filters'
import { resolve, type DocumentOperation, type DocumentParameter, type Info, type Json, type Media, type OpenAPI, type PathItem, type Schema } from './openapi'

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** What an operation does, by its path and method. The clients have a call for each but "other". */
export type Kind = 'list' | 'create' | 'updateMany' | 'deleteMany' | 'get' | 'replace' | 'update' | 'delete' | 'history' | 'groups' | 'changes' | 'change' | 'transaction' | 'other' | 'me' | 'keys' | 'createKey' | 'key' | 'revokeKey' | 'can'

export interface Parameter {
  name: string
  in: 'path' | 'query' | 'header'
  description: string
  required: boolean
  type: string
  values: string[] // that it can have; none: any
  list: boolean // several values with commas between them
  fallback?: string // its default
  example?: string
}

const COMMON = ['limit', 'offset', 'sort', 'search', 'by', 'sum', 'on_conflict', 'include']

/** Whether a parameter is often used; the others are shown on request. */
export const isCommon = (parameter: Parameter) => parameter.in === 'path' || parameter.required || COMMON.includes(parameter.name)

export interface Answer {
  status: string
  description: string
  headers: { name: string; description: string }[]
  example?: Json
}

export interface Refusal {
  status: string
  codes: string[]
}

export interface Body {
  description: string
  type: string
  members: Attribute[] // of a body that is not made from the attributes of a collection
  examples: { name: string; value: Json }[]
}

export interface Operation {
  id: string
  method: Method
  path: string
  kind: Kind
  summary: string
  description: string
  collection: string // its tag
  parent?: string // the collection of the parents, of an operation in a sub-collection
  open: boolean // needs no credentials
  version?: number // of the interface, that it belongs to
  filtered: boolean // takes the filters of its collection
  parameters: Parameter[] // without filters and second names
  body?: Body
  answers: Answer[]
  refusals: Refusal[]
}

export interface Section {
  name: string
  description: string
  attributes: Attribute[]
  relations: Attribute[]
  unique: string[][]
  filters: FilterRow[]
  operators: Operator[]
  further: string // about filters that cannot be listed
  operations: Operation[]
  singular?: string // the path by the singular
}

export interface Code {
  code: string
  status: string
  title: string
}

export interface Reference {
  info: Info
  guarded: boolean // there are credentials
  sections: Section[]
  codes: Code[]
}

const METHODS = ['get', 'post', 'put', 'patch', 'delete'] as const
const EVERYWHERE = ['X-Request-Id', 'X-Content-Type-Options', 'Vary', 'API-Version', 'Deprecation', 'Sunset'] // headers of every answer

export function referenceOf(document: OpenAPI): Reference {
  const all = operationsIn(document)
  return {
    info: document.info,
    guarded: (document.security ?? []).length > 0,
    sections: document.tags.map(({ name, description }) => sectionOf(document, name, description ?? '', all.get(name) ?? [])),
    codes: codesOf(document),
  }
}

/** The collection of the parents, in the path of a sub-collection. */
const parentOf = (path: string) => /^\/([^/]+)\/\{(?!id\})/.exec(path)?.[1]

interface Found {
  path: string
  method: (typeof METHODS)[number]
  operation: DocumentOperation
  item: PathItem
}

/** The operations by their tag. */
function operationsIn(document: OpenAPI): Map<string, Found[]> {
  const all = new Map<string, Found[]>()
  for (const [path, item] of Object.entries(document.paths))
    for (const method of METHODS) {
      const operation = item[method]
      const tag = operation?.tags[0]
      if (!operation || tag === undefined) continue
      if (!all.has(tag)) all.set(tag, [])
      all.get(tag)!.push({ path, method, operation, item })
    }
  return all
}

type Details = Omit<Section, 'name' | 'description' | 'singular'>

/** A section. Its details are derived when they are first asked for: a page shows one section of many. */
function sectionOf(document: OpenAPI, name: string, description: string, found: Found[]): Section {
  const singular = found.find(({ operation }) => operation.operationId.endsWith('AtSingular'))
  let known: Details | undefined
  const details = () => (known ??= detailsOf(document, found.filter((each) => each !== singular)))
  return {
    name,
    description,
    get attributes() {
      return details().attributes
    },
    get relations() {
      return details().relations
    },
    get unique() {
      return details().unique
    },
    get filters() {
      return details().filters
    },
    get operators() {
      return details().operators
    },
    get further() {
      return details().further
    },
    get operations() {
      return details().operations
    },
    ...(singular && { singular: singular.path }),
  }
}

function detailsOf(document: OpenAPI, found: Found[]): Details {
  const listed = [...found.filter(({ path }) => !parentOf(path)), ...found.filter(({ path }) => parentOf(path))]
  const taken = new Map(listed.map((each) => [each, [...(each.item.parameters ?? []), ...(each.operation.parameters ?? [])].map((parameter) => resolve(document, parameter))]))
  // The filters of histories are those of changes.
  const parameters = listed.filter(({ path }) => kindOf(path, 'GET') !== 'history').flatMap((each) => taken.get(each)!)
  const filters = parameters.filter((each) => isFilter(each.name))
  const conflict = parameters.find((each) => each.name === 'on_conflict')
  const read = schemaIn(document, listed, (operation) => dataOf(operation.responses['200'] && resolve(document, operation.responses['200']).content))
  const create = schemaIn(document, listed, (operation) => operation.requestBody && oneOf(document, jsonOf(resolve(document, operation.requestBody).content)?.schema), 'post')
  const { attributes, relations } = attributesOf(document, read, create)
  return {
    attributes,
    relations,
    unique: (conflict?.schema?.enum ?? []).filter((each) => each !== 'id').map((each) => String(each).split(',')),
    filters: tableOf(filters, attributes),
    operators: operatorsOf(filters),
    further: parameters.find((each) => each.name === 'filters')?.description ?? '',
    operations: listed.map((each) => operationOf(document, each, taken.get(each)!)),
  }
}

/** The schema of one resource in the first operation that has one. */
function schemaIn(document: OpenAPI, found: Found[], of: (operation: DocumentOperation) => Schema | undefined, method?: string): Schema | undefined {
  for (const { path, operation, method: its } of found) {
    if (isOfServer(path) || ['other', 'history'].includes(kindOf(path, its.toUpperCase() as Method)) || (method && its !== method)) continue
    const schema = of(operation)
    if (schema) return resolve(document, schema.type === 'array' && schema.items ? schema.items : schema)
  }
  return undefined
}

const jsonOf = (content: Record<string, Media> | undefined) => content?.['application/json']
const dataOf = (content: Record<string, Media> | undefined) => jsonOf(content)?.schema?.properties?.data

/** A creation takes one resource or an array of them. */
function oneOf(document: OpenAPI, schema: Schema | undefined): Schema | undefined {
  const one = schema && resolve(document, schema)
  return one?.oneOf?.[0] ?? one
}

function operationOf(document: OpenAPI, { path, method, operation }: Found, parameters: DocumentParameter[]): Operation {
  const parent = parentOf(path)
  const isVersion = (each: DocumentParameter) => each.in === 'header' && each.name === 'API-Version'
  const version = parameters.find(isVersion)?.schema?.const
  return {
    id: operation.operationId,
    method: method.toUpperCase() as Method,
    path,
    kind: kindOf(path, method.toUpperCase() as Method),
    summary: operation.summary,
    description: operation.description ?? '',
    collection: operation.tags[0]!,
    ...(parent && { parent }),
    ...(typeof version === 'number' && { version }),
    open: isOpen(operation.security ?? document.security ?? []),
    filtered: parameters.some((each) => isFilter(each.name) || each.name === 'filters'),
    parameters: parameters.filter((each) => !isFilter(each.name) && !isVersion(each) && !(each.in === 'query' && ['o', 'l', 'filters'].includes(each.name))).map(parameterOf),
    ...bodyOf(document, operation),
    ...answersOf(document, operation),
  }
}

/** Whether no credentials are needed: there are no alternatives, or one of them is empty. */
const isOpen = (security: Record<string, string[]>[]) => security.length === 0 || security.some((each) => Object.keys(each).length === 0)

// isOfServer reports whether a path is none of resources: /-/… or /.well-known/….
function isOfServer(path: string): boolean {
  return /^\/[-.]/.test(path)
}

const SYSTEM: Record<string, Kind> = { 'GET /-/me': 'me', 'GET /-/keys': 'keys', 'POST /-/keys': 'createKey', 'GET /-/keys/{prefix}': 'key', 'DELETE /-/keys/{prefix}': 'revokeKey', 'POST /-/can': 'can' }

export function kindOf(path: string, method: Method): Kind {
  if (path.startsWith('/-/groups/')) return 'groups'
  if (path === '/-/transaction') return 'transaction'
  if (isOfServer(path) || path === '/') return SYSTEM[`${method} ${path}`] ?? 'other'
  if (path === '/changes') return 'changes'
  if (path === '/changes/{id}') return 'change'
  if (path.endsWith('/{id}/changes')) return 'history'
  const one = path.endsWith('/{id}')
  const kinds = one ? { GET: 'get', POST: 'other', PUT: 'replace', PATCH: 'update', DELETE: 'delete' } : { GET: 'list', POST: 'create', PUT: 'other', PATCH: 'updateMany', DELETE: 'deleteMany' }
  return kinds[method] as Kind
}

function parameterOf(parameter: DocumentParameter): Parameter {
  const { schema = {}, example } = parameter
  const list = schema.type === 'array'
  const inner = list ? (schema.items ?? {}) : schema
  const text = (value: Json) => (Array.isArray(value) ? value.join(',') : String(value))
  return {
    name: parameter.name,
    in: parameter.in,
    description: parameter.description ?? '',
    required: parameter.required ?? false,
    type: [inner.type ?? 'string', inner.format && `(${inner.format})`].filter(Boolean).join(' '),
    values: (inner.enum ?? []).map(String),
    list,
    ...(schema.default !== undefined && { fallback: text(schema.default) }),
    ...(example !== undefined && { example: text(example) }),
  }
}

function bodyOf(document: OpenAPI, operation: DocumentOperation): { body?: Body } {
  if (!operation.requestBody) return {}
  const body = resolve(document, operation.requestBody)
  const media = jsonOf(body.content) ?? {}
  const examples = media.examples
    ? Object.values(media.examples).map(({ summary, value }) => ({ name: summary ?? 'Example', value }))
    : media.example !== undefined
      ? [{ name: 'Example', value: media.example }]
      : []
  const name = media.schema?.$ref?.split('/').at(-1) ?? ''
  const inline = name ? undefined : (media.schema?.items ?? media.schema)
  const members = attributesOf(document, undefined, inline).attributes.filter((each) => each.name !== 'type')
  return { body: { description: body.description ?? '', type: name.replace(/Input$/, ''), members, examples } }
}

function answersOf(document: OpenAPI, operation: DocumentOperation): { answers: Answer[]; refusals: Refusal[] } {
  const answers: Answer[] = []
  const refusals: Refusal[] = []
  for (const [status, given] of Object.entries(operation.responses)) {
    const response = resolve(document, given)
    const media = jsonOf(response.content)
    const errors = media?.schema?.properties?.errors
    if (errors) {
      const one = errors.prefixItems?.[0] ?? errors.items
      const codes = one?.allOf?.at(-1)?.properties?.code?.enum ?? []
      refusals.push({ status: status === 'default' ? 'other' : status, codes: codes.map(String) })
      continue
    }
    const headers = Object.entries(response.headers ?? {})
      .filter(([name]) => !EVERYWHERE.includes(name))
      .map(([name, header]) => ({ name, description: resolve(document, header).description ?? '' }))
    answers.push({ status, description: response.description, headers, ...(media?.example !== undefined && { example: media.example }) })
  }
  return { answers, refusals }
}

/** All error codes, from the table in the description of the error object. */
function codesOf(document: OpenAPI): Code[] {
  const text = document.components.schemas?.ErrorObject?.description ?? ''
  return [...text.matchAll(/^\| `(\w+)` \| (\d+) \| (.+) \|$/gm)].map(([, code, status, title]) => ({ code: code!, status: status!, title: title! }))
}
