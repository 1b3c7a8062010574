// Import, charts, and the start page.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { accessible, LATENCY, launch, open, shows } from './harness.mjs'
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

test('a CSV file with a wrong column is imported after it was corrected', async () => {
  const page = await open(browser, `${server.explorer}/issues`, { expect: [/status of 422/] })
  await page.locator('#row-0').waitFor()
  await page.getByRole('button', { name: 'More actions' }).click()
  await page.getByRole('button', { name: 'Import…' }).click()
  const dialog = page.getByRole('dialog', { name: 'Import' })
  const file = (name, text) => dialog.getByLabel(/file here|rows/).setInputFiles({ name, mimeType: 'text/csv', buffer: Buffer.from(text) })
  const lines = ['Titel;STATE;Priority;Assignee', `"One; two";open;1;Ada Lovelace`, 'Two;nonsense;7;', 'Three;open;2;', 'Four;open;2;Nobody']
  await file('issues.csv', lines.join('\r\n'))
  await dialog.getByText('No column is for title, which is required.').waitFor()
  await shows(() => dialog.locator('tbody select').evaluateAll((all) => all.map((each) => each.value)), ['', 'state', 'priority', 'assignee_id@name'])
  await accessible(page, 'an import')
  await dialog.getByLabel('Attribute for Titel').selectOption('title')
  await dialog.getByRole('button', { name: 'Check' }).click()
  const problems = dialog.getByRole('table', { name: 'Problems' })
  await problems.waitFor()
  await shows(() => problems.locator('tbody tr').allInnerTexts(), [
    '3\tstate\tnonsense\tMust be one of "open", "doing", "closed".',
    '3\tpriority\t7\tMust be at most 5.',
    '5\tassignee_id\tNobody\tNo person has this name.',
  ])
  assert.equal((await server.ask('GET', '/issues?limit=-1'))[0].title, 'Issue 40') // nothing was imported
  await dialog.getByRole('button', { name: 'Import 2 valid rows' }).click()
  await dialog.getByText('2 issues imported.').waitFor()
  await dialog.getByRole('button', { name: 'Close' }).click()
  const made = (await server.ask('GET', '/issues?limit=-2')).map(({ title, state, priority, assignee_id }) => ({ title, state, priority, assignee_id }))
  assert.deepEqual(made, [
    { title: 'One; two', state: 'open', priority: 1, assignee_id: server.people[0].id },
    { title: 'Three', state: 'open', priority: 2, assignee_id: null },
  ])

  // A filter may hide them: the dialog leads to them.
  await page.goto(`${server.explorer}/issues?filter[state]=closed`)
  await page.locator('#row-0').waitFor()
  await page.getByRole('button', { name: 'More actions' }).click()
  await page.getByRole('button', { name: 'Import…' }).click()
  await file('more.csv', 'title\nHidden by the filter\nThis too\n')
  await dialog.getByRole('button', { name: 'Check' }).click()
  await dialog.getByRole('button', { name: 'Import 2 rows' }).click()
  await dialog.getByRole('link', { name: 'Show them' }).click()
  await dialog.waitFor({ state: 'detached' })
  await page.locator('header .total', { hasText: /^2$/ }).waitFor()
  await shows(() => page.locator('[data-position] .label').allInnerTexts(), ['Hidden by the filter', 'This too'])
  const hidden = await server.ask('GET', '/issues?limit=-2')
  await page.waitForURL(`${server.explorer}/issues?filter[id][in]=${hidden.map(({ id }) => id).join(',')}`)

  // What exists is changed, found by its key. The file is dropped.
  await page.getByRole('button', { name: 'More actions' }).click()
  await page.getByRole('button', { name: 'Import…' }).click()
  const dropped = await page.evaluateHandle((text) => {
    const data = new DataTransfer()
    data.items.add(new File([text], 'again.ndjson'))
    return data
  }, `{"id":"${server.issues[0].id}","priority":5}\n{"title":"Four","tags":["a"]}\n`)
  await dialog.locator('.drop').dispatchEvent('drop', { dataTransfer: dropped })
  await dialog.getByLabel('Rows that exist already').selectOption('id')
  await dialog.getByRole('button', { name: 'Check' }).click()
  await problems.getByText('id').first().waitFor() // the second has none
  await dialog.getByRole('button', { name: 'Import 1 valid row' }).click()
  await dialog.getByText('1 issue imported.').waitFor()
  assert.equal((await server.ask('GET', `/issues/${server.issues[0].id}`)).priority, 5)

  // JSON, with an array as it is.
  await dialog.getByRole('button', { name: 'Close' }).click()
  await page.getByRole('button', { name: 'More actions' }).click()
  await page.getByRole('button', { name: 'Import…' }).click()
  await file('one.json', '[{"title":"From JSON","tags":["a","b"]}]')
  await dialog.getByRole('button', { name: 'Check' }).click()
  await dialog.getByRole('button', { name: 'Import 1 row' }).click()
  await dialog.getByText('1 issue imported.').waitFor()
  const [last] = await server.ask('GET', '/issues?limit=-1')
  assert.deepEqual([last.title, last.tags], ['From JSON', ['a', 'b']])
  await page.leave()
})

test('a chart groups a list, and each bar leads to its resources', async () => {
  for (const [issue, month] of [[0, '09'], [1, '10'], [3, '10']]) await server.ask('PATCH', `/issues/${server.issues[issue].id}`, { due_on: `2026-${month}-01` })
  const page = await open(browser, `${server.explorer}/issues?filter[state][in]=open,doing`)
  await page.locator('#row-0').waitFor()
  await page.getByRole('button', { name: 'More actions' }).click()
  await page.getByRole('button', { name: 'Chart' }).click()
  const chart = page.getByRole('region', { name: 'Chart of issues' })
  await chart.getByRole('row', { name: /open/ }).waitFor()
  await page.getByLabel('Group by').selectOption('assignee_id')
  await chart.getByRole('row', { name: /Ada Lovelace/ }).waitFor()
  const [{ count }] = await server.ask('GET', `/-/groups/issues?filter[state][in]=open,doing&filter[assignee_id]=${server.people[0].id}`)
  await shows(() => chart.getByRole('row', { name: /Ada Lovelace/ }).innerText(), new RegExp(`${count}$`))
  await accessible(page, 'a chart')
  await page.getByLabel('Group by').selectOption('due_on:month')
  await chart.getByRole('link', { name: /^2026-11: / }).waitFor()
  // Over time it is a line: each segment ends where the next one begins. What has no date is not part of it.
  await shows(() => chart.getByRole('listitem').evaluateAll((all) => all.map((each) => each.innerText.split(/\s+/).at(-1))), ['null', '2026-09', '2026-10', '2026-11'])
  const ends = await chart.locator('.stroke').evaluateAll((all) => all.map((path) => path.getAttribute('d').match(/[\d.]+/g).map(Number)))
  assert.equal(ends.length, 2)
  assert.equal(ends[0][3], ends[1][1])
  await accessible(page, 'a chart over time')
  await page.getByLabel('Group by').selectOption('due_on') // by day
  await chart.getByRole('link', { name: /^2026-09-01: 1$/ }).waitFor()
  // Days without issues are shown as zero, so that the axis is to scale.
  const points = () => chart.getByRole('listitem').evaluateAll((all) => all.map((each) => each.innerText.trim().split(/\s+/)))
  await shows(async () => (await points()).slice(1, 4).map(([amount, day]) => `${day} ${amount}`), ['2026-09-01 1', '2026-09-02 0', '2026-09-03 0'])
  await shows(async () => (await points()).filter(([, day]) => day < '2026-10-02').length, 31)
  await page.getByLabel('Show').selectOption('avg priority')
  await shows(async () => (await points()).slice(1, 4).map((texts) => texts.length), [2, 1, 1]) // an average of nothing is a gap
  await page.getByLabel('Show').selectOption('count')
  await page.getByLabel('Group by').selectOption('assignee_id')
  await chart.getByRole('link', { name: 'Ada Lovelace' }).click()
  await page.waitForURL(`${server.explorer}/issues?filter[state][in]=open,doing&filter[assignee_id]=${server.people[0].id}`)
  await page.locator('header .total', { hasText: new RegExp(`^${count}$`) }).waitFor()
  await page.leave()
})

test('the address of a chart says what it shows, and what is wrong with it can be removed', async () => {
  const page = await open(browser, `${server.explorer}/issues?chart=state`, { expect: [/status of 400/] })
  const chart = page.getByRole('region', { name: 'Chart of issues' })
  await chart.getByRole('row', { name: /open/ }).waitFor()
  await page.getByLabel('Show').selectOption('sum priority')
  await page.waitForURL(`${server.explorer}/issues?chart=state&sum=priority`)
  const groups = await server.ask('GET', '/-/groups/issues?by=state&sum=priority')
  const bars = () => chart.getByRole('row').evaluateAll((all) => all.map((row) => row.innerText.split(/\s+/)))
  const wanted = groups.map(({ by, sum }) => [by.state, String(sum.priority)]).sort((a, b) => b[1] - a[1])
  const shown = async () => {
    await chart.getByRole('row', { name: new RegExp(`^${wanted[0].join('\\s+')}$`) }).waitFor()
    await shows(bars, wanted)
  }
  await shown()
  await page.reload()
  await shown()
  await shows(() => page.getByLabel('Show').inputValue(), 'sum priority')

  // Unknown values are sent, and the server's errors are at what is removed.
  await page.goto(`${server.explorer}/issues?chart=nonsense&avg=title&color=red`)
  const chips = page.getByRole('region', { name: 'Filters' }).locator('.chip.bad .text')
  await chips.nth(2).waitFor()
  await shows(() => chips.allInnerTexts(), ['chart by nonsense', 'avg title', 'color=red'])
  await shows(() => chart.getByRole('alert').count(), 3)
  await page.getByRole('button', { name: 'Remove color=red' }).click()
  await page.waitForURL(`${server.explorer}/issues?chart=nonsense&avg=title`)
  await page.getByRole('button', { name: 'Remove what the chart shows' }).click()
  await page.waitForURL(`${server.explorer}/issues?chart=nonsense`)
  await page.getByRole('button', { name: 'Remove the chart' }).click()
  await page.waitForURL(`${server.explorer}/issues`)
  await page.locator('#row-0').waitFor()
  await shows(() => chips.count(), 0)

  await page.goto(`${server.explorer}/-/nonsense`)
  await page.getByRole('heading', { name: 'No page “nonsense”' }).waitFor()
  await page.getByRole('main').getByRole('link', { name: 'All collections' }).click()
  await page.locator('.overview li').first().waitFor()
  await page.goto(`${server.explorer}?color=red&sort=title`)
  await page.getByRole('alert').getByText('This page has no color=red, sort=title.').waitFor()
  await page.getByRole('link', { name: 'Remove it from the address' }).click()
  await page.waitForURL(server.explorer)
  await shows(() => page.getByRole('alert').count(), 0)
  await page.leave()
})

test('a file that is dropped on the table is imported', async () => {
  const page = await open(browser, `${server.explorer}/issues`)
  await page.locator('#row-0').waitFor()
  const dropped = await page.evaluateHandle(() => {
    const data = new DataTransfer()
    data.items.add(new File(['title\nDropped\n'], 'one.csv'))
    return data
  })
  await page.locator('#row-2').dispatchEvent('dragover', { dataTransfer: dropped })
  await page.getByText('Drop the file to import issues').waitFor()
  await page.locator('#row-2').dispatchEvent('drop', { dataTransfer: dropped })
  const dialog = page.getByRole('dialog', { name: 'Import' })
  await dialog.getByText('1 rows').waitFor()
  await shows(() => page.getByText('Drop the file to import issues').count(), 0)
  await dialog.getByRole('button', { name: 'Check' }).click()
  await dialog.getByRole('button', { name: 'Import 1 row' }).click()
  await dialog.getByText('1 issue imported.').waitFor()
  assert.equal((await server.ask('GET', '/issues?limit=-1'))[0].title, 'Dropped')
  await dialog.getByRole('button', { name: 'Close' }).click()

  // Nobody can add operations: the file is refused, and the page stays.
  await page.goto(`${server.explorer}/operations`)
  await page.getByText('No operations yet').waitFor()
  const effect = await page.getByRole('grid').evaluate((grid, dataTransfer) => {
    const event = new DragEvent('dragover', { dataTransfer, bubbles: true, cancelable: true })
    return [grid.dispatchEvent(event), grid.dispatchEvent(new DragEvent('drop', { dataTransfer, bubbles: true, cancelable: true }))]
  }, await page.evaluateHandle(() => {
    const data = new DataTransfer()
    data.items.add(new File(['x'], 'x.csv'))
    return data
  }))
  assert.deepEqual(effect, [false, false]) // the browser does nothing
  await shows(() => dialog.count(), 0)
  await page.leave()
})

test('the start page counts, shows growth, and describes the attributes', async () => {
  const page = await open(browser, server.explorer)
  const people = page.locator('.overview li', { has: page.getByRole('heading', { name: 'people' }) })
  await people.getByText('3 people').waitFor()
  await people.getByText('+3 in 7 days').waitFor()
  const issues = page.locator('.overview li', { has: page.getByRole('heading', { name: 'issues' }) })
  await issues.locator('summary').click()
  await shows(() => issues.getByRole('row', { name: /^title/ }).innerText(), 'title\tstring, required\tat most 200 characters\tOne sentence.')
  await accessible(page, 'the start page')
  await page.leave()
})

test('times are local, and say what they are in UTC', async () => {
  const page = await open(browser, `${server.explorer}/issues/${server.issues[1].id}`, { timezoneId: 'America/New_York' })
  const panel = page.getByRole('complementary', { name: 'issue' })
  const time = panel.locator('time[datetime="2026-11-15T09:30:00.000Z"]')
  await shows(() => time.innerText(), '2026-11-15 04:30:00 UTC-05:00')
  await shows(() => time.getAttribute('title'), '2026-11-15T09:30:00.000Z (UTC)')
  await page.leave()
})

// Requests that the test delays do not use the cache of the browser.
test('the page is small: at most 250 KB compressed', { skip: LATENCY > 0 }, async () => {
  const page = await open(browser, 'about:blank')
  const [files, sizes] = [[], []]
  page.on('response', (response) => {
    const name = response.url().split('/').pop()
    if (!response.url().includes('/-/explorer') || files.includes(name)) return
    files.push(name)
    sizes.push(Number(response.headers()['content-length']))
  })
  await page.goto(server.explorer)
  await page.locator('.overview li').first().waitFor()
  // The editor is loaded only for what needs it.
  assert.deepEqual(files.filter((name) => name.startsWith('editor')), [])
  await page.goto(`${server.explorer}/people?view=new`)
  await page.locator('[data-typing] .cm-content').waitFor()
  assert.equal(files.filter((name) => name.startsWith('editor')).length, 1)
  // The description of the interface is larger than the page, and is not loaded again while it is the same.
  const { transferSize, encodedBodySize } = await page.evaluate(() => performance.getEntriesByType('resource').find(({ name }) => name.endsWith('openapi.json')).toJSON())
  assert.ok(transferSize > 0 && transferSize < 1000 && encodedBodySize > 1000, `${transferSize} of ${encodedBodySize} bytes`)
  assert.ok(sizes.length >= 3 && sizes.every((size) => size > 0), `${sizes}`)
  assert.ok(sizes.reduce((sum, size) => sum + size, 0) < 250_000, `${sizes}`)
  await page.leave()
})
