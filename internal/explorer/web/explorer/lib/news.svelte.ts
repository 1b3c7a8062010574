// What others have changed in a list since it was loaded. Rows in view change in place and are
// marked for a moment; rows that would move others are counted, and come when the user asks.

import { SvelteMap, SvelteSet } from 'svelte/reactivity'
import { hideAfter } from './hide'
import type { Resource } from './schema'

const MARKED = 3000 // milliseconds

export class News {
  fresh = new SvelteSet<string>() // resources that belong to the list now
  gone = new SvelteSet<string>() // those that do not any more
  moved = $state(false) // the order is no longer that of the sort
  private marks = new SvelteMap<string, ReadonlySet<string>>() // attributes that have just changed, by id

  /** How many rows to load again, in words. */
  get text(): string {
    const parts = [this.fresh.size && `${this.fresh.size} new`, this.gone.size && `${this.gone.size} removed`, this.moved && 'order changed']
    return parts.filter(Boolean).join(', ')
  }

  isMarked(id: string, attribute: string): boolean {
    return this.marks.get(id)?.has(attribute) ?? false
  }

  entered(id: string) {
    if (!this.gone.delete(id)) this.fresh.add(id)
  }

  left(id: string) {
    if (!this.fresh.delete(id)) this.gone.add(id)
  }

  /** A row in view has changed; without previous values it is new. */
  changed(row: Resource, previous: Record<string, unknown> | null, moved: boolean) {
    this.gone.delete(row.id)
    if (moved) this.moved = true
    const names = new Set(Object.keys(previous ?? row))
    this.marks.set(row.id, names)
    hideAfter(MARKED, () => this.marks.get(row.id) === names && this.marks.delete(row.id))
  }

  clear() {
    this.fresh.clear()
    this.gone.clear()
    this.moved = false
  }
}
