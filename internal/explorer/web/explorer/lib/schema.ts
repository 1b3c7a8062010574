// The description of the collections (GET /), and what is derived from it.

export type Kind = 'string' | 'integer' | 'number' | 'boolean' | 'object' | 'array'

export interface Attribute {
  name: string
  type: Kind
  required: boolean
  format?: string
  references?: string
  enum?: unknown[]
  default?: unknown
  description?: string
  contentMediaType?: string
  minLength?: number
  maxLength?: number
  minimum?: number
  maximum?: number
  pattern?: string
  minItems?: number
  maxItems?: number
  items?: { type?: Kind }
  computed?: string | null // its expression; null: the caller may not know it
  when?: 'create' // it is computed once
  write_once?: true
  transitions?: Record<string, string[]> // the states that may follow each state
  initial?: string[] // of new resources
  properties?: Record<string, Omit<Attribute, 'name' | 'required'>>
}

/** A relation of a collection, by which related resources are included and filtered. */
export interface Relation {
  name: string
  collection: string // of the related resources
  many: boolean
  attribute: string // that refers to the other resource
}

export interface Collection {
  name: string
  singular: string
  total: number | null
  attributes: Attribute[]
  relations?: Relation[]
  checks?: { rule: string; message: string; attribute?: string }[]
  search?: string[] // the attributes that are searched
  label?: string // the attribute that names a resource to people
}

export type Find = (name: string) => Collection | undefined

export type Resource = { id: string; type: string } & Record<string, unknown>

/** Fields are the attributes and what every resource has in addition. */
export interface Field extends Attribute {
  own: boolean // set by the server
  searched: boolean // by its words
}

/** What a filter or a sort compares: a value, whether a relation has resources, or the number of related resources. */
export interface Target extends Omit<Attribute, 'type'> {
  type: Kind | 'relation' | 'count'
  searched?: boolean
}

const given = (name: string, format?: string): Field => ({ name, type: 'string', required: true, own: true, searched: false, ...(format && { format }) })

export function fieldsOf(collection: Collection, timestamps: boolean): Field[] {
  return [
    given('id', 'uuid'),
    ...collection.attributes.map((attribute) => ({ ...attribute, own: false, searched: attribute.type === 'string' && (attribute.name === collection.label || !!collection.search?.includes(attribute.name)) })),
    ...(timestamps ? [given('created_at', 'date-time'), given('updated_at', 'date-time')] : []),
  ]
}

/** What is at a path: an attribute, a property of an object, a field of a related resource, a relation, or a count of related resources. */
export function fieldAt(collection: Collection, path: string, find: Find): Target | undefined {
  const own = fieldsOf(collection, true).find(({ name }) => name === path)
  if (own) return own
  const [first = '', ...rest] = path.split('.')
  const relation = collection.relations?.find(({ name }) => name === first)
  if (relation && !rest.length) return { name: path, type: 'relation', required: true }
  const to = relation && find(relation.collection)
  if (to) return fieldAt(to, rest.join('.'), find)
  if (countsOf(collection).includes(path)) return { name: path, type: 'count', required: true }
  let found: Omit<Attribute, 'name' | 'required'> | undefined = collection.attributes.find(({ name }) => name === first)
  for (const name of rest) found = found?.properties?.[name]
  return found && { ...found, name: path, required: false }
}

/** The counts of related resources. Where something is called "count", they are paths into that. */
export const countsOf = ({ attributes, relations = [] }: Collection): string[] =>
  [...attributes, ...relations].some(({ name }) => name === 'count') ? [] : relations.filter(({ many }) => many).map(({ name }) => `count.${name}`)

/** The relation to many that a path begins with, so that it leads to several values. */
export const manyAt = (collection: Collection, path: string): Relation | undefined => collection.relations?.find(({ name, many }) => many && name === path.split('.')[0] && name !== path)

/** Whether a path leads to other resources. */
export const isThrough = (collection: Collection, path: string): boolean =>
  path.startsWith('count.') ? countsOf(collection).includes(path) : !!collection.relations?.some(({ name }) => name === path.split('.')[0])

const NAMES = ['name', 'title', 'label', 'email', 'subject', 'slug']
const NUMBERS = ['number', 'no', 'code']

/** The attribute that names a resource: the declared label, the first required text, the likeliest text, or a number by which people know it. */
export function labelAttribute(collection: Collection): string | undefined {
  if (collection.label) return collection.label
  const texts = collection.attributes.filter((a) => a.type === 'string' && !a.references && !a.enum && (!a.format || a.format === 'email'))
  return (texts.find((a) => a.required) ?? NAMES.map((name) => texts.find((a) => a.name === name)).find(Boolean) ?? texts[0] ?? collection.attributes.find((a) => a.type === 'integer' && a.required && NUMBERS.includes(a.name)))?.name
}

/** The label of a resource, or null if it has none. */
export function labelOf(collection: Collection, resource: Resource): string | null {
  const name = labelAttribute(collection)
  const value = name && resource[name]
  if (typeof value === 'number' || typeof value === 'bigint') return String(value)
  return typeof value === 'string' && value.trim() ? value : null
}

export const nameOf = (collection: Collection, resource: Resource): string => labelOf(collection, resource) ?? shortId(resource.id)

/** The collection that an attribute refers to, through a relation that can be included. */
export const relationOf = (collection: Collection, attribute: string): Relation | undefined =>
  collection.relations?.find((relation) => !relation.many && relation.attribute === attribute)

export const isId = (text: string) => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text)

/** The ends of an id: version 7 begins with the time, so that neighbours differ at the end. */
export function shortId(id: string): string {
  return `${id.slice(0, 8)}…${id.slice(-4)}`
}

export const isReference = (value: unknown): value is { id: string; type: string } =>
  typeof value === 'object' && value !== null && typeof (value as Resource).id === 'string' && typeof (value as Resource).type === 'string'

export const isMarkdown = (field: Attribute) => field.type === 'string' && field.contentMediaType === 'text/markdown'

export const isNumeric = (field: Attribute) => field.type === 'integer' || field.type === 'number'

/** Whether values are aligned by their last digits. Decimals are strings. */
export const isAlignedRight = (field: Attribute) => isNumeric(field) || (field.type === 'string' && field.format === 'decimal')

const counter = new Intl.NumberFormat('en')
export const count = (n: number) => counter.format(n)

/** "1 user", "2,000 users" */
export const counted = (n: number, collection: Collection) => `${count(n)} ${n === 1 ? collection.singular : collection.name}`
