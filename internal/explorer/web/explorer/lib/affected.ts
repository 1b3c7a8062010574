// What a deletion would do besides, counted by collection: the headers X-Affected and X-Deleted of a dry run.

import { counted, type Collection } from './schema'

export interface Effects {
  deleted: string // what is deleted with it: "12 orders and 3 lines"
  changed: string // what loses a reference to it
}

function read(header: string | null): Map<string, number> {
  const parts = (header ?? '').split(',').map((part) => part.trim().split('='))
  return new Map(parts.flatMap(([name, total]) => (name && total ? [[name, Number(total)] as const] : [])))
}

/** The effects besides the deletion of some resources of a collection themselves. */
export function effectsOf(headers: Headers, own: string, ownTotal: number, find: (name: string) => Collection | undefined): Effects {
  const deleted = read(headers.get('X-Deleted'))
  const changed = new Map([...read(headers.get('X-Affected'))].map(([name, total]) => [name, total - (deleted.get(name) ?? 0)]))
  deleted.set(own, (deleted.get(own) ?? 0) - ownTotal)
  return { deleted: inWords(deleted, find), changed: inWords(changed, find) }
}

function inWords(counts: Map<string, number>, find: (name: string) => Collection | undefined): string {
  const words = [...counts].flatMap(([name, total]) => {
    const collection = find(name)
    return total > 0 ? [collection ? counted(total, collection) : `${total} ${name}`] : []
  })
  return words.length > 1 ? `${words.slice(0, -1).join(', ')} and ${words[words.length - 1]}` : (words[0] ?? '')
}
