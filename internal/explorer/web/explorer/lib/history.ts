// The history of a resource: what each change made of it, and the way back.

import { same } from './json'
import type { Attribute, Collection, Resource } from './schema'

export interface Change {
  id: string
  kind: 'created' | 'updated' | 'deleted'
  by: string | null
  previous: Record<string, unknown> | null
  data: Resource | null
  created_at: string
}

export interface Step {
  attribute: Attribute
  before: unknown
  after: unknown
}

/** The attributes that a change has changed. */
export function stepsOf(change: Change, collection: Collection): Step[] {
  const { previous, data } = change
  if (change.kind !== 'updated' || !previous || !data) return []
  return collection.attributes.filter(({ name }) => name in previous && !same(previous[name], data[name])).map((attribute) => ({ attribute, before: previous[attribute.name], after: data[attribute.name] }))
}

/** What to change so that a resource is again as it was. */
export function wayBack(now: Resource, then: Resource, attributes: Attribute[]): Step[] {
  return attributes
    .filter(({ name }) => name in then && !same(now[name], then[name]))
    .map((attribute) => ({ attribute, before: now[attribute.name], after: then[attribute.name] }))
}

/** The body that creates a deleted resource again, with its id. */
export function bodyAgain(last: Resource, attributes: Attribute[]): Record<string, unknown> {
  return { id: last.id, ...Object.fromEntries(attributes.flatMap(({ name, computed }) => (name in last && computed === undefined ? [[name, last[name]]] : []))) }
}

/** Who made a change, in words. */
export function actor(by: string | null, keys: Record<string, string> = {}): string {
  if (by === null) return ''
  const prefix = by.startsWith('key:') ? by.slice(4) : null
  return prefix === null ? by.replace(/^sub:/, '') : (keys[prefix] ?? `key ${prefix}`)
}
