// An import: the file, how its columns are mapped, what is wrong with it, and how far it is.

import { randomKey, Refused } from './api'
import { ask, catalog, changes, explain } from './app.svelte'
import { encode, joinList } from './filters'
import type { Fault } from './form'
import { allBad, badCells, batches, bodyOfRow, byLabel, guess, guessLabels, readTable, textsOf, type BadCell, type Table } from './import'
import { Order } from './order'
import { labelAttribute, type Collection, type Resource } from './schema'
import { pathOf } from './url'

const LOOKED_UP = 50 // labels in one request

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
  ids = $state.raw<string[]>([]) // of what was imported
  private stopped = false
  #files = new Order()

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
    if (this.running) return // what is checked or imported stays what it is
    const mine = this.#files.send()
    this.reset()
    try {
      const text = await file.text()
      if (!mine.take()) return
      this.table = readTable(file.name, text)
      this.mapping = guessLabels(this.table, guess(this.table.columns, this.attributes), (name) => this.labelFor(name))
    } catch (error) {
      if (!mine.fails(error)) return
      this.table = null
      this.trouble = `${file.name} cannot be read. ${(error as Error).message}`
    }
  }

  /** The label of what an attribute refers to, by which it can be found. */
  labelFor(name: string): string | undefined {
    const to = catalog.find(this.collection.attributes.find((each) => each.name === name)?.references ?? null)
    const label = to && labelAttribute(to)
    return to?.attributes.some((each) => each.name === label && each.type === 'string') ? label : undefined
  }

  /** The ids of the resources that the columns with labels refer to. What is not found, or not once, is bad. */
  private async lookUp(rows: number[], bad: BadCell[]): Promise<Map<string, string>[]> {
    const all: Map<string, string>[] = []
    for (const [i, mapped] of this.mapping.entries()) {
      const [attribute, label] = byLabel(mapped) ?? []
      const to = catalog.find(this.collection.attributes.find(({ name }) => name === attribute)?.references ?? null)
      if (!attribute || !label || !to) continue
      const texts = textsOf(this.table!, i)
      const found = new Map<string, string[]>()
      for (let from = 0; from < texts.length && !this.stopped; from += LOOKED_UP) {
        const some = texts.slice(from, from + LOOKED_UP)
        const { data } = await ask<Resource[]>({ path: `${pathOf(to.name)}?filter[${label}][in]=${encode(joinList(some))}&fields=${label}&limit=${catalog.rights.pageSize(1000)}`, silent: true })
        for (const each of data) found.set(String(each[label]), [...(found.get(String(each[label])) ?? []), each.id])
      }
      all[i] = new Map([...found].flatMap(([text, ids]) => (ids.length === 1 ? [[text, ids[0]!]] : [])))
      for (const row of rows) {
        const text = this.table!.rows[row]![i]
        if (typeof text !== 'string' || text === '' || all[i].has(text)) continue
        bad.push({ row, attribute, detail: found.has(text) ? `Several ${to.name} have this ${label}. Use the id.` : `No ${to.singular} has this ${label}.` })
      }
    }
    return all
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
    this.ids = []
    const bad: BadCell[] = []
    const query = [this.key && `on_conflict=${this.key}`, kind === 'check' && 'dry_run=true'].filter(Boolean).join('&')
    const path = query ? `${this.path}?${query}` : this.path
    try {
      const ids = await this.lookUp(rows, bad)
      const unknown = new Set(bad.map(({ row }) => row))
      rows = rows.filter((row) => !unknown.has(row))
      const all = rows.map((row) => bodyOfRow(this.table!.rows[row]!, this.mapping, this.attributes, ids))
      for (const { from, bodies } of batches(all, catalog.rights.maxItems)) {
        if (this.stopped) break
        const indexes = rows.slice(from, from + bodies.length)
        if (kind === 'check') bad.push(...(await allBad(indexes, bodies, (some) => this.tryOut(path, some))))
        else await this.create(path, bodies, indexes, bad)
        this.done += bodies.length
      }
      this.bad = bad.sort((a, b) => a.row - b.row)
      this.checked = kind === 'check' && !this.stopped
      if (kind === 'import') this.created = this.done
    } catch (error) {
      this.bad = bad
      this.trouble = `${explain(error).detail}${kind === 'import' && this.done ? ` ${this.done} rows were imported before.` : ''}`
    } finally {
      this.running = null
      if (kind === 'import' && this.done) changes.made()
    }
  }

  /** What the server would refuse of bodies; nothing if it would take them all. */
  private async tryOut(path: string, body: Record<string, unknown>[]): Promise<Fault[]> {
    if (this.stopped) return []
    try {
      await ask<Resource[]>({ method: 'POST', path, body, headers: {}, silent: true })
    } catch (error) {
      const faults = faultsOf(error)
      if (!badCells(faults, body.map((_, i) => i)).cells.length) throw error
      return faults
    }
    return []
  }

  private async create(path: string, body: Record<string, unknown>[], indexes: number[], bad: BadCell[]) {
    try {
      const { data } = await ask<Resource[]>({ method: 'POST', path, body, headers: { 'Idempotency-Key': randomKey() }, silent: false })
      this.ids = [...this.ids, ...data.map(({ id }) => id)]
    } catch (error) {
      bad.push(...badCells(faultsOf(error), indexes).cells)
      throw error
    }
  }
}

/** The errors about the content of a request. */
const faultsOf = (error: unknown): Fault[] => (error instanceof Refused && (error.status === 422 || error.status === 409) ? error.faults : [])
