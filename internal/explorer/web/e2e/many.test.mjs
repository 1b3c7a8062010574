// Many at once: select, set, delete and export, each counted before and undone after.

import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { after, before, test } from 'node:test'
import { join } from 'node:path'
import { accessible, launch, open, serve, shows } from './harness.mjs'
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

const bar = (page) => page.getByRole('region', { name: 'Selection' })
const selected = (page, text) => bar(page).getByText(text, { exact: true }).waitFor()

test('rows are selected by box, Shift, keyboard, and all that match', async () => {
  const page = await open(browser, `${server.explorer}/issues?filter[state]=open`)
  await page.locator('#row-0').waitFor()
  const box = (row) => page.getByRole('checkbox', { name: `Select row ${row}`, exact: true })
  await box(2).check()
  await selected(page, '1 issue selected')
  await box(5).click({ modifiers: ['Shift'] })
  await selected(page, '4 issues selected')
  await accessible(page, 'a selection')
  await page.keyboard.press('Escape')
  await bar(page).waitFor({ state: 'detached' })
  for (const key of ['t', 'Home', 'Space', 'Shift+ArrowDown', 'Shift+ArrowDown']) await page.keyboard.press(key)
  await selected(page, '3 issues selected')
  await shows(() => page.locator('[role=row][aria-selected=true]').evaluateAll((rows) => rows.map((row) => row.id)), ['row-0', 'row-1', 'row-2'])
  await bar(page).getByRole('button', { name: 'Select all 14' }).click()
  await selected(page, 'All 14 issues selected')
  await bar(page).getByRole('button', { name: 'Clear the selection' }).click()
  await page.locator('[role=grid]:focus').waitFor()
  await page.keyboard.press('Control+a')
  await selected(page, 'All 14 issues selected')
  await page.leave()
})

test('an attribute of many is set in one request, and taken back', async () => {
  const page = await open(browser, `${server.explorer}/issues?filter[assignee_id]=${server.people[0].id}`, { expect: [/status of 422/] })
  const before = await server.ask('GET', `/issues?filter[assignee_id]=${server.people[0].id}`)
  const [ada, grace] = server.people
  await page.locator('#row-0').waitFor()
  const sent = []
  page.on('request', (request) => request.method() !== 'GET' && sent.push(`${request.method()} ${decodeURIComponent(request.url().slice(server.url.length))} ${request.postData()}`))
  await page.getByRole('checkbox', { name: 'Select row 1', exact: true }).check()
  await page.getByRole('checkbox', { name: 'Select row 3', exact: true }).click({ modifiers: ['Shift'] })
  await page.getByRole('button', { name: 'Set attribute…' }).click()
  const dialog = page.getByRole('dialog', { name: 'Set attribute' })
  await dialog.getByLabel('Attribute').selectOption('priority')
  await dialog.getByLabel('priority', { exact: true }).fill('9')
  await dialog.getByRole('button', { name: 'Set for 3' }).click()
  await dialog.getByText('Must be at most 5.').first().waitFor()
  await dialog.getByLabel('Attribute').selectOption('assignee_id')
  await dialog.getByRole('combobox', { name: 'assignee_id' }).fill('grac')
  await dialog.getByRole('option', { name: /Grace Hopper/ }).click()
  await accessible(page, 'setting an attribute')
  await dialog.getByRole('button', { name: 'Set for 3' }).click()
  await page.getByText('3 issues changed.').waitFor()
  const ids = before.slice(0, 3).map(({ id }) => id)
  assert.deepEqual(sent.slice(-1), [`PATCH /issues?filter[id][in]=${ids.join(',')} {"assignee_id":"${grace.id}"}`])
  const assignees = async () => (await server.ask('GET', `/issues?filter[id][in]=${ids.join(',')}`)).map(({ assignee_id }) => assignee_id)
  assert.deepEqual(await assignees(), [grace.id, grace.id, grace.id])
  await page.getByRole('button', { name: 'Undo' }).click()
  await page.getByText('3 issues as before.').waitFor()
  assert.deepEqual(await assignees(), [ada.id, ada.id, ada.id])
  await page.leave()
})

test('a name that is typed but not chosen is not taken for null, and the list asks again', async () => {
  const [ada, grace] = server.people
  const page = await open(browser, `${server.explorer}/issues?filter[assignee_id]=${ada.id}`)
  const before = await server.ask('GET', `/issues?filter[assignee_id]=${ada.id}`)
  await page.locator('#row-0').waitFor()
  await page.getByRole('checkbox', { name: 'Select row 1', exact: true }).check()
  await page.getByRole('button', { name: 'Set attribute…' }).click()
  const dialog = page.getByRole('dialog', { name: 'Set attribute' })
  await dialog.getByLabel('Attribute').selectOption('assignee_id')
  const box = dialog.getByRole('combobox', { name: 'assignee_id' })
  await box.fill('grac')
  await dialog.getByRole('option', { name: /Grace Hopper/ }).waitFor()
  const button = dialog.getByRole('button', { name: /^Set/ })
  const said = async () => [await button.innerText(), await button.getAttribute('aria-disabled')]
  await shows(said, ['Set for 1', 'true'])
  // The list is below the input and covers none of the dialog above.
  const [list, input] = [await dialog.getByRole('listbox').boundingBox(), await box.boundingBox()]
  assert.ok(list.y >= input.y + input.height, JSON.stringify({ list, input }))
  await dialog.getByLabel('Attribute').focus()
  await shows(said, ['Set for 1', 'true'])
  await dialog.locator('form').evaluate((form) => form.requestSubmit())
  await dialog.getByRole('option', { name: /Grace Hopper/ }).waitFor()
  await shows(() => box.inputValue(), 'grac')
  assert.deepEqual(await server.ask('GET', `/issues?filter[assignee_id]=${ada.id}`), before)
  await dialog.getByLabel('Attribute').focus() // closes the list
  const none = dialog.getByLabel('Set assignee_id to null')
  await none.check()
  await shows(said, ['Set to null for 1', 'false'])
  await none.uncheck()
  await shows(said, ['Set for 1', 'true'])
  await box.fill('grac')
  await dialog.getByRole('option', { name: /Grace Hopper/ }).click()
  await dialog.getByRole('button', { name: 'Set for 1' }).click()
  await page.getByText('1 issue changed.').waitFor()
  await bar(page).waitFor({ state: 'detached' })
  assert.equal((await server.ask('GET', `/issues/${before[0].id}`)).assignee_id, grace.id)
  await page.getByRole('button', { name: 'Undo' }).click()
  await page.getByText('1 issue as before.').waitFor()
  await page.leave()
})

test('all that match are deleted after a count, and come back with their ids', async () => {
  const page = await open(browser, `${server.explorer}/issues?filter[state]=closed`)
  const closed = await server.ask('GET', '/issues?filter[state]=closed')
  await page.locator('#row-0').waitFor()
  await page.keyboard.press('t')
  await page.keyboard.press('Control+a')
  await page.keyboard.press('Delete')
  const dialog = page.getByRole('dialog', { name: 'Delete' })
  await dialog.getByRole('heading', { name: 'Delete 13 issues?' }).waitFor()
  await dialog.getByText('Nothing else is deleted or changed. You can undo it for a moment.').waitFor()
  const late = await server.ask('POST', '/issues', { title: 'Closed while the question is open', state: 'closed' })
  await dialog.getByRole('button', { name: 'Delete 13' }).click()
  await page.getByText('13 issues deleted.').waitFor()
  // What was confirmed is deleted, and no more.
  assert.deepEqual(await server.ask('GET', '/issues?filter[state]=closed'), [late])
  await server.ask('DELETE', `/issues/${late.id}`)
  await page.getByRole('button', { name: 'Undo' }).click()
  await page.getByText('13 issues restored.').waitFor()
  const again = await server.ask('GET', '/issues?filter[state]=closed')
  const stripped = (all) => all.map(({ created_at, updated_at, ...rest }) => rest)
  assert.deepEqual(stripped(again), stripped(closed))
  await page.locator('#row-12').waitFor()
  await page.leave()
})

test('what belongs to many is counted by collection before it goes', async () => {
  const page = await open(browser, `${server.explorer}/projects`)
  await page.locator('#row-1').waitFor()
  await page.getByRole('checkbox', { name: 'Select all that match' }).check()
  await page.getByRole('button', { name: 'Delete…' }).click()
  const dialog = page.getByRole('dialog', { name: 'Delete' })
  await dialog.getByText('40 issues will be deleted with them.').waitFor()
  await dialog.getByText('This cannot be undone.').waitFor()
  await dialog.getByRole('button', { name: 'Cancel' }).click()

  await page.goto(`${server.explorer}/people`)
  for (const row of [1, 2]) await page.getByRole('checkbox', { name: `Select row ${row}`, exact: true }).check()
  await page.getByRole('button', { name: 'Delete…' }).click()
  await dialog.getByText('In 32 issues, references to them will be set to null.').waitFor()
  await accessible(page, 'a deletion of many')
  await dialog.getByRole('button', { name: 'Cancel' }).click()
  await page.leave()
})

test('more than the server takes at once are written in several requests', async () => {
  const small = await workbench(10, { flags: ['--max-items', '10'] })
  try {
    for (let more = 0; more < 2; more++) await small.ask('POST', '/issues', Array.from({ length: 10 }, (_, i) => ({ title: `More ${more} ${i}`, priority: i % 2 ? i % 5 : null })))
    const before = await small.ask('GET', '/issues')
    const page = await open(browser, `${small.explorer}/issues?sort=-priority`)
    const sent = []
    page.on('request', (request) => /PATCH|DELETE|POST/.test(request.method()) && !request.url().includes('dry_run') && sent.push(request.method()))
    await page.locator('#row-0').waitFor()
    await page.getByRole('checkbox', { name: 'Select all that match' }).check()
    await selected(page, `All ${before.length} issues selected`)
    await page.getByRole('button', { name: 'Set attribute…' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Attribute').selectOption('priority')
    await dialog.getByText('This takes 3 requests.').waitFor()
    await dialog.getByLabel('priority', { exact: true }).fill('5')
    await dialog.getByRole('button', { name: `Set for ${before.length}` }).click()
    // It is told which values would be lost, and nothing is set before the answer.
    await dialog.getByText('The priority of 29 becomes 5; the others have this value already.').waitFor()
    await dialog.getByText('19 have another value now, which is replaced. You can undo it for a moment.').waitFor()
    await accessible(page, 'a question before values are replaced')
    assert.deepEqual(sent, [])
    await dialog.getByRole('button', { name: 'Back' }).click()
    await shows(() => dialog.getByLabel('priority', { exact: true }).inputValue(), '5')
    await dialog.getByRole('button', { name: 'Set for 30' }).click()
    await dialog.getByRole('button', { name: 'Change 30' }).click()
    await page.getByText(`${before.length} issues changed.`).waitFor()
    assert.deepEqual(sent, ['PATCH', 'PATCH', 'PATCH'])
    assert.deepEqual((await small.ask('GET', '/issues')).map(({ priority }) => priority), Array(30).fill(5))
    // All of it is taken back, but for what somebody has changed since.
    await small.ask('PATCH', `/issues/${before[0].id}`, { title: 'Changed since' })
    await small.ask('PATCH', `/issues/${before[12].id}`, { priority: 1 })
    await page.getByRole('button', { name: 'Undo' }).click()
    await page.getByText('27 issues as before. 2 are left, as somebody has changed them since.').waitFor()
    const expected = before.map(({ priority }, i) => (i === 0 ? 5 : i === 12 ? 1 : priority))
    assert.deepEqual((await small.ask('GET', '/issues')).map(({ priority }) => priority), expected)

    // Some of them by their boxes, then all.
    await page.goto(`${small.explorer}/issues`)
    await page.getByRole('checkbox', { name: 'Select row 1', exact: true }).check()
    await page.getByRole('checkbox', { name: 'Select row 15', exact: true }).click({ modifiers: ['Shift'] })
    await page.getByRole('button', { name: 'Delete…' }).click()
    await dialog.getByText('This takes 2 requests.').waitFor()
    await dialog.getByText('This cannot be undone.').waitFor()
    await dialog.getByRole('button', { name: 'Delete 15' }).click()
    await page.getByText('15 issues deleted.').waitFor()
    assert.deepEqual((await small.ask('GET', '/issues')).map(({ title }) => title), Array.from({ length: 15 }, (_, i) => `More ${i < 5 ? 0 : 1} ${(i + 5) % 10}`))
    await page.getByRole('checkbox', { name: 'Select all that match' }).check()
    await page.getByRole('button', { name: 'Delete…' }).click()
    await dialog.getByRole('button', { name: 'Delete 15' }).click()
    await page.getByText('No issues yet').waitFor()
    assert.deepEqual(await small.ask('GET', '/issues'), [])
    await page.leave()
  } finally {
    await small.stop()
  }
})

test('where changes need an ETag, many are changed with the ETags of what was confirmed', async () => {
  const strict = await serve({ schema: join(import.meta.dirname, 'strict.schema.yaml') })
  try {
    const made = await strict.ask('POST', '/contracts', Array.from({ length: 5 }, (_, i) => ({ title: `Contract ${i}`, state: 'draft' })))
    const page = await open(browser, `${strict.explorer}/contracts`, { expect: [/status of 412/] })
    await page.getByRole('checkbox', { name: 'Select row 1', exact: true }).check()
    await page.getByRole('checkbox', { name: 'Select row 3', exact: true }).click({ modifiers: ['Shift'] })
    await page.getByRole('button', { name: 'Set attribute…' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Attribute').selectOption('state')
    await dialog.getByLabel('state', { exact: true }).selectOption('signed')
    await dialog.getByRole('button', { name: 'Set for 3' }).click()
    await page.getByText('3 contracts changed.').waitFor()
    const states = async () => (await strict.ask('GET', '/contracts')).map(({ state }) => state)
    assert.deepEqual(await states(), ['signed', 'signed', 'signed', 'draft', 'draft'])
    await page.getByRole('button', { name: 'Undo' }).click()
    await page.getByText('3 contracts as before.').waitFor()
    assert.deepEqual(await states(), Array(5).fill('draft'))

    // Somebody else is faster: it is told, and the next attempt is for the current states.
    await page.getByRole('checkbox', { name: 'Select all that match' }).check()
    await page.getByRole('button', { name: 'Delete…' }).click()
    await dialog.getByText('Nothing else is deleted or changed.').waitFor()
    const changed = await fetch(`${strict.url}/contracts/${made[4].id}`)
    await strict.ask('PATCH', `/contracts/${made[4].id}`, { title: 'Faster' }, { 'If-Match': changed.headers.get('ETag') })
    // The next attempt waits for the current states, however long they take.
    await page.route(/\/contracts/, (route) => setTimeout(() => void route.continue(), route.request().method() === 'GET' ? 500 : 0))
    await dialog.getByRole('button', { name: 'Delete 5' }).click()
    await dialog.getByRole('alert').getByText('The resource has changed').waitFor()
    assert.equal((await strict.ask('GET', '/contracts')).length, 5)
    await dialog.getByRole('button', { name: 'Delete 5' }).click()
    await page.getByText('5 contracts deleted.').waitFor()
    assert.deepEqual(await strict.ask('GET', '/contracts'), [])
    await page.leave()
  } finally {
    await strict.stop()
  }
})

test('the view and the selection are exported', async () => {
  const page = await open(browser, `${server.explorer}/issues?filter[state]=doing&sort=-priority`)
  await page.evaluate(() => delete window.showSaveFilePicker) // a file dialog cannot be operated here
  await page.locator('#row-0').waitFor()
  const save = async (format) => {
    const dialog = page.getByRole('dialog', { name: 'Export' })
    await dialog.getByRole('radio', { name: format, exact: true }).check()
    const download = page.waitForEvent('download')
    await dialog.getByRole('button', { name: 'Save file' }).click()
    const file = await download
    return { name: file.suggestedFilename(), text: await readFile(await file.path(), 'utf8') }
  }
  await page.getByRole('button', { name: 'More actions' }).click()
  await page.getByRole('button', { name: 'Export…' }).click()
  await accessible(page, 'an export')
  const csv = await save('CSV')
  const doing = await server.ask('GET', '/issues?filter[state]=doing&sort=-priority')
  assert.equal(csv.name, 'issues.csv')
  assert.equal(csv.text.split('\r\n')[0], 'title,state,priority,tags,due_on,seen_at,assignee_id,reporter_id,project_id,created_at,updated_at,id')
  assert.deepEqual(csv.text.split('\r\n').slice(1, -1).map((line) => line.split(',')[0]), doing.map(({ title }) => title))
  await page.getByRole('checkbox', { name: 'Select row 2', exact: true }).check()
  await page.getByRole('button', { name: 'Export…' }).click()
  const json = await save('JSON')
  assert.deepEqual(JSON.parse(json.text), [doing[1]])
  await page.getByRole('button', { name: 'Export…' }).click()
  assert.deepEqual(JSON.parse((await save('NDJSON')).text), doing[1])
  await page.leave()
})
