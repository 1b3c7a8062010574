// Choosing a resource: what matches, and what was chosen lately.

import { ask } from './app.svelte'
import { findQueries, MOST } from './find'
import { labels } from './labels.svelte'
import type { Collection, Resource } from './schema'
import { pathOf } from './url'

const recent = new Map<string, string[]>() // ids by collection, the latest first

/** The ids that match, of which labels are known then. */
export async function findResources(collection: Collection, text: string, signal: AbortSignal): Promise<string[]> {
  const lists = await Promise.all(findQueries(collection, text).map((query) => ask<Resource[]>({ path: `${pathOf(collection.name)}?${query}`, signal, silent: true })))
  const found = lists.flatMap(({ data }) => data)
  labels.note(collection, found)
  const ids = [...new Set(found.map(({ id }) => id))].slice(0, MOST)
  if (text.trim()) return ids
  const used = recent.get(collection.name) ?? []
  return [...used, ...ids.reverse().filter((id) => !used.includes(id))].slice(0, MOST)
}

/** Whether a form has a name that was typed but not chosen from the list; it then opens the list again. */
export function unchosen(form: HTMLElement): boolean {
  const box = form.querySelector<HTMLElement>('[data-unchosen]')
  box?.focus()
  box?.click()
  return !!box
}

/** Remembers what was picked, until the page is left. */
export function picked(collection: Collection, id: string) {
  const used = recent.get(collection.name) ?? []
  recent.set(collection.name, [id, ...used.filter((each) => each !== id)].slice(0, 4))
}
