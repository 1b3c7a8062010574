// Search over everything that has a name in the reference.

import type { Reference } from './reference'

export interface Hit {
  section: string
  anchor: string
  title: string
  detail: string
}

interface Entry extends Hit {
  words: string // what is searched, in lower case
  weight: number // of its kind: collections come first
}

export function indexOf(reference: Reference): Entry[] {
  const entries: Entry[] = []
  const add = (weight: number, hit: Hit, ...more: string[]) => entries.push({ ...hit, weight, words: [hit.title, hit.detail, ...more].join(' ').toLowerCase() })
  for (const section of reference.sections) {
    add(0, { section: section.name, anchor: '', title: section.name, detail: section.description })
    for (const each of section.operations)
      add(1, { section: section.name, anchor: each.id, title: each.summary, detail: `${each.method} ${each.path}` }, each.id, ...each.parameters.map(({ name }) => name), each.parameters.some(({ name }) => name === 'offset') ? 'pages pagination' : '')
    if (section.filters.length)
      add(1, { section: section.name, anchor: 'filters', title: `Filters of ${section.name}`, detail: 'by attribute, date, range and text' }, 'filter where query', ...section.filters.flatMap(({ field, type }) => [field, type]))
    for (const each of section.attributes) add(2, { section: section.name, anchor: 'attributes', title: each.name, detail: `${section.name}, ${each.type}` }, each.description)
    for (const each of section.relations) add(3, { section: section.name, anchor: 'attributes', title: each.name, detail: `${section.name}, by include` })
  }
  for (const { code, status, title } of reference.codes) add(4, { section: '', anchor: 'errors', title: code, detail: `${status} ${title}` })
  return entries
}

const MOST = 30

/** Whether a word of the text begins with this. */
const begins = (text: string, what: string) => ` ${text.replace(/[^\p{L}\p{N}_]+/gu, ' ')}`.includes(` ${what}`)

/** What has all words; the best first: the title is the text, begins with it, has a word that does. */
export function find(entries: Entry[], text: string): Hit[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean)
  if (words.length === 0) return []
  const phrase = words.join(' ')
  const rank = (each: Entry) => {
    const name = each.title.toLowerCase()
    const whole = words.every((word) => begins(each.words, word)) // "date" is not meant to find "update" first
    return (name === phrase ? 0 : name.startsWith(phrase) ? 10 : begins(name, phrase) ? 20 : whole ? 30 : 40) + each.weight
  }
  return entries
    .filter((each) => words.every((word) => each.words.includes(word)))
    .map((each) => ({ each, at: rank(each) }))
    .sort((a, b) => a.at - b.at)
    .slice(0, MOST)
    .map(({ each: { section, anchor, title, detail } }) => ({ section, anchor, title, detail }))
}
