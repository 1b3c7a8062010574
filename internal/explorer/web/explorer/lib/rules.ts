// Rules of the data: what the server computes, what is set once, and lifecycles. The server keeps them; here they decide what is offered.

import type { Attribute, Collection } from './schema'

/** Whether a dry run says more of a collection than its attributes do. */
export const hasRules = ({ checks, attributes }: Collection): boolean => !!checks?.length || attributes.some(({ computed }) => computed !== undefined)

/** The errors of rules, which are told as soon as the server finds them. Other errors wait until their attribute was edited. */
export const RULES = new Set(['check', 'transition', 'out_of_range'])

/** Why a value cannot be given by anybody, of a resource that exists or of a new one; null if no rule prevents it. */
export function whyRuled({ computed, when, write_once }: Attribute, exists: boolean): string | null {
  if (computed !== undefined) return `The server computes this${when ? ' when the resource is created' : ''}${computed === null ? '.' : `: ${computed}`}`
  return write_once && exists ? 'Set when the resource is created; it cannot be changed.' : null
}

/** Whether a resource that is created again has the same value: it can be sent, or follows from what can be. */
export function returns(attribute: Attribute, all: Attribute[], maySend: (name: string) => boolean): boolean {
  const { name, computed, when } = attribute
  if (computed === undefined) return maySend(name)
  if (computed === null || when || /\b(auth|now|previous)\b/.test(computed)) return false
  return all.every((other) => other.computed === undefined || other === attribute || !new RegExp(`\\bresource\\s*\\.\\s*${other.name}\\b`).test(computed) || returns(other, all, maySend))
}

type May = (state: string) => boolean

/** The states that may follow one, as far as the caller may bring a resource into them. */
export const nextStates = ({ transitions }: Attribute, from: unknown, may: May): string[] => (transitions?.[String(from)] ?? []).filter((state) => state !== from && may(state))

/** The attribute with the states that a form offers: for a new resource the first ones, else the present one and what may follow. */
export function offered(attribute: Attribute, from: unknown, may: May): Attribute {
  const { transitions, initial } = attribute
  if (!transitions || !attribute.enum) return attribute
  const states = from === undefined ? (initial ?? attribute.enum.map(String)).filter(may) : [from, ...nextStates(attribute, from, may)]
  return { ...attribute, enum: attribute.enum.filter((state) => states.includes(String(state))) }
}

/** The attribute with the states that something leads to, for resources in any state. */
export function reachable(attribute: Attribute, may: May): Attribute {
  const { transitions } = attribute
  if (!transitions || !attribute.enum) return attribute
  const states = new Set(Object.values(transitions).flat().filter(may))
  return { ...attribute, enum: attribute.enum.filter((state) => states.has(String(state))) }
}

export interface State {
  name: string
  initial: boolean
  next: string[]
}

/** A transition in a drawing, between rows. Lane 0 is the straight way to the next row; others are arcs, further away the higher the lane. */
export interface Arc {
  from: number
  to: number
  lane: number
}

/** A lifecycle as it is drawn: one state in each row, the first ones above. */
export function drawingOf({ transitions = {}, initial, enum: all = [] }: Attribute): { states: State[]; arcs: Arc[] } {
  const names = [...new Set([...(initial ?? []), ...all.map(String)])]
  const order: string[] = []
  const visit = (queue: string[]) => {
    for (let name = queue.shift(); name !== undefined; name = queue.shift()) {
      if (order.includes(name)) continue
      order.push(name)
      queue.push(...(transitions[name] ?? []))
    }
  }
  for (const name of names) if (!order.includes(name)) visit(initial?.includes(name) && !order.length ? [...initial] : [name])
  const ways = order.flatMap((name, from) => (transitions[name] ?? []).map((next) => ({ from, to: order.indexOf(next) }))).filter(({ from, to }) => from !== to)
  const arcs: Arc[] = []
  // Short ones are inside of long ones. Those that lead down are right of the states, those that lead up are left of them.
  for (const way of ways.toSorted((a, b) => Math.abs(a.to - a.from) - Math.abs(b.to - b.from))) {
    const inTheWay = arcs.filter(({ from, to, lane }) => lane > 0 && to > from === way.to > way.from && Math.max(Math.min(from, to), Math.min(way.from, way.to)) < Math.min(Math.max(from, to), Math.max(way.from, way.to)))
    let lane = way.to === way.from + 1 ? 0 : 1
    while (lane > 0 && inTheWay.some((other) => other.lane === lane)) lane++
    arcs.push({ ...way, lane })
  }
  return { states: order.map((name) => ({ name, initial: initial?.includes(name) ?? true, next: (transitions[name] ?? []).filter((next) => next !== name) })), arcs }
}
