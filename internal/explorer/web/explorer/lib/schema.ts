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
  minLength?: number
  maxLength?: number
  minimum?: number
  maximum?: number
  pattern?: string
}

export interface Collection {
  name: string
  singular: string
  total: number | null
  attributes: Attribute[]
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

const NAMES = ['name', 'title', 'label', 'email', 'subject', 'slug']

/** The attribute by which people recognise a resource. */
export function nameAttribute(collection: Collection): string | undefined {
  const texts = collection.attributes.filter((a) => a.type === 'string' && !a.references && !a.enum && (!a.format || a.format === 'email'))
  return (NAMES.map((name) => texts.find((a) => a.name === name)).find(Boolean) ?? texts[0])?.name
}

export function nameOf(collection: Collection, resource: Resource): string {
  const name = nameAttribute(collection)
  const value = name && resource[name]
  return typeof value === 'string' && value.trim() ? value : shortId(resource.id)
}

/** The ends of an id: version 7 begins with the time, so that neighbours differ at the end. */
export function shortId(id: string): string {
  return `${id.slice(0, 8)}…${id.slice(-4)}`
}

export const isReference = (value: unknown): value is { id: string; type: string } =>
  typeof value === 'object' && value !== null && typeof (value as Resource).id === 'string' && typeof (value as Resource).type === 'string'

export const isNumeric = (field: Attribute) => field.type === 'integer' || field.type === 'number'

const counter = new Intl.NumberFormat('en')
export const count = (n: number) => counter.format(n)

/** "1 user", "2,000 users" */
export const counted = (n: number, collection: Collection) => `${count(n)} ${n === 1 ? collection.singular : collection.name}`

/** A point in time as people read it, still UTC and to the second. */
export const moment = (text: string) => text.replace('T', ' ').replace(/(\.\d+)?Z$/, '')
