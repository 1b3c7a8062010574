import { expect, test } from 'vitest'
import { csvLine, readCsv } from '../lib/csv'
import { Elements, writerOf } from '../lib/formats'
import { bodyOfRow, readTable } from '../lib/import'
import { stringify } from '../lib/json'
import type { Attribute, Field, Kind } from '../lib/schema'
import cells from '../../../../move/testdata/cells.json' // the test of plural import and export has the same ones

test('CSV is written so that it is read again', () => {
  const lines = [['a', 'b "c"'], ['x,y', 'two\nlines'], ['', null], [null, ' s '], ['"', ''], ['\r', '\n']]
  expect(readCsv(lines.map(csvLine).join(''))).toEqual(lines)
  expect(readCsv('\uFEFFa;b\n1;"2;3"\n\n4;5')).toEqual([['a', 'b'], ['1', '2;3'], ['4', '5']])
  expect(readCsv('a\tb\r\n1\t2\r\n')).toEqual([['a', 'b'], ['1', '2']])
})

test('a quote that is never closed is refused, with the line in which it begins', () => {
  const message = ': the quote that begins here is never closed. Close it, or write a quote within quotes twice.'
  expect(() => readCsv('a,b\r\n"1\n",2\n3,"4""\n5,6\n')).toThrow(`Line 4${message}`)
  expect(() => readCsv('"')).toThrow(`Line 1${message}`)
})

test.each(cells)('$type $value is the cell $cell', ({ type, value, cell }) => {
  const attributes = ['value', 'end'].map((name): Attribute => ({ name, type: type as Kind, required: false }))
  const writer = writerOf('CSV', attributes as Field[])
  const file = writer.start + writer.each(stringify({ value }), 0)
  expect(file).toBe(`value,end\r\n${cell},\r\n`)
  const { columns, rows } = readTable('a.csv', file)
  expect(rows.map((row) => bodyOfRow(row, columns, attributes))).toEqual([{ value, end: null }])
})

test('elements of a response are found wherever it is cut', () => {
  const all = ['{"a":"}]\\"{","b":[1,{"c":2}]}', '{"a":null}']
  const text = `{"data":[${all.join(',')}]}`
  for (let cut = 0; cut <= text.length; cut++) {
    const elements = new Elements()
    expect([...elements.push(text.slice(0, cut)), ...elements.push(text.slice(cut))]).toEqual(all)
  }
  expect(new Elements().push('{"data":[]}')).toEqual([])
})

test('a file has its columns, or whole resources', () => {
  const fields = [{ name: 'a' }, { name: 'n' }] as Field[]
  const csv = writerOf('CSV', fields)
  expect(csv.start + csv.each('{"id":"1","a":{"x":[1]},"n":9007199254740993}', 0) + csv.each('{"a":null,"n":true}', 1)).toBe('a,n\r\n"{""x"":[1]}",9007199254740993\r\n,true\r\n')
  const json = writerOf('JSON', fields)
  expect(JSON.parse(json.start + json.each('{"a":1}', 0) + json.each('{"a":2}', 1) + json.end)).toEqual([{ a: 1 }, { a: 2 }])
  expect(writerOf('NDJSON', fields).each('{"a":1}', 0)).toBe('{"a":1}\n')
})
