import { expect, test } from 'vitest'
import { actor, bodyAgain, stepsOf, wayBack, type Change } from '../lib/history'
import type { Collection } from '../lib/schema'
import { EventParser, positionOf } from '../lib/stream'
import { ago, relativeWords, resolveTime } from '../lib/times'

test('events come in pieces, with comments between', () => {
  const parser = new EventParser()
  expect(parser.push(': hello\n\nevent: upd')).toEqual([])
  expect(parser.push('ated\nid: P1\ndata: {"a":1}\n')).toEqual([])
  expect(parser.push('\ndata: x\r\ndata: y\r\n\r\n')).toEqual([
    { event: 'updated', id: 'P1', data: '{"a":1}' },
    { event: 'message', id: null, data: 'x\ny' },
  ])
  expect(parser.push('retry: 10\n\n')).toEqual([])
})

test('the position of a list is in its link', () => {
  expect(positionOf(new Headers({ Link: '</users?filter%5Ba%5D=1&since=A-b_c>; rel="changes", </users?limit=1>; rel="first"' }))).toBe('A-b_c')
  expect(positionOf(new Headers({ Link: '</users?limit=1>; rel="first"' }))).toBeNull()
})

const collection: Collection = {
  name: 'users',
  singular: 'user',
  total: 1,
  attributes: [
    { name: 'name', type: 'string', required: true },
    { name: 'age', type: 'integer', required: false },
  ],
}
const state = (name: string, age: number) => ({ id: '1', type: 'users', name, age, created_at: 'x', updated_at: 'y' })

test('a change says what it changed, and how to go back', () => {
  const change: Change = { id: 'c', kind: 'updated', by: 'key:ab12', previous: { name: 'Ada', updated_at: 'w' }, data: state('Ada L', 3), created_at: 't' }
  const [name] = collection.attributes
  expect(stepsOf(change, collection)).toEqual([{ attribute: name, before: 'Ada', after: 'Ada L' }])
  expect(stepsOf({ ...change, kind: 'created', previous: null }, collection)).toEqual([])
  expect(wayBack(state('Bea', 3), change.data!, collection.attributes)).toEqual([{ attribute: name, before: 'Bea', after: 'Ada L' }])
  expect(bodyAgain(state('Ada', 4), collection.attributes)).toEqual({ id: '1', name: 'Ada', age: 4 })
  expect(actor('key:ab12', { ab12: 'Mia' })).toBe('Mia')
  expect([actor('key:ab12'), actor('sub:ada'), actor(null)]).toEqual(['key ab12', 'ada', ''])
})

test('relative dates stand for absolute ones', () => {
  const now = new Date('2026-11-16T12:00:00.000Z')
  expect(resolveTime('-2h', 'date-time', now)).toBe('2026-11-16T10:00:00.000Z')
  expect(resolveTime('-1w', 'date', now)).toBe('2026-11-09')
  expect(resolveTime('-1w', undefined, now)).toBe('-1w')
  expect(resolveTime('2026-01-01', 'date', now)).toBe('2026-01-01')
  expect([relativeWords('-7d'), relativeWords('-1m')]).toEqual(['last 7 days', 'last month'])
  expect([ago('2026-11-16T11:57:00.000Z', now.getTime()), ago('2026-11-15T12:00:00.000Z', now.getTime())]).toEqual(['3 minutes ago', 'yesterday'])
})
