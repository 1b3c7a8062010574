// The widths of the columns of the table: by their content, within bounds.

import { stringify } from './json'
import type { Field, Resource } from './schema'

const LETTER = 8.4 // pixels, of the widest fonts of systems
const PADDING = 30
const NARROWEST = 84
const WIDEST = 320
const SLACK = 2 // letters that others may have more than those seen first

// layoutOf is the columns of a grid with their minimum widths. Columns of text share the remaining width.
export function layoutOf(fields: Field[], sample: Resource[]): { columns: string; width: number } {
  const widths = fields.map((field) => fixedWidth(field) ?? widthBy(field, sample))
  const stretched = fields.map((field, i) => fixedWidth(field) === undefined || (i === fields.length - 1 && fields.every(fixedWidth)))
  const columns = widths.map((width, i) => (stretched[i] ? `minmax(${width}px, ${width}fr)` : `${width}px`)).join(' ')
  return { columns, width: widths.reduce((sum, width) => sum + width, 0) }
}

function fixedWidth(field: Field): number | undefined {
  if (field.name === 'id' || field.references) return 140
  if (field.format === 'date-time') return 172
  if (field.type === 'boolean') return Math.max(100, Math.ceil(field.name.length * LETTER) + PADDING + 12)
  return undefined
}

function widthBy(field: Field, sample: Resource[]): number {
  const longest = sample.reduce((most, row) => Math.max(most, lengthOf(row[field.name]) + SLACK), field.name.length + 2)
  return Math.round(Math.min(Math.max(NARROWEST, longest * LETTER + PADDING), WIDEST))
}

function lengthOf(value: unknown): number {
  if (typeof value === 'string') return value.length
  return value === null || value === undefined ? 4 : stringify(value).length
}
