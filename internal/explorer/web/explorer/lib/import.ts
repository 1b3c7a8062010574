// Reading files to import: rows of named columns, which are mapped to attributes.

import { readCsv } from './csv'
import { valueOf, type Fault } from './form'
import { parse, stringify } from './json'
import { isId, type Attribute } from './schema'

export interface Table {
  columns: string[]
  rows: unknown[][] // text or null from CSV, values from JSON; undefined where a row has none
  first: number // the line of the first row, for people
}

/** Reads CSV, a JSON array, or JSON with one object in each line. */
export function readTable(name: string, text: string): Table {
  const start = text.replace(/^\uFEFF/, '').trimStart()
  if (/\.(csv|tsv|txt)$/i.test(name) || !/^[[{]/.test(start)) {
    const [columns = [], ...rows] = readCsv(text)
    if (!columns.length) throw new Error('The file is empty.')
    return { columns: columns.map((each) => (each ?? '').trim()), rows: rows.map((row) => columns.map((_, i) => row[i])), first: 2 }
  }
  const objects = start.startsWith('[') ? readArray(start) : readLines(start)
  const columns = [...new Set(objects.flatMap((each) => Object.keys(each)))]
  return { columns, rows: objects.map((each) => columns.map((column) => each[column])), first: 1 }
}

function readArray(text: string): Record<string, unknown>[] {
  return (parse(text) as unknown[]).map((each, i) => objectOf(each, `Element ${i + 1}`))
}

function readLines(text: string): Record<string, unknown>[] {
  return text
    .split(/\r?\n/)
    .filter((line) => line.trim())
    .map((line, i) => {
      try {
        return objectOf(parse(line), `Line ${i + 1}`)
      } catch (error) {
        throw new Error(`Line ${i + 1}: ${(error as Error).message}`)
      }
    })
}

function objectOf(value: unknown, what: string): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Error(`${what} is not an object.`)
  return value as Record<string, unknown>
}

/** A column can hold the label of the resource that it refers to, instead of its id: `author_id@name`. */
export const byLabel = (mapped: string | null): [attribute: string, label: string] | null => {
  const [attribute = '', label] = (mapped ?? '').split('@')
  return label ? [attribute, label] : null
}
export const attributeOf = (mapped: string | null) => mapped?.split('@')[0] ?? null

/** The guess for references whose cells are not ids: they are labels. */
export function guessLabels(table: Table, mapping: (string | null)[], labelFor: (attribute: string) => string | undefined): (string | null)[] {
  return mapping.map((name, i) => {
    const label = name && labelFor(name)
    const texts = table.rows.slice(0, 200).map((row) => row[i]).filter((value) => typeof value === 'string' && value !== '')
    return label && texts.length && texts.every((text) => !isId(text as string)) ? `${name}@${label}` : name
  })
}

/** The texts of a column, each once. */
export const textsOf = (table: Table, column: number): string[] => [...new Set(table.rows.map((row) => row[column]).filter((value): value is string => typeof value === 'string' && value !== ''))]

const plain = (name: string) => name.toLowerCase().replace(/[^a-z0-9]/g, '')

/** The attribute that each column is likely for; null: none. */
export function guess(columns: string[], attributes: Attribute[]): (string | null)[] {
  const names = ['id', ...attributes.map(({ name }) => name)]
  return columns.map((column) => names.find((name) => name === column) ?? names.find((name) => plain(name) === plain(column) || plain(name) === `${plain(column)}id`) ?? null)
}

/** The body of a row. What the row does not have is left out, and so is an id without a value. */
export function bodyOfRow(row: unknown[], mapping: (string | null)[], attributes: Attribute[], ids: Map<string, string>[] = []): Record<string, unknown> {
  const body: Record<string, unknown> = {}
  mapping.forEach((mapped, i) => {
    const name = attributeOf(mapped)
    const value = byLabel(mapped) ? (ids[i]?.get(String(row[i] ?? '')) ?? row[i]) : row[i]
    const attribute = attributes.find((each) => each.name === name)
    if (name === null || value === undefined || (!attribute && (value === null || value === ''))) return
    body[name] = typeof value === 'string' && attribute ? convert(attribute, value) : value
  })
  return body
}

/** Text as a value of the attribute; what cannot be one stays text, for the server to say what is wrong. */
function convert(attribute: Attribute, text: string): unknown {
  if (text === '' && (attribute.type !== 'string' || attribute.format)) return null // some programs quote every cell
  try {
    return valueOf(attribute, { is: 'text', text })
  } catch {
    return text
  }
}

export interface Batch {
  from: number // index of the first body
  bodies: Record<string, unknown>[]
}

/** The bodies in parts that one request can have. */
export function batches(bodies: Record<string, unknown>[], most: number, bytes = 900_000): Batch[] {
  const all: Batch[] = []
  let size = 0
  bodies.forEach((body, i) => {
    const length = 3 * stringify(body).length // at most so many bytes
    const last = all[all.length - 1]
    if (!last || last.bodies.length >= most || size + length > bytes) {
      all.push({ from: i, bodies: [body] })
      size = length
    } else {
      last.bodies.push(body)
      size += length
    }
  })
  return all
}

export interface BadCell {
  row: number // index of the row in the file
  attribute: string // empty: it concerns the whole row
  detail: string
}

/** The errors of a request, by row. `rows` are the indexes in the file of what was sent. */
export function badCells(faults: Fault[], rows: number[]): { cells: BadCell[]; rest: Fault[] } {
  const cells: BadCell[] = []
  const rest: Fault[] = []
  for (const fault of faults) {
    const [, index, attribute = ''] = /^\/(\d+)(?:\/([^/]*))?/.exec(fault.source?.pointer ?? '') ?? []
    const row = index === undefined ? undefined : rows[Number(index)]
    if (row === undefined) rest.push(fault)
    else cells.push({ row, attribute, detail: fault.detail.replace(/ There are more errors than are listed\.$/, '') })
  }
  return { cells, rest }
}

/** All that is wrong with rows. A response lists a hundred errors, so the rows that it does not name are sent again, until
 *  none is refused. `send` returns the errors of bodies. */
export async function allBad(rows: number[], bodies: Record<string, unknown>[], send: (bodies: Record<string, unknown>[]) => Promise<Fault[]>): Promise<BadCell[]> {
  const all: BadCell[] = []
  let left = rows.map((row, i) => ({ row, body: bodies[i]! }))
  while (left.length) {
    const { cells } = badCells(await send(left.map(({ body }) => body)), left.map(({ row }) => row))
    if (!cells.length) break
    all.push(...cells)
    const refused = new Set(cells.map(({ row }) => row))
    left = left.filter(({ row }) => !refused.has(row))
  }
  return all
}
