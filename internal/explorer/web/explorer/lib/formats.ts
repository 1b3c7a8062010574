// The formats of exported files.

import { csvLine, guarded, type Cell } from './csv'
import { parse, stringify } from './json'
import type { Field } from './schema'

export const FORMATS = ['CSV', 'NDJSON', 'JSON'] as const
export type Format = (typeof FORMATS)[number]

/** Splits the elements of {"data":[…]} out of a text that arrives in pieces. */
export class Elements {
  private depth = 0
  private quoted = false
  private escaped = false
  private element = ''

  push(text: string): string[] {
    const found: string[] = []
    let start = this.depth >= 3 ? 0 : -1
    for (let i = 0; i < text.length; i++) {
      const c = text[i]
      if (this.quoted) {
        if (this.escaped) this.escaped = false
        else if (c === '\\') this.escaped = true
        else if (c === '"') this.quoted = false
      } else if (c === '"') this.quoted = true
      else if (c === '{' || c === '[') {
        if (++this.depth === 3) start = i
      } else if ((c === '}' || c === ']') && this.depth-- === 3) {
        found.push(this.element + text.slice(start, i + 1))
        this.element = ''
        start = -1
      }
    }
    if (start >= 0) this.element += text.slice(start)
    return found
  }
}

const cellOf = (value: unknown): Cell => (value === null || value === undefined ? null : typeof value === 'string' ? guarded(value) : stringify(value))

/** The pieces of a file of some columns. JSON keeps whole resources. */
export function writerOf(format: Format, fields: Field[]): { start: string; each: (element: string, index: number) => string; end: string } {
  if (format === 'CSV')
    return {
      start: csvLine(fields.map(({ name }) => name)),
      each: (element) => {
        const row = parse(element) as Record<string, unknown>
        return csvLine(fields.map(({ name }) => cellOf(row[name])))
      },
      end: '',
    }
  if (format === 'NDJSON') return { start: '', each: (element) => `${element}\n`, end: '' }
  return { start: '[', each: (element, index) => `${index ? ',' : ''}\n${element}`, end: '\n]\n' }
}
