// What the form of an operation holds, and the request that it makes.

import { parse, stringify } from '../../explorer/lib/json'
import type { Json } from './openapi'
import type { Kind, Operation, Parameter, Section } from './reference'

/** What is entered. Names of parameters are not unique: Prefer is a header, and id may be in the path and a field. */
export interface Draft {
  values: Record<string, string> // by keyOf
  filters: string // as in the URL
  body: string // JSON
}

export interface Request {
  method: string
  path: string // below the root of the interface, with its query
  headers: Record<string, string>
  body: string | null
}

/** A resource of the collection, for examples with real values. */
export type Sample = Record<string, unknown> | null

/** Resources that references may point to, by the attribute: the id of one, or null if the collection has none. */
export type Referred = Record<string, { collection: string; id: string | null }>

/** The header by which the request asks for a version of the interface. */
export const versionHeader = (version: number | undefined): Record<string, string> => (version === undefined ? {} : { 'API-Version': String(version) })

export const keyOf = (parameter: { in: string; name: string }) => `${parameter.in} ${parameter.name}`

/** The first draft: real values where there are some, else those of the document. */
export function draftOf(operation: Operation, section: Section, sample: Sample, referred: Referred = {}): Draft {
  const values: Record<string, string> = {}
  const set = (where: Parameter['in'], name: string, value: unknown) => {
    if (operation.parameters.some((each) => each.in === where && each.name === name) && value !== undefined && value !== null) values[`${where} ${name}`] = String(value)
  }
  for (const each of operation.parameters) if (each.in === 'path') set('path', each.name, sample?.[each.name] ?? referred[each.name]?.id ?? each.example)
  for (const each of operation.parameters) if (each.in === 'header' && each.required) set('header', each.name, '*')
  if (operation.kind === 'list') set('query', 'limit', 10)
  if (operation.kind === 'changes' || operation.kind === 'history') set('query', 'limit', -10)
  if (operation.kind === 'groups') set('query', 'by', groupKey(operation))
  return { values, filters: filterOf(operation, section, sample), body: bodyOf(operation, section, sample, referred) }
}

/** A field that makes few groups, if there is one. */
function groupKey(operation: Operation): string | undefined {
  const values = operation.parameters.find(({ name }) => name === 'by')?.values ?? []
  return values.find((name) => !['id', 'type'].includes(name) && !name.includes(':') && !name.endsWith('_at')) ?? values[0]
}

/** A filter that finds the sample. A write to a range needs one. */
function filterOf(operation: Operation, section: Section, sample: Sample): string {
  if (operation.kind === 'updateMany' || operation.kind === 'deleteMany') return `filter[id]=${(sample?.id as string | undefined) ?? operation.parameters.find(({ name }) => name === 'cursor')?.example ?? ''}`
  if (operation.kind !== 'list' || operation.parent || !sample) return ''
  for (const { name, depth, type } of section.attributes) {
    const value = sample[name]
    const short = typeof value === 'string' && value !== '' && value.length <= 40 && !/[\n&#%+]/.test(value)
    if (depth === 0 && !['id', 'type'].includes(name) && !type.includes('(') && (short || typeof value === 'boolean')) return `filter[${name}]=${value}`
  }
  return ''
}

function bodyOf(operation: Operation, section: Section, sample: Sample, referred: Referred): string {
  const example = operation.body?.examples[0]?.value
  if (example === undefined) return ''
  // A reference points to what exists. An optional one to nothing is left out; of a required one the form says what is missing.
  if (operation.kind === 'create' && typeof example === 'object' && example !== null && !Array.isArray(example)) {
    const optional = (name: string) => !section.attributes.some((each) => each.name === name && each.required)
    return stringify(Object.fromEntries(Object.entries(example).filter(([name]) => referred[name]?.id !== null || !optional(name)).map(([name, value]) => [name, referred[name]?.id ?? value])), '  ')
  }
  if (!sample || typeof example !== 'object' || example === null || Array.isArray(example)) return stringify(example, '  ')
  const real = Object.fromEntries(Object.entries(example).map(([name, value]) => [name, sample[name] ?? value]))
  // What is sent in full may not lose what the example does not show.
  if (operation.kind === 'replace') for (const { name, depth, writable } of section.attributes) if (depth === 0 && writable && name !== 'id' && sample[name] !== undefined) real[name] = sample[name] as never
  return stringify(real, '  ')
}

/** The steps of a transaction that can be run as they are: a new resource, and a change of one that exists. */
export function stepsOf(section: Section, sample: Sample, referred: Referred): Json[] {
  const of = (kind: Kind) => section.operations.find((each) => each.kind === kind && !each.parent)
  const [create, update] = [of('create'), of('update')]
  const step = (operation: Operation, given: Sample, path: string, more: object = {}): Json => ({ method: operation.method, path, body: parse(draftOf(operation, section, given, referred).body) as Json, ...more })
  const creates = create && Object.values(referred).every(({ id }) => id !== null)
  return [
    ...(creates ? [step(create, null, create.path)] : []),
    ...(update && sample ? [step(update, sample, `/${section.name}/${sample.id}`, draftOf(update, section, sample).values['header If-Match'] ? { if_match: '*' } : {})] : []),
  ]
}

export function requestOf(operation: Operation, draft: Draft): Request {
  const valueOf = (parameter: Parameter) => draft.values[keyOf(parameter)] ?? ''
  const path = operation.path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(draft.values[`path ${name}`] ?? ''))
  const given = operation.parameters.filter((each) => each.in === 'query' && valueOf(each) !== '')
  const query = [...filterParts(draft.filters), ...given.map((each) => `${each.name}=${escaped(valueOf(each))}`)]
  const headers = versionHeader(operation.version)
  for (const each of operation.parameters) if (each.in === 'header' && valueOf(each) !== '') headers[each.name] = valueOf(each)
  const body = operation.body && draft.body.trim() !== '' ? compact(draft.body) : null
  if (body !== null) headers['Content-Type'] = 'application/json'
  return { method: operation.method, path: path + (query.length ? `?${query.join('&')}` : ''), headers, body }
}

/** The filters one by one, escaped where needed and nothing twice. */
export const filterParts = (filters: string) =>
  filters
    .split('&')
    .map((part) => part.trim())
    .filter(Boolean)
    .map((part) => part.replace(/%(?![0-9A-Fa-f]{2})|[^\w.~%=+:,*!'()[\]-]/gu, encodeURIComponent))

/** Escapes the value of a parameter; what is legible and safe stays. */
const escaped = (text: string) => encodeURIComponent(text).replace(/%(2C|3A|5B|5D)/g, decodeURIComponent)

/** JSON in one line, or what was entered if it is none: the server then says what is wrong. */
function compact(text: string): string {
  try {
    return stringify(parse(text))
  } catch {
    return text
  }
}
