// Requests to the server, and their outcomes: a response, an error response, or no response.

import type { Fault } from './form'
import { parse, stringify } from './json'

export interface Ask {
  method?: string
  path: string // below the root of the interface, with its query
  headers?: Record<string, string>
  body?: unknown
  signal?: AbortSignal
  cached?: boolean // the browser keeps it, and asks whether it is still the same
  silent?: boolean // it is not an action of its own, and not shown
}

export interface Answer<T, Body = { data: T }> {
  status: number
  data: T
  body: Body // all of it: what is below /-/ is not in the envelope
  headers: Headers
}

/** The server has answered with errors. */
export class Refused extends Error {
  constructor(
    readonly status: number,
    readonly faults: Fault[],
    readonly headers: Headers,
  ) {
    super(faults[0]?.detail ?? `The server answered with ${status}.`)
  }
}

/** Whether the same request may succeed later: the error was not caused by the request. */
export const mayPass = (error: unknown) => !(error instanceof Refused && error.status < 500 && error.status !== 429)

/** There was no response that could be read. */
export class Unreachable extends Error {
  constructor() {
    super('The server cannot be reached.')
  }
}

/** A request and its outcome, as they are shown. */
export interface Exchange {
  id: number
  method: string
  url: string
  headers: Record<string, string>
  body: string | null
  signedIn: boolean
  status: number | null // null: not yet; 0: no answer
  took: number // milliseconds
}

/** Whether a request only asks what it would do. */
export const isDry = (url: string) => /[?&]dry_run=true/.test(url)

export interface Setting {
  root: string // URL of the interface, with a slash at its end
  version: Record<string, string> // the header of the version that the page is made for
  credential: () => string | null
  began: (exchange: Exchange) => void
  ended: (exchange: Exchange) => void
  gaveUp: (exchange: Exchange) => void
  missed: () => void // there was no response
}

export function client(setting: Setting) {
  let last = 0
  return async function ask<T, Body = { data: T }>(request: Ask): Promise<Answer<T, Body>> {
    const headers: Record<string, string> = { ...setting.version, ...request.headers }
    const body = request.body === undefined ? null : stringify(request.body)
    if (body !== null) headers['Content-Type'] = 'application/json'
    const credential = setting.credential()
    const exchange: Exchange = {
      id: ++last,
      method: request.method ?? 'GET',
      url: setting.root + request.path,
      headers,
      body,
      signedIn: credential !== null,
      status: null,
      took: 0,
    }
    if (!request.silent) setting.began(exchange)
    const started = performance.now()
    const end = (status: number) => {
      if (!request.silent) setting.ended({ ...exchange, status, took: performance.now() - started })
    }
    let response: Response
    let text: string
    try {
      response = await fetch(exchange.url, {
        method: exchange.method,
        headers: { Accept: 'application/json', ...headers, ...(credential && { Authorization: `Bearer ${credential}` }) },
        body,
        signal: request.signal ?? null,
        cache: request.cached ? 'no-cache' : 'no-store',
        credentials: 'same-origin', // for a proxy that asks for some
      })
      text = await response.text()
    } catch (error) {
      if (request.signal?.aborted) {
        if (!request.silent) setting.gaveUp(exchange)
        throw error
      }
      end(0)
      setting.missed()
      throw new Unreachable()
    }
    end(response.status)
    const envelope = text === '' ? {} : (read(text) as { data?: T; errors?: Fault[] } | null)
    if (envelope === null && response.ok) throw new Unreachable() // something else answers there
    if (!response.ok) throw new Refused(response.status, envelope?.errors ?? [], response.headers)
    return { status: response.status, data: envelope!.data as T, body: envelope as Body, headers: response.headers }
  }
}

function read(text: string): unknown {
  try {
    return parse(text)
  } catch {
    return null
  }
}

export type Client = ReturnType<typeof client>

export function totalOf(headers: Headers): number | null {
  const total = headers.get('X-Total-Count')
  return total === null ? null : Number(total)
}

/** A random key, also where the page is not secure enough for crypto.randomUUID. */
export function randomKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('')
}
