// The filters of a collection as one table. The document has a parameter for each field and operator, a
// hundred and more of them.

import type { Attribute } from './attributes'
import type { DocumentParameter } from './openapi'

const FILTER = /^filter\[([^\]]+)\](?:\[([^\]]+)\])?$/

export interface FilterRow {
  field: string
  type: string
  operators: string[] // without the plain filter
}

export interface Operator {
  name: string // empty: the plain filter
  meaning: string
}

export const isFilter = (name: string) => FILTER.test(name)

/** A filter as it is written in the URL: field and operator. */
export function partsOf(name: string): { field: string; operator: string } | null {
  const found = FILTER.exec(name)
  return found && { field: found[1]!, operator: found[2] ?? '' }
}

export function tableOf(parameters: DocumentParameter[], attributes: Attribute[]): FilterRow[] {
  const rows = new Map<string, FilterRow>()
  for (const { name } of parameters) {
    const { field, operator } = partsOf(name)!
    const row = rows.get(field) ?? { field, type: attributes.find((each) => each.name === field)?.type ?? 'string', operators: [] }
    if (operator && !row.operators.includes(operator)) row.operators.push(operator)
    rows.set(field, row)
  }
  return [...rows.values()]
}

/** The operators that the filters have, each with its meaning in the words of the document. */
export function operatorsOf(parameters: DocumentParameter[]): Operator[] {
  const meanings = new Map<string, string>()
  for (const { name, description = '' } of parameters) {
    const { operator } = partsOf(name)!
    if (operator && !meanings.has(operator)) meanings.set(operator, description.replace(/^`[^`]+` /, ''))
  }
  return [...meanings].map(([name, meaning]) => ({ name, meaning }))
}
