// The columns of the table: which, in which order, and how wide.

import { stringify } from './json'
import { labelAttribute, type Collection, type Field, type Resource } from './schema'

const LETTER = 8.4 // pixels, of the widest fonts of systems
const PADDING = 30
export const NARROWEST = 64
const NARROW = 84
const WIDE = 320
export const WIDEST = 1200
const SLACK = 2 // letters that others may have more than those seen first
const MOST = 40 // columns that are shown unless the user chooses

/** What the user has chosen for a collection. */
export interface Choice {
  order: string[] // the names that were moved, in their order
  hidden: string[]
  shown: string[] // beyond those that are shown anyway
  widths: Record<string, number>
  tall: boolean // rows of several lines
}

export const DEFAULT: Choice = { order: [], hidden: [], shown: [], widths: {}, tall: false }

/** All fields in the order of the table: the label, the attributes, timestamps and id, unless they were moved. */
export function ordered(collection: Collection, fields: Field[], choice: Choice): Field[] {
  const label = labelAttribute(collection)
  const rank = (field: Field) => (field.name === label ? 0 : field.name === 'id' ? 3 : field.own ? 2 : 1)
  const start = [...fields].sort((a, b) => rank(a) - rank(b))
  const moved = choice.order.flatMap((name) => start.find((field) => field.name === name && name !== label) ?? [])
  if (!moved.length) return start
  const rest = start.filter((field) => !moved.includes(field))
  return [...rest.filter((field) => field.name === label), ...moved, ...rest.filter((field) => field.name !== label)]
}

/** The fields that are shown. The label always is. */
export function shownOf(collection: Collection, fields: Field[], choice: Choice): Field[] {
  const label = labelAttribute(collection)
  return ordered(collection, fields, choice).filter(({ name }, i) => name === label || (!choice.hidden.includes(name) && (i < MOST || choice.shown.includes(name))))
}

/** The choice with a column before another one; without one, at the end. */
export function moveColumn(names: string[], choice: Choice, name: string, before: string | null): Choice {
  const rest = names.filter((each) => each !== name)
  const at = before === null ? rest.length : rest.indexOf(before)
  return { ...choice, order: [...rest.slice(0, at), name, ...rest.slice(at)] }
}

/** The widths of the columns, as a grid. One of them can have a maximum: a frozen column must leave room for the others. Columns of text share the remaining width. */
export function layoutOf(fields: Field[], sample: Resource[], widths: Record<string, number> = {}, narrow?: { name: string; most: number }): { columns: string; width: number; widths: number[] } {
  const fixed = fields.map((field) => widths[field.name] ?? fixedWidth(field))
  const all = fields.map((field, i) => {
    const width = fixed[i] ?? widthBy(field, sample)
    return field.name === narrow?.name ? Math.min(width, narrow.most) : width
  })
  const stretches = fields.map((_, i) => fixed[i] === undefined || (i === fields.length - 1 && fixed.every((width) => width !== undefined)))
  const columns = all.map((width, i) => (stretches[i] ? `minmax(${width}px, ${width}fr)` : `${width}px`)).join(' ')
  return { columns, width: all.reduce((sum, width) => sum + width, 0), widths: all }
}

function fixedWidth(field: Field): number | undefined {
  if (field.name === 'id') return 140
  if (field.format === 'date-time') return 172
  if (field.type === 'boolean') return Math.max(100, Math.ceil(field.name.length * LETTER) + PADDING + 12)
  return undefined
}

function widthBy(field: Field, sample: Resource[]): number {
  const name = field.name.length + 2
  const longest = field.references ? Math.max(name, 16) : sample.reduce((most, row) => Math.max(most, lengthOf(row[field.name]) + SLACK), name)
  return Math.round(Math.min(Math.max(NARROW, longest * LETTER + PADDING), WIDE))
}

function lengthOf(value: unknown): number {
  if (typeof value === 'string') return value.length
  if (Array.isArray(value)) return value.reduce((sum: number, each) => sum + lengthOf(each) + 3, 0)
  return value === null || value === undefined ? 4 : stringify(value).length
}
