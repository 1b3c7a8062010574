import { expect, test } from 'vitest'
import { Order } from '../lib/order'

test('a response is late when that of a later request was taken', () => {
  const order = new Order()
  const [first, second, third] = [order.send(), order.send(), order.send()]
  expect(third.isLate()).toBe(false) // an error, which is not taken
  expect([second.take(), first.isLate(), first.take(), second.take(), third.take(), second.take(), order.send().take()]).toEqual([true, true, false, true, true, false, true])
})
