// The rows of a list of any length. Only those near the visible rows are loaded.

import { totalOf, Refused } from './api'
import { ask, catalog } from './app.svelte'
import { includeParts, labelled, takeLabels } from './include'
import { labels } from './labels.svelte'
import { Follower, type LiveEvent } from './live.svelte'
import { News } from './news.svelte'
import { forgettable, PAGE, pagesFor, rangeOf, type Range } from './pages'
import type { Collection, Relation, Resource } from './schema'
import { positionOf } from './stream'
import { touches } from './touches'
import { listPath, queryParts, resolved, type View } from './url'

const PATIENCE = 60 // milliseconds that a window must rest before it is fetched while it moves

export class Rows {
  total = $state<number | null>(null)
  counted = $state(false) // the total is exact
  trouble = $state.raw<Error | null>(null)
  changed = $state(0)
  busy = $state(true) // what is seen is being fetched
  sample = $state.raw<Resource[]>([]) // the first rows that came, which say what all look like
  news = new News()
  private follower = $state.raw<Follower | null>(null)
  private still = $state(false) // the list has no stream

  private pages = new Map<number, Resource[]>() // in the order of use
  private running = new Map<number, AbortController>()
  private window: [number, number] = [0, 1]
  private timer: ReturnType<typeof setTimeout> | undefined
  private latest = 0
  private counting = false
  private over = false
  private start: string | null = null // the position from which changes are heard
  private heard = new Map<string, Resource>() // changed while pages are requested, which may have been read before
  private view: View
  private relations: Relation[]

  constructor(
    view: View,
    readonly collection: Collection,
    private size = PAGE,
  ) {
    this.view = resolved(view, collection, catalog.named)
    this.relations = labelled(collection, catalog.named)
    this.show(view.offset, view.offset + 1)
  }

  /** Whether what others change is seen at once. */
  get live() {
    return this.follower?.state ?? (this.still ? 'off' : 'waiting')
  }

  /** The path and query of the list, without a range; also without its order. */
  address(sorted = true): string {
    return [listPath(this.view), queryParts(sorted ? this.view : { ...this.view, sort: [] }).join('&')].filter(Boolean).join('?')
  }

  row(position: number): Resource | undefined {
    void this.changed
    return this.pages.get(Math.floor(position / this.size))?.[position % this.size]
  }

  /** The visible rows are now [first, last): fetches missing rows, and cancels requests for others. */
  show(first: number, last: number) {
    this.window = [first, last]
    const needed = this.needed()
    for (const [page, controller] of this.running)
      if (!needed.includes(page)) {
        controller.abort()
        this.running.delete(page)
      }
    clearTimeout(this.timer)
    const now = performance.now()
    if (now - this.latest > PATIENCE) this.fetchNeeded()
    else this.timer = setTimeout(() => this.fetchNeeded(), PATIENCE)
    this.latest = now
  }

  /** Loads everything again, and keeps showing the old rows until then. */
  reload() {
    for (const controller of this.running.values()) controller.abort()
    this.running.clear()
    this.trouble = null
    this.follower?.stop()
    this.follower = null
    this.news.clear()
    const before = this.pages
    this.pages = new Map()
    const shown = this.needed().filter((page) => before.has(page))
    for (const page of shown) this.pages.set(page, before.get(page)!)
    if (this.view.filters.length || this.view.search) void this.count()
    for (const page of this.total ? this.needed() : [0]) void this.fetch(page, true)
  }

  stop() {
    this.over = true
    this.follower?.stop()
    clearTimeout(this.timer)
    for (const controller of this.running.values()) controller.abort()
  }

  private needed() {
    const [first, last] = this.window
    return pagesFor(first, last, this.counted ? (this.total ?? 0) : Math.max(this.total ?? 0, first + 1), this.size)
  }

  private fetchNeeded() {
    for (const page of this.needed())
      if (this.pages.has(page)) this.use(page)
      else if (!this.running.has(page)) void this.fetch(page)
  }

  private use(page: number) {
    const rows = this.pages.get(page)!
    this.pages.delete(page)
    this.pages.set(page, rows)
  }

  private async fetch(page: number, afresh = false) {
    const controller = new AbortController()
    if (!this.running.size) this.heard.clear()
    this.running.set(page, controller)
    this.look()
    const ids = (other: number) => (afresh ? undefined : this.pages.get(other)?.map((row) => row.id))
    try {
      const range = rangeOf(page, this.counted && !afresh ? this.total : null, ids, this.size)
      const rows = await this.range(page, range, controller.signal).catch((error) => {
        // A cursor can become invalid, a position cannot.
        if (error instanceof Refused && error.status === 400 && range.query.startsWith('cursor='))
          return this.range(page, rangeOf(page, null, () => undefined, this.size), controller.signal)
        throw error
      })
      if (this.running.get(page) !== controller) return
      this.pages.delete(page)
      this.pages.set(page, rows)
      for (const old of forgettable(this.pages.keys(), this.needed())) this.pages.delete(old)
      if (!this.counted) {
        this.total = Math.max(this.total ?? 0, page * this.size + rows.length)
        void this.count()
      }
      if (!this.sample.length) this.sample = rows
      this.trouble = null
      this.changed++
    } catch (error) {
      if (!controller.signal.aborted) this.trouble = error as Error
    } finally {
      if (this.running.get(page) === controller) this.running.delete(page)
      this.look()
    }
  }

  private look() {
    const [first, last] = this.window
    this.busy = [...this.running.keys()].some((page) => this.holds(page, first, last))
  }

  private holds(page: number, first: number, last: number) {
    return (page + 1) * this.size > first && page * this.size < Math.max(last, first + 1)
  }

  private async range(page: number, { query, skip, forwards }: Range, signal: AbortSignal): Promise<Resource[]> {
    const [first, last] = this.window
    const ahead = !this.holds(page, first, last) // of what is seen
    const path = `${listPath(this.view)}?${[...queryParts(this.view), ...includeParts(this.relations, catalog.named), query].join('&')}`
    const { follower } = this
    const answer = await ask<Resource[]>({ path, signal, silent: ahead })
    const position = positionOf(answer.headers)
    if (!signal.aborted) this.follow(position)
    // Requested before changes were heard, and perhaps read before the position from which they are.
    if (!signal.aborted && follower !== this.follower && position !== this.start) return this.range(page, { query, skip, forwards }, signal)
    const rows = answer.data.slice(skip).map((row) => this.heard.get(row.id) ?? row)
    labels.add(rows.flatMap((row) => takeLabels(row, this.relations, catalog.named)))
    labels.renew(this.collection, rows)
    const total = totalOf(answer.headers)
    if (total !== null) this.settle(total)
    else if (forwards && rows.length < this.size && (rows.length > 0 || page === 0)) this.settle(page * this.size + rows.length)
    return rows
  }

  /** Follows the list from the position at which it was read. */
  private follow(position: string | null) {
    this.still = position === null
    if (this.follower || this.over || position === null) return
    this.start = position
    this.follower = new Follower(this.address(false), position, (event) => this.apply(event), () => this.reload())
  }

  private apply(event: LiveEvent) {
    const { kind, data } = event
    if (this.running.size) this.heard.set(data.id, data)
    const place = this.find(data.id)
    if (kind === 'deleted' || kind === 'left') this.news.left(data.id)
    else if (place) {
      place.page[place.index] = data
      labels.renew(this.collection, [data])
      this.news.changed(data, event.previous, this.view.sort.some(({ field }) => this.attributeOf(field) in (event.previous ?? {})))
      this.changed++
    } else if (kind === 'created' && this.append(data)) this.news.changed(data, null, false)
    else if (kind !== 'updated') this.news.entered(data.id)
    touches.tell(data.type, data.id)
  }

  /** The attribute that decides the place of a row, also where it refers to what the rows are sorted by. */
  private attributeOf(path: string): string {
    const [first = ''] = path.split('.')
    return this.collection.relations?.find(({ name, many }) => !many && name === first && name !== path)?.attribute ?? first
  }

  /** Shows a row as it is now, after we have changed it. */
  put(row: Resource) {
    const place = this.find(row.id)
    if (place) place.page[place.index] = row
    labels.renew(this.collection, [row])
    this.changed++
    touches.tell(row.type, row.id)
  }

  private find(id: string): { page: Resource[]; index: number } | null {
    for (const page of this.pages.values()) {
      const index = page.findIndex((row) => row.id === id)
      if (index >= 0) return { page, index }
    }
    return null
  }

  /** Adds a new row at the end, if the end is visible, as nothing moves there. */
  private append(row: Resource): boolean {
    const [, last] = this.window
    if (this.view.sort.length || !this.counted || this.total === null || last < this.total) return false
    const page = this.pages.get(Math.floor(this.total / this.size))
    const before = this.row(this.total - 1)
    if (this.total % this.size && (!page || page.length !== this.total % this.size)) return false
    if (before && before.id > row.id) return false
    if (page) page.push(row)
    else this.pages.set(this.total / this.size, [row])
    if (!this.sample.length) this.sample = [row]
    this.total++
    this.changed++
    return true
  }

  /** The rows [first, last), of which missing ones are requested. */
  async between(first: number, last: number): Promise<Resource[]> {
    const known = Array.from({ length: last - first }, (_, i) => this.row(first + i))
    if (known.every((row) => row !== undefined)) return known as Resource[]
    const path = `${listPath(this.view)}?${[...queryParts(this.view), `offset=${first}`, `limit=${last - first}`].join('&')}`
    return (await ask<Resource[]>({ path })).data
  }

  private settle(total: number) {
    this.total = total
    this.counted = true
  }

  /** The total of a filtered list is unknown until it was counted. */
  private async count() {
    if (this.counting) return
    this.counting = true
    try {
      const path = `${listPath(this.view)}?${[...queryParts({ ...this.view, sort: [] }), 'limit=0'].join('&')}`
      const answer = await ask<Resource[]>({ path, headers: { Prefer: 'count=exact' }, silent: true })
      const total = totalOf(answer.headers)
      if (total === null || this.over) return
      this.settle(total)
      this.fetchNeeded()
    } catch (error) {
      this.trouble ??= error as Error
    } finally {
      this.counting = false
    }
  }
}
