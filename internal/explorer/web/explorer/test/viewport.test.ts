import { describe, expect, test } from 'vitest'
import { canvasHeight, MAX_HEIGHT, placeAt, reveal, scrolled, settled, shift, visible, type Geometry } from '../lib/viewport'

const small: Geometry = { rows: 1000, rowHeight: 32, height: 640 }
const huge: Geometry = { rows: 1_000_000_000, rowHeight: 32, height: 640 }
const top = { scroll: 0, top: 0 }

describe('a list that fits the scrollbar', () => {
  test('moves with it, pixel by pixel', () => {
    expect(canvasHeight(small)).toBe(32_000)
    for (const at of [0, 1, 100, 20_000, 31_360]) {
      expect(scrolled(small, top, at)).toEqual({ scroll: at, top: at })
      expect(placeAt(small, at)).toEqual({ scroll: at, top: at })
    }
  })
  test('ends at its end', () => expect(placeAt(small, 1e9)).toEqual({ scroll: 31_360, top: 31_360 }))
})

describe('a list that does not', () => {
  const end = huge.rows * 32 - 640
  test('is as high as the scrollbar can be', () => expect(canvasHeight(huge)).toBe(MAX_HEIGHT))
  test('both ends of the scrollbar are the ends of the list', () => {
    expect(scrolled(huge, placeAt(huge, 5e9), 0).top).toBe(0)
    expect(scrolled(huge, top, MAX_HEIGHT - 640).top).toBe(end)
    expect(placeAt(huge, end).scroll).toBe(MAX_HEIGHT - 640)
  })
  test('every row can be gone to, and is the first one seen', () => {
    for (const row of [1, 12_345, 999_999, 1_000_000, 123_456_789, 999_999_000])
      expect(visible(huge, placeAt(huge, row * 32))[0]).toBe(row)
  })
  test('small steps move by as many pixels, and leave rows where they are drawn', () => {
    let at = placeAt(huge, 500_000_000 * 32)
    const [row, drawn] = [visible(huge, at)[0], shift(at)]
    for (let i = 0; i < 50; i++) at = scrolled(huge, at, at.scroll + 32)
    expect(visible(huge, at)[0]).toBe(row + 50)
    expect(shift(at)).toBe(drawn)
    expect(settled(huge, at).top).toBe(at.top) // the scrollbar moves, the rows do not
  })
  test('large steps go in proportion', () => {
    const half = scrolled(huge, top, (MAX_HEIGHT - 640) / 2)
    expect(half.top).toBeCloseTo(end / 2, 0)
  })
})

test('a row is revealed by moving as little as possible', () => {
  const at = placeAt(small, 3200)
  expect(reveal(small, at, 105)).toBe(at)
  expect(reveal(small, at, 99).top).toBe(99 * 32)
  expect(reveal(small, at, 120).top).toBe(121 * 32 - 640)
})

test('nothing is seen of nothing', () => {
  const none = { rows: 0, rowHeight: 32, height: 640 }
  expect(visible(none, placeAt(none, 0), 5)).toEqual([0, 0])
})
