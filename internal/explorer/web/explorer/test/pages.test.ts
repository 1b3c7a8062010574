import { expect, test } from 'vitest'
import { forgettable, PAGE, pagesFor, rangeOf } from '../lib/pages'

const ids = (page: number, length = PAGE) => Array.from({ length }, (_, i) => `${page}-${i}`)
const none = () => undefined

test('the pages of a window, and one to either side, as far as there are any', () => {
  expect(pagesFor(0, 20, 1000)).toEqual([0, 1])
  expect(pagesFor(0, 20, 50)).toEqual([0])
  expect(pagesFor(190, 210, 1000)).toEqual([0, 1, 2, 3])
  expect(pagesFor(980, 1000, 1000)).toEqual([8, 9])
  expect(pagesFor(0, 20, 0)).toEqual([])
  expect(pagesFor(5000, 5020, 3)).toEqual([])
})

test('a page is asked for in the cheapest way that is known', () => {
  expect(rangeOf(0, null, none).query).toBe('limit=100')
  expect(rangeOf(5, 10_000, none)).toEqual({ query: 'offset=500&limit=100', skip: 0, forwards: true })
  expect(rangeOf(5, 10_000, (page) => (page === 4 ? ids(4) : undefined))).toEqual({ query: 'cursor=4-99&limit=101', skip: 1, forwards: true })
  expect(rangeOf(5, 10_000, (page) => (page === 6 ? ids(6) : undefined))).toEqual({ query: 'cursor=6-0&limit=-100', skip: 0, forwards: false })
  expect(rangeOf(99, 9_930, none)).toEqual({ query: 'limit=-30', skip: 0, forwards: false })
  expect(rangeOf(99, null, none).query).toBe('offset=9900&limit=100')
  // A short page is the last one, or has lost some: nothing can be told from it.
  expect(rangeOf(5, 10_000, (page) => (page === 4 ? ids(4, 99) : undefined)).query).toBe('offset=500&limit=100')
})

test('pages are forgotten in the order of their use, but for those that are needed', () => {
  expect(forgettable([7, 1, 2, 3], [7], 4)).toEqual([])
  expect(forgettable([7, 1, 2, 3], [7], 2)).toEqual([1, 2])
  expect(forgettable([7, 1], [7, 1], 1)).toEqual([])
})
