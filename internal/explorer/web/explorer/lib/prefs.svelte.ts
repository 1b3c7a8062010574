// What a person has chosen for a collection, kept in this browser: columns and saved views.

import { root } from './app.svelte'
import { DEFAULT, type Choice } from './columns'

export interface SavedView {
  name: string
  query: string // of the address
}

const place = new URL(root).pathname // several servers can be mounted on one origin

function read<T>(kind: string, collection: string, otherwise: T): T {
  try {
    const text = localStorage.getItem(`plural.${kind}${place}${collection}`)
    return text === null ? otherwise : { ...otherwise, ...JSON.parse(text) }
  } catch {
    return otherwise // another version has written it, or nothing can be kept
  }
}

class Prefs {
  private columns = $state.raw<Record<string, Choice>>({})
  private views = $state.raw<Record<string, SavedView[]>>({})

  choiceOf(collection: string): Choice {
    return this.columns[collection] ?? read('columns', collection, DEFAULT)
  }

  choose(collection: string, choice: Choice) {
    this.columns = { ...this.columns, [collection]: choice }
    this.keep('columns', collection, choice)
  }

  viewsOf(collection: string): SavedView[] {
    return this.views[collection] ?? read<{ all: SavedView[] }>('views', collection, { all: [] }).all
  }

  save(collection: string, all: SavedView[]) {
    this.views = { ...this.views, [collection]: all }
    this.keep('views', collection, { all })
  }

  private keep(kind: string, collection: string, value: unknown) {
    try {
      localStorage.setItem(`plural.${kind}${place}${collection}`, JSON.stringify(value))
    } catch {
      // It holds until the page is closed.
    }
  }
}

export const prefs = new Prefs()
