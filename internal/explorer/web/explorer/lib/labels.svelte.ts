// The labels of resources that others refer to. Lists bring theirs with them; what is missing,
// such as that of a filter or of a live change, is requested for many at once.

import { SvelteMap } from 'svelte/reactivity'
import { ask, catalog, session } from './app.svelte'
import type { Label } from './include'
import { isId, labelAttribute, labelOf, shortId, type Collection, type Resource } from './schema'
import { pathOf } from './url'

const PAUSE = 15 // milliseconds in which wishes are gathered
const MOST = 100 // ids in one request
const KEPT = 20_000 // labels

class Labels {
  private known = new SvelteMap<string, string | null>()
  private wanted = new Map<string, Set<string>>()
  private asked = new Set<string>()
  private timer: ReturnType<typeof setTimeout> | undefined

  /** The label of a resource, or the ends of its id as long as it is unknown. */
  of(type: string, id: string): string {
    return this.find(type, id) ?? shortId(id)
  }

  /** The label of a resource; null if it has none that we may see; undefined if it is unknown. It is then requested. */
  find(type: string, id: string): string | null | undefined {
    const label = this.known.get(`${type}/${id}`)
    if (label === undefined) this.want(type, id)
    return label
  }

  /** A message of the server with 'the issue "Label"' in place of "issues/<id>" and "resource issues/<id>". */
  inText(text: string): string {
    return text.replace(/\b(resource )?([a-z][\w-]*)\/([0-9a-f-]{36})\b/g, (_, named: string | undefined, type: string, id: string) => `${named ? '' : 'the '}${catalog.find(type)?.singular ?? type} "${this.of(type, id)}"`)
  }

  add(labels: Label[]) {
    for (const { type, id, text } of labels) if (this.known.get(`${type}/${id}`) !== text) this.known.set(`${type}/${id}`, text)
    if (this.known.size > KEPT) this.drop(KEPT / 2)
  }

  /** Forgets the oldest ones. */
  private drop(count: number) {
    for (const key of [...this.known.keys()].slice(0, count)) {
      this.known.delete(key)
      this.asked.delete(key)
    }
  }

  /** Resources were loaded: labels that are known or requested already may have changed. */
  renew(collection: Collection, resources: Resource[]) {
    this.note(collection, resources.filter(({ id }) => this.known.has(`${collection.name}/${id}`) || this.asked.has(`${collection.name}/${id}`)))
  }

  /** Resources were loaded, so their labels are known. */
  note(collection: Collection, resources: Resource[]) {
    this.add(resources.map((resource) => ({ type: collection.name, id: resource.id, text: labelOf(collection, resource) })))
  }

  /** Another caller may see others. */
  forget() {
    this.known.clear()
    this.asked.clear()
    this.wanted.clear()
  }

  private want(type: string, id: string) {
    const key = `${type}/${id}`
    if (this.asked.has(key) || !isId(id) || !catalog.find(type)) return
    this.asked.add(key)
    const ids = this.wanted.get(type) ?? new Set()
    this.wanted.set(type, ids.add(id))
    this.timer ??= setTimeout(() => {
      this.timer = undefined
      const all = [...this.wanted]
      this.wanted.clear()
      for (const [name, some] of all) void this.request(name, [...some])
    }, PAUSE)
  }

  private async request(type: string, ids: string[]) {
    const collection = catalog.find(type)
    const attribute = collection && labelAttribute(collection)
    const caller = session.credential
    for (let from = 0; attribute && from < ids.length; from += MOST) {
      const some = ids.slice(from, from + MOST)
      try {
        const path = `${pathOf(type)}?filter[id][in]=${some.map(encodeURIComponent).join(',')}&fields=${attribute}&limit=${some.length}`
        const { data } = await ask<Resource[]>({ path, silent: true })
        if (caller !== session.credential) return
        const open = new Set(some.filter((id) => !this.known.has(`${type}/${id}`))) // others have become known since, and may be newer
        this.add([...open].map((id) => ({ type, id, text: null })))
        this.note(collection, data.filter(({ id }) => open.has(id)))
      } catch {
        for (const id of some) this.asked.delete(`${type}/${id}`) // the next one who needs it tries again
        return
      }
    }
  }
}

export const labels = new Labels()
