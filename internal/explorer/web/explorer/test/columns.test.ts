import { expect, test } from 'vitest'
import { DEFAULT, layoutOf, moveColumn, shownOf } from '../lib/columns'
import type { Collection, Field } from '../lib/schema'

const field = (name: string, rest: Partial<Field> = {}) => ({ name, type: 'string', ...rest }) as Field

test('texts share what is left of the room', () => {
  const fields = [field('id'), field('name'), field('active', { type: 'boolean' }), field('created_at', { format: 'date-time' })]
  expect(layoutOf(fields, [{ id: '1', name: 'Ada Lovelace' } as never])).toEqual({ columns: '140px minmax(148px, 148fr) 100px 172px', width: 560, widths: [140, 148, 100, 172] })
})

test('without a text it is the last column', () => {
  expect(layoutOf([field('id'), field('created_at', { format: 'date-time' })], [])).toEqual({ columns: '140px minmax(172px, 172fr)', width: 312, widths: [140, 172] })
})

test('widths have bounds', () => {
  expect(layoutOf([field('n', { type: 'integer' }), field('text')], [{ n: 1, text: 'x'.repeat(1000) } as never])).toEqual({ columns: 'minmax(84px, 84fr) minmax(320px, 320fr)', width: 404, widths: [84, 320] })
})

test('chosen widths are kept', () => {
  expect(layoutOf([field('a'), field('b')], [], { a: 300 }).columns).toBe('300px minmax(84px, 84fr)')
})

test('the label is first, then the attributes, and the id is last; columns are hidden and moved', () => {
  const collection = { name: 'c', singular: 'one', total: 0, label: 'b', attributes: [] } as Collection
  const fields = [field('id', { own: true }), field('a'), field('b'), field('d'), field('created_at', { own: true })]
  const names = (choice = DEFAULT) => shownOf(collection, fields, choice).map(({ name }) => name)
  expect(names()).toEqual(['b', 'a', 'd', 'created_at', 'id'])
  expect(names({ ...DEFAULT, hidden: ['a', 'b'] })).toEqual(['b', 'd', 'created_at', 'id']) // the label stays
  const moved = moveColumn(names(), DEFAULT, 'id', 'a')
  expect(names(moved)).toEqual(['b', 'id', 'a', 'd', 'created_at'])
  expect(names(moveColumn(names(moved), moved, 'a', null))).toEqual(['b', 'id', 'd', 'created_at', 'a'])
})

test('a frozen column leaves room for the others', () => {
  expect(layoutOf([field('a'), field('b')], [{ a: 'x'.repeat(100) } as never], { a: 300 }, { name: 'a', most: 175 }).widths).toEqual([175, 84])
  expect(layoutOf([field('a')], [{ a: 'x' } as never], {}, { name: 'a', most: 175 }).widths).toEqual([84])
})
