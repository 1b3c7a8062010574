// The attributes of a resource with what their values must be.

import { resolve, type Json, type OpenAPI, type Schema } from './openapi'

export interface Attribute {
  name: string // with dots inside an object
  depth: number // 0: an attribute, otherwise inside one
  type: string
  description: string
  constraints: { text: string; code?: string }[]
  required: boolean // in a creation
  nullable: boolean
  readable: boolean
  writable: boolean
  fallback?: string // its default, as JSON
}

const BY_SERVER = ['id', 'type', 'created_at', 'updated_at']
const DEEPEST = 3

/** The attributes, and the relations, which only include adds. Every attribute is required in what is read. */
export function attributesOf(document: OpenAPI, read: Schema | undefined, create: Schema | undefined): { attributes: Attribute[]; relations: Attribute[] } {
  const names = [...new Set([...Object.keys(read?.properties ?? {}), ...Object.keys(create?.properties ?? {})])]
  const isRelation = (name: string) => read?.required !== undefined && read.properties?.[name] !== undefined && !read.required.includes(name)
  const isTotal = (name: string) => name.endsWith('_total') && isRelation(name.slice(0, -'_total'.length))
  const rows = (name: string): Attribute[] => {
    const shown = read?.properties?.[name]
    const sent = create?.properties?.[name]
    const schema = resolve(document, (shown ?? sent)!)
    const own = BY_SERVER.includes(name)
    const row = describe(schema, name, 0)
    row.required = !own && (create?.required?.includes(name) ?? false)
    row.readable = shown !== undefined
    row.writable = sent !== undefined && !sent.readOnly && !(own && name !== 'id')
    if (sent?.default !== undefined) row.fallback = JSON.stringify(sent.default)
    return [row, ...inside(document, schema, name, 1)]
  }
  return {
    attributes: names.filter((name) => !isRelation(name)).flatMap(rows),
    relations: names.filter((name) => isRelation(name) && !isTotal(name)).map((name) => describe(read!.properties![name]!, name, 0)),
  }
}

/** The properties of an object, or of the objects in an array. */
function inside(document: OpenAPI, schema: Schema, path: string, depth: number): Attribute[] {
  const object = schema.items ? resolve(document, schema.items) : schema
  if (depth > DEEPEST || !object.properties) return []
  return Object.entries(object.properties).flatMap(([name, given]) => {
    const property = resolve(document, given)
    const row = describe(property, `${path}${schema.items ? '[]' : ''}.${name}`, depth)
    row.required = object.required?.includes(name) ?? false
    return [row, ...inside(document, property, row.name, depth + 1)]
  })
}

function describe(schema: Schema, name: string, depth: number): Attribute {
  const types = [schema.type ?? (schema.oneOf ? 'object' : 'any')].flat()
  return {
    name,
    depth,
    type: typeText(schema),
    description: schema.description ?? '',
    constraints: constraintsOf(schema, name),
    required: false,
    nullable: types.includes('null'),
    readable: true,
    writable: true,
  }
}

function typeText(schema: Schema): string {
  const type = [schema.type ?? (schema.oneOf ? 'object' : 'any')].flat().find((each) => each !== 'null') ?? 'any'
  if (type === 'array') return schema.items && Object.keys(schema.items).length > 0 && !schema.items.$ref ? `array of ${typeText(schema.items)}` : 'array'
  const format = schema.format === 'int64' || schema.format === 'double' ? undefined : schema.format
  return format ? `${type} (${format})` : type
}

const FIXED = ['uuid', 'date-time', 'date'] // formats whose pattern says nothing new

function constraintsOf(schema: Schema, name: string): Attribute['constraints'] {
  const found: Attribute['constraints'] = []
  const say = (text: string, code?: Json) => found.push(code === undefined ? { text } : { text, code: typeof code === 'string' ? code : JSON.stringify(code) })
  if (name === 'type' && schema.const !== undefined) say('always', schema.const)
  const values = schema.enum?.filter((each) => each !== null)
  if (values) for (const [i, value] of values.entries()) say(i === 0 ? 'one of' : '', value)
  const between = (low: number | undefined, high: number | undefined, what: string) => {
    if (low !== undefined && high !== undefined) say(low === high ? `exactly ${low} ${what}` : `${low} to ${high} ${what}`)
    else if (low !== undefined) say(`at least ${low} ${what}`)
    else if (high !== undefined) say(`at most ${high} ${what}`)
  }
  between(schema.minLength, schema.maxLength, 'characters')
  between(schema.minItems, schema.maxItems, 'items')
  between(schema.minimum, schema.maximum, '')
  if (schema.exclusiveMinimum !== undefined) say(`more than ${schema.exclusiveMinimum}`)
  if (schema.exclusiveMaximum !== undefined) say(`less than ${schema.exclusiveMaximum}`)
  if (schema.multipleOf !== undefined) say(`a multiple of ${schema.multipleOf}`)
  if (schema.pattern && !FIXED.includes(schema.format ?? '')) say('matches', schema.pattern)
  if (schema.additionalProperties === false && schema.properties) say('no other members')
  return found.map((each) => ({ ...each, text: each.text.trim() }))
}
