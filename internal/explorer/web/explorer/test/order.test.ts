import { expect, test } from 'vitest'
import { Refused, Unreachable } from '../lib/api'
import { Order } from '../lib/order'

test('a response is late when that of a later request was taken', () => {
  const order = new Order()
  const [first, second, third] = [order.send(), order.send(), order.send()]
  expect([third.fails(new Unreachable()), second.take(), first.take(), first.fails(new Unreachable()), third.take(), second.take(), order.send().take()]).toEqual([true, true, false, false, true, false, true])
  const [read, deleted] = [order.send(), order.send()]
  expect([deleted.fails(new Refused(404, [], new Headers())), read.take()]).toEqual([true, false])
})
