// What lasts while others, the network, the clock or the user go on: input, labels, rows, times, and the focus.

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { accessible, binary, hold, launch, open, serve, shows } from './harness.mjs'
import { workbench } from './workbench.mjs'

let server, browser

before(async () => {
  browser = await launch()
  server = await workbench(150)
})
after(async () => {
  await browser?.close()
  await server?.stop()
})

const live = (page) => page.getByText('Live', { exact: true }).waitFor()
const cell = async (page, row, name) => {
  await page.locator(`#row-${row}`).waitFor()
  const columns = (await page.locator('[role=columnheader]').allInnerTexts()).map((text) => text.trim())
  return page.locator(`#cell-${row}-${columns.indexOf(name) - 1}`)
}

/** Holds responses to an address of a page, which the server has sent. */
async function late(page, url) {
  let release, arrived
  const released = new Promise((resolve) => (release = resolve))
  const read = new Promise((resolve) => (arrived = resolve))
  await page.route(url, async (route) => {
    const response = await route.fetch()
    arrived()
    await released
    await route.fulfill({ response })
  })
  return { read, release }
}

test('a chip shows a date-time as the table does, in local time', async () => {
  const page = await open(browser, `${server.explorer}/issues?filter[seen_at][gte]=2026-11-15T09:30:00Z&filter[due_on]=2026-11-02`, { timezoneId: 'Asia/Tokyo' })
  const chips = page.locator('.chip .text')
  await shows(async () => (await chips.allInnerTexts()).map((text) => text.trim()), ['seen_at is from 2026-11-15 18:30', 'due_on is 2026-11-02'])
  await page.leave()
})

test('the time since a change goes on', async () => {
  const page = await open(browser, 'about:blank')
  await page.clock.install({ time: new Date() })
  await page.goto(`${server.explorer}/issues/${server.issues[7].id}`)
  const time = page.getByRole('region', { name: 'History' }).locator('time')
  await time.waitFor()
  await page.clock.fastForward('02:00:00')
  await shows(() => time.innerText(), '2 hours ago')
  await page.leave()
})

test('the head of the table is one stop of the Tab key, and the arrow keys go on from there', async () => {
  const page = await open(browser, `${server.explorer}/issues`, { viewport: { width: 700, height: 500 } })
  await page.locator('#row-0').waitFor()
  const stops = () => page.locator('.head input, .head button').evaluateAll((all) => all.filter(({ tabIndex }) => tabIndex === 0).map(({ ariaLabel, innerText }) => ariaLabel ?? innerText.trim()))
  await shows(stops, ['Select all that match'])
  await page.keyboard.press('t')
  await page.keyboard.press('Tab')
  await page.keyboard.press('ArrowRight')
  await page.keyboard.press('ArrowRight')
  await shows(stops, ['state'])
  await page.keyboard.press('End')
  await shows(stops, ['id'])
  await page.keyboard.press('ArrowRight')
  for (let i = 0; i < 10; i++) await page.keyboard.press('ArrowLeft')
  await shows(stops, ['state'])
  // It is not behind the column that does not scroll.
  const [title, state] = await page.locator('.head .name').evaluateAll((all) => all.slice(0, 2).map((name) => name.getBoundingClientRect()))
  assert.ok(state.left >= title.right - 1, `${state.left} ${title.right}`)
  await page.keyboard.press('Enter')
  await page.waitForURL(/sort=state/)
  await page.keyboard.press('Tab')
  await page.locator('.head:focus-within').waitFor({ state: 'detached' })
  await page.leave()
})

test('text is written in the direction of its letters', async () => {
  const one = await server.ask('POST', '/issues', { title: 'שלום, עולם', tags: ['مرحبا'] })
  const page = await open(browser, `${server.explorer}/issues/${one.id}?filter[id]=${one.id}`)
  const direction = (locator) => shows(() => locator.evaluate((element) => getComputedStyle(element).direction), 'rtl')
  await direction(page.locator('#row-0 .text').getByText(one.title))
  await direction(page.locator('#row-0').getByText('مرحبا'))
  await direction(page.getByRole('heading', { name: one.title }))
  await page.getByRole('button', { name: 'Edit' }).click()
  await direction(page.getByLabel('title', { exact: true }))
  await server.ask('DELETE', `/issues/${one.id}`)
  await page.leave()
})

test('the line of a chart does not strike its values through', async () => {
  const page = await open(browser, `${server.explorer}/issues?chart=due_on`)
  const value = page.locator('.point span').last()
  await value.waitFor()
  const look = await value.evaluate((span) => {
    const { left, top, width, height } = span.getBoundingClientRect()
    return { ground: getComputedStyle(span).backgroundColor === getComputedStyle(document.body).backgroundColor, first: document.elementFromPoint(left + width / 2, top + height / 2) === span }
  })
  assert.deepEqual(look, { ground: true, first: true })
  await page.leave()
})

test('what failed without a connection is loaded when it is back', async () => {
  const page = await open(browser, `${server.explorer}/issues?chart=state`, { expect: [/ERR_/] })
  const chart = page.getByRole('region', { name: 'Chart of issues' })
  await chart.getByRole('row', { name: /open/ }).waitFor()
  await live(page)
  const start = await server.interrupt()
  await page.getByRole('status').getByText('Connection lost').waitFor()
  await chart.getByLabel('Group by').selectOption('priority')
  await chart.getByRole('alert').getByText('The server cannot be reached.').waitFor()
  await start()
  await live(page)
  await chart.getByRole('row', { name: /^5 / }).waitFor()
  await shows(() => page.getByRole('alert').count(), 0)
  await page.leave()
})

test('a page that was read before a change shows the change', async () => {
  const page = await open(browser, 'about:blank')
  const { read, release } = await late(page, /\/issues\?.*(limit=-|offset=|cursor=)/)
  await page.goto(`${server.explorer}/issues`)
  await page.locator('#row-0').waitFor()
  await live(page)
  await page.locator('[role=grid]').evaluate((grid) => (grid.scrollTop = 120 * 32))
  await read
  await page.getByRole('navigation').getByRole('link', { name: 'people 3' }).waitFor()
  await server.ask('PATCH', `/issues/${server.issues[125].id}`, { title: 'Changed in time' })
  await server.ask('PATCH', `/issues/${server.issues[0].id}`, { title: 'Changed after it' })
  await server.ask('POST', '/people', { name: 'Fourth' })
  await page.getByRole('navigation').getByRole('link', { name: 'people 4' }).waitFor() // so the stream is as far
  release()
  await page.locator('#row-125', { hasText: 'Changed in time' }).waitFor()
  await page.leave()
})

test('a name that changes, also while it is requested, is the new one', async () => {
  const page = await open(browser, `${server.explorer}/issues`)
  await page.locator('#row-0').waitFor()
  await live(page)
  const { read, release } = await late(page, /\/people\?filter\[id\]\[in\]=/)
  const person = await server.ask('POST', '/people', { name: 'Unnamed' })
  await server.ask('PATCH', `/issues/${server.issues[2].id}`, { assignee_id: person.id })
  await read
  await server.ask('PATCH', `/people/${person.id}`, { name: 'Named' })
  await page.locator('#row-2', { hasText: 'Named' }).waitFor()
  const [response] = await Promise.all([page.waitForResponse(/\/people\?filter\[id\]\[in\]=/), release()])
  await response.finished()
  await server.ask('PATCH', `/issues/${server.issues[2].id}`, { priority: 0 })
  await (await cell(page, 2, 'priority')).getByText('0').waitFor()
  await shows(async () => (await cell(page, 2, 'assignee_id')).innerText(), 'Named')
  await server.ask('PATCH', `/people/${person.id}`, { name: 'Renamed' })
  await page.locator('#row-2', { hasText: 'Renamed' }).waitFor()
  await server.ask('DELETE', `/people/${person.id}`)
  await page.leave()
})

test('a value that is refused after another cell was chosen is not lost', async () => {
  const page = await open(browser, `${server.explorer}/issues`, { expect: [/status of 422/] })
  await (await cell(page, 1, 'priority')).dblclick()
  const input = page.getByLabel('priority', { exact: true })
  await input.fill('9')
  const release = await hold(page, new RegExp(`/issues/${server.issues[1].id}$`), {})
  await (await cell(page, 3, 'title')).dblclick()
  await shows(() => page.getByLabel('title', { exact: true }).count(), 0)
  release()
  await page.getByRole('alert').getByText('Must be at most 5.').waitFor()
  await shows(() => input.inputValue(), '9')
  // What is accepted is saved, and the other cell is opened then.
  await input.fill('4')
  await input.focus()
  await page.keyboard.press('Enter')
  await input.waitFor({ state: 'detached' })
  assert.equal((await server.ask('GET', `/issues/${server.issues[1].id}`)).priority, 4)
  await (await cell(page, 1, 'priority')).dblclick()
  await input.fill('2')
  await (await cell(page, 3, 'title')).dblclick()
  await page.getByLabel('title', { exact: true }).waitFor()
  await shows(async () => (await server.ask('GET', `/issues/${server.issues[1].id}`)).priority, 2)
  await page.leave()
})

test('a form stays as it is when its user signs in, and is closed when they sign out', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'plural-lasting-'))
  const schema = join(folder, 'public.yaml')
  await writeFile(schema, 'collections: {notes: {attributes: {title: {type: string}, more: {type: string}}}}\naccess: {roles: {public: {notes: {list: true, read: true, create: true, writable: [title]}}, writer: {notes: [list, read, create]}}}\n')
  const notes = await serve({ schema })
  const key = execFileSync(binary, ['keys', 'create', '--name', 'Ada', '--role', 'writer', '--schema', schema, '--database', notes.database], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim()
  const page = await open(browser, `${notes.explorer}/notes?view=new`)
  const title = page.getByLabel('title')
  await title.fill('Not lost')
  await page.getByRole('button', { name: 'Sign in' }).click()
  const dialog = page.getByRole('dialog', { name: 'Sign in' })
  await dialog.getByLabel('API key or token').fill(key)
  await dialog.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('textbox', { name: 'more' }).fill('Only now') // which the public may not write
  await shows(() => title.inputValue(), 'Not lost')
  await page.getByRole('button', { name: 'Sign out' }).click()
  await shows(() => title.inputValue(), '')
  await page.leave()
  await notes.stop()
  await rm(folder, { recursive: true })
})

test('unsaved input is asked about in the words and the look of the page', async () => {
  const page = await open(browser, `${server.explorer}/people?view=new`)
  page.on('dialog', () => assert.fail('a dialog of the browser'))
  await page.getByLabel('name', { exact: true }).fill('Somebody')
  await page.getByRole('navigation').getByRole('link', { name: 'projects' }).click()
  const dialog = page.getByRole('dialog', { name: 'Leave the form' })
  await dialog.getByText('Your input is not saved.').waitFor()
  await accessible(page, 'the question before a form is left')
  await dialog.getByRole('button', { name: 'Leave' }).click()
  await page.waitForURL(`${server.explorer}/projects`)
  await page.goBack()
  await page.waitForURL(`${server.explorer}/people?view=new`)
  await page.leave()
})
