import { expect, test } from 'vitest'
import { layoutOf } from '../lib/columns'
import type { Field } from '../lib/schema'

const field = (name: string, rest: Partial<Field> = {}) => ({ name, type: 'string', ...rest }) as Field

test('texts share what is left of the room', () => {
  const fields = [field('id'), field('name'), field('active', { type: 'boolean' }), field('created_at', { format: 'date-time' })]
  expect(layoutOf(fields, [{ id: '1', name: 'Ada Lovelace' } as never])).toEqual({ columns: '140px minmax(132px, 132fr) 100px 172px', width: 544 })
})

test('without a text it is the last column', () => {
  expect(layoutOf([field('id'), field('created_at', { format: 'date-time' })], [])).toEqual({ columns: '140px minmax(172px, 172fr)', width: 312 })
})

test('widths have bounds', () => {
  expect(layoutOf([field('n', { type: 'integer' }), field('text')], [{ n: 1, text: 'x'.repeat(1000) } as never])).toEqual({ columns: 'minmax(84px, 84fr) minmax(320px, 320fr)', width: 404 })
})
