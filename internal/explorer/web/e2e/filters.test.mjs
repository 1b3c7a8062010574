// Search and filters: alternatives, relative dates, through references, and what is wrong in the address.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { accessible, launch, open, shows } from './harness.mjs'
import { workbench } from './workbench.mjs'

let server, browser

before(async () => {
  browser = await launch()
  server = await workbench()
})
after(async () => {
  await browser?.close()
  await server?.stop()
})

const total = (page, n) => page.locator('header .total', { hasText: new RegExp(`^${n}$`) }).waitFor()
const chips = async (page) => (await page.locator('.chip .text').allInnerTexts()).map((text) => text.trim())

test('the search box finds words, and combines with filters', async () => {
  const page = await open(browser, `${server.explorer}/issues`)
  await page.locator('#row-0').waitFor()
  await page.keyboard.press('/')
  await page.locator('input[type=search]:focus').waitFor()
  await page.keyboard.type('ISSUE ')
  await page.waitForURL(`${server.explorer}/issues?search=ISSUE`)
  await page.keyboard.type('1') // after the space, which was typed and not sent
  await page.waitForURL(`${server.explorer}/issues?search=ISSUE%201`)
  await total(page, 11) // 1 and 10 to 19
  await page.keyboard.press('Tab')
  await page.keyboard.press('f')
  await page.getByLabel('Attribute').selectOption('state')
  await page.getByLabel('Value').selectOption('open')
  await page.getByRole('button', { name: 'Apply' }).click()
  await page.waitForURL(`${server.explorer}/issues?search=ISSUE%201&filter[state]=open`)
  await total(page, 5)
  await page.keyboard.press('/')
  await page.keyboard.press('Escape')
  await page.waitForURL(`${server.explorer}/issues?filter[state]=open`)
  await total(page, 14)

  // The name of a person is in no issue: the issues of that person are offered.
  await page.locator('input[type=search]:focus').fill('grace') // at once: the offers of "grac" would come and go
  const offered = page.getByRole('list', { name: 'By related resources' }).getByRole('link')
  await offered.first().waitFor()
  await shows(() => offered.allInnerTexts(), ['assignee_id is Grace Hopper', 'reporter_id is Grace Hopper'])
  await accessible(page, 'a search that finds nothing')
  await offered.first().click()
  await page.waitForURL(`${server.explorer}/issues?filter[state]=open&filter[assignee_id]=${server.people[1].id}`)
  await page.locator('#row-0').getByText('Grace Hopper').waitFor()
  await shows(() => chips(page), ['state is open', 'assignee_id is Grace Hopper'])
  await page.leave()
})

test('alternatives, relative dates, and filters through references', async () => {
  const page = await open(browser, `${server.explorer}/issues`)
  await page.locator('#row-0').waitFor()
  const build = async (attribute, comparison, value) => {
    await page.getByLabel('Attribute').selectOption(attribute)
    await page.getByLabel('Comparison').selectOption({ label: comparison })
    const field = page.getByLabel('Value')
    if ((await field.evaluate((element) => element.tagName)) === 'SELECT') await field.selectOption(value)
    else await field.fill(value)
    await page.getByRole('button', { name: 'Apply' }).click()
    await page.getByRole('button', { name: 'Apply' }).waitFor({ state: 'detached' })
  }
  await page.keyboard.press('f')
  await build('assignee.name', 'contains', 'Love')
  await total(page, 16)
  await page.keyboard.press('f')
  await build('state', 'is', 'open')
  await page.locator('.chip', { hasText: 'state is open' }).getByRole('button', { name: '+ or' }).click()
  await build('priority', 'is at least', '4')
  await page.waitForURL(`${server.explorer}/issues?filter[assignee.name][contains]=Love&filter[any][0][state]=open&filter[any][1][priority][gte]=4`)
  const matching = await server.ask('GET', '/issues?filter[assignee.name][contains]=Love&filter[any][0][state]=open&filter[any][1][priority][gte]=4')
  await total(page, matching.length)
  await shows(() => chips(page), ['assignee.name contains Love', 'state is open', 'priority is at least 4'])
  await accessible(page, 'alternatives')

  const sent = []
  page.on('request', (request) => sent.push(decodeURIComponent(request.url().slice(server.url.length))))
  await page.goto(`${server.explorer}/issues`)
  await page.locator('#row-0').waitFor()
  await page.keyboard.press('f')
  await page.getByLabel('Attribute').selectOption('created_at')
  await page.getByText('Upper and lower case differ here.').waitFor({ state: 'detached' })
  await page.getByLabel('Value').fill('3')
  await page.getByLabel('Unit').selectOption('hours')
  await page.getByRole('button', { name: 'Apply' }).click()
  await page.waitForURL(`${server.explorer}/issues?filter[created_at][gte]=-3h`)
  await total(page, 40)
  await shows(() => chips(page), ['created_at is in the last 3 hours'])
  const [asked] = sent.filter((each) => each.startsWith('/issues?filter[created_at][gte]=2'))
  const since = Date.now() - new Date(/gte\]=([^&]+)/.exec(asked)[1]).getTime()
  assert.ok(Math.abs(since - 3 * 3_600_000) < 600_000, asked)
  await page.leave()
})

test('a wrong filter and a wrong sort in the address can be removed, and all errors are told', async () => {
  const page = await open(browser, `${server.explorer}/issues?filter[nope]=1&filter[priority]=x&sort=-nothing`, { expect: [/status of 400/] })
  const said = page.locator('main').getByRole('alert')
  await said.getByText(/nope/).waitFor()
  await said.getByText(/"x" must be an integer/).waitFor()
  await said.getByText(/nothing/).waitFor()
  await shows(() => page.locator('.chip.bad .text').allInnerTexts(), ['nope is 1', 'priority is x', 'sorted by -nothing'])
  await accessible(page, 'wrong parameters')
  await page.getByRole('button', { name: 'Remove the sort' }).click()
  await page.getByRole('button', { name: 'Remove the filter on nope' }).click()
  await page.getByRole('button', { name: 'Remove the filter on priority' }).click()
  await total(page, 40)
  await shows(() => page.url(), `${server.explorer}/issues`)
  await page.leave()
})
