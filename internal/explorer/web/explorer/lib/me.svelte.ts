// Who the caller is, and what they may do.

import { ask } from './app.svelte'

export interface Me {
  caller: string | null
  role: string | null
  sub: string | null
  key_name: string | null
  expires_at: string | null
  metrics: boolean
  keys: string[] // the roles whose API keys the caller may manage
  collections: { name: string; may: Record<string, 'yes' | 'no' | 'depends'>; visible: string[]; writable: string[] }[]
}

class Caller {
  me = $state.raw<Me | null>(null)

  async load() {
    try {
      this.me = (await ask<Me>({ path: '-/me', silent: true })).data
    } catch {
      this.me = null // nothing depends on it
    }
  }

  /** What the caller is called: the name of the key, the subject, or the role. */
  get name(): string {
    const { me } = this
    return me?.key_name ?? me?.sub ?? me?.role ?? ''
  }
}

export const caller = new Caller()
