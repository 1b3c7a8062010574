// What refers to a resource, counted: sub-collections, relations, and other references.

import type { Child } from './paths'
import type { Collection } from './schema'
import { pathOf, type View } from './url'

export interface Referrer {
  name: string // for people
  collection: string // of the resources that refer
  attribute: string // by which they do
  relation: string | null // by which they can be included and counted
  child: boolean // it is a sub-collection
}

/** All that can refer to a resource of a collection. */
export function referrersOf(collection: Collection, all: Collection[], children: Child[]): Referrer[] {
  const found = all.flatMap((other) =>
    other.attributes
      .filter(({ references }) => references === collection.name)
      .map(({ name: attribute }) => ({
        collection: other.name,
        attribute,
        relation: collection.relations?.find((each) => each.many && each.collection === other.name && each.attribute === attribute)?.name ?? null,
        child: children.some((each) => each.name === other.name && each.attribute === attribute),
      })),
  )
  return found.map((each) => {
    const alike = found.filter((other) => other.collection === each.collection).length > 1
    return { ...each, name: alike && !each.child ? `${each.collection} (${each.attribute})` : each.collection }
  })
}

/** The list of those that refer. */
export function viewOf(referrer: Referrer, type: string, id: string): Partial<View> {
  if (referrer.child) return { collection: referrer.collection, parent: { collection: type, id } }
  return { collection: referrer.collection, filters: [{ field: referrer.attribute, op: 'eq', value: id }] }
}

/** One request that counts by relations. */
export function countPath(type: string, id: string, relations: string[]): string {
  const parts = relations.flatMap((name) => [`include[${name}][limit]=0`, `include[${name}][total]=true`])
  return `${pathOf(type, id)}?${['fields=id', `include=${relations.join(',')}`, ...parts].join('&')}`
}
