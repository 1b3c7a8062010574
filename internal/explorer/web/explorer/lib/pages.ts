// Which pages of a list are needed, how each is requested, and which can be dropped.

export const PAGE = 100 // rows, unless the server allows fewer
export const MOST_PAGES = 60

/** The pages that hold the rows [first, last), and one to either side. */
export function pagesFor(first: number, last: number, total: number, size = PAGE): number[] {
  if (total === 0) return []
  const low = Math.max(0, Math.floor(first / size) - 1)
  const high = Math.min(Math.ceil(total / size) - 1, Math.floor(Math.max(first, last - 1) / size) + 1)
  return Array.from({ length: high - low + 1 }, (_, i) => low + i)
}

/** A range of the interface. */
export interface Range {
  query: string
  skip: number // how many of its rows are known already
  forwards: boolean // fewer rows than asked for mean that the list ends there
}

/**
 * How to ask for a page. From a neighbour it is a cursor, which costs the same wherever it
 * is and does not drift; the end is counted from the end; anything else is an offset.
 */
export function rangeOf(page: number, total: number | null, ids: (page: number) => string[] | undefined, size = PAGE): Range {
  if (page === 0) return { query: `limit=${size}`, skip: 0, forwards: true }
  const before = ids(page - 1)
  if (before?.length === size) return { query: `cursor=${before[size - 1]}&limit=${size + 1}`, skip: 1, forwards: true }
  const after = ids(page + 1)
  if (after?.length) return { query: `cursor=${after[0]}&limit=-${size}`, skip: 0, forwards: false }
  const start = page * size
  if (total !== null && total > start && total - start <= size) return { query: `limit=-${total - start}`, skip: 0, forwards: false }
  return { query: `offset=${start}&limit=${size}`, skip: 0, forwards: true }
}

/** The pages to drop, so that at most `most` are left: the least recently used of those not needed. */
export function forgettable(used: Iterable<number>, needed: number[], most = MOST_PAGES): number[] {
  const all = [...used] // in the order of use
  return all.filter((page) => !needed.includes(page)).slice(0, Math.max(0, all.length - most))
}
