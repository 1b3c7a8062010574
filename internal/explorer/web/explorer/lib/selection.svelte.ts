// The selected rows of a list: some of them, or all that match.

import { SvelteMap } from 'svelte/reactivity'
import type { Rows } from './rows.svelte'
import type { Resource } from './schema'

export class Selection {
  chosen = new SvelteMap<string, Resource>()
  all = $state(false) // all that match, also those that are not loaded
  private anchor = -1
  private cleared = 0 // how often

  constructor(private rows: Rows) {}

  has = (id: string) => this.all || this.chosen.has(id)

  get count(): number {
    return this.all ? (this.rows.total ?? 0) : this.chosen.size
  }

  toggle(position: number) {
    const row = this.rows.row(position)
    if (!row) return
    this.anchor = position
    if (this.all) this.clear()
    else if (!this.chosen.delete(row.id)) this.chosen.set(row.id, row)
  }

  /** Selects all rows from the one that was selected last. */
  async extend(position: number) {
    const from = this.anchor < 0 ? position : this.anchor
    this.all = false
    const { cleared } = this
    const rows = await this.rows.between(Math.min(from, position), Math.max(from, position) + 1)
    if (cleared !== this.cleared) return
    for (const row of rows) this.chosen.set(row.id, row)
  }

  /** Where a range begins, if none has begun. */
  begin(position: number) {
    if (this.anchor < 0) this.anchor = position
  }

  selectAll() {
    this.chosen.clear()
    this.all = true
  }

  clear() {
    this.cleared++
    this.chosen.clear()
    this.all = false
    this.anchor = -1
  }
}
