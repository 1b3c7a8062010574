import { expect, test } from 'vitest'
import { ABSENT, bodyOf, conflictOf, entryOf, NULL, sortFaults, typed, valueOf, type Entry } from '../lib/form'
import { joinList, operatorsFor, sentence, splitList } from '../lib/filters'
import { parse, same, stringify } from '../lib/json'
import type { Attribute } from '../lib/schema'

const attribute = (name: string, type: Attribute['type'], more: Partial<Attribute> = {}): Attribute => ({ name, type, required: false, ...more })
const text = attribute('text', 'string')
const size = attribute('size', 'integer')
const when = attribute('when', 'string', { format: 'date-time' })
const tags = attribute('tags', 'array')
const entry = (text: string): Entry => ({ is: 'text', text })

test('integers of any size come back to the last digit', () => {
  const source = '{"a":9223372036854775807,"b":[-9007199254740993,1.5,0.12345678901234568],"c":"\\"12345678901234567890"}'
  expect(stringify(parse(source))).toBe(source)
  expect(same(parse('9007199254740993'), parse('9007199254740992'))).toBe(false)
})

test('what is entered becomes a value of its type, or text for the server to refuse', () => {
  expect(valueOf(text, entry('7'))).toBe('7')
  expect(valueOf(size, entry(' 7 '))).toBe(7)
  expect(valueOf(size, entry('9223372036854775807'))).toBe(9223372036854775807n)
  expect(valueOf(size, entry('seven'))).toBe('seven')
  expect(valueOf(size, entry('007'))).toBe('007')
  expect(valueOf(tags, entry('[1]'))).toEqual([1])
  expect(valueOf(attribute('on', 'boolean'), entry('true'))).toBe(true)
  expect(valueOf(text, NULL)).toBe(null)
  expect(valueOf(text, ABSENT)).toBe(undefined)
})

test('nothing entered is empty text where that is a value, and else no value', () => {
  expect(typed(text, '', NULL)).toEqual(entry(''))
  expect(typed(when, '', NULL)).toBe(NULL)
  expect(typed(size, '', ABSENT)).toBe(ABSENT)
})

test('a body has what was entered; of a change only what differs', () => {
  const base = { id: '1', type: 'things', text: 'a', size: 1, when: null, tags: [1] }
  const all = [text, size, when, tags]
  const shown = Object.fromEntries(all.map((each) => [each.name, entryOf(each, base[each.name as keyof typeof base])]))
  expect(bodyOf(all, shown, base)).toEqual({ body: {}, problems: {} })
  expect(bodyOf(all, { ...shown, text: NULL, size: entry('2'), tags: entry('[ 1 ]') }, base)).toEqual({ body: { text: null, size: 2 }, problems: {} })
  expect(bodyOf(all, { text: entry('x'), size: ABSENT }, null)).toEqual({ body: { text: 'x' }, problems: {} })
  expect(Object.keys(bodyOf(all, { tags: entry('[') }, null).problems)).toEqual(['tags'])
})

test('errors go to the attribute that their pointer names', () => {
  const fault = (detail: string, pointer?: string) => ({ status: 422, code: 'c', title: 't', detail, ...(pointer && { source: { pointer } }) })
  expect(sortFaults([fault('A', '/text'), fault('B', '/tags/0/x~1y'), fault('C', '/other'), fault('D')], [text, tags])).toEqual({
    at: { text: ['A'], tags: ['0/x/y: B'] },
    rest: [fault('C', '/other'), fault('D')],
  })
})

test('a conflict is what both have set to different values', () => {
  const base = { id: '1', type: 'things', text: 'a', size: 1, tags: [1] }
  expect(conflictOf([text, size, tags], { text: 'mine' }, base, { ...base, text: 'theirs', size: 2 })).toEqual({
    clashes: [{ attribute: text, mine: 'mine', theirs: 'theirs' }],
    others: [{ attribute: size, before: 1, theirs: 2 }],
  })
  expect(conflictOf([text], { text: 'same' }, base, { ...base, text: 'same' })).toEqual({ clashes: [], others: [] })
  expect(conflictOf([text, size], { text: 'mine' }, base, { ...base, size: 2 })).toEqual({ clashes: [], others: [{ attribute: size, before: 1, theirs: 2 }] })
})

test('lists in filters keep commas within their values', () => {
  for (const values of [['a'], ['a,b', 'c'], ['', 'x']]) expect(splitList(joinList(values))).toEqual(values)
})

test('operators fit the type', () => {
  expect(operatorsFor(tags)).toEqual(['null'])
  expect(operatorsFor({ ...text, required: true })).not.toContain('null')
  expect(operatorsFor(size)).not.toContain('contains')
  expect(sentence({ field: 'when', op: 'lt', value: 'x' }, when)).toEqual({ verb: 'is before', value: 'x' })
  expect(sentence({ field: 'size', op: 'null', value: 'false' }, size)).toEqual({ verb: 'is not null', value: '' })
})
