// The changes of all collections, where the caller may read them: for the counts of the sidebar,
// and for what is open.

import { ask, catalog } from './app.svelte'
import { labels } from './labels.svelte'
import { Follower } from './live.svelte'
import type { Resource } from './schema'
import { positionOf } from './stream'
import { touches } from './touches'

const PAUSE = 400 // milliseconds in which changes are gathered
const AGAIN = 5000 // milliseconds between attempts to begin

export class Feed {
  private follower = $state.raw<Follower | null>(null)
  private timer: ReturnType<typeof setTimeout> | undefined
  private over = false

  constructor() {
    void this.start()
  }

  get state() {
    return this.follower?.state ?? 'waiting'
  }

  stop() {
    this.over = true
    clearTimeout(this.timer)
    this.follower?.stop()
  }

  private async start() {
    try {
      const { headers } = await ask<unknown>({ path: 'changes?limit=0', silent: true })
      const position = positionOf(headers)
      if (this.over || position === null) return
      this.follower = new Follower('changes', position, this.tell, () => {
        recount()
        void this.start()
      })
    } catch {
      if (!this.over) this.timer = setTimeout(() => void this.start(), AGAIN)
    }
  }

  private tell = ({ data }: { data: Record<string, unknown> }) => {
    const changed = data.resource as { type: string; id: string } | undefined
    if (!changed) return
    const collection = catalog.find(changed.type)
    if (collection && data.data) labels.renew(collection, [data.data as Resource])
    touches.tell(changed.type, changed.id)
  }
}

let timer: ReturnType<typeof setTimeout> | undefined

/** Loads the totals of the collections again, once for many changes. */
export function recount() {
  timer ??= setTimeout(() => {
    timer = undefined
    void catalog.load(true)
  }, PAUSE)
}
