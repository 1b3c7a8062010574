// Filters: the operators of a field, and their form in a query.

import type { Target } from './schema'
import { isRelative, localTime, relativeWords } from './times'

export type Operator = 'eq' | 'ne' | 'lt' | 'lte' | 'gt' | 'gte' | 'in' | 'not_in' | 'search' | 'contains' | 'starts_with' | 'has' | 'has_all' | 'null' | 'set' | 'exists'

/** The value is as in the query: text, with commas between the values of a list. */
export interface Filter {
  field: string
  op: Operator
  value: string
  group?: Group
}

/** Filters of one group must all match: one of several alternatives, or one and the same related resource, which there must be or may not be. */
export type Group = `${GroupKind} ${number}`
export type GroupKind = 'any' | 'some' | 'none'

export const kindOf = (group: Group) => group.split(' ')[0] as GroupKind

const EQUAL: Operator[] = ['eq', 'ne']
const ORDER: Operator[] = ['lt', 'lte', 'gt', 'gte']
const LISTS: Operator[] = ['in', 'not_in']

/** The operators that make sense for a field, the likeliest first. */
export function operatorsFor(field: Target): Operator[] {
  if (field.type === 'relation') return ['exists']
  if (field.type === 'count') return ['gte', 'lte', ...EQUAL, 'gt', 'lt']
  const empty: Operator[] = field.required ? [] : ['null']
  if (field.type === 'array' && field.items?.type && field.items.type !== 'object' && field.items.type !== 'array') return ['has', 'has_all', ...empty]
  if (field.type === 'object' || field.type === 'array') return ['null']
  if (field.type === 'boolean') return ['eq', 'ne', ...empty]
  if (field.enum || field.format === 'uuid') return [...EQUAL, ...LISTS, ...empty]
  if (field.type === 'string' && (!field.format || field.format === 'email' || field.format === 'uri'))
    return [...(field.searched ? (['search'] as const) : []), 'contains', 'starts_with', ...EQUAL, ...LISTS, ...ORDER, ...empty]
  if (field.type === 'string') return ['gte', 'lt', 'gt', 'lte', ...EQUAL, ...empty]
  return [...EQUAL, ...ORDER, ...LISTS, ...empty]
}

const WORDS: Record<Operator, string> = {
  eq: 'is',
  ne: 'is not',
  lt: 'is less than',
  lte: 'is at most',
  gt: 'is more than',
  gte: 'is at least',
  in: 'is one of',
  not_in: 'is none of',
  search: 'contains words',
  contains: 'contains',
  starts_with: 'starts with',
  has: 'has',
  has_all: 'has all of',
  null: 'is null',
  set: 'is set',
  exists: 'exists',
}
const TIMES: Partial<Record<Operator, string>> = { lt: 'is before', lte: 'is until', gt: 'is after', gte: 'is from' }

export function wordsFor(op: Operator, field?: Target): string {
  return (field?.format?.startsWith('date') && TIMES[op]) || WORDS[op]
}

/** A filter as a sentence, for its chip. */
export function sentence(filter: Filter, field?: Target): { verb: string; value: string } {
  if (filter.op === 'null') return { verb: filter.value === 'false' ? 'is not null' : 'is null', value: '' }
  if (filter.op === 'exists') return { verb: filter.value === 'false' ? 'does not exist' : 'exists', value: '' }
  if (filter.op === 'set') return field?.type === 'boolean' ? { verb: 'is', value: 'true' } : { verb: 'is not null', value: '' }
  if (field?.format?.startsWith('date') && filter.op === 'gte' && isRelative(filter.value)) return { verb: 'is in the', value: relativeWords(filter.value) }
  const each = (value: string) => (field?.format === 'date-time' ? localTime(value) : value)
  const values = isList(filter.op) ? splitList(filter.value).map(each).join(', ') : each(filter.value)
  return { verb: wordsFor(filter.op, field), value: values === '' ? '""' : values }
}

/** Whether an operator takes several values. */
export const isList = (op: string) => op === 'in' || op === 'not_in' || op === 'has_all'

export function splitList(text: string): string[] {
  return text.split(/(?<!\\),/).map((part) => part.replaceAll('\\,', ','))
}

export function joinList(values: string[]): string {
  return values.map((value) => value.replaceAll(',', '\\,')).join(',')
}

/** One part of a query in readable form: characters are escaped only where a URL requires it. */
export function encode(text: string): string {
  return encodeURIComponent(text).replace(/%(3A|2C|2F|40|5B|5D)/g, decodeURIComponent)
}

export function writeFilter(filter: Filter): string {
  const name = `filter${filter.group ? `[${filter.group.replace(' ', '][')}]` : ''}[${encode(filter.field)}]`
  if (filter.op === 'set') return name
  if (filter.op === 'eq' && !GROUPS.has(filter.field)) return `${name}=${encode(filter.value)}`
  return `${name}[${filter.op}]=${encode(filter.value)}`
}

const OPERATORS = new Set<string>(Object.keys(WORDS))
const GROUPS = new Set(['any', 'some', 'none']) // an attribute of such a name needs its operator

/** Parses the filters of a query, and returns the other parts unchanged. Several plain values of a field are one filter: any of them. */
export function readFilters(query: string): { filters: Filter[]; others: string[] } {
  const filters: Filter[] = []
  const others: string[] = []
  for (const part of query.replace(/^\?/, '').split('&').filter(Boolean)) {
    const cut = part.indexOf('=')
    const name = decode(cut < 0 ? part : part.slice(0, cut))
    const value = cut < 0 ? null : decode(part.slice(cut + 1))
    const match = /^filter(?:\[(any|some|none)\]\[(\d{1,2})\])?\[([^\]]+)\](?:\[([a-z_]+)\])?$/.exec(name)
    const op = (match?.[4] ?? (value === null ? 'set' : 'eq')) as Operator
    if (!match || !OPERATORS.has(op)) {
      others.push(part)
      continue
    }
    const field = match[3]!
    const group = match[1] === undefined ? undefined : (`${match[1] as GroupKind} ${Number(match[2])}` as const)
    const plain = op === 'eq' && !match[4] && filters.find((f) => f.field === field && f.group === group && (f.op === 'eq' || f.op === 'in'))
    if (plain) {
      plain.value = `${plain.op === 'eq' ? joinList([plain.value]) : plain.value},${joinList([value ?? ''])}`
      plain.op = 'in'
    } else filters.push({ field, op, value: value ?? '', ...(group && { group }) })
  }
  return { filters, others }
}

export function decode(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return text
  }
}
