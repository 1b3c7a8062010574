// How wide the columns of the table are: by what is in them, within bounds.

import { stringify } from './json'
import type { Field, Resource } from './schema'

const LETTER = 7.3 // pixels, about
const PADDING = 30
const NARROWEST = 84
const WIDEST = 320

export function widthsOf(fields: Field[], sample: Resource[]): number[] {
  return fields.map((field) => {
    if (field.name === 'id') return 140
    if (field.references) return 140
    if (field.format === 'date-time') return 172
    if (field.type === 'boolean') return Math.max(100, Math.ceil(field.name.length * LETTER) + PADDING + 12)
    const longest = sample.reduce((most, row) => Math.max(most, lengthOf(row[field.name])), field.name.length + 2)
    return Math.round(Math.min(Math.max(NARROWEST, longest * LETTER + PADDING), WIDEST))
  })
}

function lengthOf(value: unknown): number {
  if (typeof value === 'string') return value.length
  return value === null || value === undefined ? 4 : stringify(value).length
}
