// The request of an operation as a command and as programs that use the clients. Each can be run as it is; a credential
// is never in it.

import { parse } from '../../explorer/lib/json'
import { snippet } from '../../explorer/lib/snippets'
import type { Call, Condition } from './call'
import { goProgram } from './example_go'
import { typescriptProgram } from './example_ts'
import { partsOf } from './filters'
import type { Operation, Section } from './reference'
import { keyOf, requestOf, type Draft } from './request'

export const LANGUAGES = ['curl', 'Go', 'TypeScript'] as const
export type Language = (typeof LANGUAGES)[number]

export function example(language: Language, operation: Operation, section: Section, draft: Draft, root: string, signed: boolean): string {
  const request = requestOf(operation, draft)
  const sent = { ...request, url: root + request.path, signedIn: signed }
  if (language === 'curl') return snippet('curl', sent)
  const call = callOf(operation, section, draft, root, signed)
  if (language === 'Go') return goProgram(call, request)
  return typescriptProgram(call) ?? snippet('TypeScript', sent)
}

function callOf(operation: Operation, section: Section, draft: Draft, root: string, signed: boolean): Call {
  const given: Record<string, string> = {}
  const ids: Record<string, string> = {}
  for (const each of operation.parameters) {
    const value = draft.values[keyOf(each)] ?? ''
    if (each.in === 'path') ids[each.name] = value
    else if (value !== '') given[each.name] = value
  }
  return { operation, root, signed, given, ids, filters: conditionsOf(draft.filters, section), body: operation.body ? read(draft.body) : undefined }
}

function read(text: string): unknown {
  try {
    return parse(text)
  } catch {
    return undefined
  }
}

const SIMPLE = ['', 'eq', 'ne', 'lt', 'lte', 'gt', 'gte', 'contains', 'starts_with', 'in', 'not_in', 'null']

/** The filters with their values in the types of the fields, or null if there is one that the clients cannot say. */
function conditionsOf(filters: string, section: Section): Condition[] | null {
  const found: Condition[] = []
  for (const part of filters.split('&').map((each) => each.trim()).filter(Boolean)) {
    const at = part.indexOf('=')
    const name = partsOf(decode(at < 0 ? part : part.slice(0, at)))
    const row = name && section.filters.find(({ field }) => field === name.field)
    if (!name || !row || !SIMPLE.includes(name.operator)) return null
    if (found.some(({ field, operator }) => field === name.field && operator === name.operator)) return null
    const text = at < 0 ? null : decode(part.slice(at + 1).replaceAll('+', ' '))
    if (text === null) {
      if (name.operator) return null
      found.push(row.type === 'boolean' ? { ...name, value: true } : { field: name.field, operator: 'null', value: false })
      continue
    }
    const typed = (each: string) => valueOf(each, name.operator === 'null' ? 'boolean' : row.type)
    found.push({ ...name, value: name.operator === 'in' || name.operator === 'not_in' ? text.split(',').map(typed) : typed(text) })
  }
  return found
}

function valueOf(text: string, type: string): unknown {
  if (type === 'boolean' && (text === 'true' || text === 'false')) return text === 'true'
  if ((type === 'integer' || type === 'number') && /^-?\d+(\.\d+)?$/.test(text)) return parse(text)
  return text
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
