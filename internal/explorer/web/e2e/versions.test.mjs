// Versions of the interface: the explorer shows the newest, whatever version its key is for; the reference has a switch.

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { accessible, binary, launch, open, serve, shows } from './harness.mjs'

const access = (collection) => `
access:
  keys:
    admin: [admin]
  roles:
    admin:
      ${collection}: [list, read, create, update, delete, changes]
`
const first = `version: 1
collections:
  clients:
    label: name
    attributes: {name: {type: string}}
${access('clients')}`
const second = `version: 2
deprecated: {1: 2099-01-31}
collections:
  customers:
    renamed_from: clients
    label: company
    attributes: {company: {type: string, renamed_from: name}, vip: {type: boolean}}
${access('customers')}`

let folder, server, browser, key

before(async () => {
  browser = await launch()
  folder = await mkdtemp(join(tmpdir(), 'plural-e2e-versions-'))
  const schema = join(folder, 'schema.yaml')
  const database = `sqlite:${join(folder, 'e2e.db')}`
  const run = (...args) => execFileSync(binary, [...args, '--schema', schema, '--database', database], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
  await writeFile(schema, first)
  await (await serve({ schema, database })).stop()
  await writeFile(schema, second)
  run('migrate', '--no-backup')
  key = run('keys', 'create', '--name', 'Old', '--role', 'admin', '--api-version', '1').trim()
  server = await serve({ schema, database })
  await server.ask('POST', '/clients', { name: 'Acme' }, { Authorization: `Bearer ${key}` })
})
after(async () => {
  await browser?.close()
  await server?.stop()
  await rm(folder, { recursive: true })
})

async function signedIn(url) {
  const page = await open(browser, url, { storageState: { cookies: [], origins: [{ origin: server.url, localStorage: [{ name: 'plural.credential', value: key }] }] } })
  return page
}

test('the explorer has the newest names with a key for an earlier version, and makes keys for versions', async () => {
  const page = await signedIn(`${server.explorer}/customers`)
  const sent = []
  page.on('request', (request) => request.url().startsWith(`${server.url}/`) && sent.push(request))
  await page.locator('#row-0').getByText('Acme').waitFor()
  await page.getByRole('columnheader', { name: 'company' }).waitFor()
  await page.reload()
  await page.locator('#row-0').getByText('Acme').waitFor()
  await server.ask('POST', '/customers', { company: 'Initech' }, { Authorization: `Bearer ${key}`, 'API-Version': '2' })
  await page.getByText('Initech').first().waitFor() // from the stream
  const without = sent.filter((request) => !/\/-\/explorer/.test(request.url()) && request.headers()['api-version'] !== '2')
  assert.deepEqual(without.map((request) => request.url()), [])

  await page.goto(`${server.explorer}/-/account`)
  const form = page.getByRole('form', { name: 'New API key' })
  await form.getByLabel('Name').fill('Pinned')
  await shows(() => form.getByLabel('Version').locator('option').allInnerTexts(), ['Newest', '1', '2'])
  await form.getByLabel('Version').selectOption('1')
  await page.getByRole('button', { name: 'Create key' }).click()
  await page.getByRole('dialog', { name: 'New API key' }).getByRole('button', { name: 'Done' }).click()
  await shows(() => page.getByRole('row', { name: /^Pinned/ }).getByRole('cell').nth(1).innerText(), '1')
  await accessible(page, 'keys for versions')
  await page.leave()
})

test('the reference shows each version, and its requests ask for it', async () => {
  const page = await signedIn(`${server.url}/-/docs?version=2`)
  const names = () => page.getByRole('navigation', { name: 'Reference' }).getByRole('link').allInnerTexts()
  await shows(names, ['Overview', 'customers', 'operations', 'changes', 'Server'])
  const versions = page.getByLabel('Version')
  await shows(() => versions.locator('option').allInnerTexts(), ['2', '1 (deprecated, ends on 2099-01-31)'])
  await accessible(page, 'the reference of a version')
  await versions.selectOption('1')
  await page.waitForURL(`${server.url}/-/docs?version=1`)
  await shows(names, ['Overview', 'clients', 'operations', 'changes', 'Server'])
  await shows(() => versions.inputValue(), '1')
  await page.getByText('Version 1 is deprecated, and ends on 2099-01-31.').waitFor()
  await page.getByRole('navigation', { name: 'Reference' }).getByRole('link', { name: 'clients' }).click()
  await page.waitForURL(`${server.url}/-/docs/clients?version=1`)
  await page.getByRole('navigation', { name: 'Reference' }).getByRole('link', { name: 'List clients' }).click()
  await page.waitForURL(`${server.url}/-/docs/clients?version=1#listClients`)
  const list = page.locator('#listClients')
  await list.getByText("-H 'API-Version: 1'").waitFor()
  await list.getByRole('button', { name: 'Send' }).click()
  await list.getByLabel('response', { exact: true }).getByText('"Acme"').waitFor()
  await page.goto(`${server.url}/-/docs?version=7`)
  await page.getByText('There is no version "7". The versions that are served are 1 and 2.').waitFor()
  await page.context().close()
})
