// What a write would affect, counted by collection: the header X-Affected of a dry run.

import { counted, type Collection } from './schema'

export type Affected = { name: string; total: number }[]

export function affectedOf(headers: Headers): Affected {
  return (headers.get('X-Affected') ?? '')
    .split(',')
    .map((part) => part.trim().split('='))
    .flatMap(([name, total]) => (name && total ? [{ name, total: Number(total) }] : []))
}

/** What goes with it besides the resources of the collection themselves: "12 orders and 3 lines". */
export function besides(affected: Affected, own: string, ownTotal: number, find: (name: string) => Collection | undefined): string {
  const others = affected
    .map(({ name, total }) => ({ name, total: name === own ? total - ownTotal : total }))
    .filter(({ total }) => total > 0)
    .map(({ name, total }) => {
      const collection = find(name)
      return collection ? counted(total, collection) : `${total} ${name}`
    })
  return others.length > 1 ? `${others.slice(0, -1).join(', ')} and ${others[others.length - 1]}` : (others[0] ?? '')
}
