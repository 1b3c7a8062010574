// The reference: what it shows of a server, its examples, and requests that are tried.

import assert from 'node:assert/strict'
import { execFile, execFileSync } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'
import { accessible, accessibleInAllLooks, binary, hold, launch, NARROW, open, serve, shows, WIDE, WITHOUT_COLOURS } from './harness.mjs'
import { seed } from './seed.mjs'

const root = join(import.meta.dirname, '../../../..')
let server, browser, data

before(async () => {
  browser = await launch()
  server = await serve()
  data = await seed(server, 3)
})
after(async () => {
  await browser?.close()
  await server?.stop()
})

const docs = () => `${server.url}/-/docs`

test('a collection has its attributes, one table of filters, and its operations', async () => {
  const page = await open(browser, docs())
  await page.getByRole('heading', { name: 'Plural API' }).waitFor()
  await shows(() => page.getByText('GET also works with the singular of a collection').count(), 1)
  await page.getByRole('navigation').getByRole('link', { name: 'orders' }).click()
  await page.waitForURL(`${docs()}/orders`)
  await page.getByRole('heading', { name: 'orders', exact: true }).waitFor()
  const rows = (table) => page.locator('table').nth(table).locator('tbody tr').evaluateAll((all) => all.map((row) => row.innerText.replace(/\s+/g, ' ').trim()))
  await shows(() => rows(0), [
    'id string (uuid) The key of the resource, its place in the collection, and a cursor.',
    'type string read only The name of the collection. always orders',
    'number string or null at most 40 characters',
    'status string or null one of draft paid shipped default "draft"',
    'amount number or null',
    'placed_on string (date) or null',
    'product_id string (uuid) or null The id of a resource of products.',
    'customer_id string (uuid) or null The id of a resource of customers.',
    'created_at string (date-time) read only When it was created.',
    'updated_at string (date-time) read only When it last changed.',
  ])
  await shows(async () => (await rows(1)).slice(2, 4), ['number string eq ne lt lte gt gte in not_in contains starts_with null', 'status string eq ne lt lte gt gte in not_in contains starts_with null'])
  await shows(() => page.locator('.head .path').allInnerTexts(), [
    ...['/orders', '/orders', '/orders', '/orders', '/orders/{id}', '/orders/{id}', '/orders/{id}', '/orders/{id}', '/orders/{id}/changes', '/-/groups/orders'],
    ...Array(4).fill('/customers/{customer_id}/orders'),
    ...Array(4).fill('/customers/{customer_id}/orders/{id}'),
    '/customers/{customer_id}/orders/{id}/changes',
  ])
  // Every heading has a name of its own, also those of opened operations.
  for (const id of ['listOrders', 'createOrder']) await page.locator(`#${id} h3 button`).click()
  const headings = (await page.getByRole('heading').allInnerTexts()).map((text) => text.replace(/\s+/g, ' '))
  assert.deepEqual(headings.filter((name, i) => headings.indexOf(name) !== i), [])
  assert.deepEqual(headings.slice(4, 11), ['List orders', 'Parameters of List orders', 'Answers of List orders', 'Create an order', 'Parameters of Create an order', 'Body of Create an order', 'Answers of Create an order'])
  await page.goBack()
  await page.getByRole('heading', { name: 'Plural API' }).waitFor()
  await page.leave()
})

test('the document is requested once, and before the application is loaded', async () => {
  const page = await open(browser, 'about:blank')
  const asked = []
  const first = page.waitForRequest(/openapi\.json$/)
  page.on('request', (request) => request.url().endsWith('openapi.json') && asked.push(request.method()))
  await page.route(/\/start-[^/]+\.js$/, async (route) => {
    await first
    await route.continue()
  })
  await page.goto(docs())
  await page.getByRole('heading', { name: 'Plural API' }).waitFor()
  assert.deepEqual(asked, ['GET'])
  await page.leave()
})

test('the form of an operation comes with its values, and is not made anew over what is typed', async () => {
  const page = await open(browser, 'about:blank')
  const release = await hold(page, '**/products?limit=1')
  const loaded = page.waitForResponse(/\/Try-.*\.js$/)
  await page.goto(`${docs()}/products#getProduct`)
  const get = page.locator('#getProduct')
  await (await loaded).finished()
  await page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 100))) // a form without values would be there by now
  await shows(() => get.getByLabel('id', { exact: true }).count(), 0)
  release()
  await shows(() => get.getByLabel('id', { exact: true }).inputValue(), data.products[0].id)
  await page.leave()
})

test('requests are tried with real values, and a dry run changes nothing', async () => {
  const page = await open(browser, `${docs()}/products#getProduct`, { expect: [/status of 404/] })
  const get = page.locator('#getProduct')
  await page.waitForFunction((id) => document.getElementById('getProduct-path-id')?.value === id, data.products[0].id)
  await get.getByRole('button', { name: 'Send' }).click()
  await get.getByText('200 OK').waitFor()
  await get.getByLabel('response', { exact: true }).getByText('"serial": 9007199254740993').waitFor() // integers are exact
  await get.getByText(/^\d+ headers$/).click()
  await get.getByText('etag', { exact: true }).waitFor()

  // The change that is tried first is a dry run.
  await page.getByRole('navigation').getByRole('link', { name: 'Update a product' }).click()
  const update = page.locator('#updateProduct')
  await update.getByLabel('Body').fill('{"name":"Floor lamp"}')
  await update.getByRole('button', { name: 'Send' }).click()
  await update.getByText('200 OK').waitFor()
  assert.equal((await server.ask('GET', `/products/${data.products[0].id}`)).name, 'Desk lamp')
  await update.getByLabel('Dry run').uncheck()
  await update.getByRole('button', { name: 'Send' }).click()
  await update.getByText(/^\d+ headers$/).click()
  await update.getByText('etag', { exact: true }).waitFor()
  assert.equal((await server.ask('GET', `/products/${data.products[0].id}`)).name, 'Floor lamp')

  // An error is shown as it is.
  await update.getByLabel('id', { exact: true }).fill('nonsense')
  await update.getByRole('button', { name: 'Send' }).click()
  await update.getByText('404 Not Found').waitFor()
  await update.getByText('"code": "not_found"').waitFor()

  // One field has all filters, and the examples follow the form.
  await page.getByRole('navigation').getByRole('link', { name: 'List products' }).click()
  const list = page.locator('#listProducts')
  await list.getByLabel('Filters').fill('filter[name][starts_with]=Book&filter[name][contains]=shelf')
  await list.getByRole('button', { name: 'Send' }).click()
  await list.getByLabel('response', { exact: true }).getByText('"Bookshelf"').waitFor()
  await list.getByText(`curl -g '${server.url}/products?filter[name][starts_with]=Book&filter[name][contains]=shelf&limit=10'`).waitFor()
  await page.leave()
})

test('the body of a create refers to what exists, and can be sent as it is', async () => {
  const page = await open(browser, `${docs()}/orders#createOrder`)
  const create = page.locator('#createOrder')
  await page.waitForFunction((id) => document.getElementById('createOrder-body')?.value.includes(id), data.products[0].id)
  await shows(async () => JSON.parse(await create.getByLabel('Body').inputValue()).customer_id, data.customers[0].id)
  await create.getByRole('button', { name: 'Send' }).click()
  await create.getByText('201 Created').waitFor()
  const [made] = await server.ask('GET', '/orders?limit=-1')
  assert.deepEqual([made.product_id, made.customer_id], [data.products[0].id, data.customers[0].id])
  await server.ask('DELETE', `/orders/${made.id}`)
  await page.leave()
  // What there is nothing of is said, and left out where it may be.
  const empty = await serve()
  try {
    const page = await open(browser, `${empty.url}/-/docs/orders#createOrder`)
    const create = page.locator('#createOrder')
    await create.getByText('There are no products to refer to yet: create one first.').waitFor()
    await create.getByText('There are no customers to refer to yet: create one first.').waitFor()
    assert.deepEqual(Object.keys(JSON.parse(await create.getByLabel('Body').inputValue())).filter((name) => name.endsWith('_id')), [])
    await page.leave()
  } finally {
    await empty.stop()
  }
})

test('the steps of a transaction are on what exists, and can be run as they are', async () => {
  const page = await open(browser, `${docs()}/Server#runTransaction`)
  const run = page.locator('#runTransaction')
  await page.waitForFunction((id) => document.getElementById('runTransaction-body')?.value.includes(id), data.customers[0].id)
  const steps = JSON.parse(await run.getByLabel('Body').inputValue())
  assert.deepEqual(steps.map(({ method, path }) => [method, path]), [['POST', '/customers'], ['PATCH', `/customers/${data.customers[0].id}`]])
  const before = await server.ask('GET', '/customers?limit=-1')
  await run.getByRole('button', { name: 'Send' }).click() // a dry run
  await run.getByText('200 OK').waitFor()
  assert.deepEqual(await server.ask('GET', '/customers?limit=-1'), before)
  await page.leave()
})

test('every example compiles, and those of Go and TypeScript use the clients', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'plural-examples-'))
  const page = await open(browser, docs())
  try {
    execFileSync(binary, ['client', 'ts', '--schema', server.schema, '--out', join(folder, 'api.ts')], { stdio: 'ignore' })
    let count = 0
    const goFiles = []
    for (const language of ['Go', 'TypeScript']) {
      await page.evaluate((name) => localStorage.setItem('plural.language', name), language)
      for (const section of ['orders', 'reports', 'changes', 'Server']) {
        await page.goto(`${docs()}/${section}`)
        await page.locator('h3 button').first().waitFor()
        const buttons = await page.evaluate(() => [...document.querySelectorAll('h3 button')].map((button) => button.click()).length)
        const shown = page.locator(`pre[aria-label="${language} example"]`)
        await shown.nth(buttons - 1).waitFor()
        for (const text of await shown.allInnerTexts()) {
          const name = `example${count++}`
          if (language === 'TypeScript') await writeFile(join(folder, `${name}.ts`), text.includes('import') ? text : `${text}\nexport {};\n`)
          else {
            // One package: each program is a function of it.
            goFiles.push(join(folder, `${name}.go`))
            await writeFile(goFiles.at(-1), text.replace('func main() {', `func ${name}() {`))
          }
          if (section === 'orders' || section === 'reports') assert.ok(text.includes(language === 'Go' ? 'client.Of[' : 'await api.'), text)
        }
      }
    }
    assert.ok(count > 60, `${count} examples`)
    await writeFile(join(folder, 'main.go'), 'package main\n\nfunc main() {}\n')
    const vetted = promisify(execFile)('go', ['vet', '-unusedresult=false', join(folder, 'main.go'), ...goFiles], { cwd: root })
    await writeFile(
      join(folder, 'tsconfig.json'),
      JSON.stringify({
        compilerOptions: { target: 'es2022', module: 'nodenext', strict: true, noEmit: true, allowImportingTsExtensions: true, lib: ['es2023', 'dom', 'dom.asynciterable'], types: [], skipLibCheck: true },
        include: ['*.ts'],
      }),
    )
    await writeFile(join(folder, 'node.d.ts'), 'declare const process: { env: Record<string, string | undefined> };\n')
    await writeFile(join(folder, 'package.json'), '{"type":"module"}')
    const checked = promisify(execFile)(join(import.meta.dirname, '../node_modules/.bin/tsc'), ['-p', folder])
    const failed = async (run) => {
      const { stdout, stderr } = await run.catch((error) => error)
      return `${stdout}${stderr}`.trim()
    }
    const [vet, types] = await Promise.all([vetted, checked].map(failed))
    for (const [what, output] of Object.entries({ vet, types })) {
      const name = /example\d+\.(go|ts)/.exec(output)?.[0]
      assert.equal(output, '', `${what}:\n${output.slice(0, 2000)}\n${name ? await readFile(join(folder, name), 'utf8') : ''}`)
    }
    await page.leave()
  } finally {
    await rm(folder, { recursive: true })
  }
})

test('everything is reached by keyboard', async () => {
  const page = await open(browser, docs())
  await page.getByRole('heading', { name: 'Plural API' }).waitFor()
  await page.keyboard.press('/')
  await page.keyboard.type('group cust')
  await page.getByRole('link', { name: 'Group customers' }).waitFor()
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  await page.waitForURL(`${docs()}/customers#groupCustomers`)
  await page.locator('#groupCustomers button[aria-expanded=true]:focus').waitFor()
  await page.locator('#groupCustomers').getByRole('button', { name: 'Send' }).press('Enter')
  await page.locator('#groupCustomers').getByText('200 OK').waitFor()
  await page.locator('#groupCustomers h3 button').press('Enter')
  await page.locator('#groupCustomers h3 button[aria-expanded=false]').waitFor()
  await page.leave()
})

test('with access, the reference is that of the key, which is sent with what is tried', async () => {
  const guarded = await serve({ schema: join(import.meta.dirname, 'access.schema.yaml') })
  try {
    const key = execFileSync(binary, ['keys', 'create', '--name', 'ci', '--role', 'proofreader', '--schema', guarded.schema, '--database', guarded.database], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim()
    const page = await open(browser, `${guarded.url}/-/docs`, { expect: [/status of 401/] })
    await page.getByRole('heading', { name: 'Notes' }).waitFor() // the title of the schema file
    await page.getByText('Version 2.1').waitFor()
    await shows(() => page.getByRole('link', { name: 'notes', exact: true }).count(), 0)
    await page.getByRole('main').getByRole('button', { name: 'Sign in' }).click()
    const dialog = page.getByRole('dialog', { name: 'Sign in' })
    await dialog.getByLabel('API key or token').fill('wrong')
    await page.keyboard.press('Enter')
    await dialog.getByText('This key or token is not valid.').waitFor()
    await accessible(page, 'sign-in')
    await dialog.getByLabel('API key or token').fill(key)
    await page.keyboard.press('Enter')
    await page.getByRole('navigation').getByRole('link', { name: 'notes', exact: true }).click()
    await page.getByRole('heading', { name: 'notes', exact: true }).waitFor()
    await shows(() => page.locator('h3 button').allInnerTexts(), ['List notes', 'Update notes', 'Get a note', 'Replace a note', 'Update a note', 'Group notes'])
    await page.locator('#listNotes h3 button').click()
    const list = page.locator('#listNotes')
    await list.getByText('Authorization: Bearer $PLURAL_KEY').waitFor()
    await list.getByRole('button', { name: 'Send' }).click()
    await list.getByText('200 OK').waitFor()
    assert.ok(!(await page.content()).includes(key))
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByText('There is no collection notes').waitFor()
    await shows(() => page.evaluate(() => [Object.keys(sessionStorage), document.cookie]), [[], ''])
    await page.leave()
  } finally {
    await guarded.stop()
  }
})

test('the reference is accessible: light, dark, and on a phone', async () => {
  const page = await open(browser, docs(), WIDE)
  const overflow = () => page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)
  await page.getByRole('heading', { name: 'Plural API' }).waitFor()
  await accessibleInAllLooks(page, 'overview')
  await page.goto(`${docs()}/customers#updateCustomer`)
  const panel = page.locator('#updateCustomer')
  await panel.getByRole('button', { name: 'Send' }).click()
  await panel.getByText('200 OK').waitFor()
  await page.locator('#listCustomers h3 button').click()
  for (const summary of await page.locator('summary').all()) await summary.click()
  await accessibleInAllLooks(page, 'operations', async () => assert.equal(await overflow(), 0, 'the page scrolls sideways'))
  await page.leave()

  const narrow = await open(browser, `${docs()}/customers`, { viewport: NARROW })
  await narrow.getByRole('button', { name: 'Menu' }).click()
  await narrow.getByLabel('Search the reference').fill('email')
  await accessible(narrow, 'narrow: menu', WITHOUT_COLOURS)
  await narrow.getByRole('link', { name: 'email' }).first().click()
  await narrow.getByRole('heading', { name: 'Attributes' }).waitFor()
  await shows(() => narrow.getByLabel('Search the reference').isVisible(), false)
  await narrow.leave()
})

test('what is not there is said', async () => {
  const page = await open(browser, `${docs()}/nonsense`)
  await page.getByText('There is no collection nonsense').waitFor()
  await page.leave()
})
