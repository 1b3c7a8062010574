// The query that finds a resource by what people know of it: its label, or its id.

import { encode } from './filters'
import { isId, labelAttribute, type Collection } from './schema'

export const MOST = 8

/** Whether upper and lower case are the same when a label is looked for. */
export const isSearched = (collection: Collection) => !!collection.label && !!collection.search?.includes(collection.label)

/** The query that finds resources by a text. Without a text it is the latest ones. */
export function findQuery(collection: Collection, text: string): string {
  const label = labelAttribute(collection)
  const fields = `fields=${label ?? 'id'}`
  const word = text.trim()
  if (!word) return `${fields}&limit=-${MOST}`
  if (isId(word)) return `filter[id]=${word}&${fields}&limit=${MOST}`
  if (isSearched(collection)) return `search=${encode(word)}&${fields}&limit=${MOST}`
  if (collection.attributes.some(({ name, type }) => name === label && type === 'integer')) {
    return /^-?\d{1,18}$/.test(word) ? `filter[${label}]=${word}&${fields}&limit=${MOST}` : `${fields}&limit=0`
  }
  return label ? `filter[${label}][contains]=${encode(word)}&${fields}&limit=${MOST}` : `${fields}&limit=-${MOST}`
}
