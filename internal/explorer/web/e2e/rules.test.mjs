// Rules of the data: what the server computes and checks, what is set once, and lifecycles.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { join } from 'node:path'
import { accessible, accessibleInAllLooks, hold, launch, open, serve, shows, WIDE } from './harness.mjs'

const REFUSED = [/status of 4(01|09|12|22)/]
const COMPUTED = 'The server computes this: resource.price * resource.quantity'
const ONCE = 'Set when the resource is created; it cannot be changed.'

let server, browser

before(async () => {
  browser = await launch()
  server = await serve({ schema: join(import.meta.dirname, 'rules.schema.yaml') })
})
after(async () => {
  await browser?.close()
  await server?.stop()
})

const order = (customer, more = {}) => server.ask('POST', '/orders', { customer, price: '2.50', quantity: 3, ...more })
const cell = async (page, row, name) => {
  await page.locator(`#row-${row}`).waitFor()
  const columns = (await page.locator('[role=columnheader]').allInnerTexts()).map((text) => text.trim())
  return page.locator(`#cell-${row}-${columns.indexOf(name) - 1}`)
}
/** The attributes of a form that cannot be changed, as a text. */
const readOnly = async (page) => (await page.getByRole('complementary').locator('form dl').innerText()).replaceAll(/\n+/g, '\n')
const options = (page, label) => page.getByLabel(label, { exact: true }).locator('option').allInnerTexts()
const problems = (page) => page.getByRole('complementary').locator('.problem').allInnerTexts()
/** The dry runs of a page: their bodies, in order. */
function dryRuns(page) {
  const bodies = []
  page.on('request', (request) => request.url().endsWith('?dry_run=true') && bodies.push(request.postDataJSON()))
  return bodies
}

test('what the server computes and what is set once looks read-only and says why, in cells and forms', async () => {
  const { id } = await order('Ada')
  const page = await open(browser, `${server.explorer}/orders?filter[customer]=Ada`)
  const reasons = async (name) => {
    const at = await cell(page, 0, name)
    return [await at.getAttribute('aria-readonly'), await at.getAttribute('title')]
  }
  await shows(async () => [await reasons('total'), await reasons('customer'), await reasons('price')], [['true', COMPUTED], ['true', ONCE], ['false', null]])
  await (await cell(page, 0, 'total')).dblclick()
  await page.getByRole('status').getByText(COMPUTED).waitFor()

  await page.goto(`${server.explorer}/orders/${id}?view=edit`)
  const form = page.getByRole('complementary').locator('form')
  await form.getByLabel('price').waitFor()
  await shows(() => readOnly(page), `customer read-only\nAda\n${ONCE}\ntotal read-only\n7.50\n${COMPUTED}`)
  assert.deepEqual([await form.locator('#field-customer').count(), await form.locator('#field-total').count()], [0, 0])
  await accessible(page, 'a form with computed attributes')

  await page.goto(`${server.explorer}/orders?view=new`)
  await form.getByLabel('customer').waitFor()
  await form.getByText('At most 80 characters, cannot be changed later.').waitFor()
  await shows(() => readOnly(page), `total read-only\n${COMPUTED}`)
  assert.equal(await form.locator('#field-total').count(), 0)
  await page.leave()
})

test('a check that fails is told at its attribute, before and after the form is sent; without one above the form', async () => {
  const page = await open(browser, `${server.explorer}/bookings?view=new`, { expect: REFUSED })
  const form = page.getByRole('complementary').locator('form')
  await form.getByLabel('room').fill('Closet')
  await form.getByLabel('guests').fill('2')
  await form.getByLabel('starts_on').fill('2027-03-12')
  await form.getByLabel('ends_on').fill('2027-03-10')
  const told = async () => [await form.locator('#field-ends_on-about .problem').allInnerTexts(), await problems(page), await form.getByRole('alert').allInnerTexts()]
  const both = [['It ends before it starts.'], ['It ends before it starts.'], ['The closet has room for one.']]
  await shows(told, both)
  await accessible(page, 'a form with failed checks')
  assert.deepEqual(await server.ask('GET', '/bookings'), [])
  await form.getByLabel('guests').focus()
  await page.keyboard.press('Control+Enter')
  await page.locator('#field-ends_on:focus').waitFor()
  await shows(told, both)
  await form.getByLabel('guests').fill('1')
  await shows(told, [['It ends before it starts.'], ['It ends before it starts.'], []])
  await form.getByLabel('ends_on').fill('2027-03-14')
  await shows(told, [[], [], []])
  await form.getByRole('button', { name: 'Create', exact: true }).click()
  await page.getByRole('complementary', { name: 'booking', exact: true }).waitFor()
  const [{ id, ...stored }] = await server.ask('GET', '/bookings?fields=room,guests,starts_on,ends_on')
  assert.deepEqual(stored, { type: 'bookings', room: 'Closet', guests: 1, starts_on: '2027-03-12', ends_on: '2027-03-14' })

  await page.goto(`${server.explorer}/bookings`)
  await (await cell(page, 0, 'ends_on')).dblclick()
  await page.getByLabel('ends_on', { exact: true }).fill('2027-03-11')
  await page.keyboard.press('Enter')
  await shows(() => page.getByRole('alert').allInnerTexts(), ['It ends before it starts.'])
  await page.keyboard.press('Escape')
  await (await cell(page, 0, 'starts_on')).dblclick()
  await page.getByLabel('starts_on', { exact: true }).fill('2027-03-15')
  await page.keyboard.press('Enter')
  await shows(() => page.getByRole('alert').allInnerTexts(), ['ends_on: It ends before it starts.'])
  await page.keyboard.press('Escape')
  assert.equal((await server.ask('GET', `/bookings/${id}`)).starts_on, '2027-03-12')
  await page.leave()
})

test('while typing stops, the server is asked what it would make of the form; errors of what was not edited wait', async () => {
  const page = await open(browser, `${server.explorer}/orders?view=new`, { expect: REFUSED })
  const asked = dryRuns(page)
  const form = page.getByRole('complementary').locator('form')
  const answered = page.waitForResponse(/dry_run=true/)
  await form.getByLabel('price').fill('2.50')
  assert.equal((await answered).status(), 422) // customer and quantity are missing
  await page.clock.install({ time: '2027-01-01T00:00:00Z' })
  await page.clock.pauseAt('2027-01-01T01:00:00Z')
  await form.getByLabel('customer').fill('Dry')
  await form.getByLabel('quantity').fill('4')
  await page.clock.runFor(399)
  assert.deepEqual(asked, [{ price: '2.50' }])
  assert.deepEqual(await problems(page), [])
  await page.clock.runFor(1)
  await shows(() => readOnly(page), `total read-only\n10.00\n${COMPUTED}`)

  // The last request wins: one before it is given up.
  const release = await hold(page, /dry_run=true/, { times: 1 })
  const lost = page.waitForEvent('requestfailed', (request) => request.url().endsWith('?dry_run=true'))
  await form.getByLabel('quantity').fill('5')
  const sent = page.waitForRequest(/dry_run=true/)
  await page.clock.runFor(400)
  await sent
  await form.getByLabel('quantity').fill('6')
  await page.clock.runFor(400)
  assert.equal((await lost).postDataJSON().quantity, 5)
  release()
  await shows(() => readOnly(page), `total read-only\n15.00\n${COMPUTED}`)
  assert.deepEqual(asked.map(({ quantity }) => quantity), [undefined, 4, 5, 6])

  // What is computed can be wrong as well, and what was edited is told at once.
  await form.getByLabel('quantity').fill('900')
  await page.clock.runFor(400)
  await shows(() => readOnly(page), /^total read-only\nMust be at most 1000.*\n/)
  await form.getByLabel('quantity').fill('0')
  await page.clock.runFor(400)
  await shows(() => problems(page), ['Must be at least 1.'])
  await form.getByLabel('quantity').fill('2')
  await page.clock.runFor(400)
  await shows(async () => [await problems(page), await readOnly(page)], [[], `total read-only\n5.00\n${COMPUTED}`])
  assert.deepEqual(await server.ask('GET', '/orders?filter[customer]=Dry'), [])
  const count = asked.length
  await form.getByRole('button', { name: 'Create', exact: true }).click()
  await page.getByRole('complementary', { name: 'order', exact: true }).getByText('5.00').waitFor()
  await page.clock.runFor(1000)
  assert.equal(asked.length, count)

  // An edited resource is asked with its ETag; a collection without rules is not asked.
  await page.keyboard.press('e')
  await form.getByLabel('price').fill('3.00')
  const [request] = await Promise.all([page.waitForRequest(/dry_run=true/), page.clock.runFor(400)])
  assert.match((await request.allHeaders())['if-match'], /^"\w+\.1\.\w+"$/)
  await shows(() => readOnly(page), `customer read-only\nDry\n${ONCE}\ntotal read-only\n6.00\n${COMPUTED}`)
  await page.leave()
  const other = await open(browser, `${server.explorer}/notes?view=new`)
  const none = dryRuns(other)
  await other.clock.install({ time: '2027-01-01T00:00:00Z' })
  await other.clock.pauseAt('2027-01-01T01:00:00Z')
  await other.getByLabel('size').fill('99')
  await other.clock.runFor(1000)
  await other.getByLabel('size').fill('9')
  await other.getByLabel('text').fill('Hello')
  await other.clock.runFor(1000)
  await other.getByRole('button', { name: 'Create', exact: true }).click()
  await other.getByRole('complementary', { name: 'note', exact: true }).waitFor()
  assert.deepEqual(none, [])
  await other.leave()
})

test('the panel has a button for each transition that the caller may take; it can be undone where the way back is allowed', async () => {
  const { id } = await order('Grace')
  const page = await open(browser, `${server.explorer}/orders/${id}`, { expect: REFUSED })
  const ways = page.getByRole('group', { name: 'Change state' })
  const buttons = async () => (await ways.getByRole('button').allInnerTexts()).map((text) => text.replace('→', '').trim())
  const state = async () => (await server.ask('GET', `/orders/${id}`)).state
  await shows(buttons, ['placed', 'Lifecycle']) // no role may cancel
  const patches = []
  page.on('request', async (request) => request.method() === 'PATCH' && patches.push([request.postDataJSON(), (await request.allHeaders())['if-match']]))
  await ways.getByRole('button', { name: 'placed' }).click()
  await shows(buttons, ['draft', 'shipped', 'Lifecycle'])
  await shows(() => patches.map(([body, match]) => [body, /^"\w+\.1\.\w+"$/.test(match)]), [[{ state: 'placed' }, true]])
  await page.getByRole('status').getByRole('button', { name: 'Undo' }).click()
  await shows(buttons, ['placed', 'Lifecycle'])
  assert.equal(await state(), 'draft')
  await ways.getByRole('button', { name: 'placed' }).click()
  await shows(buttons, ['draft', 'shipped', 'Lifecycle'])

  // A check of another attribute, a rule of access that depends on the resource, and a state that nothing follows.
  await ways.getByRole('button', { name: 'shipped' }).click()
  await page.getByRole('alert').getByText('note: Say how it was shipped.').waitFor()
  await accessible(page, 'a transition that a check refuses')
  await server.ask('PATCH', `/orders/${id}`, { note: 'By train', quantity: 6 })
  await page.getByRole('complementary').locator('dl').getByText('By train').waitFor()
  await ways.getByRole('button', { name: 'shipped' }).click()
  await shows(() => page.getByRole('alert').innerText(), /^You may not/)
  assert.equal(await state(), 'placed')
  await server.ask('PATCH', `/orders/${id}`, { quantity: 5 })
  await page.getByRole('complementary').locator('dl').getByText('12.50').waitFor()
  await ways.getByRole('button', { name: 'shipped' }).click()
  await shows(buttons, ['Lifecycle'])
  await page.getByRole('status').getByText('state: shipped.').waitFor()
  assert.deepEqual([await page.getByRole('button', { name: 'Undo' }).count(), await state()], [0, 'shipped'])
  await page.leave()
})

test('forms and cells offer the present state and those that may follow; what somebody else made impossible is told there', async () => {
  const { id } = await order('Alan')
  const page = await open(browser, `${server.explorer}/orders?view=new`, { expect: REFUSED })
  await shows(() => options(page, 'state'), ['default: draft', 'draft', 'placed'])
  await page.goto(`${server.explorer}/orders/${id}?view=edit`)
  await shows(() => options(page, 'state'), ['draft', 'placed'])
  await page.getByLabel('state', { exact: true }).selectOption('placed')
  await server.ask('PATCH', `/orders/${id}`, { state: 'placed', note: 'By ship' })
  await server.ask('PATCH', `/orders/${id}`, { state: 'shipped' })
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await page.getByRole('alert', { name: 'Conflict' }).getByRole('button', { name: 'Overwrite with mine' }).click()
  await page.locator('#field-state-about').getByText('The state cannot change from shipped to placed.').waitFor()
  assert.equal(await page.getByRole('alert', { name: 'Conflict' }).count(), 0)
  await page.leave()

  const row = await order('Edsger', { state: 'placed', note: 'By bike' })
  const table = await open(browser, `${server.explorer}/orders?filter[customer]=Edsger`, { expect: REFUSED })
  await (await cell(table, 0, 'state')).dblclick()
  await shows(() => options(table, 'state'), ['draft', 'placed', 'shipped'])
  await server.ask('PATCH', `/orders/${row.id}`, { state: 'draft' })
  await table.getByLabel('state', { exact: true }).selectOption('shipped')
  await table.keyboard.press('Enter')
  await table.getByRole('alert').getByRole('button', { name: 'Overwrite with mine' }).click()
  await shows(() => table.getByRole('alert').innerText(), /^The state cannot change from draft to shipped\./)
  assert.equal((await server.ask('GET', `/orders/${row.id}`)).state, 'draft')
  await table.leave()
})

test('a lifecycle is drawn, and told as a list, with the present state', async () => {
  const { id } = await order('Barbara', { state: 'placed' })
  const page = await open(browser, `${server.explorer}/orders/${id}`, WIDE)
  await page.getByRole('button', { name: 'Lifecycle' }).click()
  const dialog = page.getByRole('dialog', { name: 'Lifecycle of state' })
  assert.deepEqual((await dialog.getByRole('listitem').allInnerTexts()).map((text) => text.trim()), [
    'draft, at first: then placed, cancelled',
    'placed (present), at first: then draft, shipped, cancelled',
    'cancelled: nothing follows',
    'shipped: nothing follows',
  ])
  assert.deepEqual(await dialog.locator('svg text').allTextContents(), ['draft', 'placed', 'cancelled', 'shipped'])
  assert.deepEqual([await dialog.locator('svg .present text').textContent(), await dialog.locator('svg .way').count(), await dialog.locator('[aria-current=step]').innerText()], ['placed', 5, 'placed (present), at first: then draft, shipped, cancelled'])
  // The drawing is inside of its frame, and its states do not lie on each other.
  const boxes = await dialog.locator('svg g > rect:not(.final)').evaluateAll((all) => all.map((each) => each.getBoundingClientRect().toJSON()))
  assert.ok(boxes.every(({ top }, i) => i === 0 || top > boxes[i - 1].bottom), JSON.stringify(boxes))
  const [frame, ...lines] = await dialog.locator('svg, svg path').evaluateAll((all) => all.map((each) => each.getBoundingClientRect().toJSON()))
  assert.ok(lines.every(({ left, right, top, bottom }) => left >= frame.left && right <= frame.right && top >= frame.top && bottom <= frame.bottom), JSON.stringify({ frame, lines }))
  await accessibleInAllLooks(page, 'a lifecycle')
  await dialog.getByRole('button', { name: 'Close' }).click()
  await page.getByRole('button', { name: 'Lifecycle' }).and(page.locator(':focus')).waitFor()
  await page.leave()
})

test('a computed attribute is filtered, sorted and grouped like others', async () => {
  for (const quantity of [1, 7, 4]) await order('Radia', { price: '100.00', quantity })
  const page = await open(browser, `${server.explorer}/orders?filter[customer]=Radia&filter[total][gte]=400.00&sort=-total`)
  const totals = async () => [await (await cell(page, 0, 'total')).innerText(), await (await cell(page, 1, 'total')).innerText()]
  await shows(totals, ['700.00', '400.00'])
  await page.getByRole('columnheader', { name: 'total' }).getByRole('button').first().click() // descending: none
  await page.getByRole('columnheader', { name: 'total' }).getByRole('button').first().click()
  await shows(totals, ['400.00', '700.00'])
  await page.goto(`${server.explorer}/orders?filter[customer]=Radia&chart=state&sum=total`)
  await page.getByText('1,200.00').or(page.getByText('1200.00')).first().waitFor()
  await page.leave()
})

test('a deletion can be undone if what is computed comes back and the state is one of the first', async () => {
  const [first, later] = [await order('Niklaus'), await order('Donald', { state: 'placed', note: 'By post' })]
  await server.ask('PATCH', `/orders/${later.id}`, { state: 'shipped' })
  const page = await open(browser, `${server.explorer}/orders/${later.id}`)
  const dialog = page.getByRole('dialog')
  await page.getByRole('button', { name: 'Delete', exact: true }).click()
  await dialog.getByText('This cannot be undone.').waitFor()
  await page.keyboard.press('Escape')
  await page.goto(`${server.explorer}/orders/${first.id}`)
  await page.getByRole('button', { name: 'Delete', exact: true }).click()
  await dialog.getByText('You can undo it for a moment.').waitFor()
  await dialog.getByRole('button', { name: 'Delete' }).click()
  await page.getByRole('status').getByRole('button', { name: 'Undo' }).click()
  await page.getByText('1 order restored.').waitFor()
  const { state, total } = await server.ask('GET', `/orders/${first.id}`)
  assert.deepEqual({ state, total }, { state: 'draft', total: '7.50' })
  await page.leave()
})
