// Editing one cell: the same checks, conflicts and errors as in a form.

import { Refused } from './api'
import { ask, catalog, explain, session } from './app.svelte'
import { bodyOf, entryOf, sortFaults, type Entry } from './form'
import { same } from './json'
import { caller } from './me.svelte'
import { offered, whyRuled } from './rules'
import type { Attribute, Collection, Field, Resource } from './schema'
import { pathOf } from './url'

/** Whether a value can be edited in its cell; longer ones have a form. */
export function editsInCell(attribute: Attribute, value: unknown): boolean {
  if (attribute.type === 'object' || attribute.type === 'array') return false
  return !(typeof value === 'string' && (value.includes('\n') || value.length > 500))
}

/** Why a field cannot be changed; null if it can. */
export function whyFixed(collection: Collection, field: Field): string | null {
  const { rights } = catalog
  const changes = rights.may('PATCH', collection.name)
  if (changes && field.own) return `${field.name} is set by the server.`
  const rule = whyRuled(field, true)
  if (changes && rule) return rule
  if (changes && rights.mayWrite('PATCH', collection.name, field.name)) return null
  const what = changes ? field.name : collection.name
  return session.guarded ? `You may not change ${what}.` : `${what} cannot be changed.`
}

/** Why a change of one attribute was refused. What is wrong elsewhere says where. */
export function refusalOf(error: unknown, attribute: Attribute): string {
  if (!(error instanceof Refused) || (error.status !== 422 && error.status !== 409)) return explain(error).detail
  const { at, rest } = sortFaults(error.faults, [attribute])
  return [...(at[attribute.name] ?? []), ...rest.map(({ detail, source }) => (source?.pointer ? `${source.pointer.slice(1)}: ${detail}` : detail))].join(' ')
}

export class CellEdit {
  entry = $state.raw<Entry>({ is: 'absent' })
  problem = $state('')
  theirs = $state.raw<{ value: unknown; etag: string | null } | null>(null) // somebody else has changed it
  busy = $state(false)
  saved: Promise<Resource | null | undefined> = Promise.resolve(null)
  private etag: Promise<string | null | undefined>

  constructor(
    readonly collection: Collection,
    readonly attribute: Attribute,
    private row: Resource,
  ) {
    this.entry = entryOf(attribute, row[attribute.name])
    this.etag = this.read().catch(() => null)
  }

  /** The attribute with the choices that there are from its value. */
  get choice(): Attribute {
    return offered(this.attribute, this.row[this.attribute.name], (state) => caller.mayBecome(this.collection.name, this.attribute.name, state))
  }

  private get path() {
    return pathOf(this.collection.name, this.row.id)
  }

  /** The ETag of what is shown; undefined if it is another value by now. */
  private async read(): Promise<string | null | undefined> {
    const { data, headers } = await ask<Resource>({ path: this.path, silent: true })
    return same(data[this.attribute.name], this.row[this.attribute.name]) ? headers.get('ETag') : undefined
  }

  /** Saves it. Returns the resource as it is then, null if nothing was to be changed, or undefined if there is a problem. */
  save(): Promise<Resource | null | undefined> {
    return (this.saved = this.send())
  }

  private async send(): Promise<Resource | null | undefined> {
    const { body, problems } = bodyOf([this.attribute], { [this.attribute.name]: this.entry }, this.row)
    if (problems[this.attribute.name]) {
      this.problem = problems[this.attribute.name]![0]!
      return undefined
    }
    if (!Object.keys(body).length) return null
    this.busy = true
    this.problem = ''
    try {
      const etag = await this.etag
      if (etag === undefined) return await this.again(body)
      const { data } = await ask<Resource>({ method: 'PATCH', path: this.path, headers: etag ? { 'If-Match': etag } : {}, body })
      return data
    } catch (error) {
      if (error instanceof Refused && error.status === 412) return await this.again(body)
      this.problem = refusalOf(error, this.attribute)
      return undefined
    } finally {
      this.busy = false
    }
  }

  /** It has changed since it was read. Other attributes do not matter here. */
  private async again(body: Record<string, unknown>): Promise<Resource | undefined> {
    try {
      const { data, headers } = await ask<Resource>({ path: this.path, silent: true })
      const etag = headers.get('ETag')
      if (!same(data[this.attribute.name], this.row[this.attribute.name])) {
        this.theirs = { value: data[this.attribute.name], etag }
        return undefined
      }
      return (await ask<Resource>({ method: 'PATCH', path: this.path, headers: etag ? { 'If-Match': etag } : {}, body })).data
    } catch (error) {
      this.problem = refusalOf(error, this.attribute)
      return undefined
    }
  }

  /** Overwrites what somebody else has made of it. */
  overwrite(): Promise<Resource | null | undefined> {
    this.row = { ...this.row, [this.attribute.name]: this.theirs!.value }
    this.etag = Promise.resolve(this.theirs!.etag)
    this.theirs = null
    return this.save()
  }
}
