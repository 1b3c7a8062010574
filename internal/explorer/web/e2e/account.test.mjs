// Who the caller is, what they may do, their API keys, and how the server is doing.

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { accessible, binary, hold, launch, open, serve, shows } from './harness.mjs'

let server, browser, admin

before(async () => {
  browser = await launch()
  server = await serve({ schema: join(import.meta.dirname, 'account.schema.yaml') })
  const args = ['keys', 'create', '--name', 'Ada', '--role', 'admin', '--schema', server.schema, '--database', server.database]
  admin = execFileSync(binary, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim()
  await server.ask('POST', '/notes', { title: 'Hello', secret: 'hush' }, { Authorization: `Bearer ${admin}` })
})
after(async () => {
  await browser?.close()
  await server?.stop()
})

async function signIn(page, key, stay = false) {
  const dialog = page.getByRole('dialog', { name: 'Sign in' })
  await dialog.getByLabel('API key or token').fill(key)
  if (stay) await dialog.getByLabel(/Stay signed in/).check()
  await dialog.getByRole('button', { name: 'Sign in' }).click()
  await dialog.waitFor({ state: 'detached' })
}

test('an administrator sees who they are, and makes and revokes keys', async () => {
  const page = await open(browser, `${server.explorer}/-/account`, { expect: [/status of 401/] })
  await signIn(page, admin)
  await page.getByRole('navigation').getByRole('link', { name: 'Ada admin' }).waitFor()
  const rights = page.getByRole('row', { name: /^notes/ })
  await shows(async () => (await rights.innerText()).replace(/\s+/g, ' ').trim(), 'notes yes yes yes yes yes yes')
  const form = page.getByRole('form', { name: 'New API key' })
  await form.getByLabel('Name').fill('Reports')
  await shows(() => form.getByLabel('Role').inputValue(), '') // nobody gets the first one by mistake
  await form.getByLabel('Role').selectOption('reader')
  await page.getByRole('button', { name: 'Create key' }).click()
  const dialog = page.getByRole('dialog', { name: 'New API key' })
  const key = (await dialog.locator('.secret').innerText()).trim()
  assert.match(key, /^plural_\w+$/)
  await dialog.getByRole('button', { name: 'Done' }).click()
  await accessible(page, 'the page of the caller')

  // The new key is that of a reader, who is told what they may not do.
  const other = await open(browser, `${server.explorer}/notes`, { expect: [/status of 40\d/] })
  await signIn(other, key)
  await other.locator('#row-0').getByText('Hello').waitFor()
  await other.getByRole('navigation').getByRole('link', { name: 'Reports reader' }).click()
  const may = other.getByRole('row', { name: /^notes/ })
  await shows(async () => (await may.innerText()).replace(/\s+/g, ' ').trim(), 'notes yes yes no no no no')
  await shows(() => other.getByRole('heading', { name: 'API keys' }).count(), 0)
  await shows(() => other.getByRole('link', { name: 'Server' }).count(), 0)

  // The history says who changed something, by the name of the key.
  const [note] = await server.ask('GET', '/notes', undefined, { Authorization: `Bearer ${admin}` })
  await page.goto(`${server.explorer}/notes/${note.id}`)
  await page.getByRole('region', { name: 'History' }).getByText('created by Ada (you)').waitFor()
  await page.goto(`${server.explorer}/-/account`)

  // What may that key do, and why? And what may a role do with one resource?
  await page.getByRole('button', { name: 'Rights of Reports' }).click()
  await page.getByRole('button', { name: 'update notes: no' }).click()
  await page.getByText('reader is not granted update in notes').waitFor()
  const can = page.getByRole('form', { name: 'What may a role or key do?' })
  await can.getByLabel('Role or key').selectOption('writer')
  await can.getByLabel('Subject').fill('ada')
  await can.getByRole('combobox', { name: 'Collection' }).selectOption('notes')
  await can.getByRole('combobox', { name: 'Resource' }).fill('Hel')
  await page.getByRole('option', { name: 'Hello' }).click()
  await can.getByRole('button', { name: 'Ask' }).click()
  await page.getByRole('button', { name: 'update notes: no' }).click()
  await page.getByText('the rule of update is not true of the resource: resource.title == auth.sub').waitFor()
  await can.getByLabel('Claims').fill('{"team"')
  await can.getByRole('button', { name: 'Ask' }).click()
  await page.getByRole('alert').getByText('Write the claims as a JSON object').waitFor()
  await can.getByLabel('Claims').fill('{"team": 1}')
  await can.getByRole('button', { name: 'Ask' }).click()
  await page.getByRole('button', { name: 'delete notes: no' }).waitFor()
  await accessible(page, 'the form of plural can')

  await page.getByRole('button', { name: 'Revoke Reports' }).click()
  await page.getByRole('dialog', { name: 'Revoke' }).getByRole('button', { name: 'Revoke' }).click()
  await page.getByRole('row', { name: /Reports.*revoked/ }).waitFor()
  await other.goto(`${server.explorer}/notes`)
  await other.getByRole('dialog', { name: 'Sign in' }).waitFor()
  await other.leave()
  await page.leave()
})

test('a response that comes late does not take the place of a later one', async () => {
  const page = await open(browser, 'about:blank')
  const release = await hold(page, '**/-/me', { times: 1 })
  await page.goto(`${server.explorer}/-/account`)
  await signIn(page, admin) // while it is not known yet who is there without a key
  const link = page.getByRole('navigation').getByRole('link', { name: 'Ada admin' })
  await link.waitFor()
  const late = page.waitForResponse('**/-/me')
  release()
  await (await late).finished()
  await page.evaluate(() => new Promise((resolve) => setTimeout(resolve))) // what was waiting for it goes on
  await page.getByRole('form', { name: 'New API key' }).waitFor()
  await shows(() => link.count(), 1)
  await page.leave()
})

test('after a wrong key, whoever needs none still sees what is public', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'plural-public-'))
  const schema = join(folder, 'public.yaml')
  await writeFile(schema, 'collections: {notes: {attributes: {title: {type: string}}}}\naccess: {roles: {public: {notes: [list, read]}}}\n')
  const shop = await serve({ schema })
  try {
    const page = await open(browser, shop.explorer, { expect: [/status of 401/] })
    await page.getByRole('button', { name: 'Sign in' }).click()
    const dialog = page.getByRole('dialog', { name: 'Sign in' })
    await dialog.getByLabel('API key or token').fill('wrong')
    await dialog.getByRole('button', { name: 'Sign in' }).click()
    await dialog.getByText('This key or token is not valid.').waitFor()
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    await page.getByRole('main').getByRole('link', { name: 'notes' }).waitFor()
    await page.getByRole('navigation').getByRole('link', { name: 'public' }).waitFor()
    await page.leave()
  } finally {
    await shop.stop()
    await rm(folder, { recursive: true })
  }
})

test('a role that may do everything but read changes is told why there is no history', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'plural-history-'))
  const schema = join(folder, 'schema.yaml')
  await writeFile(schema, 'collections: {notes: {attributes: {title: {type: string}}}}\naccess: {roles: {public: {notes: [list, read, create, update, delete]}}}\n')
  const shop = await serve({ schema })
  try {
    const { id } = await shop.ask('POST', '/notes', { title: 'Hello' })
    const page = await open(browser, `${shop.explorer}/notes/${id}`)
    await page.getByRole('complementary').getByText('No history: your role may not read changes of notes.').waitFor()
    await page.leave()
  } finally {
    await shop.stop()
    await rm(folder, { recursive: true })
  }
})

test('signing in survives a new tab if the person asks for it, until they sign out', async () => {
  const page = await open(browser, `${server.explorer}/notes`, { expect: [/status of 401/] })
  await signIn(page, admin, true)
  await page.locator('#row-0').waitFor()
  const tab = await page.context().newPage()
  await tab.goto(`${server.explorer}/notes`)
  await tab.locator('#row-0').waitFor()
  await tab.getByRole('button', { name: 'Sign out' }).click()
  await shows(() => tab.evaluate(() => localStorage.getItem('plural.credential')), null)
  await page.leave()
})

test('those who may see the metrics see how the server is doing', async () => {
  const page = await open(browser, `${server.explorer}/-/server`, { expect: [/status of 401/] })
  await signIn(page, admin)
  await page.locator('dl div', { hasText: 'Requests per second' }).getByText(/^\d+\.\d$/).waitFor()
  await page.locator('dl div', { hasText: 'Memory' }).getByText(/^[1-9][\d,]* MB$/).waitFor()
  await accessible(page, 'the server')
  await page.leave()
})
