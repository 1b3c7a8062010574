// The queries that find a resource by what people know of it: its label, or its id.

import { encode } from './filters'
import { isId, labelAttribute, type Collection } from './schema'

export const MOST = 8

/** Whether any word of a resource finds it. */
export const isSearched = (collection: Collection) => !!collection.search?.length

/** The queries whose results together are the resources found by a text, the likeliest first. Without a text they are the latest ones. */
export function findQueries(collection: Collection, text: string): string[] {
  const label = labelAttribute(collection)
  const query = (part: string, limit = MOST) => [part, `fields=${label ?? 'id'}`, `limit=${limit}`].filter(Boolean).join('&')
  const word = text.trim()
  if (!word) return [query('', -MOST)]
  if (isId(word)) return [query(`filter[id]=${word}`)]
  const searches = isSearched(collection) ? [query(`search=${encode(word)}`)] : []
  if (label && collection.search?.includes(label)) return searches
  if (collection.attributes.some(({ name, type }) => name === label && type === 'integer')) {
    return [...(/^-?\d{1,18}$/.test(word) ? [query(`filter[${label}]=${word}`)] : []), ...searches]
  }
  if (label) return [query(inAnyCase(label, word)), ...searches]
  return searches.length ? searches : [query('', -MOST)]
}

/** The filter for texts that contain a word as it is typed, or in the usual alternatives of case. */
function inAnyCase(attribute: string, word: string): string {
  const [lower, upper] = [word.toLowerCase(), word.toUpperCase()]
  const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1)
  const words = [...new Set([word, lower, upper, capital(lower), lower.split(' ').map(capital).join(' ')])].map(encode)
  return words.length === 1 ? `filter[${attribute}][contains]=${words[0]}` : words.map((each, i) => `filter[any][${i}][${attribute}][contains]=${each}`).join('&')
}
