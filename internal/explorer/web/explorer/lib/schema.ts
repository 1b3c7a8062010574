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
  search?: string[] // the attributes that are searched
  label?: string // the attribute that names a resource to people
}

export type Resource = { id: string; type: string } & Record<string, unknown>

/** Fields are the attributes and what every resource has in addition. */
export interface Field extends Attribute {
  own: boolean // set by the server
}

const given = (name: string, format?: string): Field => ({ name, type: 'string', required: true, own: true, ...(format && { format }) })

export function fieldsOf(collection: Collection, timestamps: boolean): Field[] {
  return [
    given('id', 'uuid'),
    ...collection.attributes.map((attribute) => ({ ...attribute, own: false })),
    ...(timestamps ? [given('created_at', 'date-time'), given('updated_at', 'date-time')] : []),
  ]
}

/** The field at a path: an attribute, a property of an object, or a field of a related resource. */
export function fieldAt(collection: Collection, path: string, find: (name: string) => Collection | undefined): Attribute | undefined {
  const own = fieldsOf(collection, true).find(({ name }) => name === path)
  if (own) return own
  const [first = '', ...rest] = path.split('.')
  const relation = collection.relations?.find(({ name }) => name === first)
  const to = relation && rest.length ? find(relation.collection) : undefined
  if (to) return fieldAt(to, rest.join('.'), find)
  let found: Omit<Attribute, 'name' | 'required'> | undefined = collection.attributes.find(({ name }) => name === first)
  for (const name of rest) found = found?.properties?.[name]
  return found && { ...found, name: path, required: false }
}

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
