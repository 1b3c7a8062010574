// Charts of a collection: groups, counted or summed, each linked to the list of its resources.

import { encode, type Filter } from './filters'
import { includeParts, labelled, takeLabels, type Label } from './include'
import { count, fieldAt, fieldsOf, isNumeric, type Collection, type Field, type Find, type Relation, type Resource } from './schema'
import type { Choices } from './targets'
import { keyOf, measureParts } from './url'

export interface Group {
  id: string
  by: Record<string, unknown> // and beside it the resources that are referred to, by relation
  count: number
  sum?: Record<string, number | string | null>
  avg?: Record<string, number | null>
  min?: Record<string, number | string | null>
  max?: Record<string, number | string | null>
  distinct?: Record<string, number>
}

const UNITS = ['year', 'quarter', 'month', 'week', 'day', 'hour'] as const
type Unit = (typeof UNITS)[number]

/** What the resources of a collection can be grouped by, the likeliest first; then what they refer to. */
export function groupings(collection: Collection, timestamps: boolean, find: Find): Choices[] {
  const related = (collection.relations ?? []).flatMap(({ name, collection: to, many }) => {
    const fields = many ? undefined : find(to)
    return fields ? [{ about: `of its ${name}`, paths: keysOf(fields, true).map((path) => `${name}.${path}`) }] : []
  })
  return [{ about: '', paths: keysOf(collection, timestamps) }, ...related]
}

function keysOf(collection: Collection, timestamps: boolean): string[] {
  const rank = (field: Field) => (field.enum || field.type === 'boolean' ? 0 : field.references ? 1 : field.format?.startsWith('date') ? 2 : 3)
  return fieldsOf(collection, timestamps)
    .filter(({ name, type }) => name !== 'id' && type !== 'object' && type !== 'array')
    .sort((a, b) => rank(a) - rank(b))
    .flatMap(({ name, format }) => {
      const by = (...units: Unit[]) => units.map((unit) => `${name}:${unit}`)
      return format === 'date-time' ? by('day', 'week', 'month', 'quarter', 'year') : format === 'date' ? [...by('month', 'quarter', 'year', 'week'), name] : [name]
    })
}

/** What can be shown of each group. */
export function measures({ attributes }: Collection): Choices[] {
  const numbers = attributes.filter((a) => isNumeric(a) || a.format === 'decimal')
  const many = attributes.filter(({ type }) => type !== 'object' && type !== 'array' && type !== 'boolean')
  return [
    { about: '', paths: ['count', ...numbers.flatMap(({ name }) => [`sum ${name}`, `avg ${name}`, `min ${name}`, `max ${name}`])] },
    ...(many.length ? [{ about: 'how many different', paths: many.map(({ name }) => `distinct ${name}`) }] : []),
  ]
}

export const isTime = (collection: Collection, by: string, find: Find) => by.includes(':') || fieldAt(collection, by, find)?.format === 'date'

const MEMBERS = ['id', 'type', 'by', 'count', 'sum', 'avg', 'min', 'max', 'distinct'] // of a group

/** The relation by which the names of groups come with them. */
export const namesOf = (collection: Collection, by: string, find: Find): Relation[] => labelled(collection, find, [by]).filter(({ name }) => !MEMBERS.includes(name))

/** Takes the names out of the groups. */
export const takeNames = (groups: Group[], names: Relation[], find: Find): Label[] =>
  groups.flatMap((group) => takeLabels({ ...group, ...group.by } as unknown as Resource, names, find))

/** The path of the groups. Those over time are in their order, the latest ones; others those with the most of what is shown. */
export function groupsPath(collection: Collection, by: string, measure: string, least: string, parts: string[], limit: number, find: Find): string {
  const sort = `sort=-${encode(isTime(collection, by, find) ? by : keyOf(measure))}`
  const names = includeParts(namesOf(collection, by, find), find)
  return `-/groups/${collection.name}?${[`by=${encode(by)}`, ...measureParts(measure, least), ...parts, ...names, sort, `limit=${limit}`].join('&')}`
}

function measured(group: Group, measure: string): number | string | null {
  const [kind, attribute = ''] = measure.split(' ')
  return (kind === 'count' ? group.count : group[kind as 'sum' | 'avg' | 'min' | 'max' | 'distinct']?.[attribute]) ?? null
}

export const amountOf = (group: Group, measure: string): number => Number(measured(group, measure) ?? 0)

/** An amount to read. That of a decimal has all its digits, "1,029.50". */
export function amountText(group: Group, measure: string): string {
  const value = measured(group, measure) ?? 0
  if (typeof value !== 'string') return count(Math.round(Number(value) * 100) / 100)
  const [whole = '', fraction] = value.split('.')
  return whole.replace(/\B(?=(\d{3})+$)/g, ',') + (fraction ? `.${fraction}` : '')
}

/** The filters that a group stands for. */
export function filtersOf(by: string, value: unknown): Filter[] {
  const [field = '', unit] = by.split(':')
  if (value === null) return [{ field, op: 'null', value: 'true' }]
  if (!unit) return [{ field, op: 'eq', value: String(value) }]
  const end = endOf(String(value), unit as Unit)
  return [
    { field, op: 'gte', value: String(value) },
    { field, op: 'lt', value: end },
  ]
}

/** The start of the next period, written as this one. */
function endOf(start: string, unit: Unit): string {
  const timed = start.includes('T')
  const d = new Date(timed ? start : `${start}T00:00:00.000Z`)
  if (unit === 'year') d.setUTCFullYear(d.getUTCFullYear() + 1)
  else if (unit === 'quarter') d.setUTCMonth(d.getUTCMonth() + 3)
  else if (unit === 'month') d.setUTCMonth(d.getUTCMonth() + 1)
  else if (unit === 'week') d.setUTCDate(d.getUTCDate() + 7)
  else if (unit === 'day') d.setUTCDate(d.getUTCDate() + 1)
  else d.setUTCHours(d.getUTCHours() + 1)
  return timed ? d.toISOString() : d.toISOString().slice(0, 10)
}

/** A period in a chart over time. */
export interface Period {
  start: unknown // null: resources without a time
  group: Group | null // null: it has no resources
  amount: number | null // null: there is nothing to measure
}

/**
 * The groups over time in their order, with the empty periods between them: without resources, counts and sums are zero, and there is no average, least and
 * greatest. Of periods that have less than was asked for, nothing is known. Groups that are too long ago for this many periods are cut.
 */
export function periodsOf(groups: Group[], by: string, measure: string, least: string, most: number): { periods: Period[]; cut: boolean } {
  const empty = !least && /^(count$|sum |distinct )/.test(measure) ? 0 : null
  const period = (group: Group): Period => ({ start: group.by[by], group, amount: measured(group, measure) === null ? empty : amountOf(group, measure) })
  const unit = (by.split(':')[1] ?? 'day') as Unit
  const periods: Period[] = []
  let cut = false
  let later = -Infinity
  const timed = groups.filter((group) => group.by[by] !== null).sort((a, b) => startOf(b, by) - startOf(a, by))
  for (const group of timed) {
    const gap: Period[] = []
    const room = most - periods.length
    for (let start = endOf(String(group.by[by]), unit); Date.parse(start) < later && gap.length < room; start = endOf(start, unit)) gap.push({ start, group: null, amount: empty })
    cut = gap.length >= room
    if (cut) break
    periods.unshift(period(group), ...gap)
    later = startOf(group, by)
  }
  return { periods: [...groups.filter((group) => group.by[by] === null).map(period), ...periods], cut }
}

const startOf = (group: Group, by: string) => Date.parse(String(group.by[by]))

/** A point of time as short as its unit allows. */
export function shortTime(value: string, by: string): string {
  const unit = by.split(':')[1]
  return unit === 'year' ? value.slice(0, 4) : unit === 'quarter' ? `${value.slice(0, 4)} Q${Math.ceil(Number(value.slice(5, 7)) / 3)}` : unit === 'month' ? value.slice(0, 7) : unit === 'hour' ? value.slice(5, 13).replace('T', ' ') : value.slice(0, 10)
}

/** The counts of the last days, also of those without any; the last one is today. */
export function daily(groups: Group[], by: string, days: number, now = new Date()): number[] {
  const counts = new Map(groups.map((group) => [String(group.by[by]).slice(0, 10), group.count]))
  return Array.from({ length: days }, (_, i) => {
    const day = new Date(now)
    day.setUTCDate(day.getUTCDate() - (days - 1 - i))
    return counts.get(day.toISOString().slice(0, 10)) ?? 0
  })
}
