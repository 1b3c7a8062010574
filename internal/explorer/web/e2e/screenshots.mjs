// Makes the pictures of the documents, from the data of the browser tests:
// node screenshots.mjs FOLDER

import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { launch, open, serve } from './harness.mjs'
import { seed, seedReadings } from './seed.mjs'

const folder = process.argv[2]
await mkdir(folder, { recursive: true })
const [server, browser] = await Promise.all([serve(), launch()])

async function picture(name, address, options, act = async () => {}) {
  const page = await open(browser, `${server.explorer}/${address}`, { viewport: { width: 1200, height: 620 }, ...options })
  await page.locator('[data-position]:not(.ghost)').first().waitFor()
  await act(page)
  await page.locator('.ghost').first().waitFor({ state: 'detached' })
  await page.screenshot({ path: join(folder, name), animations: 'disabled' })
  await page.leave()
}

try {
  const { customers } = await seed(server)
  await seedReadings(server, 20_000)
  const panel = (page) => page.getByRole('list', { name: 'Refer to it' }).waitFor()
  await picture('explorer.png', `customers/${customers[0].id}?filter[active]=true&sort=name`, { colorScheme: 'light' }, panel)
  await picture('explorer-dark.png', 'readings?filter[value][gt]=90&sort=-value&offset=250', { colorScheme: 'dark' }, (page) => page.keyboard.press('s'))
  await picture('explorer-narrow.png', 'customers', { viewport: { width: 390, height: 720 } })
} finally {
  await browser.close()
  await server.stop()
}
