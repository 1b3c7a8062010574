// Following what others change. A stream ends when the page is hidden, because a browser has few
// connections for one server, and goes on from its last position when it is shown again.

import { root, session, version } from './app.svelte'
import { parse } from './json'
import type { Resource } from './schema'
import { readStream, StreamRefused } from './stream'

export interface LiveEvent {
  kind: 'created' | 'updated' | 'deleted' | 'entered' | 'left' | 'changed'
  data: Resource
  previous: Record<string, unknown> | null
  by: string | null
}

type State = 'waiting' | 'live' | 'lost' | 'off'

const PAUSES = [500, 1000, 2000, 4000, 8000] // milliseconds between attempts, the last again and again
const SILENCE = 50_000 // milliseconds after which a connection is given up
const KINDS = new Set(['created', 'updated', 'deleted', 'entered', 'left'])

/** Follows one list, or all changes, from a position on. */
export class Follower {
  state = $state<State>('waiting')

  private stopped = false
  private controller: AbortController | null = null
  private timer: ReturnType<typeof setTimeout> | undefined
  private silence: ReturnType<typeof setTimeout> | undefined
  private failures = 0

  constructor(
    private path: string, // with its query
    private position: string,
    private each: (event: LiveEvent) => void,
    private reset: () => void, // changes were missed: the list has to be loaded again
  ) {
    document.addEventListener('visibilitychange', this.look)
    addEventListener('online', this.retry)
    addEventListener('offline', this.lose)
    this.look()
  }

  stop() {
    this.stopped = true
    document.removeEventListener('visibilitychange', this.look)
    removeEventListener('online', this.retry)
    removeEventListener('offline', this.lose)
    this.pause()
  }

  private pause() {
    clearTimeout(this.timer)
    clearTimeout(this.silence)
    this.controller?.abort()
    this.controller = null
  }

  /** There is no connection any more, though nobody has closed it. */
  private lose = () => {
    this.pause()
    this.state = 'lost'
    this.again(PAUSES[Math.min(this.failures++, PAUSES.length - 1)]!)
  }

  /** The server sends something every 15 seconds. */
  private heard = () => {
    clearTimeout(this.silence)
    this.silence = setTimeout(this.lose, SILENCE)
  }

  private look = () => {
    if (document.visibilityState === 'hidden') this.pause()
    else if (!this.controller && this.state !== 'off') void this.run()
  }

  private retry = () => {
    if (this.state !== 'lost' || document.visibilityState === 'hidden') return
    this.pause()
    void this.run()
  }

  private async run() {
    if (this.stopped) return
    const controller = new AbortController()
    this.controller = controller
    const mark = this.path.includes('?') ? '&' : '?'
    const url = `${root}${this.path}${mark}since=${encodeURIComponent(this.position)}`
    try {
      await readStream(url, version, session.credential, controller.signal, this.opened, this.heard, ({ event, id, data }) => {
        if (controller.signal.aborted) return
        if (event === 'reset') return this.missed()
        if (id) this.position = id
        if (KINDS.has(event)) this.tell(event as LiveEvent['kind'], data)
      })
      if (controller.signal.aborted) return
      this.again(0) // it ends now and then, so that clients move to other nodes
    } catch (error) {
      if (controller.signal.aborted) return
      if (error instanceof StreamRefused && error.status < 500 && error.status !== 429) {
        this.state = 'off' // this list has no stream
        this.pause()
        return
      }
      this.lose()
    }
  }

  private opened = () => {
    this.state = 'live'
    this.failures = 0
  }

  private again(pause: number) {
    this.controller = null
    clearTimeout(this.silence)
    clearTimeout(this.timer)
    this.timer = setTimeout(this.look, pause)
  }

  /** A snapshot of the whole list follows, which may have millions of rows. */
  private missed() {
    this.stop()
    this.reset()
  }

  private tell(kind: LiveEvent['kind'], text: string) {
    const { data, previous = null, change } = parse(text) as { data: Resource; previous?: Record<string, unknown>; change?: { by: string | null } }
    this.each({ kind, data, previous, by: change?.by ?? null })
  }
}
