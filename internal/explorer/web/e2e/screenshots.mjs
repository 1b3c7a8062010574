// Makes the pictures of the documents, from the data of the browser tests:
// node screenshots.mjs FOLDER

import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { launch, open, serve } from './harness.mjs'
import { seed, seedReadings } from './seed.mjs'
import { workbench } from './workbench.mjs'

const TITLES = [
  'The search box loses the focus', 'Export stops after a restart', 'Dates of the report are in UTC', 'Labels are cut off on phones', 'Import accepts an empty file',
  'Login fails with a long key', 'Totals are wrong after a rollback', 'The menu covers the table', 'Sort by several columns', 'Print the invoice on one page',
  'Remove the old importer', 'Slow start with many collections', 'Explain the error of a wrong filter', 'Colours of the chart', 'Tab leaves the form', 'Rename an account',
]
const folder = process.argv[2]
await mkdir(folder, { recursive: true })
const [server, desk, browser] = await Promise.all([serve(), workbench(0), launch()])

async function picture(name, { explorer }, address, options, act = async () => {}) {
  const page = await open(browser, `${explorer}/${address}`, { viewport: { width: 1200, height: 620 }, ...options })
  await page.locator('[data-position]:not(.ghost)').first().waitFor()
  await act(page)
  await page.locator('.ghost').first().waitFor({ state: 'detached' })
  await page.screenshot({ path: join(folder, name), animations: 'disabled' })
  await page.leave()
}

try {
  const { people, projects } = desk
  const issues = await desk.ask(
    'POST',
    '/issues',
    TITLES.map((title, i) => ({
      title,
      state: ['open', 'doing', 'open', 'closed'][i % 4],
      priority: (i * 7) % 6,
      tags: [['ui'], ['bug', 'ui'], ['data'], null][i % 4],
      due_on: `2026-12-${String((i * 5) % 28 + 1).padStart(2, '0')}`,
      assignee_id: people[i % 3].id,
      reporter_id: people[(i + 1) % 3].id,
      project_id: projects[i % 2].id,
    })),
  )
  await desk.ask('PATCH', `/issues/${issues[1].id}`, { priority: 5, assignee_id: people[0].id })
  await desk.ask('PATCH', `/issues/${issues[1].id}`, { state: 'open' })
  await picture('explorer.png', desk, `issues/${issues[1].id}?filter[state][in]=open,doing`, { colorScheme: 'light', viewport: { width: 1280, height: 680 } }, async (page) => {
    await page.getByRole('region', { name: 'History' }).getByText('created').waitFor()
    for (const row of [4, 6]) await page.getByRole('checkbox', { name: `Select row ${row}`, exact: true }).check()
    await page.getByText('Live', { exact: true }).waitFor()
  })
  await seed(server)
  await seedReadings(server, 20_000)
  await picture('explorer-dark.png', server, 'readings?filter[value][gt]=90&sort=-value&offset=250', { colorScheme: 'dark' }, (page) => page.keyboard.press('s'))
  await picture('explorer-narrow.png', desk, 'issues', { viewport: { width: 390, height: 720 } })
} finally {
  await browser.close()
  await Promise.all([server.stop(), desk.stop()])
}
