// What others change arrives: in the table, in the counts, in the panel and its history.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { accessible, hold, launch, open, shows } from './harness.mjs'
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

const live = (page) => page.getByText('Live', { exact: true }).waitFor()

test('rows in view change in place and are marked, new and removed ones are counted, and so is the sidebar', async () => {
  const page = await open(browser, `${server.explorer}/issues?filter[state]=open`)
  await page.locator('#row-0').waitFor()
  await live(page)
  const [first, second] = await server.ask('GET', '/issues?filter[state]=open&limit=2')
  await server.ask('PATCH', `/issues/${first.id}`, { title: 'Changed elsewhere', assignee_id: server.people[2].id })
  await page.locator('#row-0 .marked', { hasText: 'Changed elsewhere' }).waitFor()
  await page.locator('#row-0 .marked', { hasText: 'Édith Piaf' }).waitFor()
  await server.ask('PATCH', `/issues/${second.id}`, { state: 'closed' }) // leaves the list
  await page.locator('#row-1.gone').waitFor()
  await server.ask('PATCH', `/issues/${server.issues[1].id}`, { state: 'open' }) // enters it
  const news = page.getByRole('button', { name: '1 new, 1 removed' })
  await news.waitFor()
  await accessible(page, 'news in a table')
  await server.ask('POST', '/issues', { title: 'A new one', state: 'closed' }) // concerns the counts only
  await page.getByRole('navigation').getByRole('link', { name: 'issues 41' }).waitFor()
  await news.click()
  await page.locator('.gone').waitFor({ state: 'detached' })
  await shows(() => page.locator('.news button').count(), 0)
  await page.getByText(server.issues[1].title, { exact: true }).waitFor()
  await page.leave()
})

test('a list that the server does not follow says so', async () => {
  const page = await open(browser, 'about:blank')
  const streams = []
  page.on('request', (request) => request.url().includes('since=') && streams.push(request.url()))
  await page.goto(`${server.explorer}/issues?filter[assignee.name]=Ada%20Lovelace`)
  await page.locator('#row-0').waitFor()
  const mark = page.locator('header .live')
  await shows(() => mark.textContent(), 'Not live. Changes by others appear when you refresh. The server does not follow lists that are filtered through a relation.')
  assert.deepEqual(streams.filter((url) => !url.includes('/changes?')), [])
  await accessible(page, 'a list that is not live')
  await page.getByRole('button', { name: 'Remove the filter on assignee.name' }).click()
  await live(page)
  await page.leave()
})

test('at the end of a list, new rows are added in place', async () => {
  const page = await open(browser, `${server.explorer}/people`)
  await page.locator('#row-2').waitFor()
  await live(page)
  await server.ask('POST', '/people', { name: 'Newcomer' })
  await page.locator('#row-3', { hasText: 'Newcomer' }).waitFor()
  await page.locator('header .total', { hasText: /^4$/ }).waitFor()
  await page.leave()
})

test('a resource has a history, and goes back to any state; also after its deletion', async () => {
  const issue = server.issues[5]
  const page = await open(browser, `${server.explorer}/issues/${issue.id}`, { expect: [/status of 404/] })
  const panel = page.getByRole('complementary', { name: 'issue' })
  const history = panel.getByRole('region', { name: 'History' })
  await history.getByText('created').waitFor()
  await live(page)
  await server.ask('PATCH', `/issues/${issue.id}`, { priority: 1, assignee_id: server.people[0].id })
  await history.getByText(/priority\s*5 → 1/).waitFor()
  await history.getByText(/assignee_id\s*Grace Hopper → Ada Lovelace/).waitFor()
  await accessible(page, 'a history')
  await history.getByRole('button', { name: 'Back to this' }).click()
  const dialog = page.getByRole('dialog', { name: 'Back to an earlier state' })
  await dialog.getByText(/priority\s*1 → 5/).waitFor()
  await dialog.getByRole('button', { name: 'Restore' }).click()
  await page.getByText('The earlier state was restored.').waitFor()
  const { priority, assignee_id } = await server.ask('GET', `/issues/${issue.id}`)
  assert.deepEqual({ priority, assignee_id }, { priority: 5, assignee_id: server.people[1].id })

  await server.ask('DELETE', `/issues/${issue.id}`)
  await panel.getByRole('alert').waitFor()
  await history.getByRole('button', { name: 'Restore' }).first().click()
  await dialog.getByRole('button', { name: 'Restore' }).click()
  await panel.getByRole('heading', { name: issue.title }).waitFor()
  assert.equal((await server.ask('GET', `/issues/${issue.id}`)).title, issue.title)
  await page.leave()
})

test('without a connection it says so, and goes on from where it was', async () => {
  const page = await open(browser, `${server.explorer}/issues`, { expect: [/ERR_/] })
  await page.locator('#row-0').waitFor()
  await live(page)
  await page.context().setOffline(true)
  await page.getByRole('status').getByText('Connection lost').waitFor()
  await server.ask('PATCH', `/issues/${server.issues[0].id}`, { title: 'While away' })
  await page.context().setOffline(false)
  await live(page)
  await page.locator('#row-0', { hasText: 'While away' }).waitFor()
  await page.leave()
})

test('a slow server: the table waits, and says so', async () => {
  const page = await open(browser, 'about:blank')
  const release = await hold(page, /:\d+\/people\?/)
  await page.goto(`${server.explorer}/people`)
  await page.locator('[role=grid][aria-busy=true] .ghost').first().waitFor()
  await accessible(page, 'a table that waits')
  release()
  await page.locator('#row-0', { hasText: 'Ada Lovelace' }).waitFor()
  await page.locator('[role=grid][aria-busy=false]').waitFor()
  await page.leave()
})

test('a server that was restarted is followed again, from where it was', async () => {
  const page = await open(browser, `${server.explorer}/issues?sort=title`, { expect: [/ERR_/] })
  await page.locator('#row-0').waitFor()
  await live(page)
  const start = await server.interrupt()
  await page.getByRole('status').getByText('Connection lost').waitFor()
  await start()
  const first = (await server.ask('GET', '/issues?sort=title&limit=1'))[0]
  await server.ask('PATCH', `/issues/${first.id}`, { priority: 5, due_on: '2030-01-01' })
  await page.locator('#row-0', { hasText: '2030-01-01' }).waitFor()
  await live(page)
  await page.leave()
})
