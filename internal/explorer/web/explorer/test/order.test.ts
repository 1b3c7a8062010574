import { expect, test } from 'vitest'
import { Order } from '../lib/order'

test('a response is outdated when that of a later request was taken', () => {
  const order = new Order()
  const [first, second, third] = [order.send(), order.send(), order.send()]
  expect([second(), first(), second(), third(), second(), order.send()()]).toEqual([true, false, true, true, false, true])
})
