// State shared by the whole page: its view, the credential, the requests sent, the
// collections, and pending operations.

import { client, mayPass, Refused, Unreachable, type Exchange } from './api'
import { Order } from './order'
import { Rights, type Description } from './paths'
import type { Collection } from './schema'
import { listPath, readView, START, writeView, type View } from './url'

const base = new URL('.', document.baseURI) // ends with /-/explorer/
const home = base.pathname.replace(/\/$/, '')

class Router {
  view = $state.raw<View>(START)
  jumps = $state(0) // how often the view was moved by anything but scrolling
  begin: string | null = null // the attribute that the next form begins with
  unsaved: () => boolean = () => false // whether an open form holds what leaving it would lose
  leaving = $state.raw<(() => void) | null>(null) // goes on, though input is lost; until the user has decided

  constructor() {
    this.read()
    addEventListener('popstate', () => {
      // The browser has already changed the address: restore that of the current view. The other is behind it then.
      if (!this.read(location, () => history.back())) history.pushState(null, '', this.href(this.view))
    })
    addEventListener('beforeunload', (event) => this.unsaved() && event.preventDefault())
  }

  /** Goes to the view of an address, unless the user has to decide on unsaved input before. */
  private read({ pathname, search }: { pathname: string; search: string } = location, again = () => {}): boolean {
    const next = readView(pathname.slice(base.pathname.length), search)
    if (!this.mayLeaveFor(next, again)) return false
    this.view = next
    this.jumps++
    return true
  }

  private mayLeaveFor(next: View, again: () => void): boolean {
    const stays = next.id === this.view.id && next.mode === this.view.mode && listPath(next) === listPath(this.view)
    if (stays || !this.unsaved()) return true
    this.leaving = again
    return false
  }

  /** The user decided to lose the input. */
  leave() {
    const again = this.leaving!
    this.leaving = null
    this.unsaved = () => false
    again()
  }

  /** Goes to a view, as a new entry of the history, or in place of the last one; the form there begins with an attribute. */
  go(change: Partial<View>, replace = false, begin: string | null = null) {
    const next = { ...this.view, ...change }
    if (!this.mayLeaveFor(next, () => this.go(change, replace, begin))) return
    this.begin = begin
    this.view = next
    if (replace) history.replaceState(null, '', this.href(this.view))
    else history.pushState(null, '', this.href(this.view))
    this.jumps++
  }

  /** Stores the position after scrolling in the address. */
  note(offset: number) {
    if (offset === this.view.offset) return
    this.view = { ...this.view, offset }
    history.replaceState(null, '', this.href(this.view))
  }

  href(view: Partial<View>): string {
    const address = writeView({ ...START, ...view })
    return address ? `${home}/${address}` : home
  }

  private visit(link: HTMLAnchorElement) {
    if (this.read(link, () => this.visit(link))) history.pushState(null, '', link.href)
  }

  /** Follows a link within the page without loading a new page. */
  follow(event: MouseEvent) {
    const link = (event.target as Element).closest?.('a[href]') as HTMLAnchorElement | null
    if (!link || event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
    if (link.target || link.origin !== location.origin || !(link.pathname === home || link.pathname.startsWith(base.pathname))) return
    event.preventDefault()
    this.visit(link)
  }
}

export const router = new Router()

const KEY = 'plural.credential'

class Session {
  credential = $state<string | null>(sessionStorage.getItem(KEY) ?? localStorage.getItem(KEY))
  guarded = $state(false) // access is configured
  asking = $state(false) // the sign-in is open
  ends = $state(0) // how often the user signed out

  constructor() {
    if (this.credential !== null) sessionStorage.setItem(KEY, this.credential) // the reference looks here
  }

  /** Keeps the credential in this tab, or until the user signs out. */
  set(credential: string | null, stay = false) {
    this.credential = credential
    if (credential === null) sessionStorage.removeItem(KEY)
    else sessionStorage.setItem(KEY, credential)
    if (credential !== null && stay) localStorage.setItem(KEY, credential)
    else localStorage.removeItem(KEY)
  }

  end() {
    this.set(null)
    this.ends++
  }
}

export const session = new Session()

const MOST_EXCHANGES = 50

class Log {
  exchanges = $state.raw<Exchange[]>([]) // the latest first
  incomplete = $state(false) // a request had no response since everything was loaded

  began = (exchange: Exchange) => {
    this.exchanges = [exchange, ...this.exchanges.slice(0, MOST_EXCHANGES - 1)]
  }
  ended = (exchange: Exchange) => {
    this.exchanges = this.exchanges.map((each) => (each.id === exchange.id ? exchange : each))
  }
  gaveUp = (exchange: Exchange) => {
    this.exchanges = this.exchanges.filter((each) => each.id !== exchange.id)
  }
  missed = () => {
    this.incomplete = true
  }
}

export const log = new Log()

export const root = new URL('../../', base).href
/** The header of the newest version of the interface, whatever version the key is for. Empty: there are no versions. */
const newest = document.querySelector<HTMLMetaElement>('meta[name="api-version"]')?.content
export const version: Record<string, string> = newest === undefined ? {} : { 'API-Version': newest }
export const ask = client({ root, version, credential: () => session.credential, ...log })

class Catalog {
  collections = $state.raw<Collection[]>([])
  state = $state<'loading' | 'ready' | 'failed'>('loading')
  trouble = $state.raw<Error | null>(null)
  rights = $state.raw(new Rights({ paths: {} }))
  versions = $state.raw<number[]>([]) // of the interface, that API keys can be for
  title = $state('Explorer') // of the interface, when it is known
  followed = $state(false) // the caller may read the changes of all collections
  #lists = new Order()
  #documents = new Order()

  find(name: string | null): Collection | undefined {
    return this.collections.find((collection) => collection.name === name)
  }
  named = (name: string) => this.find(name)

  /** Loads everything, or after a change only what the change can have affected. */
  async load(afterChange = false) {
    const by = session.credential
    const mine = this.#lists.send()
    const whole = afterChange ? null : this.#documents.send()
    try {
      const [list, document] = await Promise.all([
        ask<Collection[]>({ path: '', silent: afterChange }),
        afterChange ? null : ask<undefined, Description>({ path: '-/openapi.json', cached: true, silent: true }),
      ])
      if (by !== session.credential) return // another caller has come, for whom it is loaded as well
      if (document && whole?.take()) {
        this.rights = new Rights(document.body)
        this.title = document.body.info?.title || 'Explorer'
        this.versions = (document.body.info?.['x-plural-versions'] ?? []).map(({ version }) => version)
      }
      if (!mine.take()) return
      session.guarded = /\bauthorization\b/i.test(list.headers.get('Vary') ?? '')
      // Changes have no offsets and no order to choose, which every table here needs.
      this.followed = list.data.some(({ name }) => name === 'changes')
      this.collections = list.data.filter(({ name }) => name !== 'changes')
      this.state = 'ready'
      this.trouble = null
      // Without permissions the catalog is empty, except for operations, which every caller has.
      if (session.guarded && !session.credential && list.data.every(({ name }) => name === 'operations')) session.asking = true
    } catch (error) {
      if (by !== session.credential || !(whole ?? mine).fails(error)) return
      if (!whole && error instanceof Refused && mayPass(error)) return // only the totals cannot be had now
      this.trouble = error as Error
      if (error instanceof Refused && error.status === 401) {
        session.guarded = true
        session.asking = true
      }
      if (this.state === 'loading' || error instanceof Refused) this.state = 'failed'
    }
  }
}

export const catalog = new Catalog()

class Changes {
  count = $state(0) // of changes that we have made, or that have been carried out for us

  made() {
    this.count++
    void catalog.load(true)
  }
}

export const changes = new Changes()

/** The text of an error for the user. */
export function explain(error: unknown): { title: string; detail: string } {
  if (error instanceof Unreachable)
    return { title: 'No response', detail: navigator.onLine ? 'The server cannot be reached.' : 'You are offline.' }
  if (error instanceof Refused) {
    const [first] = error.faults
    const wait = error.headers.get('Retry-After')
    return { title: first?.title ?? `Status ${error.status}`, detail: `${error.message}${wait ? ` Try again in ${wait} s.` : ''}` }
  }
  return { title: 'Something went wrong', detail: String(error) }
}
