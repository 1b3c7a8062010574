// Taking something back: deleted resources are created again with their ids, and changed ones get their former values.

import { Refused } from './api'
import { ask, catalog, changes, explain } from './app.svelte'
import { bodyAgain } from './history'
import { tagsOf, transact } from './many'
import { notes } from './operations.svelte'
import { returns } from './rules'
import { count, counted, type Attribute, type Collection, type Resource } from './schema'
import { pathOf } from './url'

/** Whether a deletion can be taken back: all that was deleted can be created again as it was, the one resource that is known or any. */
export function canUndo({ name: collection, attributes }: Collection, alone: boolean, resource?: Resource): boolean {
  const { rights } = catalog
  const begins = ({ name, enum: all, initial }: Attribute) => !initial || (resource ? initial.includes(String(resource[name])) : initial.length === all?.length)
  return alone && rights.may('POST', collection) && attributes.every((each) => begins(each) && returns(each, attributes, (name) => rights.mayWrite('POST', collection, name)))
}

export async function undoDeletion(collection: Collection, deleted: Resource[]) {
  notes.clear()
  const all = deleted.map((each) => bodyAgain(each, collection.attributes))
  try {
    for (let from = 0; from < all.length; from += catalog.rights.maxItems)
      await ask({ method: 'POST', path: pathOf(collection.name), body: all.slice(from, from + catalog.rights.maxItems) })
    notes.tell(`${counted(all.length, collection)} restored.`)
  } catch (error) {
    notes.tell(explain(error).detail)
  }
  changes.made()
}

const ATTEMPTS = 3 // for a part in which others change something between the look and the write

/** Gives resources the former values of an attribute, in parts of what the server takes at once. What others have changed since is left alone. */
export async function undoSetting(collection: Collection, attribute: string, changed: Resource[], former: Map<string, unknown>) {
  const { maxItems } = catalog.rights
  let undone = 0
  let kept = 0
  let trouble = ''
  const say = (text: string) => {
    notes.clear()
    notes.tell(text)
  }
  try {
    for (let from = 0; from < changed.length; from += maxItems) {
      if (changed.length > maxItems) say(`Undoing: ${count(from)} of ${counted(changed.length, collection)}…`)
      const part = changed.slice(from, from + maxItems)
      const restored = await undoPart(collection, attribute, new Map(part.map((each) => [each.id, each])), former)
      undone += restored
      kept += part.length - restored
    }
  } catch (error) {
    trouble = ` ${count(changed.length - undone - kept)} are not: ${explain(error).detail}`
  }
  say(`${counted(undone, collection)} as before.${kept ? ` ${count(kept)} ${kept === 1 ? 'is' : 'are'} left, as somebody has changed ${kept === 1 ? 'it' : 'them'} since.` : ''}${trouble}`)
  changes.made()
}

/** All of a part that are as they were made, in one transaction. Returns how many. */
async function undoPart(collection: Collection, attribute: string, made: Map<string, Resource>, former: Map<string, unknown>): Promise<number> {
  for (let attempt = 1; ; attempt++) {
    const tags = await tagsOf(collection, [...made.keys()], made)
    if (!tags.size) return 0
    try {
      await transact(collection, [...tags.keys()].map((id) => ({ id, write: { method: 'PATCH', body: { [attribute]: former.get(id) } } })), false, tags)
      return tags.size
    } catch (error) {
      if (!(error instanceof Refused && error.status === 412) || attempt === ATTEMPTS) throw error
    }
  }
}
