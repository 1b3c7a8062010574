// Taking a deletion back: the resources are created again with their ids.

import { ask, catalog, changes, explain } from './app.svelte'
import { bodyAgain } from './history'
import { notes } from './operations.svelte'
import { counted, type Collection, type Resource } from './schema'
import { pathOf } from './url'

/** Whether a deletion can be taken back: all that was deleted can be created again as it was. */
export function canUndo(collection: Collection, alone: boolean): boolean {
  const { rights } = catalog
  return alone && rights.may('POST', collection.name) && collection.attributes.every(({ name }) => rights.mayWrite('POST', collection.name, name))
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
