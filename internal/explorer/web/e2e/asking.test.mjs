// What a screen asks beyond its own attributes: order and filters by what is related, and charts of it.

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
const chips = async (page) => (await page.locator('.chip .text').allInnerTexts()).map((text) => text.replace(/\s+/g, ' ').trim())
const rows = (page, count) => page.locator('[data-position] [data-column="0"]').evaluateAll((all, count) => all.slice(0, count).map((cell) => cell.innerText.trim()), count)
const more = async (page, name) => {
  await page.getByRole('button', { name: 'More actions' }).click()
  await page.getByRole('button', { name, exact: true }).click()
}

/** Enters the filter whose form is open. */
async function enter(page, attribute, comparison, value) {
  await page.getByLabel('Attribute').selectOption(attribute)
  await page.getByLabel('Comparison').selectOption({ label: comparison })
  const field = page.getByLabel('Value')
  if (value !== undefined) await ((await field.evaluate((element) => element.tagName)) === 'SELECT' ? field.selectOption(value) : field.fill(value))
  await page.getByRole('button', { name: 'Apply' }).click()
  await page.getByRole('button', { name: 'Apply' }).waitFor({ state: 'detached' })
}

test('a column of references is sorted by what is read there; anything else by the form', async () => {
  const page = await open(browser, `${server.explorer}/issues`)
  const header = page.getByRole('columnheader', { name: 'assignee_id' })
  await page.locator('#row-0').waitFor()
  const sorted = async (query) => {
    await page.waitForURL(`${server.explorer}/issues?sort=${query}`)
    const wanted = (await server.ask('GET', `/issues?limit=8&sort=${query}`)).map(({ title }) => title)
    await shows(() => rows(page, 8), wanted)
  }
  await header.getByRole('button').click()
  await sorted('assignee.name')
  await shows(() => header.getAttribute('aria-sort'), 'ascending')
  await header.getByRole('button').click()
  await page.getByRole('columnheader', { name: 'priority' }).getByRole('button').click({ modifiers: ['Shift'] })
  await sorted('-assignee.name,priority')
  await shows(() => header.innerText(), /^assignee_id\s*1$/)
  await shows(() => page.locator('.chip').count(), 0) // the headers show it
  // By ids, as older addresses have it.
  await page.goto(`${server.explorer}/issues?sort=assignee_id`)
  await shows(() => header.getAttribute('aria-sort'), 'ascending')
  await header.getByRole('button').click()
  await page.waitForURL(`${server.explorer}/issues?sort=-assignee_id`)
  // A change by somebody else that moves a row says so.
  await page.goto(`${server.explorer}/issues?sort=assignee.name`)
  await page.locator('.live:not(.waiting)').getByText('Live').waitFor()
  const [first] = await server.ask('GET', '/issues?limit=1&sort=assignee.name')
  await server.ask('PATCH', `/issues/${first.id}`, { assignee_id: server.people[2].id })
  await page.locator('.news button').waitFor()
  await server.ask('PATCH', `/issues/${first.id}`, { assignee_id: first.assignee_id })

  await page.goto(`${server.explorer}/people`)
  await page.locator('#row-0').waitFor()
  await more(page, 'Sort by…')
  await page.locator('select[aria-label="Sort by"]:focus').waitFor()
  await accessible(page, 'the form of the order')
  await page.getByLabel('Sort by').selectOption('count.reported')
  await page.getByRole('button', { name: 'Apply' }).click()
  await page.waitForURL(`${server.explorer}/people?sort=-count.reported`)
  await shows(() => rows(page, 3), ['Édith Piaf', 'Ada Lovelace', 'Grace Hopper'])
  await shows(() => chips(page), ['sorted by count.reported descending'])
  await accessible(page, 'the order as a chip')
  await page.getByTitle('Reverse the order').click()
  await page.waitForURL(`${server.explorer}/people?sort=count.reported`)
  await shows(() => rows(page, 3), ['Ada Lovelace', 'Grace Hopper', 'Édith Piaf'])
  await page.getByRole('button', { name: 'Remove the order by count.reported' }).click()
  await page.waitForURL(`${server.explorer}/people`)
  await page.leave()
})

test('filters: what has nothing, how many it has, and conditions on one and the same', async () => {
  const page = await open(browser, `${server.explorer}/people`)
  await page.locator('#row-0').waitFor()
  await page.keyboard.press('f')
  await page.getByLabel('Attribute').selectOption('reported')
  await shows(() => page.getByLabel('Comparison').locator('option').allInnerTexts(), ['exists', 'does not exist'])
  await shows(() => page.getByLabel('Value').count(), 0)
  await enter(page, 'reported', 'does not exist')
  await page.waitForURL(`${server.explorer}/people?filter[reported][exists]=false`)
  await shows(() => rows(page, 3), ['Ada Lovelace', 'Grace Hopper'])
  await shows(() => chips(page), ['reported does not exist'])
  await page.locator('.live.off').waitFor()
  // The chip opens as it was entered.
  await page.locator('.chip .text').click()
  await shows(() => page.getByLabel('Comparison').inputValue(), 'lacks')
  await enter(page, 'reported', 'exists')
  await shows(() => rows(page, 3), ['Édith Piaf'])
  await page.getByRole('button', { name: 'Remove the filter on reported' }).click()
  await page.keyboard.press('f')
  await enter(page, 'count.reported', 'is less than', '40')
  await page.waitForURL(`${server.explorer}/people?filter[count.reported][lt]=40`)
  await shows(() => rows(page, 3), ['Ada Lovelace', 'Grace Hopper'])

  // Each condition has matches in both projects; one issue with both is in one of them only.
  await page.goto(`${server.explorer}/projects`)
  await page.locator('#row-0').waitFor()
  await page.keyboard.press('f')
  await page.getByLabel('Attribute').selectOption('issues.seen_at')
  await shows(async () => (await page.getByLabel('Comparison').locator('option').allInnerTexts()).includes('is null'), false)
  await enter(page, 'issues.state', 'is', 'open')
  await page.waitForURL(`${server.explorer}/projects?filter[issues.state]=open`)
  await total(page, 2)
  await page.locator('.chip').getByRole('button', { name: '+ and' }).click()
  await page.getByLabel('Attribute').selectOption('issues.assignee.name') // through a reference of it
  await enter(page, 'issues.seen_at', 'is null', 'true')
  const address = 'filter[some][0][issues.state]=open&filter[some][0][issues.seen_at][null]=true'
  await page.waitForURL(`${server.explorer}/projects?${address}`)
  const matching = await server.ask('GET', `/projects?${address}`)
  assert.equal(matching.length, 1)
  await shows(() => rows(page, 2), matching.map(({ title }) => title))
  const group = page.getByRole('group', { name: 'some of its issues' })
  await shows(() => group.innerText().then((text) => text.replace(/\s+/g, ' ')), 'some of its issues state is open seen_at is null + and')
  await accessible(page, 'conditions on the same')
  await group.getByRole('button', { name: 'some', exact: true }).click()
  await page.waitForURL(`${server.explorer}/projects?${address.replaceAll('some', 'none')}`)
  await shows(() => rows(page, 2), ['Engine', 'Compiler'].filter((title) => title !== matching[0].title))
  // Without any condition nothing is left of it.
  const none = page.getByRole('group', { name: 'none of its issues' })
  await none.getByRole('button', { name: 'Remove the filter on issues.state' }).click()
  await none.getByRole('button', { name: 'Remove the filter on issues.seen_at' }).click()
  await page.waitForURL(`${server.explorer}/projects`)
  await page.keyboard.press('f')
  await enter(page, 'issues.priority', 'is', '5')
  await page.locator('.chip').getByRole('button', { name: 'none' }).click()
  await page.waitForURL(`${server.explorer}/projects?filter[none][0][issues.priority]=5`)
  await shows(() => rows(page, 2), ['Engine']) // it has the even ones
  await page.leave()
})

test('words are searched without regard to case, and the values of an enum are ticked', async () => {
  const page = await open(browser, `${server.explorer}/issues`)
  await page.locator('#row-0').waitFor()
  await page.keyboard.press('f')
  await page.getByLabel('Attribute').selectOption('title')
  await shows(() => page.getByLabel('Comparison').locator('option').first().innerText(), 'contains words')
  await page.getByText('Upper and lower case are the same.').waitFor()
  await page.getByLabel('Comparison').selectOption('contains')
  await page.getByText('Upper and lower case differ here, and not with “contains words”.').waitFor()
  await enter(page, 'title', 'contains words', '1 ISS')
  await page.waitForURL(`${server.explorer}/issues?filter[title][search]=1%20ISS`)
  await total(page, 11)
  await page.locator('.live:not(.waiting, .off)').waitFor()
  await page.goto(`${server.explorer}/issues`)
  await page.locator('#row-0').waitFor()
  await page.keyboard.press('f')
  await enter(page, 'assignee.name', 'contains words', 'LOV')
  await total(page, 16)

  await page.goto(`${server.explorer}/issues`)
  await page.locator('#row-0').waitFor()
  await page.keyboard.press('f')
  await page.getByLabel('Attribute').selectOption('state')
  await page.getByLabel('Comparison').selectOption('in')
  const values = page.getByRole('group', { name: 'Value' })
  await shows(() => values.getByRole('checkbox').count(), 3)
  await page.getByRole('button', { name: 'Apply' }).click() // nothing is ticked
  await shows(() => page.url(), `${server.explorer}/issues`)
  await values.getByLabel('closed').check()
  await values.getByLabel('open').check()
  await accessible(page, 'values to tick')
  await page.getByRole('button', { name: 'Apply' }).click()
  await page.waitForURL(`${server.explorer}/issues?filter[state][in]=open,closed`)
  await total(page, 27)
  await page.locator('.chip .text').click()
  await shows(() => values.getByRole('checkbox', { checked: true }).count(), 2)
  await page.keyboard.press('Escape')
  await page.leave()
})

test('a chart shows the groups with the most of what it measures, by name, and only those that have enough', async () => {
  const page = await open(browser, `${server.explorer}/issues?chart=assignee_id&sum=priority`)
  const chart = page.getByRole('region', { name: 'Chart of issues' })
  const bars = () => chart.getByRole('row').evaluateAll((all) => all.map((row) => row.innerText.trim().split(/\s*[\t\n]\s*/)))
  const names = new Map(server.people.map(({ id, name }) => [id, name]))
  const groups = await server.ask('GET', '/-/groups/issues?by=assignee_id&sum=priority&sort=-sum.priority')
  const wanted = groups.map(({ by, sum }) => [names.get(by.assignee_id) ?? 'null', String(sum.priority)])
  await shows(bars, wanted) // the requests of the first load have been sent
  const asked = []
  page.on('request', (request) => asked.push(decodeURIComponent(request.url().slice(server.url.length))))
  await page.reload()
  await shows(bars, wanted)
  // One request brought the names.
  assert.deepEqual(asked.filter((each) => /^\/(people\?filter\[id\]|-\/groups)/.test(each)), ['/-/groups/issues?by=assignee_id&sum=priority&include=assignee&fields[assignee]=name&sort=-sum.priority&limit=41'])

  await chart.getByRole('button', { name: 'Limits' }).click()
  await accessible(page, 'a chart with limits')
  await chart.getByLabel('Groups at most').fill('2')
  await page.keyboard.press('Enter')
  await page.waitForURL(`${server.explorer}/issues?chart=assignee_id&sum=priority&limit=2`)
  await shows(bars, wanted.slice(0, 2))
  await chart.getByText('The 2 groups with the greatest values are shown.').waitFor()
  await chart.getByText('sum of priority').last().waitFor() // as in what is shown
  await chart.getByLabel('Groups at most').fill('')
  await page.keyboard.press('Enter')
  await chart.getByLabel('Only with at least').fill(wanted[1][1])
  await page.keyboard.press('Enter')
  await page.waitForURL(`${server.explorer}/issues?chart=assignee_id&sum=priority&having[sum.priority][gte]=${wanted[1][1]}`)
  await shows(bars, wanted.slice(0, 2))
  await page.reload()
  await shows(bars, wanted.slice(0, 2))
  // What is measured changes, and the least of it goes.
  await chart.getByLabel('Show').selectOption('distinct state')
  await page.waitForURL(`${server.explorer}/issues?chart=assignee_id&distinct=state`)
  await shows(async () => (await bars()).map(([, n]) => n), ['3', '3', '3'])

  // Through the reference, and each bar leads to its issues.
  await chart.getByLabel('Show').selectOption('count')
  await chart.getByLabel('Group by').selectOption('assignee.name')
  await shows(async () => (await bars()).map(([name]) => name).sort(), ['Ada Lovelace', 'Grace Hopper', 'null'])
  await chart.getByRole('link', { name: 'Grace Hopper' }).click()
  await page.waitForURL(`${server.explorer}/issues?filter[assignee.name]=Grace%20Hopper`)
  await total(page, 16)

  // Weeks begin on Mondays, and quarters are called so.
  await page.goto(`${server.explorer}/issues?chart=due_on:week`)
  const points = () => chart.getByRole('listitem').evaluateAll((all) => all.map((each) => each.innerText.trim().split(/\s+/).reverse().join(' ')))
  await shows(points, ['2026-10-26 2', '2026-11-02 14', '2026-11-09 11', '2026-11-16 7', '2026-11-23 6'])
  await chart.getByRole('link', { name: /^2026-11-16: / }).click()
  await page.waitForURL(`${server.explorer}/issues?filter[due_on][gte]=2026-11-16&filter[due_on][lt]=2026-11-23`)
  await total(page, 7)
  await page.goto(`${server.explorer}/issues?chart=due_on:quarter`)
  await shows(points, ['Q4 2026 40'])

  // More periods than fit have their dates in full, and the latest are in view.
  await page.setViewportSize({ width: 700, height: 800 })
  await page.goto(`${server.explorer}/issues?chart=due_on`)
  await chart.getByRole('listitem').first().waitFor()
  await shows(() => chart.locator('.when').evaluateAll((all) => all.filter((each) => each.scrollWidth > each.clientWidth).length), 0)
  await shows(() => chart.locator('ol').evaluate((list) => list.scrollWidth > list.clientWidth && list.scrollWidth - list.clientWidth - list.scrollLeft < 2), true)

  // What the server refuses can be removed.
  await page.goto('about:blank')
  await page.leave()
  const wrong = await open(browser, `${server.explorer}/issues?chart=state&having[count][gte]=many`, { expect: [/status of 400/] })
  await shows(() => chips(wrong), ['at least many'])
  await wrong.getByRole('button', { name: 'Remove the least amount' }).click()
  await wrong.waitForURL(`${server.explorer}/issues?chart=state`)
  await wrong.getByRole('row', { name: /open/ }).waitFor()
  await wrong.leave()
})
