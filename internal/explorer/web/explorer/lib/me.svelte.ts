// Who the caller is, and what they may do.

import { ask } from './app.svelte'
import { Order } from './order'

export type Extent = 'yes' | 'no' | 'depends'

/** The verbs of access, in the order in which they are shown. */
export const VERBS = ['list', 'read', 'create', 'update', 'delete', 'changes']
/** The extents in words. Depends: a rule decides for each resource. */
export const EXTENTS: Record<Extent, string> = { yes: 'yes', no: 'no', depends: 'some' }

export interface Me {
  caller: string | null
  role: string | null
  sub: string | null
  key_name: string | null
  expires_at: string | null
  metrics: boolean
  keys: string[] // the roles whose API keys the caller may manage
  collections: { name: string; may: Record<string, Extent>; visible: string[]; writable: string[]; transitions?: Record<string, Record<string, Extent>> }[]
}

class Caller {
  me = $state.raw<Me | null>(null)
  settled = $state(false) // it is known, or cannot be
  keys = $state.raw<Record<string, string>>({}) // the names of API keys by their prefixes, as far as the caller may know them
  #asked = false
  #order = new Order()

  async load() {
    this.keys = {}
    this.#asked = false
    const mine = this.#order.send()
    try {
      const { data } = await ask<Me>({ path: '-/me', silent: true })
      if (mine.take()) this.me = data
    } catch {
      if (mine.take()) this.me = null // nothing depends on it
    }
    this.settled = true
  }

  /** Learns the names of API keys, once. */
  async learnKeys() {
    const { me } = this
    if (this.#asked || !me) return
    this.#asked = true
    const own = me.caller?.startsWith('key:') && me.key_name ? { [me.caller.slice(4)]: me.key_name } : {}
    this.keys = own
    if (!me.keys.length) return
    try {
      const { data } = await ask<{ prefix: string; name: string }[]>({ path: '-/keys', silent: true })
      if (this.me === me) this.keys = { ...Object.fromEntries(data.map(({ prefix, name }) => [prefix, name])), ...own }
    } catch {
      // The prefixes are shown then.
    }
  }

  /** Whether the caller's rules let a resource into a state. Where they depend on the resource, the server decides. */
  mayBecome(collection: string, attribute: string, state: string): boolean {
    return this.me?.collections.find(({ name }) => name === collection)?.transitions?.[attribute]?.[state] !== 'no'
  }

  /** What the caller is called: the name of the key, the subject, or the role. */
  get name(): string {
    const { me } = this
    return me?.key_name ?? me?.sub ?? me?.role ?? ''
  }
}

export const caller = new Caller()
