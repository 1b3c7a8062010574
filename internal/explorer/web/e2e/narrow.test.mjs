// On a phone nothing is wider than the screen: every page and state.

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { after, afterEach, before, test } from 'node:test'
import { binary, launch, NARROW, open, serve } from './harness.mjs'
import { workbench } from './workbench.mjs'

let server, browser
let wide = {} // what does not fit, by page and state

before(async () => {
  browser = await launch()
  server = await workbench()
})
afterEach(() => {
  const found = wide
  wide = {}
  assert.deepEqual(found, {})
})
after(async () => {
  await browser?.close()
  await server?.stop()
})

/**
 * Nothing is beyond the left or right edge, unless it is in something that scrolls sideways or is
 * cut off on purpose, and nothing that does not scroll sideways has content wider than itself.
 */
async function fits(page, what) {
  if (process.env.SCREENSHOTS) await page.screenshot({ path: join(process.env.SCREENSHOTS, `narrow ${what}.png`) })
  const found = await page.evaluate(() => {
    const width = document.documentElement.clientWidth
    const describe = (element) => `${element.tagName.toLowerCase()}.${element.getAttribute('class') ?? ''} ${element.textContent.trim().replace(/\s+/g, ' ').slice(0, 40)}`
    const found = []
    const look = (element) => {
      const style = getComputedStyle(element)
      const { left, right, width: own, height } = element.getBoundingClientRect()
      if (style.display === 'none' || style.visibility === 'hidden' || element.closest('[inert]')) return
      if (element.matches('.hidden, option, svg')) return
      if (own && height && (left < -0.5 || right > width + 0.5)) found.push(`beyond the edge: ${describe(element)} (${Math.round(left)} to ${Math.round(right)})`)
      // What scrolls, or ends with an ellipsis, may be longer inside.
      if (/auto|scroll/.test(style.overflowX) && element.scrollWidth > element.clientWidth && !element.matches('aside, main, dialog, .start, section.filters')) return
      if (/hidden|clip/.test(style.overflowX) && style.textOverflow === 'ellipsis') return
      if (element.clientWidth && element.scrollWidth > element.clientWidth + 1 && !/visible/.test(style.overflowX) && element.tagName !== 'INPUT') found.push(`wider than its place: ${describe(element)} (${element.scrollWidth} in ${element.clientWidth})`)
      for (const child of element.children) look(child)
    }
    look(document.body)
    return found
  })
  if (found.length) wide[what] = found
}

const phone = (address, options = {}) => open(browser, address, { viewport: NARROW, ...options })
const LONG = 'A title that is much longer than a telephone is wide, withoutanyspaceinitsmiddlesothatitcannotbebrokenthere'

test('the start, tables, forms, panels and their dialogs', async () => {
  const issue = await server.ask('POST', '/issues', { title: LONG, tags: ['one', 'two', LONG.slice(0, 60)], assignee_id: server.people[0].id, project_id: server.projects[0].id })
  await server.ask('PATCH', `/issues/${issue.id}`, { priority: 3, state: 'doing' })
  const about = `# ${LONG}\n\n\`${'code'.repeat(30)}\` https://example.com/${'path/'.repeat(20)}\n\n| ${'wide | '.repeat(12)}\n|${'---|'.repeat(12)}\n\n\`\`\`\n${'a line of code '.repeat(10)}\n\`\`\`\n`
  const project = await server.ask('POST', '/projects', { title: 'Wide', about })
  const person = await server.ask('POST', '/people', { name: LONG.slice(0, 80), settings: { [`${'key'.repeat(20)}`]: 'value'.repeat(40) } })
  const page = await phone(server.explorer, { expect: [/status of 4\d\d/] })
  await page.locator('.overview li').first().waitFor()
  await page.locator('.overview summary').first().click()
  await fits(page, 'the start')
  await page.getByRole('button', { name: 'Menu' }).click()
  await page.getByRole('button', { name: 'Shortcuts' }).waitFor()
  await fits(page, 'the menu')
  await page.getByRole('button', { name: 'Shortcuts' }).click()
  await page.getByRole('dialog').waitFor()
  await fits(page, 'the help')

  const views = {
    'a table': 'issues',
    'filters': `issues?search=title&filter[state][in]=open,doing&filter[any][0][title][contains]=${'long'.repeat(20)}&filter[any][1][assignee.name]=Ada%20Lovelace`,
    'wrong filters': 'issues?filter[nonsense]=1&sort=nothing&color=red',
    'nothing': 'issues?filter[title]=nothing',
    'a search that finds nothing': 'issues?search=Hopper',
    'an unknown collection': 'a-collection-with-a-name-that-is-much-too-long-for-a-telephone',
    'an unknown page': '-/nonsense',
    'a new one': 'issues?view=new',
    'a resource': `issues/${issue.id}`,
    'a form': `issues/${issue.id}?view=edit`,
    'markdown': `projects/${project.id}`,
    'markdown in a form': `projects/${project.id}?view=edit`,
    'an object': `people/${person.id}`,
    'an object in a form': `people/${person.id}?view=edit`,
    'a sub-collection': `projects/${project.id}/issues`,
    'no resource': 'issues/nonsense',
    'a chart': 'issues?chart=assignee_id',
    'a chart of long names': 'issues?chart=title&avg=priority',
    'a chart over time': 'issues?chart=due_on',
    'a wrong chart': 'issues?chart=nonsense&sum=nonsense',
  }
  const ready = { chart: 'section table, section ol.line, section .note', panel: 'aside dl, aside form, aside [role=alert], aside .note', list: '#row-0, .empty' }
  for (const [what, path] of Object.entries(views)) {
    await page.goto(`${server.explorer}/${path}`)
    await page.locator(path.includes('chart=') ? ready.chart : /issues\/|people\/|view=|projects\/[^/]+$/.test(path) && !path.endsWith('/issues') ? ready.panel : ready.list).first().waitFor()
    if (what.startsWith('markdown') || what.startsWith('an object')) await page.locator(what.endsWith('form') ? '[data-typing] .cm-content' : 'aside .markdown, aside pre').first().waitFor()
    if (what === 'a search that finds nothing') await page.getByRole('link', { name: 'assignee_id is Grace Hopper' }).waitFor()
    if (what === 'a resource') await page.getByRole('region', { name: 'History' }).getByText('created').waitFor()
    await fits(page, what)
  }

  await page.goto(`${server.explorer}/issues`)
  await page.locator('#row-0').waitFor()
  const opened = async (what, name, inside) => {
    await page.getByRole('button', { name, exact: true }).click()
    await page.locator(inside).waitFor()
    await fits(page, what)
    await page.keyboard.press('Escape')
  }
  await opened('the choice of columns', 'Columns', '[popover]:popover-open, [role=group][aria-label=Columns]')
  await opened('saved views', 'Saved views', '[aria-label="Name of the view"]')
  await opened('a filter form', 'Filter (f)', '.filters form')
  await page.getByRole('button', { name: 'More actions' }).click()
  await fits(page, 'more actions')
  await page.getByRole('button', { name: 'Export…' }).click()
  await page.getByRole('dialog', { name: 'Export' }).waitFor()
  await fits(page, 'export')
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'More actions' }).click()
  await page.getByRole('button', { name: 'Import…' }).click()
  const dialog = page.getByRole('dialog', { name: 'Import' })
  const lines = ['title,state,a_column_with_a_name_that_is_very_long,assignee_id', `${LONG},nonsense,${LONG},Nobody`, 'two,open,,']
  await dialog.getByLabel(/file here/).setInputFiles({ name: 'issues.csv', mimeType: 'text/csv', buffer: Buffer.from(lines.join('\n')) })
  await dialog.getByRole('button', { name: 'Check' }).waitFor()
  await fits(page, 'an import')
  await dialog.getByRole('button', { name: 'Check' }).click()
  await dialog.getByRole('table', { name: 'Problems' }).waitFor()
  await fits(page, 'an import with problems')
  await dialog.getByRole('button', { name: 'Cancel' }).click()

  for (const row of [1, 2]) await page.getByRole('checkbox', { name: `Select row ${row}`, exact: true }).check()
  await fits(page, 'a selection')
  await page.getByRole('button', { name: /^Set/ }).click()
  await page.getByRole('dialog').waitFor()
  await fits(page, 'an attribute of many')
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: /^Delete/ }).click()
  await page.getByRole('dialog').getByRole('button', { name: /^Delete/ }).waitFor()
  await fits(page, 'a deletion of many')
  await page.keyboard.press('Escape')
  await page.goto(`${server.explorer}/people/${server.people[0].id}`)
  await page.getByRole('complementary').getByRole('button', { name: 'Delete' }).click()
  await page.getByRole('dialog').waitFor()
  await fits(page, 'a deletion')
  await page.leave()
})

test('the caller, keys, rights and the server', async () => {
  const guarded = await serve({ schema: join(import.meta.dirname, 'account.schema.yaml') })
  try {
    const args = ['keys', 'create', '--name', 'Somebody with a rather long name', '--role', 'admin', '--schema', guarded.schema, '--database', guarded.database]
    const admin = execFileSync(binary, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim()
    const page = await phone(`${guarded.explorer}/-/account`, { expect: [/status of 401/] })
    const signIn = page.getByRole('dialog', { name: 'Sign in' })
    await signIn.waitFor()
    await fits(page, 'signing in')
    await signIn.getByLabel('API key or token').fill(admin)
    await page.keyboard.press('Enter')
    await signIn.waitFor({ state: 'detached' }) // the form can be there before, and does not get the focus then
    const form = page.getByRole('form', { name: 'New API key' })
    await form.getByLabel('Name').fill('Reports')
    await form.getByLabel('Role').selectOption('reader')
    await fits(page, 'keys')
    await page.getByRole('button', { name: 'Create key' }).click()
    const dialog = page.getByRole('dialog', { name: 'New API key' })
    await dialog.locator('.secret').waitFor()
    await fits(page, 'a new key')
    await dialog.getByRole('button', { name: 'Done' }).click()
    await page.getByRole('button', { name: 'Rights of Reports' }).click()
    await page.getByRole('button', { name: 'update notes: no' }).click()
    await page.getByText('reader is not granted update in notes').waitFor()
    await fits(page, 'rights')
    await page.getByRole('button', { name: 'Revoke Reports' }).click()
    await page.getByRole('dialog', { name: 'Revoke' }).waitFor()
    await fits(page, 'revoking')
    await page.goto(`${guarded.explorer}/-/server`)
    await page.locator('dl div', { hasText: 'Requests per second' }).getByText(/^\d+\.\d$/).waitFor()
    await fits(page, 'the server')
    await page.leave()
  } finally {
    await guarded.stop()
  }
})

test('the reference', async () => {
  const page = await phone(`${server.url}/-/docs`)
  await page.getByRole('heading', { name: 'Plural API' }).waitFor()
  await fits(page, 'the reference')
  await page.goto(`${server.url}/-/docs/issues`)
  await page.getByRole('heading', { name: 'issues', exact: true }).waitFor()
  for (const id of ['listIssues', 'createIssue']) await page.locator(`#${id} h3 button`).click()
  await page.getByRole('heading', { name: 'Body of Create an issue' }).waitFor()
  await fits(page, 'a collection of the reference')
  await page.goto(`${server.url}/-/docs/nonsense`)
  await page.getByRole('main').waitFor()
  await fits(page, 'no collection of the reference')
  await page.leave()
})
