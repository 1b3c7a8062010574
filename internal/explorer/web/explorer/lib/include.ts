// Labels of references come with the list itself, in one request: include, with the label only.

import { labelAttribute, labelOf, relationOf, type Collection, type Find, type Relation, type Resource } from './schema'

const MOST = 10 // relations in one request

/** The relations whose labels can be included, of all references or of some. */
export function labelled(collection: Collection, find: Find, only?: string[]): Relation[] {
  return collection.attributes
    .filter(({ name, references }) => references && (!only || only.includes(name)))
    .flatMap(({ name }) => relationOf(collection, name) ?? [])
    .filter(({ collection: to }) => labelIn(find(to)))
    .slice(0, MOST)
}

const labelIn = (collection: Collection | undefined) => collection && labelAttribute(collection)

/** The parts of a query that include the labels. */
export function includeParts(relations: Relation[], find: Find): string[] {
  if (!relations.length) return []
  return [`include=${relations.map(({ name }) => name).join(',')}`, ...relations.map(({ name, collection }) => `fields[${name}]=${labelIn(find(collection))}`)]
}

export interface Label {
  type: string
  id: string
  text: string | null // null: it has none, or the caller may not see it
}

/** Takes the included resources out of a row, which is then as it is without them, and returns their labels. */
export function takeLabels(row: Resource, relations: Relation[], find: Find): Label[] {
  return relations.flatMap(({ name, collection, attribute }) => {
    const included = row[name] as Resource | null | undefined
    const id = row[attribute]
    delete row[name]
    if (typeof id !== 'string' || included === undefined) return []
    const to = find(collection)
    return [{ type: collection, id, text: included && to ? labelOf(to, included) : null }]
  })
}
