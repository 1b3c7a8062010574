// Writing many resources: one atomic request as long as the server takes all of them at once, else several.

import { ask, catalog } from './app.svelte'
import { affectedOf, type Affected } from './affected'
import { pathOf } from './url'
import type { Rows } from './rows.svelte'
import type { Collection, Resource } from './schema'
import type { Selection } from './selection.svelte'

export interface Target {
  collection: Collection
  address: string // of the list, with its query
  ids: string[] | null // null: all that match
  total: number
}

export type Write = { method: 'DELETE' } | { method: 'PATCH'; body: Record<string, unknown> }

const IDS = 150 // in a URL, which proxies limit; more are sent as a transaction

export const targetOf = (rows: Rows, selection: Selection): Target => ({
  collection: rows.collection,
  address: rows.address(false),
  ids: selection.all ? null : [...selection.chosen.keys()],
  total: selection.count,
})

/** How many requests it takes. */
export const requestsFor = (target: Target) => Math.ceil(target.total / catalog.rights.maxItems)

const extended = (address: string, part: string) => `${address}${address.includes('?') ? '&' : '?'}${part}`

/** The target by its ids, as far as one request takes them: what is confirmed is what is written, also if more match by then. */
export async function pinned(target: Target): Promise<Target> {
  const { maxItems } = catalog.rights
  if (target.ids || target.total > maxItems) return target
  const limit = catalog.rights.pageSize(maxItems + 1)
  const { data } = await ask<Resource[]>({ path: extended(extended(target.address, 'fields=id'), `limit=${limit}`), silent: true })
  const cut = data.length === limit // there may be more
  return cut ? { ...target, total: Math.max(target.total, data.length) } : { ...target, ids: data.map(({ id }) => id), total: data.length }
}

/** What the write would do. Of more than the server takes at once, the first part is tried. */
export async function tryMany(target: Target, write: Write): Promise<Affected> {
  const { headers } = await send(target, write, 0, null, true)
  return affectedOf(headers)
}

/** Writes all, and tells after each request how many are done. Returns the resources as they are, or last were. */
export async function writeMany(target: Target, write: Write, progress: (done: number) => void, stopped: () => boolean): Promise<Resource[]> {
  const { maxItems } = catalog.rights
  const done: Resource[] = []
  for (let from = 0; !stopped(); from += maxItems) {
    const last = write.method === 'PATCH' ? (done[done.length - 1]?.id ?? null) : null
    const { data } = await send(target, write, from, last, false)
    done.push(...data.filter(({ id }) => id !== last))
    progress(done.length)
    const rest = target.ids ? target.ids.length - from - maxItems : target.total - maxItems <= 0 || data.length < maxItems ? 0 : 1
    if (rest <= 0) break
  }
  return done
}

async function send(target: Target, write: Write, from: number, last: string | null, dry: boolean) {
  const { maxItems } = catalog.rights
  const suffix = dry ? 'dry_run=true' : ''
  const body = write.method === 'PATCH' ? { body: write.body } : {}
  if (target.ids) {
    const ids = target.ids.slice(from, from + maxItems)
    if (ids.length > IDS) {
      const steps = ids.map((id) => ({ method: write.method, path: `/${pathOf(target.collection.name, id)}`, ...body }))
      return ask<Resource[]>({ method: 'POST', path: `-/transaction${suffix && `?${suffix}`}`, body: steps })
    }
    const address = extended(pathOf(target.collection.name), `filter[id][in]=${ids.join(',')}`)
    return ask<Resource[]>({ method: write.method, path: suffix ? extended(address, suffix) : address, ...body })
  }
  // Deleted ones are gone from the list, so the next part is at its start again; changed ones may still be in it.
  // A part that begins at a cursor has the last one of the part before again, if that still matches.
  const range = target.total > maxItems || !target.address.includes('?') ? (last ? `cursor=${last}&limit=${maxItems}` : `limit=${maxItems}`) : ''
  const address = [range, suffix].filter(Boolean).reduce(extended, target.address)
  return ask<Resource[]>({ method: write.method, path: address, ...body })
}
