// An import: the file, how its columns are mapped, what is wrong with it, and how far it is.

import { randomKey, Refused } from './api'
import { ask, catalog, changes, explain } from './app.svelte'
import { badCells, batches, bodyOfRow, guess, readTable, type BadCell, type Table } from './import'
import type { Collection } from './schema'

const MOST_BAD = 500 // cells that are listed

export class Importing {
  table = $state.raw<Table | null>(null)
  mapping = $state<(string | null)[]>([])
  key = $state('') // by which existing resources are changed; empty: all are created
  bad = $state.raw<BadCell[]>([])
  trouble = $state('')
  checked = $state(false) // with this mapping
  running = $state<'check' | 'import' | null>(null)
  done = $state(0)
  created = $state<number | null>(null) // when it is finished
  private stopped = false

  constructor(
    readonly collection: Collection,
    readonly path: string, // of the list that they are created in
  ) {}

  get attributes() {
    return this.collection.attributes.filter(({ name }) => catalog.rights.mayWrite('POST', this.collection.name, name))
  }
  get badRows(): Set<number> {
    return new Set(this.bad.map(({ row }) => row))
  }
  get total(): number {
    return this.table?.rows.length ?? 0
  }

  async open(file: File) {
    this.reset()
    try {
      this.table = readTable(file.name, await file.text())
      this.mapping = guess(this.table.columns, this.attributes)
    } catch (error) {
      this.table = null
      this.trouble = `${file.name} cannot be read. ${(error as Error).message}`
    }
  }

  /** What was checked is not what would be imported any more. */
  reset() {
    this.bad = []
    this.trouble = ''
    this.checked = false
    this.done = 0
    this.created = null
  }

  stop() {
    this.stopped = true
  }

  check = () => this.run('check', this.rows())
  /** Imports all rows, or all but the bad ones. */
  import = () => this.run('import', this.rows().filter((row) => !this.badRows.has(row)))

  private rows = () => Array.from({ length: this.total }, (_, i) => i)

  private async run(kind: 'check' | 'import', rows: number[]) {
    if (this.running || !this.table) return
    this.running = kind
    this.stopped = false
    this.trouble = ''
    this.done = 0
    const bad: BadCell[] = []
    const all = rows.map((row) => bodyOfRow(this.table!.rows[row]!, this.mapping, this.attributes))
    const query = [this.key && `on_conflict=${this.key}`, kind === 'check' && 'dry_run=true'].filter(Boolean).join('&')
    try {
      for (const { from, bodies } of batches(all, catalog.rights.maxItems)) {
        if (this.stopped || bad.length >= MOST_BAD) break
        const indexes = rows.slice(from, from + bodies.length)
        try {
          const headers: Record<string, string> = kind === 'import' ? { 'Idempotency-Key': randomKey() } : {}
          await ask({ method: 'POST', path: query ? `${this.path}?${query}` : this.path, body: bodies, headers, silent: kind === 'check' })
        } catch (error) {
          const found = error instanceof Refused && (error.status === 422 || error.status === 409) ? badCells(error.faults, indexes) : null
          if (!found?.cells.length) throw error
          bad.push(...found.cells)
          if (kind === 'import') throw error
        }
        this.done += bodies.length
      }
      this.bad = bad
      this.checked = kind === 'check'
      if (kind === 'import') this.created = this.done
    } catch (error) {
      this.bad = bad
      this.trouble = `${explain(error).detail}${kind === 'import' && this.done ? ` ${this.done} rows were imported before.` : ''}`
    } finally {
      this.running = null
      if (kind === 'import' && this.done) changes.made()
    }
  }
}
