import { expect, test } from 'vitest'
import { allBad, badCells, batches, bodyOfRow, guess, guessLabels, readTable, textsOf } from '../lib/import'
import type { Attribute } from '../lib/schema'

const attribute = (name: string, type: Attribute['type'] = 'string', more: Partial<Attribute> = {}): Attribute => ({ name, type, required: false, ...more })
const attributes = [attribute('full_name'), attribute('age', 'integer'), attribute('active', 'boolean'), attribute('tags', 'array'), attribute('owner_id', 'string', { references: 'people' })]
const fault = (pointer: string | undefined, detail: string) => ({ status: 422, code: 'x', title: 'X', detail, ...(pointer && { source: { pointer } }) })

test('a file is CSV, a JSON array or lines of JSON', () => {
  expect(readTable('a.csv', 'a, b\n1,2\n3\n')).toEqual({ columns: ['a', 'b'], rows: [['1', '2'], ['3', undefined]], first: 2 })
  expect(readTable('a.json', '[{"a":1},{"b":9007199254740993}]')).toEqual({ columns: ['a', 'b'], rows: [[1, undefined], [undefined, 9007199254740993n]], first: 1 })
  expect(readTable('a.ndjson', '{"a":1}\n\n{"a":null}\n').rows).toEqual([[1], [null]])
  expect(() => readTable('a.ndjson', '{"a":1}\n{"a":')).toThrow(/^Line 2: /)
  expect(() => readTable('a.json', '[1]')).toThrow('Element 1 is not an object.')
  expect(() => readTable('a.csv', '')).toThrow('The file is empty.')
})

test('columns are guessed by their names', () => {
  expect(guess(['Full Name', 'AGE', 'owner', 'id', 'other'], attributes)).toEqual(['full_name', 'age', 'owner_id', 'id', null])
})

test('cells become values of the attribute, and those that a row does not have are left out', () => {
  const mapping = ['full_name', 'age', 'active', 'tags', null, 'owner_id']
  expect(bodyOfRow(['Ada', '36', 'true', '["a"]', 'x'], mapping, attributes)).toEqual({ full_name: 'Ada', age: 36, active: true, tags: ['a'] })
  expect(bodyOfRow(['', '', null, ''], mapping, attributes)).toEqual({ full_name: '', age: null, active: null, tags: null })
  expect(bodyOfRow([null, 'Ada'], ['id', 'full_name'], attributes)).toEqual({ full_name: 'Ada' })
  expect(bodyOfRow(['Ada', 'many', 'perhaps', '[', 'x', 'y'], mapping, attributes)).toEqual({ full_name: 'Ada', age: 'many', active: 'perhaps', tags: '[', owner_id: 'y' })
  expect(bodyOfRow([null, 3, undefined], mapping, attributes)).toEqual({ full_name: null, age: 3 })
})

test('a column of a reference holds ids or labels', () => {
  const table = (cells: unknown[]) => ({ columns: ['owner'], rows: cells.map((cell) => [cell]), first: 2 })
  const label = (name: string) => (name === 'owner_id' ? 'name' : undefined)
  expect(guessLabels(table(['Ada', '', 'Bea']), ['owner_id'], label)).toEqual(['owner_id@name'])
  expect(guessLabels(table(['01936f2e-7d3c-7a4b-9c5d-0123456789ab', 'Ada']), ['owner_id'], label)).toEqual(['owner_id'])
  expect(guessLabels(table(['', undefined]), ['owner_id'], label)).toEqual(['owner_id'])
  expect(textsOf(table(['Ada', '', 'Ada', 3, 'Bea']), 0)).toEqual(['Ada', 'Bea'])
  expect(bodyOfRow(['Ada'], ['owner_id@name'], attributes, [new Map([['Ada', '7']])])).toEqual({ owner_id: '7' })
  expect(bodyOfRow([null], ['owner_id@name'], attributes, [new Map([['Ada', '7']])])).toEqual({ owner_id: null })
})

test('requests have at most so many rows and bytes', () => {
  const bodies = Array.from({ length: 5 }, (_, i) => ({ i }))
  expect(batches(bodies, 2).map(({ from, bodies: some }) => [from, some.length])).toEqual([[0, 2], [2, 2], [4, 1]])
  expect(batches(bodies, 100, 50).map(({ bodies: some }) => some.length)).toEqual([2, 2, 1])
  expect(batches([], 10)).toEqual([])
})

test('errors are told by the row of the file', () => {
  expect(badCells([fault('/1/age', 'A'), fault('/0', 'B'), fault('/0/tags/3', 'C'), fault(undefined, 'D')], [7, 9])).toEqual({
    cells: [
      { row: 9, attribute: 'age', detail: 'A' },
      { row: 7, attribute: '', detail: 'B' },
      { row: 7, attribute: 'tags', detail: 'C' },
    ],
    rest: [fault(undefined, 'D')],
  })
})

test('all bad rows are found, although a response lists a hundred errors', async () => {
  const rows = Array.from({ length: 1000 }, (_, i) => i + 10)
  const sizes: number[] = []
  const send = async (bodies: Record<string, unknown>[]) => {
    sizes.push(bodies.length)
    const faults = bodies.flatMap(({ n }, i) => ((n as number) % 4 ? [] : [fault(`/${i}/n`, 'Odd.')])).slice(0, 100)
    if (faults.length === 100) faults[99] = fault(faults[99]!.source!.pointer!, 'Odd. There are more errors than are listed.')
    return faults
  }
  const bad = await allBad(rows, rows.map((n) => ({ n })), send)
  expect(bad).toEqual(rows.filter((n) => n % 4 === 0).map((row) => ({ row, attribute: 'n', detail: 'Odd.' })))
  expect(sizes).toEqual([1000, 900, 800, 750])
})
