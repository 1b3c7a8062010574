import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { hideAfter } from '../lib/hide'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => {
  globalThis.shownLonger = undefined
  vi.useRealTimers()
})

test('what is shown for a moment is hidden after its time, or a multiple of it', () => {
  const hidden: string[] = []
  hideAfter(3000, () => hidden.push('first'))
  globalThis.shownLonger = 10
  hideAfter(3000, () => hidden.push('second'))
  vi.advanceTimersByTime(2999)
  expect(hidden).toEqual([])
  vi.advanceTimersByTime(1)
  expect(hidden).toEqual(['first'])
  vi.advanceTimersByTime(26_999)
  expect(hidden).toEqual(['first'])
  vi.advanceTimersByTime(1)
  expect(hidden).toEqual(['first', 'second'])
})
