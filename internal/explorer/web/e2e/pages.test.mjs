// The pages around the table: signing in, a mounted server, and how all of
// it looks to those who see differently.

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { accessible, accessibleInAllLooks, binary, launch, NARROW, open, serve, shows, WIDE, WITHOUT_COLOURS } from './harness.mjs'
import { seed } from './seed.mjs'

let server, browser, data

before(async () => {
  browser = await launch()
  server = await serve()
  data = await seed(server, 60)
})
after(async () => {
  await browser?.close()
  await server?.stop()
})

test('with access, people sign in with a key, and see and may do what it allows', async () => {
  const guarded = await serve({ schema: join(import.meta.dirname, 'access.schema.yaml'), flags: ['--max-limit', '20'] })
  try {
    const key = (role) =>
      execFileSync(binary, ['keys', 'create', '--name', role, '--role', role, '--schema', guarded.schema, '--database', guarded.database], {
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'ignore'],
      }).trim()
    const [reader, editor, proofreader] = [key('reader'), key('editor'), key('proofreader')]
    const notes = Array.from({ length: 70 }, (_, i) => ({ title: i ? `Note ${i}` : 'Hello', secret: 'hush' }))
    await guarded.ask('POST', '/notes', notes, { Authorization: `Bearer ${editor}` })

    const page = await open(browser, `${guarded.explorer}/notes`, { expect: [/status of 401/] })
    const dialog = page.getByRole('dialog', { name: 'Sign in' })
    await dialog.getByLabel('API key or token').fill('wrong')
    await dialog.getByRole('button', { name: 'Sign in' }).click()
    await dialog.getByText('This key or token is not valid.').waitFor()
    await accessible(page, 'sign-in')
    await dialog.getByLabel('API key or token').fill(reader)
    await page.keyboard.press('Enter')
    await page.locator('#row-0').getByText('Hello').waitFor()
    await page.locator('[role=grid]:focus').waitFor()
    // The page is named as the interface is.
    await shows(() => page.title(), 'notes · Notes')
    await page.getByRole('navigation').getByRole('link', { name: 'Notes', exact: true }).waitFor()
    const columns = () => page.locator('[role=columnheader]').allInnerTexts()
    await shows(columns, ['', 'title', 'created_at', 'updated_at', 'id'])
    await shows(() => page.getByRole('button', { name: 'New note' }).count(), 0)

    // The key is in this tab, survives a reload, and is nowhere else.
    await page.reload()
    await page.locator('#row-0').getByText('Hello').waitFor()
    await shows(() => page.evaluate(() => [Object.keys(sessionStorage), JSON.stringify(localStorage), document.cookie]), [
      ['plural.credential'],
      '{"plural.theme":"auto"}',
      '',
    ])
    // Pages are no longer than the server allows.
    await page.keyboard.press('t')
    await page.keyboard.press('End')
    await page.locator('#row-69').getByText('Note 69').waitFor()
    await page.keyboard.press('Home')
    await page.waitForURL(`${guarded.explorer}/notes`) // The next list begins where the address says.
    await page.keyboard.press('s')
    const shown = await page.getByRole('region', { name: 'Requests' }).innerText()
    assert.match(shown, /Authorization: Bearer \$PLURAL_KEY/)
    assert.ok(!shown.includes(reader))

    // What a key may see and not change is shown in the form, and not asked for.
    await page.getByRole('button', { name: 'Sign out' }).click()
    await dialog.getByLabel('API key or token').fill(proofreader)
    await page.keyboard.press('Enter')
    await page.locator('#row-0').getByText('Hello').click()
    await page.keyboard.press('e')
    const form = page.getByRole('complementary').locator('form')
    await form.getByText('hush').waitFor()
    await shows(() => form.locator('.field label').allInnerTexts(), ['title'])
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Edit' }).waitFor()
    await page.keyboard.press('Escape')

    await page.getByRole('button', { name: 'Sign out' }).click()
    await dialog.getByLabel('API key or token').fill(editor)
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'New note' }).waitFor()
    await page.locator('#row-0').getByText('hush').waitFor()
    await page.leave()
  } finally {
    await guarded.stop()
  }
})

test('mounted below a prefix that is taken off, everything is found there', async () => {
  const mounted = await serve({ program: process.env.MOUNTED ?? join(binary, '../mounted'), args: (database) => [database] })
  try {
    assert.match(mounted.url, /\/tenants\/7\/api$/)
    const page = await open(browser, `${mounted.url}/`)
    await page.waitForURL(mounted.explorer)
    await page.getByRole('navigation').getByRole('link', { name: 'users' }).click()
    await page.getByRole('button', { name: 'New user' }).first().click()
    await page.getByLabel('name').fill('Ada')
    await page.getByLabel('email').fill('ada@example.com')
    await page.getByText('More', { exact: true }).click()
    await page.getByLabel('Asynchronously').check() // the operation is found by its Location
    await page.getByRole('button', { name: 'Create', exact: true }).click()
    await page.getByRole('status').getByText('succeeded').waitFor()
    await page.locator('#row-0 .label').click()
    await page.getByRole('complementary').getByRole('link', { name: 'posts' }).click()
    await page.getByText('No posts yet').waitFor()
    await page.reload()
    await page.getByText('No posts yet').waitFor()
    await page.goto(`${mounted.url}/-/docs/users`)
    await page.getByRole('navigation').getByRole('link', { name: 'posts', exact: true }).click()
    await page.waitForURL(`${mounted.url}/-/docs/posts`)
    await page.getByRole('heading', { name: 'posts', exact: true }).waitFor()
    await page.leave()
  } finally {
    await mounted.stop()
  }
})

const VIEWS = {
  'the start': '',
  'a table': 'customers?filter[active]=true&sort=-name',
  'a resource': 'customers/ID',
  'a form': 'customers/ID?view=edit',
  'a new one': 'orders?view=new',
  'nothing': 'reports',
  'an unknown collection': 'nonsense',
}

test('every view is accessible: light, dark, and on a phone', async () => {
  const page = await open(browser, server.explorer, WIDE)
  for (const [what, path] of Object.entries(VIEWS)) {
    await page.goto(`${server.explorer}/${path.replace('ID', data.customers[0].id)}`.replace(/\/$/, ''))
    await page.locator('#row-0, .empty, .overview li').first().waitFor()
    if (path.includes('ID')) await page.getByRole('complementary').locator('dl, form').first().waitFor()
    await accessibleInAllLooks(page, what)
  }
  await page.goto(`${server.explorer}/customers`)
  await page.locator('#row-0').waitFor()
  for (const key of ['s', '/']) await page.keyboard.press(key)
  await accessibleInAllLooks(page, 'requests and filter')
  await page.leave()

  const narrow = await open(browser, `${server.explorer}/customers`, { viewport: NARROW })
  await narrow.locator('#row-0').waitFor()
  await narrow.getByRole('button', { name: 'Menu' }).click()
  await accessible(narrow, 'narrow: menu', WITHOUT_COLOURS)
  await narrow.getByRole('link', { name: 'products' }).click()
  await narrow.getByRole('heading', { name: 'products' }).waitFor()
  await narrow.leave()
})

test('an id in the address is one segment of a path, whatever is in it', async () => {
  const page = await open(browser, 'about:blank', { expect: [/status of 404/] })
  const asked = []
  page.on('request', (request) => asked.push(request.url().replace(server.url, '')))
  const escaped = '..%2F-%2Fhealth%3Fx'
  for (const [address, path] of [
    [`customers/${escaped}`, `/customers/${escaped}`],
    [`customers/${escaped}/orders`, `/customers/${escaped}/orders`],
  ]) {
    asked.length = 0
    await page.goto(`${server.explorer}/${address}`)
    await page.getByText('is not an id').first().waitFor()
    assert.ok(asked.some((each) => each.split('?')[0] === path), asked.join('\n'))
    assert.deepEqual(asked.filter((each) => each.startsWith('/-/health')), [])
  }
  await page.leave()
})

test('the switch goes over the system', async () => {
  const page = await open(browser, server.explorer, { colorScheme: 'light' })
  const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor)
  const light = await ground()
  await page.getByText('dark', { exact: true }).click()
  const dark = await ground()
  assert.notEqual(dark, light)
  await page.reload()
  await page.getByRole('navigation').waitFor()
  await shows(ground, dark)
  await page.leave()
})
