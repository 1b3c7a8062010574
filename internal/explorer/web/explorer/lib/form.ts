// Conversion between form input and the body of a request.

import { parse, same, stringify } from './json'
import type { Attribute, Resource } from './schema'

/** The input of a form field: text, null, or nothing to send. */
export type Entry = { is: 'text'; text: string } | { is: 'null' } | { is: 'absent' }

export const NULL: Entry = { is: 'null' }
export const ABSENT: Entry = { is: 'absent' }

const isText = (attribute: Attribute) => attribute.type === 'string'
const isStructure = (attribute: Attribute) => attribute.type === 'object' || attribute.type === 'array'

/** The entry that shows a value. */
export function entryOf(attribute: Attribute, value: unknown): Entry {
  if (value === undefined) return ABSENT
  if (value === null) return NULL
  if (isText(attribute)) return { is: 'text', text: String(value) }
  return { is: 'text', text: stringify(value, isStructure(attribute) ? '  ' : '') }
}

/** The entry for typed text. No input is the empty string for strings, and no value for other types. */
export function typed(attribute: Attribute, text: string, cleared: Entry): Entry {
  const empty = text === '' && !(isText(attribute) && !attribute.format && !attribute.enum)
  return empty ? cleared : { is: 'text', text }
}

export type Body = Record<string, unknown>

/**
 * The value of an entry. What is not of the attribute's type is left as text, for the
 * server to say what is wrong; only broken JSON cannot be sent.
 */
export function valueOf(attribute: Attribute, entry: Entry): unknown {
  if (entry.is === 'absent') return undefined
  if (entry.is === 'null') return null
  if (isText(attribute)) return entry.text
  if (isStructure(attribute)) return parse(entry.text)
  const text = entry.text.trim()
  if (attribute.type === 'boolean') return text === 'true' ? true : text === 'false' ? false : text
  if (!/^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/.test(text)) return entry.text
  return parse(text)
}

export interface Problems {
  [attribute: string]: string[]
}

/** The body of all entries to send; with a base, only those that differ from it. */
export function bodyOf(attributes: Attribute[], entries: Record<string, Entry>, base: Resource | null): { body: Body; problems: Problems } {
  const body: Body = {}
  const problems: Problems = {}
  for (const attribute of attributes) {
    try {
      const value = valueOf(attribute, entries[attribute.name] ?? ABSENT)
      if (value !== undefined && !(base && same(value, base[attribute.name]))) body[attribute.name] = value
    } catch (error) {
      problems[attribute.name] = [`Not JSON: ${(error as Error).message}`]
    }
  }
  return { body, problems }
}

export interface Fault {
  status: number
  code: string
  title: string
  detail: string
  source?: { pointer?: string; parameter?: string; header?: string }
}

/** Errors by the attribute in their pointer; the others concern the whole resource. */
export function sortFaults(faults: Fault[], attributes: Attribute[]): { at: Problems; rest: Fault[] } {
  const at: Problems = {}
  const rest: Fault[] = []
  for (const fault of faults) {
    const [, name = '', ...inner] = (fault.source?.pointer ?? '').split('/').map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    if (!attributes.some((attribute) => attribute.name === name)) rest.push(fault)
    else (at[name] ??= []).push(inner.length ? `${inner.join('/')}: ${fault.detail}` : fault.detail)
  }
  return { at, rest }
}

export interface Conflict {
  clashes: { attribute: Attribute; mine: unknown; theirs: unknown }[] // both have changed these, to different values
  others: { attribute: Attribute; before: unknown; theirs: unknown }[] // these we leave as they made them
}

/** The values in conflict after a concurrent change by somebody else. */
export function conflictOf(attributes: Attribute[], mine: Body, base: Resource, theirs: Resource): Conflict {
  const changed = attributes.filter(({ name }) => !same(base[name], theirs[name]))
  return {
    clashes: changed
      .filter(({ name }) => name in mine && !same(mine[name], theirs[name]))
      .map((attribute) => ({ attribute, mine: mine[attribute.name], theirs: theirs[attribute.name] })),
    others: changed
      .filter(({ name }) => !(name in mine))
      .map((attribute) => ({ attribute, before: base[attribute.name], theirs: theirs[attribute.name] })),
  }
}
