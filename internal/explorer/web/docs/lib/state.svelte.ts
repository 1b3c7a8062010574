// State of the page: the document, the credential, and which part of the reference is shown.

import { parse } from '../../explorer/lib/json'
import { Order } from '../../explorer/lib/order'
import { askForDocument, base, KEY, keptCredential, takeFirst, version } from './early'
import type { Json, OpenAPI } from './openapi'
import { referenceOf, type Reference, type Section } from './reference'
import { stepsOf, versionHeader, type Referred, type Request, type Sample } from './request'

export const home = base.pathname.replace(/\/$/, '')
/** URL of the interface, without a slash at its end. */
export const root = new URL('../../', base).href.replace(/\/$/, '')
export const explorer = new URL('../explorer', base).pathname

class Session {
  credential = $state(keptCredential())
  asking = $state(false) // the sign-in is open

  set(credential: string | null) {
    this.credential = credential
    if (credential !== null) return sessionStorage.setItem(KEY, credential)
    sessionStorage.removeItem(KEY)
    localStorage.removeItem(KEY)
  }

  headers(): Record<string, string> {
    return this.credential ? { Authorization: `Bearer ${this.credential}` } : {}
  }
}

export const session = new Session()

/** What the first error of an answer says. */
function detailOf(text: string): string | undefined {
  try {
    return (JSON.parse(text) as { errors?: { detail: string }[] }).errors?.[0]?.detail
  } catch {
    return undefined
  }
}

class Documents {
  reference = $state.raw<Reference | null>(null)
  trouble = $state('') // why there is none
  invalid = $state(false) // the credential is not valid
  #order = new Order()

  async load() {
    const mine = this.#order.send()
    try {
      const response = await (takeFirst() ?? askForDocument(session.credential))
      const text = await response.text()
      if (!mine.take()) return
      this.invalid = response.status === 401
      if (!response.ok) {
        this.trouble = this.invalid ? 'Your key or token is not valid.' : (detailOf(text) ?? `The server answered with ${response.status}.`)
        return
      }
      this.reference = referenceOf(JSON.parse(text) as OpenAPI)
      this.trouble = ''
    } catch (error) {
      if (mine.fails(error)) this.trouble = 'The server cannot be reached.'
    }
  }
}

export const documents = new Documents()

/** A collection as GET / describes it. */
interface Described {
  name: string
  total: number | null
  attributes: { name: string; references?: string }[]
}

class Samples {
  private firsts = new Map<string, Promise<Sample | undefined>>()
  private described: Promise<Described[] | undefined> | undefined

  /** A resource of a collection, or null. */
  async of(section: Section): Promise<Sample> {
    const lists = section.operations.some(({ kind }) => kind === 'list' || kind === 'changes')
    return (lists ? await this.first(section.name) : null) ?? null
  }

  /** What the references of a new resource can point to, as far as the caller may see it. */
  async referredBy(section: Section): Promise<Referred> {
    if (!section.operations.some(({ kind }) => kind === 'create')) return {}
    const own = (await (this.described ??= this.get<Described[]>('')))?.find(({ name }) => name === section.name)
    const links = (own?.attributes ?? []).filter(({ references }) => references)
    const found = await Promise.all(links.map(async ({ name, references }) => {
      const asked = await this.first(references!)
      return asked === undefined ? [] : [[name, { collection: references!, id: asked ? String(asked.id) : null }] as const]
    }))
    return Object.fromEntries(found.flat())
  }

  /** The steps of a transaction on a collection that has resources, if there is one. */
  async steps({ sections }: Reference): Promise<Json[]> {
    const all = (await (this.described ??= this.get<Described[]>(''))) ?? []
    const section = sections.find(({ name, operations }) => operations.some(({ kind }) => kind === 'update') && all.some((each) => each.name === name && each.total))
    return section ? stepsOf(section, await this.of(section), await this.referredBy(section)) : []
  }

  /** The first resource of a collection, null if there is none, or undefined if the caller may not list them. */
  private first(name: string): Promise<Sample | undefined> {
    const known = this.firsts.get(name)
    if (known) return known
    const asked = this.get<Sample[]>(`${name}?limit=1`).then((data) => data && (data[0] ?? null))
    this.firsts.set(name, asked)
    return asked
  }

  private async get<T>(path: string): Promise<T | undefined> {
    try {
      const response = await fetch(`${root}/${path}`, { headers: { Accept: 'application/json', ...versionHeader(documents.reference?.info['x-plural-version']), ...session.headers() } })
      return response.ok ? (parse(await response.text()) as { data: T }).data : undefined
    } catch {
      return undefined
    }
  }

  clear() {
    this.firsts.clear()
    this.described = undefined
  }
}

export const samples = new Samples()

export interface Outcome {
  status: number // 0: there is no answer
  text: string // of the status
  took: number // milliseconds
  headers: [string, string][]
  body: string
}

export async function send(request: Request): Promise<Outcome> {
  const started = performance.now()
  try {
    const response = await fetch(root + request.path, {
      method: request.method,
      headers: { Accept: 'application/json', ...request.headers, ...session.headers() },
      body: request.body,
      cache: 'no-store',
    })
    const body = await response.text()
    return { status: response.status, text: response.statusText, took: performance.now() - started, headers: [...response.headers], body }
  } catch (error) {
    return { status: 0, text: 'No answer', took: performance.now() - started, headers: [], body: error instanceof TypeError ? 'The server cannot be reached, or the request cannot be sent.' : String(error) }
  }
}

/** What is shown: a section by its name, empty for the start, and an operation of it. */
class Router {
  section = $state('')
  operation = $state('')
  moves = $state(0) // how often somebody went somewhere

  constructor() {
    this.read(location)
    addEventListener('popstate', () => this.read(location))
  }

  private read({ pathname, hash }: { pathname: string; hash: string }) {
    this.section = decodeURIComponent(pathname.slice(base.pathname.length))
    this.operation = decodeURIComponent(hash.slice(1))
    this.moves++
  }

  href(section: string, operation = ''): string {
    return `${home}${section && `/${section}`}${version}${operation && `#${operation}`}`
  }

  /** The reference of another version, without the place in this one: names may differ. */
  versionHref(number: number): string {
    return `${home}?version=${number}`
  }

  /** Follows a link within the reference without loading the page again. */
  follow(event: MouseEvent) {
    const link = (event.target as Element).closest?.('a[href]') as HTMLAnchorElement | null
    if (!link || event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
    if (link.target || link.origin !== location.origin || !(link.pathname === home || link.pathname.startsWith(base.pathname))) return
    event.preventDefault()
    if (link.href !== location.href) history.pushState(null, '', link.href)
    this.read(link)
  }
}

export const router = new Router()
