// Looking: collections, the table of any length, filters, sorting, links, addresses.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'
import { launch, open, serve, shows } from './harness.mjs'
import { seed, seedReadings } from './seed.mjs'

const READINGS = 120_000 // rows that are 3.8 million pixels high: more than the scrollbar has
let server, browser, data

before(async () => {
  browser = await launch()
  server = await serve()
  data = await seed(server)
  await seedReadings(server, READINGS)
})
after(async () => {
  await browser?.close()
  await server?.stop()
})

const cells = (page, position) => page.locator(`#row-${position} [role=gridcell]`).allInnerTexts()
const columns = (page) => page.locator('[role=columnheader]').allInnerTexts()
const column = async (page, name) => {
  const index = (await columns(page)).indexOf(name)
  return page.locator(`[role=rowgroup] [role=row] [role=gridcell]:nth-child(${index + 1})`).allInnerTexts()
}
const short = (id) => `${id.slice(0, 8)}…${id.slice(-4)}`

test('a browser is sent from the root to the explorer, which lists the collections with their totals', async () => {
  const page = await open(browser, `${server.url}/`)
  await shows(() => page.url(), server.explorer)
  const links = page.getByRole('navigation', { name: 'Collections' }).getByRole('listitem')
  await links.getByText('240').waitFor() // before that there are empty places
  await shows(
    async () => (await links.allInnerTexts()).map((text) => text.replace(/\s+/g, ' ')),
    ['customers 240', 'products 3', 'orders 9', 'reports 0', 'readings 120,000', 'operations 0'],
  )
  await page.getByRole('navigation').getByRole('link', { name: 'products' }).click()
  await page.locator('#row-0').waitFor()
  await shows(() => page.url(), `${server.explorer}/products`)
  await shows(() => columns(page), ['', 'name', 'price', 'serial', 'tags', 'created_at', 'updated_at', 'id'])
  // An integer that no double holds is shown to its last digit.
  await shows(async () => (await cells(page, 0)).slice(1, 5), ['Desk lamp', '49.9', '9007199254740993', 'light\ndesk'])
  await page.leave()
})

test('a list that is higher than any scrollbar: jumps, the wheel, both ends', async () => {
  const page = await open(browser, `${server.explorer}/readings`)
  await page.locator('#row-0').waitFor()
  const sent = []
  page.on('request', (request) => sent.push(request.url().slice(server.url.length)))

  await page.keyboard.press('g')
  await page.keyboard.type('90,001')
  await page.keyboard.press('Enter')
  await page.locator('#row-90000').getByText('s0').waitFor()
  await shows(async () => (await cells(page, 90000))[3], '2026-03-04 12:00:00')
  await page.waitForURL(`${server.explorer}/readings?offset=90000`)
  assert.ok(sent.includes('/readings?offset=90000&limit=100'), sent.join('\n'))

  // A small step of the wheel moves by as many pixels, wherever the scrollbar is.
  await page.mouse.move(600, 400)
  await page.mouse.wheel(0, 320)
  await page.waitForURL(`${server.explorer}/readings?offset=90010`)
  const top = (position) => page.locator(`#row-${position}`).evaluate((row) => Math.round(row.getBoundingClientRect().top))
  assert.equal((await top(90011)) - (await top(90010)), 32)

  // On and on: neighbours are fetched by cursor.
  for (let i = 0; i < 4; i++) await page.mouse.wheel(0, 900)
  await page.locator('#row-90130').getByText('s10').waitFor()
  for (let i = 0; i < 4; i++) await page.mouse.wheel(0, 900)
  await page.locator('#row-90230').getByText('s30').waitFor()
  assert.ok(sent.some((path) => /^\/readings\?cursor=[0-9a-f-]{36}&limit=101$/.test(path)), sent.join('\n'))

  await page.keyboard.press('t')
  await page.keyboard.press('End')
  await page.locator(`#row-${READINGS - 1}`).getByText('s39').waitFor()
  assert.ok(sent.includes('/readings?limit=-100'), sent.join('\n'))
  await page.keyboard.press('PageUp')
  await page.keyboard.press('Home')
  await page.locator('#row-0').getByText('2026-01-01 00:00:00').waitFor()
  await page.waitForURL(`${server.explorer}/readings`)

  // However far the scrollbar is dragged, only what is seen is drawn.
  await page.locator('[role=grid]').evaluate((grid) => grid.scrollTo(0, grid.scrollHeight / 2))
  await page.locator('#row-60000').getByText('s0').waitFor()
  assert.ok((await page.locator('[data-position]').count()) < 60)
  await page.leave()
})

test('the address is enough to see the same again', async () => {
  const page = await open(browser, `${server.explorer}/customers?filter[active]=true&filter[country]=France&filter[country]=Spain&sort=country,-name&offset=7`)
  await page.locator('#row-7').waitFor()
  await shows(
    async () => (await page.locator('.chip .text').allInnerTexts()).map((text) => text.trim()),
    ['active is true', 'country is one of France, Spain'],
  )
  const seen = await page.locator('#row-7').innerText()
  const grid = page.locator('[role=grid]')
  await shows(() => grid.evaluate((element) => element.scrollTop), 7 * 32)
  await page.locator('#row-9 .label').click()
  await page.getByRole('complementary', { name: 'customer' }).getByText('created_at').waitFor()
  const address = page.url()
  assert.match(address, /\/customers\/[0-9a-f-]{36}\?filter\[active\]=true&filter\[country\]\[in\]=France,Spain&sort=country,-name&offset=7$/)

  const again = await open(browser, address)
  await again.getByRole('complementary', { name: 'customer' }).getByText('created_at').waitFor()
  await again.locator('#row-7').waitFor()
  await shows(() => again.locator('#row-7').innerText(), seen)
  await shows(() => again.locator('aside h2').innerText(), await page.locator('aside h2').innerText())
  await again.leave()

  await page.goBack()
  await page.getByRole('complementary').waitFor({ state: 'detached' })
  await page.leave()
})

test('filters are built from the type of the attribute', async () => {
  const page = await open(browser, `${server.explorer}/customers`)
  await page.locator('#row-0').waitFor()
  const build = async (attribute, comparison, value) => {
    await page.keyboard.press('/')
    await page.getByLabel('Attribute').selectOption(attribute)
    await page.getByLabel('Comparison').selectOption(comparison)
    const field = page.getByLabel('Value')
    const apply = page.getByRole('button', { name: 'Apply' })
    if ((await field.evaluate((element) => element.tagName)) === 'SELECT') {
      await field.selectOption(value)
      await apply.click()
    } else if (Array.isArray(value)) {
      for (const each of value) await field.getByLabel(each).check()
      await apply.click()
    } else {
      await field.fill(value)
      await page.keyboard.press('Enter')
    }
    await apply.waitFor({ state: 'detached' })
  }
  await page.keyboard.press('/')
  const offered = {}
  for (const attribute of ['name', 'active', 'credit', 'address', 'country', 'created_at']) {
    await page.getByLabel('Attribute').selectOption(attribute)
    offered[attribute] = (await page.getByLabel('Comparison').locator('option').allInnerTexts()).join(', ')
  }
  assert.deepEqual(offered, {
    name: 'contains, starts with, is, is not, is one of, is none of, is less than, is at most, is more than, is at least',
    active: 'is, is not, is null',
    credit: 'is, is not, is less than, is at most, is more than, is at least, is one of, is none of, is null',
    address: 'is null',
    country: 'is, is not, is one of, is none of, is null',
    created_at: 'is in the last, is from, is before, is after, is until, is, is not',
  })
  await page.keyboard.press('Escape')

  await build('name', 'starts_with', 'Grace')
  await page.getByText('1 filter', { exact: true }).waitFor({ state: 'detached' })
  await page.locator('header .total', { hasText: /^12$/ }).waitFor()
  await build('active', 'eq', 'true')
  await build('credit', 'gte', '20000')
  const address = 'filter[name][starts_with]=Grace&filter[active]=true&filter[credit][gte]=20000'
  await page.waitForURL(`${server.explorer}/customers?${address}`)
  const matching = await server.ask('GET', `/customers?${address}`)
  await page.locator('header .total', { hasText: new RegExp(`^${matching.length}$`) }).waitFor()
  await page.locator('#row-0').waitFor()
  await shows(() => column(page, 'name'), matching.map(({ name }) => name))

  // A mistake is told by the server, in its words.
  await page.getByRole('button', { name: /credit is at least/ }).click()
  await page.getByLabel('Value').fill('much')
  await page.keyboard.press('Enter')
  await page.getByRole('alert').getByText(/integer/).waitFor()
  await page.getByRole('button', { name: 'Remove the filter on credit' }).click()
  await page.locator('#row-0').waitFor()

  await build('country', 'in', ['Spain', 'Italy'])
  await build('country', 'eq', 'France')
  await page.getByText('Nothing matches').waitFor()
  assert.ok((await columns(page)).includes('country')) // a sorting can still be taken back
  await page.getByRole('button', { name: 'Remove all filters' }).click()
  await page.locator('header .total', { hasText: '240' }).waitFor()
  await shows(() => page.url(), `${server.explorer}/customers`)
  await page.context().close()
})

test('headers sort, with Shift by several attributes', async () => {
  const page = await open(browser, `${server.explorer}/customers`)
  const header = (name) => page.getByRole('columnheader', { name }).getByRole('button')
  await page.locator('#row-0').waitFor()
  const sorted = async (query) => {
    await page.waitForURL(`${server.explorer}/customers${query ? `?sort=${query}` : ''}`)
    const rows = await server.ask('GET', `/customers?limit=3${query ? `&sort=${query}` : ''}`)
    await page.locator('#row-0').getByText(short(rows[0].id)).waitFor()
    await shows(async () => (await column(page, 'id')).slice(0, 3), rows.map(({ id }) => short(id)))
  }
  await header('country').click()
  await sorted('country')
  await shows(() => page.getByRole('columnheader', { name: 'country' }).getAttribute('aria-sort'), 'ascending')
  await header('credit').click({ modifiers: ['Shift'] })
  await header('credit').click({ modifiers: ['Shift'] })
  await sorted('country,-credit')
  await header('credit').click({ modifiers: ['Shift'] })
  await sorted('country')
  await header('name').click()
  await header('name').click()
  await sorted('-name')
  await header('name').click()
  await sorted('')
  await page.leave()
})

test('sub-collections and references are links', async () => {
  const [ada] = data.customers
  const page = await open(browser, `${server.explorer}/customers/${ada.id}`)
  await page.getByRole('list', { name: 'Refer to it' }).getByRole('link', { name: 'orders 4' }).click()
  await page.waitForURL(`${server.explorer}/customers/${ada.id}/orders`)
  await page.getByRole('heading', { name: 'customers Ada Lovelace orders' }).waitFor()
  await page.locator('#row-3').waitFor()
  await shows(() => column(page, 'number'), ['2026-100', '2026-101', '2026-102', '2026-103'])
  await page.locator('#row-1 .label').click()
  const panel = page.getByRole('complementary', { name: 'order' })
  await panel.getByRole('link', { name: 'Bookshelf' }).click()
  await page.waitForURL(`${server.explorer}/products/${data.products[1].id}`)
  await page.getByRole('complementary', { name: 'product' }).getByRole('heading', { name: 'Bookshelf' }).waitFor()
  await page.leave()
})

test('every action shows its request, to copy', async () => {
  const page = await open(browser, `${server.explorer}/products?filter[price][lt]=100`)
  await page.locator('#row-0').waitFor()
  await page.keyboard.press('s')
  const code = page.getByRole('region', { name: 'Requests' }).locator('pre')
  await shows(() => code.innerText(), `curl -g '${server.url}/products?filter[price][lt]=100&limit=100'`)
  await page.getByRole('button', { name: 'TypeScript' }).click()
  await shows(() => code.innerText(), /await fetch\("http:.*\/products\?filter\[price\]\[lt\]=100&limit=100"\)/)
  // What can be copied can be run.
  const { stdout } = await promisify(execFile)('node', ['--input-type=module', '--eval', await code.innerText()])
  assert.match(stdout, /name: 'Desk lamp'/)
  await page.getByRole('button', { name: 'Copy the request' }).click()
  await page.getByText('Copied').first().waitFor()
  await shows(() => page.evaluate(() => navigator.clipboard.readText()), await code.evaluate((pre) => pre.textContent))
  await page.leave()
})

test('without a network it says so, and goes on when it is back', async () => {
  const page = await open(browser, `${server.explorer}/readings`, { expect: [/ERR_INTERNET_DISCONNECTED/] })
  await page.locator('#row-0').waitFor()
  await page.keyboard.press('g')
  await page.keyboard.type('100')
  await page.context().setOffline(true)
  await page.locator('[role=grid]').evaluate((grid) => (grid.scrollTop = 300 * 32)) // rows that cannot be had
  await page.getByRole('alert').getByText('You are offline.').first().waitFor()
  await page.keyboard.type('001') // goes on where it was
  await page.keyboard.press('Enter')
  await page.getByRole('alert').getByText('You are offline.').first().waitFor()
  await page.context().setOffline(false)
  await page.locator('#row-100000').getByText('s0').waitFor()
  await shows(() => page.getByRole('alert').count(), 0)
  await page.leave()
})

test('a server that was away is found again', async () => {
  const page = await open(browser, `${server.explorer}/customers`, { expect: [/ERR_FAILED/] })
  await page.locator('#row-0').waitFor()
  await page.route(`${server.url}/**`, (route) => route.abort())
  await page.getByRole('button', { name: 'name', exact: true }).click()
  await page.getByRole('alert').getByText('The server cannot be reached.').waitFor()
  await shows(() => page.getByRole('alert').count(), 1)
  await shows(() => page.locator('.ghost').count(), 0)
  await page.unroute(`${server.url}/**`)
  await page.locator('#row-0').waitFor()
  await shows(() => page.getByRole('alert').count(), 0)
  await page.leave()
})

test('the focus stays where people work, and the active row is seen', async () => {
  const page = await open(browser, `${server.explorer}/customers`)
  // The title of the header of the name is its description.
  const focused = (selector) => page.locator(`${selector}:focus`).waitFor()
  await page.locator('#row-0').waitFor()
  const plain = await page.locator('#row-0').evaluate((row) => getComputedStyle(row).backgroundColor)
  await page.keyboard.press('g')
  await page.keyboard.type('1e3')
  await page.keyboard.press('Enter')
  const wrong = () => page.getByLabel('Go to row').evaluate((box) => box.validationMessage)
  await shows(wrong, 'The number of a row is a whole number, 1 or greater.')
  await page.getByLabel('Go to row').fill('241')
  await page.keyboard.press('Enter')
  await shows(wrong, 'There are only 240 rows.')
  await page.getByLabel('Go to row').fill('101')
  await page.keyboard.press('Enter')
  await focused('[role=grid]')
  await page.locator('#row-101').getByText('Grace').first().waitFor()
  await page.keyboard.press('ArrowDown')
  const look = await page.locator('#row-101 .here').evaluate((cell) => [getComputedStyle(cell.parentElement).backgroundColor, getComputedStyle(cell).outlineStyle])
  assert.ok(look[0] !== plain && look[1] === 'solid', `${look}`)
  await page.keyboard.press('Enter')
  await page.waitForURL(new RegExp(`/customers/${data.customers[101].id}`))
  await page.keyboard.press('Escape')
  await focused('[role=grid]')

  await page.setViewportSize({ width: 900, height: 600 }) // for a table that is wider
  await page.getByRole('columnheader', { name: 'name' }).getByRole('button').focus()
  const grid = page.getByRole('grid')
  await grid.evaluate((element) => (element.scrollLeft = 90))
  await page.keyboard.press('Enter')
  await page.waitForURL(/sort=name/)
  await page.locator('#row-0').waitFor()
  await shows(() => grid.evaluate((element) => element.scrollLeft), 90)
  await focused('[title*=invoice]')
  await page.keyboard.press('s')
  await focused('[aria-label=Requests] button')
  await page.keyboard.press('s')
  await focused('[title*=invoice]')
  await page.keyboard.press('/')
  await page.getByLabel('Value').fill('Ada')
  await page.keyboard.press('Enter')
  await page.waitForURL(/contains\]=Ada/)
  await focused('[role=grid]')
  await page.getByRole('navigation').getByRole('link', { name: 'products' }).click()
  await focused('[role=grid][aria-label=products]')
  await page.leave()
})

test('what is refused is said in place of the table, and once', async () => {
  const page = await open(browser, `${server.explorer}/customers?filter[name][foo]=1`, { expect: [/status of 400/] })
  const said = page.locator('main').getByRole('alert')
  await said.getByText('There is no operator "foo".').waitFor()
  await shows(async () => await page.getByRole('button', { name: 'Try again' }).count() + (await page.locator('.ghost, [data-position]').count()), 0)
  await shows(() => page.locator('.chip.bad .text').allInnerTexts(), ['filter[name][foo]=1'])
  await page.getByRole('button', { name: 'Remove filter[name][foo]=1' }).click()
  await page.locator('header .total', { hasText: '240' }).waitFor()

  for (const [query, told] of [['nope=1', 'There is no parameter of this name.'], ['offset=-1', 'not negative'], ['filter[<script>]=x', 'no field "<script>"']]) {
    await page.goto(`${server.explorer}/customers?${query}`)
    await said.getByText(told).waitFor()
  }
  const sent = []
  page.on('request', (request) => request.url().startsWith(`${server.url}/customers`) && sent.push(request.url().slice(server.url.length)))
  await page.goto(`${server.explorer}/customers?filter[active]=true&filter[credit][gte]=much`)
  await said.getByText('The value "much" must be an integer.').waitFor()
  await shows(async () => (await page.locator('.chip.bad .text').allInnerTexts()).map((text) => text.trim()), ['credit is at least much'])
  assert.deepEqual(sent, ['/customers?filter[active]=true&filter[credit][gte]=much&limit=100'])
  await page.leave()
})
