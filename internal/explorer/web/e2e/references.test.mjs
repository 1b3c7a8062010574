// References are readable: labels in cells, panel, filters and confirmations, and a picker.

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { accessible, hold, launch, open, serve, shows } from './harness.mjs'
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

const cell = async (page, row, name) => {
  await page.locator(`#row-${row}`).waitFor()
  const names = await page.locator('[role=columnheader]').allInnerTexts()
  return page.locator(`#row-${row} [role=gridcell]`).nth(names.map((each) => each.trim()).indexOf(name))
}

test('cells show labels, which come with the list in one request', async () => {
  const page = await open(browser, 'about:blank')
  const sent = []
  page.on('request', (request) => /:\d+\/(issues|people|projects)\b/.test(request.url()) && sent.push(request.url().slice(server.url.length)))
  await page.goto(`${server.explorer}/issues`)
  await page.locator('#row-0').waitFor()
  await shows(async () => (await cell(page, 0, 'assignee_id')).innerText(), 'Ada Lovelace')
  await shows(async () => (await cell(page, 0, 'reporter_id')).innerText(), 'Édith Piaf')
  await shows(async () => (await cell(page, 1, 'project_id')).innerText(), 'Compiler')
  await shows(async () => (await cell(page, 4, 'assignee_id')).innerText(), 'null')
  await page.getByText('Live', { exact: true }).waitFor()
  assert.deepEqual(
    sent.filter((each) => !each.includes('since=')),
    ['/issues?include=assignee,reporter,project&fields[assignee]=name&fields[reporter]=name&fields[project]=title&limit=100'],
  )
  await (await cell(page, 0, 'assignee_id')).getByRole('link', { name: 'Ada Lovelace' }).click()
  await page.waitForURL(`${server.explorer}/people/${server.people[0].id}`)
  const panel = page.getByRole('complementary', { name: 'person' })
  await panel.getByRole('heading', { name: 'Ada Lovelace' }).waitFor()
  // What refers to the person, counted by relation and by filter.
  await panel.getByRole('link', { name: 'issues (assignee_id) 16' }).waitFor()
  await panel.getByRole('link', { name: 'issues (reporter_id) 0' }).waitFor()
  await accessible(page, 'a panel with what refers to it')
  await panel.getByRole('link', { name: 'issues (assignee_id) 16' }).click()
  await page.locator('.chip .text', { hasText: 'assignee_id is Ada Lovelace' }).waitFor()
  await page.locator('header .total', { hasText: /^16$/ }).waitFor()
  await page.leave()
})

test('a reference is picked by typing, in a filter and in a form; a new one is made from there', async () => {
  const page = await open(browser, `${server.explorer}/issues`)
  await page.locator('#row-0').waitFor()
  await page.getByRole('button', { name: 'Filter' }).click()
  await page.getByLabel('Attribute').selectOption('assignee_id')
  const value = page.getByRole('combobox', { name: 'Value' })
  await value.fill('hop gra')
  await page.getByRole('option', { name: /Grace Hopper/ }).waitFor()
  await shows(() => page.getByRole('listbox', { name: 'people' }).getByRole('option').count(), 1)
  await accessible(page, 'a picker')
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'Apply' }).click()
  await page.waitForURL(`${server.explorer}/issues?filter[assignee_id]=${server.people[1].id}`)
  await page.locator('.chip .text', { hasText: 'assignee_id is Grace Hopper' }).waitFor()

  const issue = server.issues[1]
  await page.goto(`${server.explorer}/issues/${issue.id}?view=edit`)
  const assignee = page.getByRole('combobox', { name: 'assignee_id' })
  await assignee.waitFor()
  await shows(() => assignee.inputValue(), 'Grace Hopper')
  await assignee.fill('edi')
  await page.getByRole('option', { name: /Édith Piaf/ }).click()
  await shows(() => assignee.inputValue(), 'Édith Piaf')
  await assignee.fill('Nobody')
  await page.getByRole('option', { name: 'No person found.' }).waitFor()
  await page.getByRole('option', { name: /New person/ }).click()
  const dialog = page.getByRole('dialog', { name: 'New person' })
  await dialog.locator('#new-name:focus').waitFor()
  await shows(() => dialog.getByLabel('name', { exact: true }).inputValue(), 'Nobody') // what was typed
  await dialog.getByLabel('name', { exact: true }).fill('Emmy Noether')
  await dialog.getByRole('button', { name: 'Create' }).click()
  await dialog.waitFor({ state: 'detached' })
  await shows(() => assignee.inputValue(), 'Emmy Noether')
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  const panel = page.getByRole('complementary', { name: 'issue' })
  await panel.locator('dd').getByRole('link', { name: 'Emmy Noether' }).waitFor()
  const [emmy] = await server.ask('GET', '/people?filter[name]=Emmy%20Noether')
  // What was picked lately comes first; an id is found as well.
  await page.keyboard.press('e')
  await assignee.fill('')
  await page.getByRole('option', { name: /Ada Lovelace/ }).waitFor()
  const offered = (await page.getByRole('listbox', { name: 'people' }).getByRole('option').allInnerTexts()).map((text) => text.split('\n')[0])
  assert.deepEqual(offered.slice(0, 2), ['Emmy Noether', 'Édith Piaf'])
  await assignee.fill(server.people[0].id)
  await page.getByRole('option', { name: /Ada Lovelace/ }).click()
  await shows(() => assignee.inputValue(), 'Ada Lovelace')
  await assignee.fill('emmy')
  await page.getByRole('option', { name: /Emmy Noether/ }).click()
  await page.getByRole('button', { name: 'Cancel', exact: true }).click()
  assert.equal((await server.ask('GET', `/issues/${issue.id}`)).assignee_id, emmy.id)
  await page.leave()
})

test('a picker ignores case, uses a search that does not look at the label, and never creates by Enter', async () => {
  const issue = server.issues[2]
  const page = await open(browser, `${server.explorer}/issues/${issue.id}?view=edit`)
  const project = page.getByRole('combobox', { name: 'project_id' })
  await shows(() => project.inputValue(), 'Engine')
  const options = async () => (await page.getByRole('listbox').getByRole('option').allInnerTexts()).map((text) => text.split('\n')[0].trim())
  for (const typed of ['comp', 'COMP', 'Comp']) {
    await project.fill(typed)
    await shows(options, ['Compiler', 'Declare search: [title] to find any word.', 'New project…'])
  }
  await accessible(page, 'a picker without a search')
  // Nothing is found: Enter neither chooses nor creates; the row is chosen by an arrow.
  await project.fill('Nothing')
  await shows(options, ['No project found.', 'Declare search: [title] to find any word.', 'New project…'])
  await page.keyboard.press('Enter')
  await shows(() => page.getByRole('dialog').count(), 0)
  await shows(() => project.inputValue(), 'Nothing')
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  await page.getByRole('dialog', { name: 'New project' }).getByRole('button', { name: 'Cancel' }).click()
  // Nothing is typed: Enter chooses nothing.
  await project.fill('')
  await shows(options, ['Compiler', 'Engine', 'New project…'])
  await page.keyboard.press('Enter')
  await shows(() => page.getByRole('listbox').count(), 1)
  await page.keyboard.press('ArrowDown')
  await shows(() => page.getByRole('listbox').getByRole('option', { selected: true }).allInnerTexts().then((all) => all.map((text) => text.split('\n')[0])), ['Compiler'])
  await page.keyboard.press('Escape')
  await shows(() => project.inputValue(), 'Engine')
  await page.getByRole('button', { name: 'Cancel', exact: true }).click()
  // A search that does not look at the label is used as well.
  const shop = await serve({ schema: join(import.meta.dirname, 'shop.schema.yaml') })
  try {
    const [tea] = await shop.ask('POST', '/products', [{ title: 'Green Tea', maker: 'Oolong Brothers' }, { title: 'COFFEE', maker: 'Beans' }])
    const order = await shop.ask('POST', '/orders', { product_id: tea.id })
    await page.goto(`${shop.explorer}/orders/${order.id}?view=edit`)
    const product = page.getByRole('combobox', { name: 'product_id' })
    await shows(() => product.inputValue(), 'Green Tea')
    for (const [typed, found] of [['coffee', 'COFFEE'], ['green', 'Green Tea'], ['broTHers', 'Green Tea']]) {
      await product.fill(typed)
      await shows(options, [found, 'New product…'])
    }
    await page.leave()
  } finally {
    await shop.stop()
  }
})

test('Enter chooses from the list of what is typed, not from an older one', async () => {
  const page = await open(browser, `${server.explorer}/issues/${server.issues[0].id}?view=edit`)
  const assignee = page.getByRole('combobox', { name: 'assignee_id' })
  await shows(() => assignee.inputValue(), 'Ada Lovelace') // the label comes later than the form
  await assignee.fill('Ada')
  await page.getByRole('option', { name: /Ada Lovelace/ }).waitFor()
  const asked = page.waitForRequest(/\/people\?.*Grace/)
  const release = await hold(page, /\/people\?.*Grace/)
  await assignee.fill('Grace')
  await page.keyboard.press('Enter')
  await asked
  await shows(() => assignee.inputValue(), 'Grace') // nothing is chosen yet
  release()
  await page.waitForFunction((box) => box.value === 'Grace Hopper', await assignee.elementHandle())
  // Nor from one that comes while something else is typed.
  const first = page.waitForRequest(/\/people\?.*Ada/)
  const releaseFirst = await hold(page, /\/people\?.*Ada/)
  await assignee.fill('Ada')
  await first
  await assignee.fill('Grace')
  await page.keyboard.press('Enter')
  releaseFirst()
  await shows(() => assignee.inputValue(), 'Grace Hopper')
  const releaseNobody = await hold(page, /\/people\?.*Nobody/)
  await assignee.fill('Nobody')
  await page.keyboard.press('Enter') // nothing is found, so nothing is chosen
  releaseNobody()
  await page.getByRole('option', { name: 'No person found.' }).waitFor()
  await shows(() => assignee.inputValue(), 'Nobody')
  await shows(() => page.getByRole('dialog').count(), 0)
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await page.getByText('Saved.').waitFor()
  assert.equal((await server.ask('GET', `/issues/${server.issues[0].id}`)).assignee_id, server.people[1].id)
  await page.leave()
})

test('addresses are links, colours are shown; an image on the same server has a preview, one elsewhere has not', async () => {
  const page = await open(browser, server.explorer)
  const icon = await page.locator('link[rel=icon]').evaluate((link) => link.href)
  const person = await server.ask('POST', '/people', { name: '#0d6b52', photo: icon, email: 'p@example.com' })
  await page.goto(`${server.explorer}/people/${person.id}`)
  const preview = page.getByRole('complementary').locator('img')
  await page.waitForFunction(() => document.querySelector('aside img')?.naturalWidth > 0)
  await shows(() => preview.getAttribute('src'), icon)
  const panel = page.getByRole('complementary', { name: 'person' })
  await shows(() => panel.getByRole('link', { name: 'p@example.com' }).getAttribute('href'), 'mailto:p@example.com')
  await shows(() => panel.getByRole('link', { name: icon }).getAttribute('rel'), 'noopener noreferrer')
  await shows(() => panel.locator('.colour').evaluate((patch) => getComputedStyle(patch).backgroundColor), 'rgb(13, 107, 82)')
  await accessible(page, 'a preview')
  await server.ask('PATCH', `/people/${person.id}`, { photo: 'https://elsewhere.example/a.png' })
  await page.getByRole('link', { name: 'https://elsewhere.example/a.png' }).waitFor()
  await shows(() => preview.count(), 0)
  await server.ask('DELETE', `/people/${person.id}`)
  await page.leave()
})

test('before a deletion, what goes with it is counted; alone, it can be undone', async () => {
  const page = await open(browser, `${server.explorer}/projects/${server.projects[0].id}`)
  await page.getByRole('button', { name: 'Delete', exact: true }).click()
  const dialog = page.getByRole('dialog', { name: 'Delete' })
  await dialog.getByText('20 issues will be deleted with it.').waitFor()
  await dialog.getByText('This cannot be undone.').waitFor()
  await accessible(page, 'a deletion')
  await dialog.getByRole('button', { name: 'Cancel' }).click()

  // What refers to it and stays loses the reference.
  const [, grace] = server.people
  await page.goto(`${server.explorer}/people/${grace.id}`)
  await page.getByRole('heading', { name: grace.name }).waitFor()
  await page.keyboard.press('Delete')
  const { length } = await server.ask('GET', `/issues?filter[assignee_id]=${grace.id}&fields=id`)
  await dialog.getByText(`In ${length} issues, references to it will be set to null.`).waitFor()
  await dialog.getByRole('button', { name: 'Cancel' }).click()

  const spare = await server.ask('POST', '/people', { name: 'Spare', email: 'spare@example.com' })
  await page.goto(`${server.explorer}/people/${spare.id}`)
  await page.getByRole('heading', { name: 'Spare' }).waitFor()
  await shows(() => page.getByRole('list', { name: 'Refer to it' }).locator('.total').allInnerTexts(), ['0', '0'])
  await page.keyboard.press('Delete')
  await dialog.getByText('You can undo it for a moment.').waitFor()
  // The feed may be faster than the answer: what is gone then is not counted again.
  const left = (await server.ask('GET', '/people?fields=id')).length - 1
  await page.route(/\/people\/[0-9a-f-]+$/, async (route) => {
    if (route.request().method() !== 'DELETE') return route.fallback()
    const response = await route.fetch()
    await page.getByRole('navigation').getByRole('link', { name: `people ${left}`, exact: true }).waitFor()
    await route.fulfill({ response })
  })
  await dialog.getByRole('button', { name: 'Delete', exact: true }).click()
  await page.getByText('Spare was deleted.').waitFor()
  await page.getByRole('button', { name: 'Undo' }).click()
  await page.getByText('1 person restored.').waitFor()
  const { name, email } = await server.ask('GET', `/people/${spare.id}`)
  assert.deepEqual({ name, email }, { name: 'Spare', email: 'spare@example.com' })
  await page.leave()
})
