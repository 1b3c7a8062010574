import { expect, test } from 'vitest'
import { drawingOf, nextStates, offered, reachable, returns, whyRuled } from '../lib/rules'
import type { Attribute } from '../lib/schema'

const attribute = (name: string, more: Partial<Attribute> = {}): Attribute => ({ name, type: 'string', required: false, ...more })
const state = attribute('state', {
  enum: ['draft', 'placed', 'shipped', 'cancelled'],
  initial: ['draft'],
  transitions: { draft: ['placed', 'cancelled'], placed: ['draft', 'shipped', 'cancelled'] },
})
const all = () => true

test('a value that nobody can give says why', () => {
  expect([
    whyRuled(attribute('total', { computed: 'resource.a * resource.b' }), true),
    whyRuled(attribute('by', { computed: 'auth.sub', when: 'create' }), false),
    whyRuled(attribute('secret', { computed: null }), true),
    whyRuled(attribute('number', { write_once: true }), true),
    whyRuled(attribute('number', { write_once: true }), false),
    whyRuled(attribute('name'), true),
  ]).toEqual([
    'The server computes this: resource.a * resource.b',
    'The server computes this when the resource is created: auth.sub',
    'The server computes this.',
    'Set when the resource is created; it cannot be changed.',
    null,
    null,
  ])
})

test('the states that are offered follow from the present one, and from what the caller may do', () => {
  expect(nextStates(state, 'placed', (to) => to !== 'cancelled')).toEqual(['draft', 'shipped'])
  expect([nextStates(state, 'shipped', all), nextStates(state, null, all)]).toEqual([[], []])
  expect(offered(state, 'placed', (to) => to === 'shipped').enum).toEqual(['placed', 'shipped'])
  expect(offered(state, undefined, all).enum).toEqual(['draft'])
  expect(offered({ ...state, initial: undefined }, undefined, (to) => to !== 'shipped').enum).toEqual(['draft', 'placed', 'cancelled'])
  expect(reachable({ ...state, transitions: { draft: ['placed'] } }, all).enum).toEqual(['placed'])
  const name = attribute('name', { enum: ['a'] })
  expect([offered(name, 'a', () => false), reachable(name, () => false)]).toEqual([name, name])
})

test('a resource returns as it was if what is computed follows from what can be sent', () => {
  const total = attribute('total', { computed: 'resource.a * 2' })
  const stamp = attribute('stamp', { computed: "previous == null ? now : previous.stamp" })
  const label = attribute('label', { computed: 'string(resource.stamp)' })
  const a = attribute('a')
  const attributes = [a, total, stamp, label]
  expect(attributes.map((each) => returns(each, attributes, () => true))).toEqual([true, true, false, false])
  expect(returns(a, attributes, () => false)).toBe(false)
  expect(returns(attribute('by', { computed: 'resource.a', when: 'create' }), attributes, () => true)).toBe(false)
})

test('a lifecycle is drawn from its first states down; arcs do not lie on each other', () => {
  expect(drawingOf(state)).toEqual({
    states: [
      { name: 'draft', initial: true, next: ['placed', 'cancelled'] },
      { name: 'placed', initial: false, next: ['draft', 'shipped', 'cancelled'] },
      { name: 'cancelled', initial: false, next: [] },
      { name: 'shipped', initial: false, next: [] },
    ],
    arcs: [
      { from: 0, to: 1, lane: 0 },
      { from: 1, to: 0, lane: 1 },
      { from: 1, to: 2, lane: 0 },
      { from: 0, to: 2, lane: 1 },
      { from: 1, to: 3, lane: 2 },
    ],
  })
  // States that nothing leads to, and circles, are there as well.
  const odd = attribute('odd', { enum: ['a', 'b', 'c'], initial: ['b'], transitions: { b: ['b'], a: ['c'], c: ['a'] } })
  expect(drawingOf(odd).states.map(({ name, next }) => [name, next])).toEqual([['b', []], ['a', ['c']], ['c', ['a']]])
})
