// Writes that are done later, watched until they are finished.

import { ask, changes, root } from './app.svelte'
import { Unreachable } from './api'
import type { Fault } from './form'
import { hideAfter } from './hide'

export interface Operation {
  id: string
  status: 'pending' | 'running' | 'succeeded' | 'failed'
  method: string
  resource: { id: string; type: string }
  errors: Fault[] | null
}

export interface Note {
  id: string
  text: string
  operation: Operation | null // null: it is only a message
  action?: { label: string; run: () => void }
}

const PAUSES = [150, 300, 600, 1000, 2000] // milliseconds between looks, the last again and again

class Notes {
  all = $state.raw<Note[]>([])
  private count = 0

  /** A message that disappears after a while; later, if there is something to do. The same one is not shown twice. */
  tell(text: string, action?: Note['action']) {
    const id = `note-${++this.count}`
    this.all = [...this.all.filter((note) => note.action || note.text !== text), { id, text, operation: null, ...(action && { action }) }]
    hideAfter(action ? 20_000 : 5000, () => this.dismiss(id))
  }

  dismiss(id: string) {
    this.all = this.all.filter((note) => note.id !== id)
  }

  /** Removes the messages, because the user has done something else. */
  clear() {
    this.all = this.all.filter((note) => note.operation)
  }

  /** Watches the operation at a Location. */
  async watch(location: string) {
    const path = new URL(location, root).href.slice(root.length)
    const id = path.split('/').pop()!
    let first = true
    for (let look = 0; first || this.all.some((note) => note.id === id); look++) {
      try {
        const { data } = await ask<Operation>({ path, silent: !first })
        const note = { id, text: `${data.method} ${data.resource.type}`, operation: data }
        this.all = first ? [...this.all, note] : this.all.map((each) => (each.id === id ? note : each))
        first = false
        if (data.status === 'succeeded' || data.status === 'failed') {
          changes.made()
          return
        }
      } catch (error) {
        if (!(error instanceof Unreachable)) {
          this.tell((error as Error).message)
          return
        }
      }
      await new Promise((resolve) => setTimeout(resolve, PAUSES[Math.min(look, PAUSES.length - 1)]))
    }
  }
}

export const notes = new Notes()
