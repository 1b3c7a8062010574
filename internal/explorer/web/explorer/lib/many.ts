// Writing many resources: one atomic request as long as the server takes all of them at once, else several.

import { Refused, totalOf } from './api'
import { ask, catalog } from './app.svelte'
import { same } from './json'
import { pathOf } from './url'
import type { Rows } from './rows.svelte'
import type { Collection, Resource } from './schema'
import type { Selection } from './selection.svelte'

export interface Target {
  collection: Collection
  address: string // of the list, with its query
  ids: string[] | null // null: all that match
  total: number
  tags?: Map<string, string> // the ETags by id, where the server requires them
}

export type Write = { method: 'DELETE' } | { method: 'PATCH'; body: Record<string, unknown> }

const IDS = 150 // in a URL, which proxies limit; more are sent as a transaction
const AT_ONCE = 6 // requests, as many as a browser sends to one server

export const targetOf = (rows: Rows, selection: Selection): Target => ({
  collection: rows.collection,
  address: rows.address(false),
  ids: selection.all ? null : [...selection.chosen.keys()],
  total: selection.count,
})

/** How many requests it takes. */
export const requestsFor = (target: Target) => Math.ceil(target.total / catalog.rights.maxItems)

const extended = (address: string, part: string) => `${address}${address.includes('?') ? '&' : '?'}${part}`

/** The target as it is now; by its ids, as far as one request takes them: what is confirmed is what is written, also if more match by then. */
export async function pinned(target: Target): Promise<Target> {
  const { maxItems } = catalog.rights
  if (!target.ids && target.total > maxItems) {
    // The list may have changed since it was loaded. A count that takes too long is refused.
    const counted = await ask({ path: extended(target.address, 'limit=0'), headers: { Prefer: 'count=exact' }, silent: true }).catch(() => null)
    target = { ...target, total: (counted && totalOf(counted.headers)) ?? target.total }
  }
  if (target.total > maxItems) return target
  if (!target.ids) {
    const limit = catalog.rights.pageSize(maxItems + 1)
    const { data } = await ask<Resource[]>({ path: extended(extended(target.address, 'fields=id'), `limit=${limit}`), silent: true })
    const cut = data.length === limit // there may be more
    if (cut) return { ...target, total: Math.max(target.total, data.length) }
    target = { ...target, ids: data.map(({ id }) => id), total: data.length }
  }
  return catalog.rights.requiresMatch(target.collection.name) ? { ...target, tags: await tagsOf(target.collection, target.ids!) } : target
}

/** The target after a refusal: if others have changed some of the resources, for their current states. */
export const afterRefusal = (target: Target, error: unknown): Promise<Target> | Target =>
  error instanceof Refused && error.status === 412 ? pinned(target).catch(() => target) : target

/** What the write would do. Of more than the server takes at once, the first part is tried. */
export async function tryMany(target: Target, write: Write): Promise<Headers> {
  return (await send(target, write, 0, true)).headers
}

/** Reads one attribute of all, and tells after each request how many are read. */
export async function readMany(target: Target, attribute: string, progress: (read: number) => void, stopped: () => boolean): Promise<Resource[]> {
  const most = catalog.rights.pageSize(catalog.rights.maxItems)
  const read: Resource[] = []
  for (let more = target.ids?.length !== 0; more && !stopped(); progress(read.length)) {
    const from = read[read.length - 1]?.id
    const ids = target.ids?.slice(read.length, read.length + Math.min(IDS, most))
    const parts = ids ? [`filter[id][in]=${ids.join(',')}`, `limit=${ids.length}`] : [`limit=${most}`, from ? `cursor=${from}` : '']
    const address = [`fields=${attribute}`, ...parts].filter(Boolean).reduce(extended, ids ? pathOf(target.collection.name) : target.address)
    const { data } = await ask<Resource[]>({ path: address, silent: true })
    if (ids && data.length < ids.length) {
      // Some are gone: the others are what is left to write.
      const left = new Set(data.map(({ id }) => id))
      target = { ...target, ids: target.ids!.filter((id) => !ids.includes(id) || left.has(id)) }
    }
    read.push(...data.filter(({ id }) => id !== from)) // a page that begins at a cursor has it again
    more = target.ids ? read.length < target.ids.length : data.length === most
  }
  return read
}

/** Writes all, and tells after each request what is done: the resources as they are, or last were. Returns them. */
export async function writeMany(target: Target, write: Write, progress: (done: Resource[]) => void, stopped: () => boolean): Promise<Resource[]> {
  const { maxItems } = catalog.rights
  const done: Resource[] = []
  for (let from = 0; !stopped(); from += maxItems) {
    const { data } = await send(target, write, from, false)
    done.push(...data)
    progress(done)
    const rest = target.ids ? target.ids.length - from - maxItems : target.total - maxItems <= 0 || data.length < maxItems ? 0 : 1
    if (rest <= 0) break
  }
  return done
}

/** Writes to resources by their ids in one transaction, each if it still has its ETag, where some are given or the server requires them. */
export async function transact(collection: Collection, writes: { id: string; write: Write }[], dry = false, tags?: Map<string, string>) {
  const match = tags ?? (catalog.rights.requiresMatch(collection.name) ? await tagsOf(collection, writes.map(({ id }) => id)) : null)
  const steps = writes.map(({ id, write }) => ({ method: write.method, path: `/${pathOf(collection.name, id)}`, ...(write.method === 'PATCH' && { body: write.body }), ...(match && { if_match: match.get(id) }) }))
  return ask<Resource[]>({ method: 'POST', path: `-/transaction${dry ? '?dry_run=true' : ''}`, body: steps })
}

async function send(target: Target, write: Write, from: number, dry: boolean) {
  const { maxItems, requiresMatch } = catalog.rights
  // Without ids they are deleted, and gone from the list: the next part is at its start again.
  const range = target.total > maxItems || !target.address.includes('?') ? `limit=${maxItems}` : ''
  let ids = target.ids?.slice(from, from + maxItems)
  const matched = requiresMatch(target.collection.name)
  if (!ids && matched) ids = (await ask<Resource[]>({ path: ['fields=id', range].filter(Boolean).reduce(extended, target.address), silent: true })).data.map(({ id }) => id)
  if (ids && (matched || ids.length > IDS)) return transact(target.collection, ids.map((id) => ({ id, write })), dry, target.tags)
  const parts = ids ? [`filter[id][in]=${ids.join(',')}`] : [range]
  const address = [...parts, dry ? 'dry_run=true' : ''].filter(Boolean).reduce(extended, ids ? pathOf(target.collection.name) : target.address)
  return ask<Resource[]>({ method: write.method, path: address, ...(write.method === 'PATCH' && { body: write.body }) })
}

/** The ETags of resources, some requests at a time; of those that are still as they were, if that is given. A resource that is gone has none. */
export async function tagsOf(collection: Collection, ids: string[], were?: Map<string, Resource>): Promise<Map<string, string>> {
  const tags = new Map<string, string>()
  const left = [...ids]
  const read = async () => {
    for (let id = left.pop(); id !== undefined; id = left.pop())
      try {
        const { headers, data } = await ask<Resource>({ path: were ? pathOf(collection.name, id) : extended(pathOf(collection.name, id), 'fields=id'), silent: true })
        if (!were || same(data, were.get(id))) tags.set(id, headers.get('ETag') ?? '')
      } catch (error) {
        if (!(error instanceof Refused && error.status === 404)) throw error
      }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, read))
  return tags
}
