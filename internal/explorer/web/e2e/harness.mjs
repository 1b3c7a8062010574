// What the browser tests stand on: the real server as a process, a browser, and pages that
// must not complain.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { chromium } from 'playwright-core'

export const binary = process.env.PLURAL ?? join(import.meta.dirname, '../../../../bin/plural')

// How long something is waited for that must happen: long enough for any machine.
const HUNG = Number(process.env.HUNG ?? 120_000)

// Latency, to find tests that rely on the order of responses: each request of a page is delayed by a random time up to this many
// milliseconds, and each key by up to a quarter of them.
export const LATENCY = Number(process.env.LATENCY ?? 0)

// Slowness, to find tests that rely on being fast: a pause of this many milliseconds before each action of a test.
const SLOWNESS = Number(process.env.SLOWNESS ?? 0)

// A random loopback address, where the system accepts any: while a server is interrupted, no other test can get its port.
const loopback = () => (process.platform === 'linux' ? `127.${randomInt(1, 255)}.${randomInt(256)}.${randomInt(1, 255)}` : '127.0.0.1')

/** Starts the server on a free port and a database of its own. */
export async function serve({ schema = join(import.meta.dirname, 'schema.yaml'), flags = [], program = binary, args, ...given } = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'plural-e2e-'))
  const database = given.database ?? `sqlite:${join(folder, 'e2e.db')}`
  const start = (address) => begin(program, args?.(database) ?? ['serve', '--addr', address, '--schema', schema, '--database', database, ...flags])
  let { child, url } = await start(`${loopback()}:0`)
  const end = async () => {
    const ended = new Promise((resolve) => child.on('exit', resolve))
    child.kill()
    await ended
  }
  return {
    url,
    schema,
    database,
    explorer: `${url}/-/explorer`,
    /** Another client: sends a request, its body a value or JSON, and returns what it got. */
    async ask(method, path, body, headers = {}) {
      const response = await fetch(url + path, {
        method,
        headers: { ...(body !== undefined && { 'Content-Type': 'application/json' }), ...headers },
        body: body === undefined || typeof body === 'string' ? body : JSON.stringify(body),
      })
      const text = await response.text()
      const envelope = text ? JSON.parse(text) : {}
      assert.ok(response.ok, `${method} ${path}: ${response.status} ${text}`)
      return envelope.data
    },
    /** Ends the server; what is returned starts it again, with the same address and database. */
    async interrupt() {
      await end()
      return async () => void ({ child } = await start(new URL(url).host))
    },
    async stop() {
      await end()
      await rm(folder, { recursive: true })
    },
  }
}

/** Starts a server, and waits for its address. */
async function begin(program, args) {
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'] })
  process.once('exit', () => child.kill()) // also when a test gives up
  let output = ''
  const url = await new Promise((resolve, reject) => {
    const read = (piece) => {
      output += piece
      const found = /API\s+(http:\/\/\S+)\//.exec(output)
      if (found) resolve(found[1])
    }
    child.stdout.on('data', read)
    child.stderr.on('data', read)
    child.on('error', reject)
    child.on('exit', () => reject(new Error(`the server has ended:\n${output}`)))
    setTimeout(() => reject(new Error(`the server does not start:\n${output}`)), HUNG).unref()
  })
  return { child, url }
}

// The same engine without windows takes half of the processor time.
const browsers = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium']

export function launch() {
  return chromium.launch({
    timeout: HUNG,
    slowMo: SLOWNESS,
    executablePath: process.env.CHROMIUM ?? browsers.find((path) => existsSync(path)) ?? browsers[0],
    args: [
      ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      '--font-render-hinting=none',
    ],
  })
}

/**
 * Opens a page in a window of its own. Whatever the browser complains of is kept, and
 * calm() fails for it: errors in the console, among them of the security policy, warnings of the framework, and exceptions.
 * Refusals that a test provokes are told beforehand.
 */
export async function open(browser, url, { expect = [], ...options } = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, reducedMotion: 'reduce', ...options })
  await context.grantPermissions(['clipboard-read', 'clipboard-write'])
  // A busy machine may be slower than the timers that hide messages and marks.
  await context.addInitScript(() => void (globalThis.shownLonger = 100))
  const page = await context.newPage()
  page.setDefaultTimeout(HUNG)
  if (LATENCY) await slowDown(context, page)
  const complaints = []
  page.on('console', (message) => {
    const complains = message.type() === 'error' || message.text().includes('svelte.dev/e/')
    if (complains && !expect.some((pattern) => pattern.test(message.text()))) complaints.push(`${message.text()} ${message.location().url}`)
  })
  page.on('pageerror', (error) => complaints.push(String(error)))
  await page.goto(url)
  return Object.assign(page, {
    calm: () => assert.deepEqual(complaints, []),
    leave: async () => {
      assert.deepEqual(complaints, [])
      await context.close()
    },
  })
}

async function slowDown(context, page) {
  await context.route('**', async (route) => {
    await new Promise((resolve) => setTimeout(resolve, Math.random() ** 3 * LATENCY)) // most are short
    await route.continue().catch(() => {}) // the page may be gone
  })
  const type = page.keyboard.type.bind(page.keyboard)
  page.keyboard.type = async (text) => {
    for (const key of text) await type(key, { delay: (Math.random() * LATENCY) / 4 })
  }
}

/** Holds the requests of a page to an address; options are those of page.route. What is returned lets them go. */
export async function hold(page, url, options) {
  let release
  const released = new Promise((resolve) => (release = resolve))
  await page.route(url, async (route) => {
    await released
    await route.continue().catch(() => {}) // the page may have given it up
  }, options)
  return release
}

/**
 * Waits until a page shows what is expected: read() is equal to it, or matches the expression. What it shows on the way there does
 * not matter.
 */
export async function shows(read, expected) {
  const fits = (actual) => (expected instanceof RegExp ? expected.test(actual) : isDeepStrictEqual(actual, expected))
  let actual = await read()
  // Each question costs processor time that a busy page needs itself, so the pauses grow.
  for (let pause = 25, end = Date.now() + HUNG; !fits(actual) && Date.now() < end; pause = Math.min(2 * pause, 400)) {
    await new Promise((resolve) => setTimeout(resolve, pause))
    actual = await read()
  }
  if (expected instanceof RegExp) assert.match(actual, expected)
  else assert.deepEqual(actual, expected)
}

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/**
 * No rule of WCAG 2.2 A and AA that axe knows is broken by what the page shows; or of some rules only.
 * Rows are alike, so the first few stand for all. With SCREENSHOTS, the state is kept there as a picture, for people to look at.
 */
export async function accessible(page, what, rules = {}) {
  if (process.env.SCREENSHOTS) await page.screenshot({ path: join(process.env.SCREENSHOTS, `${basename(process.argv[1], '.test.mjs')} ${what.replaceAll(/[^\w ]/g, '')}.png`) })
  // Evaluated by the debugger, to which the security policy of the page does not apply.
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(axe)
  const { violations } = await page.evaluate(
    (rules) => globalThis.axe.run({ include: document, exclude: ['[data-position]:nth-child(n+5)'] }, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'], resultTypes: ['violations'], preload: false, iframes: false, ...rules }),
    rules,
  )
  assert.deepEqual(
    violations.map(({ id, nodes }) => ({ id, nodes: nodes.map((node) => `${node.html}\n${node.failureSummary}`) })),
    [],
    what,
  )
}

export const WIDE = { colorScheme: 'light', viewport: { width: 1280, height: 460 } }
export const NARROW = { width: 390, height: 600 }

// Colours are the same on narrow screens, and only colours differ in the dark.
export const WITHOUT_COLOURS = { rules: { 'color-contrast': { enabled: false } } }

/** The same in light, in dark, and on a phone: the page, opened as WIDE, is changed in place and back, which is cheaper than to load it three times. */
export async function accessibleInAllLooks(page, what, also = async () => {}) {
  const wide = page.viewportSize()
  await accessible(page, `light: ${what}`)
  await also()
  await page.emulateMedia({ colorScheme: 'dark' })
  await accessible(page, `dark: ${what}`, { runOnly: ['color-contrast'] })
  await page.emulateMedia({ colorScheme: 'light' })
  await page.setViewportSize(NARROW)
  await accessible(page, `narrow: ${what}`, WITHOUT_COLOURS)
  await also()
  await page.setViewportSize(wide)
}
