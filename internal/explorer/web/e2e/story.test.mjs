// What a person who has never seen the explorer does with it, on both databases: finds the open issues of
// a colleague by name, reassigns twenty of them, sees who changed one and takes it back, and watches a
// change by somebody else arrive.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { binary, launch, open } from './harness.mjs'
import { workbench } from './workbench.mjs'

let browser, postgres

before(async () => {
  browser = await launch()
})
after(async () => {
  await browser?.close()
  postgres?.stdin.end()
})

/** Starts PostgreSQL and returns its URL. */
async function startPostgres() {
  postgres = spawn(process.env.POSTGRES ?? join(binary, '../postgres-e2e'), { stdio: ['pipe', 'pipe', 'inherit'] })
  const [line] = await once(postgres.stdout, 'data')
  return String(line).trim()
}

async function story(options) {
  const server = await workbench(3, options)
  try {
    const [ada, grace] = server.people
    const tasks = Array.from({ length: 30 }, (_, i) => ({ title: `Task ${i + 1}`, state: i % 10 === 9 ? 'closed' : 'open', assignee_id: ada.id, project_id: server.projects[0].id }))
    await server.ask('POST', '/issues', tasks)
    const page = await open(browser, `${server.url}/`)
    await page.getByRole('navigation').getByRole('link', { name: 'issues' }).click()
    await page.locator('#row-0').waitFor()

    await page.getByRole('button', { name: 'Filter', exact: true }).click()
    await page.getByLabel('Attribute').selectOption('assignee_id')
    await page.getByRole('combobox', { name: 'Value' }).fill('lovelace')
    await page.getByRole('option', { name: /Ada Lovelace/ }).click()
    await page.getByRole('button', { name: 'Apply' }).click()
    await page.getByRole('button', { name: 'Filter', exact: true }).click()
    await page.getByLabel('Attribute').selectOption('state')
    await page.getByLabel('Value').selectOption('open')
    await page.getByRole('button', { name: 'Apply' }).click()
    await page.locator('header .total', { hasText: /^28$/ }).waitFor()

    await page.getByRole('checkbox', { name: 'Select row 1', exact: true }).check()
    await page.locator('#row-19').scrollIntoViewIfNeeded()
    await page.getByRole('checkbox', { name: 'Select row 20', exact: true }).click({ modifiers: ['Shift'] })
    await page.getByRole('button', { name: 'Set attribute…' }).click()
    const dialog = page.getByRole('dialog', { name: 'Set attribute' })
    await dialog.getByLabel('Attribute').selectOption('assignee_id')
    await dialog.getByRole('combobox', { name: 'assignee_id' }).fill('grace')
    await dialog.getByRole('option', { name: /Grace Hopper/ }).click()
    await dialog.getByRole('button', { name: 'Set for 20' }).click()
    await page.getByText('20 issues changed.').waitFor()
    await page.locator('header .total', { hasText: /^8$/ }).waitFor()
    const [moved] = await server.ask('GET', `/issues?filter[assignee_id]=${grace.id}&filter[title]=Task%203`)

    await page.goto(`${server.explorer}/issues/${moved.id}`)
    const history = page.getByRole('region', { name: 'History' })
    await history.getByText(/assignee_id\s*Ada Lovelace → Grace Hopper/).waitFor()
    await history.getByRole('button', { name: 'Back to this' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Restore' }).click()
    await page.getByText('The earlier state was restored.').waitFor()
    assert.equal((await server.ask('GET', `/issues/${moved.id}`)).assignee_id, ada.id)

    await page.getByText('Live', { exact: true }).waitFor()
    await server.ask('PATCH', `/issues/${moved.id}`, { title: 'Renamed by somebody else' })
    await page.locator('.marked', { hasText: 'Renamed by somebody else' }).waitFor()
    await page.getByRole('complementary').getByRole('heading', { name: 'Renamed by somebody else' }).waitFor()
    await page.leave()
  } finally {
    await server.stop()
  }
}

test('a first day of work, on SQLite', () => story())
test('a first day of work, on PostgreSQL', async () => story({ database: await startPostgres() }))
