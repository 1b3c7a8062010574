// A request of the reference, as the writers of programs need it.

import type { Operation } from './reference'

/** What the writers of programs need of a request. */
export interface Call {
  operation: Operation
  root: string // URL of the interface, without a slash at its end
  signed: boolean // credentials are needed
  given: Record<string, string> // parameters that have a value, by their names
  ids: Record<string, string> // parameters of the path
  filters: Condition[] | null // null: some that the clients have no call for
  body: unknown // undefined: none, or not JSON
}

export interface Condition {
  field: string
  operator: string
  value: unknown // a list for in and not_in
}

/** Whether no other parameters have a value. */
export const only = (call: Call, ...names: string[]) => Object.keys(call.given).every((name) => names.includes(name)) && call.filters !== null

/** Whether Prefer, if it is given, asks for a count and nothing else. */
export const countsOnly = (call: Call) => call.given.Prefer === undefined || call.given.Prefer === 'count=exact'

export const keysOf = (text: string | undefined) => (text ?? '').split(',').map((each) => each.trim()).filter(Boolean)
