// The licences of the packages that are part of a build, which their authors ask to be kept
// with it: licenses.txt beside the page.

import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, sep } from 'node:path'
import type { Plugin } from 'vite'

/** The files of a package that have to go with it, also those about what it has bundled itself. */
const isNotice = (name: string) => /^(licen[cs]e|copying|notice|patents)/i.test(name) || /\.licen[cs]e\.txt$/i.test(name)

/** The directory of the package that a module is in, if it is one that is installed. */
function packageOf(module: string): string | null {
  const path = module.replace(/^\0/, '').split('?')[0]!
  const parts = path.split(sep)
  const at = parts.lastIndexOf('node_modules')
  if (at < 0) return null
  const length = parts[at + 1]!.startsWith('@') ? 3 : 2
  return parts.slice(0, at + length).join(sep)
}

export function licenses(): Plugin {
  const packages = new Set<string>()
  return {
    name: 'licenses',
    // Not of the chunks: a style sheet is in none of them.
    moduleParsed({ id }) {
      const found = packageOf(id)
      if (found && existsSync(join(found, 'package.json'))) packages.add(found)
    },
    generateBundle() {
      const texts = [...packages].map((directory) => {
        const { name, version, license } = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8')) as Record<string, string>
        const files = readdirSync(directory).filter(isNotice).sort()
        if (!files.length) this.error(`${name} has no licence file`)
        return `${'='.repeat(80)}\n${name} ${version} (${license})\n${files.map((file) => `\n${readFileSync(join(directory, file), 'utf8').trim()}\n`).join('')}`
      })
      this.emitFile({ type: 'asset', fileName: 'licenses.txt', source: texts.sort().join('\n') })
    },
  }
}
