// Editing in place, and the columns of the table.

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

const columns = async (page) => (await page.locator('[role=columnheader]').allInnerTexts()).map((text) => text.trim())
const cell = async (page, row, name) => {
  await page.locator(`#row-${row}`).waitFor()
  return page.locator(`#cell-${row}-${(await columns(page)).indexOf(name) - 1}`)
}

test('a cell is edited in place: Enter saves, Tab goes on, problems and conflicts are told there', async () => {
  const page = await open(browser, `${server.explorer}/issues`, { expect: [/status of 4\d\d/] })
  const [first, second] = server.issues
  await page.locator('#row-0').waitFor()
  const priority = await cell(page, 0, 'priority')
  await priority.dblclick()
  const input = page.getByLabel('priority', { exact: true })
  await input.fill('9')
  await page.keyboard.press('Enter')
  await page.getByRole('alert').getByText('Must be at most 5.').waitFor()
  await accessible(page, 'a cell with a problem')
  await input.fill('3')
  await page.keyboard.press('Tab') // over the tags, which have a form
  await page.getByLabel('due_on', { exact: true }).waitFor()
  assert.equal((await server.ask('GET', `/issues/${first.id}`)).priority, 3)
  await shows(() => priority.innerText(), '3')
  await page.keyboard.press('Shift+Tab')
  await input.waitFor()
  await page.keyboard.press('Escape')
  await page.locator('[role=grid]:focus').waitFor()

  // By keyboard: to the state of the second row, and a choice there.
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('ArrowLeft')
  await page.keyboard.press('Enter')
  await page.getByLabel('state', { exact: true }).selectOption('closed')
  await page.keyboard.press('Enter')
  await (await cell(page, 1, 'state')).getByText('closed').waitFor()
  assert.equal((await server.ask('GET', `/issues/${second.id}`)).state, 'closed')

  // A reference, by its label.
  await (await cell(page, 4, 'assignee_id')).dblclick()
  await page.getByRole('combobox', { name: 'assignee_id' }).fill('hopper')
  await page.getByRole('option', { name: /Grace Hopper/ }).waitFor()
  await page.keyboard.press('Enter')
  await page.keyboard.press('Enter')
  await (await cell(page, 4, 'assignee_id')).getByText('Grace Hopper').waitFor()

  // Somebody else is faster with the same attribute; another attribute does not matter.
  await (await cell(page, 2, 'title')).dblclick()
  await page.getByLabel('title', { exact: true }).fill('Mine')
  await page.route(/\/issues\/[0-9a-f-]+$/, (route) => route.continue())
  await server.ask('PATCH', `/issues/${server.issues[2].id}`, { title: 'Theirs' })
  await page.keyboard.press('Enter')
  await page.getByRole('alert').getByText('Somebody else has changed it to').waitFor()
  await page.getByRole('button', { name: 'Overwrite with mine' }).click()
  await (await cell(page, 2, 'title')).getByText('Mine').waitFor()
  await (await cell(page, 3, 'title')).dblclick()
  await page.getByLabel('title', { exact: true }).fill('Also mine')
  await server.ask('PATCH', `/issues/${server.issues[3].id}`, { priority: 0 })
  await page.keyboard.press('Enter')
  await (await cell(page, 3, 'title')).getByText('Also mine').waitFor()
  const { title, priority: kept } = await server.ask('GET', `/issues/${server.issues[3].id}`)
  assert.deepEqual({ title, kept }, { title: 'Also mine', kept: 0 })
  await page.leave()
})

test('a cell that cannot be edited says why', async () => {
  const page = await open(browser, `${server.explorer}/issues`)
  const created = await cell(page, 0, 'created_at')
  await shows(async () => [await created.getAttribute('aria-readonly'), await (await cell(page, 0, 'state')).getAttribute('aria-readonly')], ['true', 'false'])
  await created.dblclick()
  await page.getByRole('status').getByText('created_at is set by the server.').waitFor()
  await page.keyboard.press('t')
  await page.keyboard.press('ArrowRight')
  await page.keyboard.press('ArrowRight') // the id
  await page.keyboard.press('F2')
  await page.getByRole('status').getByText('id is set by the server.').waitFor()
  await page.keyboard.press('F2')
  await shows(() => page.getByText('id is set by the server.', { exact: true }).count(), 1)
  await page.leave()
})

test('a form has tags, pickers of dates and times, descriptions and limits', async () => {
  const issue = server.issues[1] // with one tag
  const page = await open(browser, `${server.explorer}/issues/${issue.id}?view=edit`)
  const form = page.getByRole('complementary').locator('form')
  await form.getByText('One sentence. At most 200 characters.').waitFor()
  await form.getByText('0 to 5.').waitFor()
  const types = await form.locator('#field-due_on, #field-seen_at').evaluateAll((all) => all.map(({ type }) => type))
  assert.deepEqual(types, ['date', 'datetime-local'])
  await form.getByLabel('due_on').fill('2027-02-28')
  await form.getByLabel('tags', { exact: true }).fill('new')
  await page.keyboard.press('Enter')
  await form.getByRole('button', { name: 'Remove ui' }).click()
  await accessible(page, 'a form with tags')
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await page.waitForURL(`${server.explorer}/issues/${issue.id}`)
  const { tags, due_on } = await server.ask('GET', `/issues/${issue.id}`)
  assert.deepEqual({ tags, due_on }, { tags: ['new'], due_on: '2027-02-28' })
  await page.leave()
})

test('the input of a date-time in a cell is as wide as what it shows', async () => {
  const page = await open(browser, `${server.explorer}/issues`)
  await (await cell(page, 1, 'seen_at')).dblclick()
  const input = page.locator('#cell-input')
  await shows(() => input.getAttribute('type'), 'datetime-local')
  await input.evaluate((box) => (box.value = '2026-12-31T23:59:59.999')) // the longest there is
  const [given, needed] = await input.evaluate((box) => {
    const copy = box.cloneNode()
    copy.value = box.value
    copy.style.width = 'max-content'
    box.parentElement.append(copy)
    const all = [box.offsetWidth, copy.offsetWidth]
    copy.remove()
    return all
  })
  assert.ok(given >= needed, `${given} of ${needed} pixels`)
  await page.keyboard.press('Escape')
  await page.leave()
})

test('a form begins with the attribute that was to be edited, else at its top', async () => {
  const page = await open(browser, `${server.explorer}/issues`)
  await page.setViewportSize({ width: 1280, height: 420 })
  await page.locator('#row-0').waitFor()
  await (await cell(page, 0, 'tags')).dblclick()
  await page.locator('#field-tags:focus').waitFor()
  await page.keyboard.press('Escape')
  const panel = page.getByRole('complementary', { name: 'issue' })
  await panel.getByRole('button', { name: 'History' }).click()
  await page.waitForFunction(() => document.querySelector('aside').scrollTop > 0)
  await page.keyboard.press('e')
  await page.locator('#field-title:focus').waitFor()
  await shows(() => page.locator('aside').evaluate((aside) => aside.scrollTop), 0)
  await page.leave()
})

test('the attribute that a form begins with is between its title and its buttons', async () => {
  const page = await open(browser, `${server.explorer}/people`, { expect: [/status of 422/] })
  const begin = async (height) => {
    await page.setViewportSize({ width: 1280, height })
    await (await cell(page, 0, 'settings')).dblclick() // the last one
    await page.locator('[data-typing]:focus').waitFor()
  }
  const places = () =>
    page.locator('aside').evaluate((aside) => {
      const [title, field, buttons] = ['.top', '[data-typing]', '.end'].map((each) => aside.querySelector(each).getBoundingClientRect())
      return { between: field.top >= title.bottom && field.bottom <= buttons.top, middle: aside.scrollTop + (field.top + field.bottom) / 2, buttons: buttons.top }
    })
  await begin(420)
  await shows(async () => (await places()).between, true)
  // Also where it would be behind the buttons, of all places.
  const { middle, buttons } = await places()
  await page.getByRole('button', { name: 'Cancel', exact: true }).click()
  await page.getByRole('button', { name: 'Close' }).click()
  await begin(Math.round(420 + middle - buttons))
  await shows(async () => (await places()).between, true)
  // So is a field that the Tab key goes to, and one that is wrong.
  await page.goto(`${server.explorer}/issues?view=new`)
  await page.setViewportSize({ width: 1280, height: 420 })
  const free = (name) =>
    page.locator(`#field-${name}`).evaluate((box) => {
      const { left, top, width, height } = box.getBoundingClientRect()
      return [1, height - 1].every((y) => box.contains(document.elementFromPoint(left + width / 2, top + y)))
    })
  await page.getByLabel('title', { exact: true }).fill('x')
  for (const name of ['priority', 'tags', 'due_on']) {
    await page.locator(`#field-${name}`).evaluate((box) => {
      const aside = box.closest('aside')
      aside.scrollTop += box.getBoundingClientRect().bottom - aside.getBoundingClientRect().bottom // behind the buttons
      box.focus()
    })
    await shows(() => free(name), true)
  }
  await page.getByLabel('priority', { exact: true }).fill('9')
  await page.locator('#field-reporter_id').focus()
  await page.getByRole('button', { name: 'Create', exact: true }).click()
  await page.locator('#field-priority:focus').waitFor()
  await shows(() => free('priority'), true)
  await page.getByRole('button', { name: 'Cancel', exact: true }).click()
  await page.getByRole('button', { name: 'Leave' }).click()
  await page.leave()
})

test('Markdown has an editor with highlighting, in the form', async () => {
  const text = '# Plan\n\nWith **care**.\n'
  const project = await server.ask('POST', '/projects', { title: 'Documented', about: text })
  const page = await open(browser, `${server.explorer}/projects`)
  await (await cell(page, 2, 'about')).dblclick() // it has several lines
  await page.waitForURL(`${server.explorer}/projects/${project.id}?view=edit`)
  const editor = page.getByRole('textbox', { name: 'about' })
  await page.locator('[data-typing] .cm-content').waitFor()
  const weight = (part) => editor.locator('span', { hasText: part }).last().evaluate((span) => getComputedStyle(span).fontWeight)
  await shows(async () => [await weight('Plan'), await weight('care')], ['600', '600'])
  await accessible(page, 'an editor for Markdown')
  // The preview is of what is typed. What looks like HTML is text.
  await editor.click()
  await page.keyboard.press('Control+End')
  await page.keyboard.type('<b>')
  await page.getByRole('button', { name: 'Preview' }).click()
  const preview = page.getByRole('region', { name: 'Preview of about' })
  await preview.getByRole('heading', { name: 'Plan' }).waitFor()
  await shows(() => preview.locator('.markdown').evaluate((all) => all.innerHTML.replaceAll(/<!--.*?-->| class="[^"]*"/g, '')), '<h3>Plan</h3><p>With <strong>care</strong>.\n&lt;b&gt;</p>')
  await accessible(page, 'a preview of Markdown')
  await page.getByRole('button', { name: 'Edit the text' }).click()
  await editor.click()
  await page.keyboard.press('Control+End')
  for (const _ of '<b>') await page.keyboard.press('Backspace')
  await page.keyboard.type('Or `not`.')
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await page.getByText('Saved.').waitFor()
  assert.equal((await server.ask('GET', `/projects/${project.id}`)).about, `${text}Or \`not\`.`)
  // To read, it is rendered.
  const panel = page.getByRole('complementary', { name: 'project' })
  await panel.getByRole('heading', { name: 'Plan' }).waitFor()
  await shows(() => panel.locator('.markdown').innerText(), 'Plan\n\nWith care. Or not.')
  await page.leave()
})

test('columns are hidden, moved and resized, and stay so; the label does not scroll', async () => {
  const page = await open(browser, `${server.explorer}/issues`)
  await page.locator('#row-0').waitFor()
  await shows(() => columns(page), ['', 'title', 'state', 'priority', 'tags', 'due_on', 'seen_at', 'assignee_id', 'reporter_id', 'project_id', 'created_at', 'updated_at', 'id'])
  await page.getByRole('button', { name: 'Columns' }).click()
  const panel = page.getByRole('group', { name: 'Columns' })
  for (const name of ['tags', 'seen_at', 'created_at', 'updated_at']) await panel.getByRole('checkbox', { name }).uncheck()
  await panel.getByRole('button', { name: 'Move priority up' }).click()
  await accessible(page, 'the choice of columns')
  const heights = async () => Math.round((await page.locator('#row-0').boundingBox()).height)
  const single = await heights()
  await panel.getByLabel('Wrap long text').check()
  await page.waitForFunction((single) => document.querySelector('#row-0').getBoundingClientRect().height > 2 * single, single)
  await panel.getByLabel('Wrap long text').uncheck()
  await page.waitForFunction((single) => Math.round(document.querySelector('#row-0').getBoundingClientRect().height) === single, single)
  await page.keyboard.press('Escape')
  const left = ['', 'title', 'priority', 'state', 'due_on', 'assignee_id', 'reporter_id', 'project_id', 'id']
  await shows(() => columns(page), left)

  const header = (name) => page.getByRole('columnheader', { name, exact: true })
  const width = async (name) => Math.round((await header(name).boundingBox()).width)
  const handle = await header('state').locator('.handle').boundingBox()
  const before = await width('state')
  await page.mouse.move(handle.x + 4, handle.y + 8)
  await page.mouse.down()
  await page.mouse.move(handle.x + 64, handle.y + 8)
  await page.mouse.up()
  await shows(() => width('state'), before + 60)
  await header('state').getByRole('button').focus()
  await page.keyboard.press('Shift+ArrowLeft')
  await shows(() => width('state'), before + 44)
  await page.keyboard.press('Control+Shift+ArrowRight')
  await header('state').waitFor()
  await shows(async () => (await columns(page)).slice(1, 5), ['title', 'priority', 'due_on', 'state'])
  await page.reload()
  await page.locator('#row-0').waitFor()
  await shows(async () => (await columns(page)).slice(1, 5), ['title', 'priority', 'due_on', 'state'])
  await shows(() => width('state'), before + 44)

  await header('due_on').dragTo(header('priority'))
  await shows(async () => (await columns(page)).slice(1, 5), ['title', 'due_on', 'priority', 'state'])

  // The whole header sorts.
  const { x, y, width: wide, height } = await header('priority').boundingBox()
  await page.mouse.click(x + wide - 20, y + height - 4)
  await page.waitForURL(/sort=priority/)

  await page.setViewportSize({ width: 700, height: 500 })
  await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))) // it is drawn
  const place = () => page.locator('#cell-0-0').evaluate((element) => element.getBoundingClientRect().left)
  const start = await place()
  await page.locator('[role=grid]').evaluate((grid) => (grid.scrollLeft = 300))
  await shows(place, start)
  // Nor do the handles of the others, which are then behind its header, show.
  const covered = (head) => {
    const { left, right } = head.querySelectorAll('.frozen')[1].getBoundingClientRect()
    const behind = [...head.querySelectorAll('.cell:not(.frozen) .handle')].map((each) => each.getBoundingClientRect()).filter((each) => each.left > left && each.right < right - 8)
    return behind.map(({ x, y }) => !!document.elementFromPoint(x + 4, y + 8)?.closest('.frozen'))
  }
  await shows(async () => [...new Set(await page.locator('.head').evaluate(covered))], [true])

  // On a phone it leaves more than half of the width to the others.
  await page.setViewportSize({ width: 390, height: 700 })
  await page.waitForFunction(() => document.querySelector('#cell-0-0').getBoundingClientRect().width <= 0.45 * 390)
  // Fingers need 44 pixels: rows, headers, buttons.
  const small = (all) => all.map((each) => each.getBoundingClientRect()).filter(({ width, height }) => width && (width < 44 || height < 44)).length
  await shows(() => page.locator('.row, .head, header .button, footer button').evaluateAll(small), 0)
  const box = page.getByRole('checkbox', { name: 'Select row 2', exact: true })
  const corner = await page.locator('#row-1 .check').boundingBox()
  await page.mouse.click(corner.x + 3, corner.y + 3) // beside the box
  await shows(() => box.isChecked(), true)
  await page.leave()
})

test('a view is saved under a name', async () => {
  const page = await open(browser, `${server.explorer}/issues?filter[state]=open&sort=-priority`)
  await page.locator('#row-0').waitFor()
  await page.getByRole('button', { name: 'Saved views' }).click()
  await page.getByLabel('Name of the view').fill('Urgent')
  await page.keyboard.press('Enter')
  await page.getByRole('link', { name: 'Urgent' }).waitFor()
  await accessible(page, 'saved views')
  await page.goto(`${server.explorer}/issues`)
  await page.getByRole('button', { name: 'Saved views' }).click()
  await page.getByRole('link', { name: 'Urgent' }).click()
  await page.waitForURL(`${server.explorer}/issues?filter[state]=open&sort=-priority`)
  // A chart is part of it.
  await page.goto(`${server.explorer}/issues?filter[state]=open&chart=assignee_id&max=priority`)
  await page.getByRole('region', { name: 'Chart of issues' }).getByRole('row').first().waitFor()
  await page.getByRole('button', { name: 'Saved views' }).click()
  await page.getByLabel('Name of the view').fill('By person')
  await page.keyboard.press('Enter')
  await page.getByRole('link', { name: 'By person' }).waitFor()
  await page.goto(`${server.explorer}/issues`)
  await page.getByRole('button', { name: 'Saved views' }).click()
  await page.getByRole('link', { name: 'By person' }).click()
  await page.waitForURL(`${server.explorer}/issues?filter[state]=open&chart=assignee_id&max=priority`)
  await page.getByRole('region', { name: 'Chart of issues' }).getByRole('row').first().waitFor()
  await page.leave()
})
