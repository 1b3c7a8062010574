// The address of the page describes its content: after /-/explorer/ it is the
// path and query of the API.

import { decode, encode, readFilters, writeFilter, type Filter } from './filters'
import { fieldAt, type Collection, type Find } from './schema'
import { isRelative, resolveTime } from './times'

export interface SortKey {
  field: string
  down: boolean
}

export interface View {
  collection: string | null // null: the start page
  parent: { collection: string; id: string } | null
  id: string | null // of the opened resource
  mode: 'read' | 'edit' | 'new'
  filters: Filter[]
  search: string
  sort: SortKey[]
  chart: string | null // what a chart is grouped by, in place of the table
  measure: string // what it shows of each group: count, or such as "sum price"
  least: string // of that, for a group to be shown; empty: any
  top: number | null // how many groups it shows
  page: string | null // another page than a list, such as that of the caller
  offset: number // position of the first row that is seen
  strange: string[] // parts of the query that we do not understand: the server says what is wrong with them
}

export const START: View = { collection: null, parent: null, id: null, mode: 'read', filters: [], search: '', sort: [], chart: null, measure: 'count', least: '', top: null, page: null, offset: 0, strange: [] }

const MEASURES = ['sum', 'avg', 'min', 'max', 'distinct'] // parameters of groups

/** Reads a path below the explorer's own, without a slash at its start. */
export function readView(path: string, query: string): View {
  const segments = path.split('/').filter(Boolean).map(decodeURIComponent)
  const { filters, others } = readFilters(query)
  const view: View = { ...START, filters, strange: [] }
  const [first, second, third, fourth] = segments
  if (first === '-') view.page = segments.slice(1).join('/') || null
  else if (segments.length > 4) view.collection = segments.join('/') // there is none
  else if (first) {
    view.collection = third ?? first
    view.parent = third ? { collection: first, id: second! } : null
    view.id = (third ? fourth : second) ?? null
  }
  if (!view.collection) return { ...view, filters: [], strange: query.replace(/^\?/, '').split('&').filter(Boolean) } // other pages have no query
  const charted = others.some((part) => part.startsWith('chart='))
  for (const part of others) {
    const [, name, value = ''] = /^(\w+)=(.*)$/.exec(decode(part)) ?? []
    if (name === 'search' && !view.search && value) view.search = value
    else if (name === 'sort' && !view.sort.length && value) view.sort = readSort(value)
    else if (name === 'chart' && /^[^,]+$/.test(value) && !view.chart) view.chart = value
    else if (charted && MEASURES.includes(name!) && /^[^,]+$/.test(value) && view.measure === 'count') view.measure = `${name} ${value}`
    else if (charted && name === 'limit' && /^[1-9]\d{0,2}$/.test(value) && view.top === null) view.top = Number(value)
    else if (name === 'offset' && /^\d{1,15}$/.test(value)) view.offset = Number(value)
    else if (name === 'view' && value === 'new' && view.collection) view.mode = 'new'
    else if (name === 'view' && value === 'edit' && view.id) view.mode = 'edit'
    else view.strange.push(part)
  }
  // What is measured is known only now.
  const least = charted ? view.strange.find((part) => decode(part).startsWith(`${leastOf(view.measure)}=`)) : undefined
  if (least) {
    view.least = decode(least).slice(leastOf(view.measure).length + 1)
    view.strange = view.strange.filter((part) => part !== least)
  }
  return view
}

/** A path of segments. An id can come from the address bar, and must not change the path. */
export const pathOf = (...segments: string[]) => segments.map(encodeURIComponent).join('/')

/** The address of a view, relative to the explorer's own. */
export function writeView(view: View): string {
  if (view.page) return `-/${pathOf(view.page)}`
  if (!view.collection) return ''
  const path = listPath(view) + (view.id && view.mode !== 'new' ? `/${pathOf(view.id)}` : '')
  const parts = queryParts(view)
  if (view.offset > 0) parts.push(`offset=${view.offset}`)
  parts.push(...chartParts(view))
  if (view.mode !== 'read') parts.push(`view=${view.mode}`)
  return path + (parts.length ? `?${parts.join('&')}` : '')
}

/** The chart of a view, as parts of the page's query. */
export const chartParts = ({ chart, measure, least, top }: View): string[] => (chart ? [`chart=${encode(chart)}`, ...measureParts(measure, least), ...(top === null ? [] : [`limit=${top}`])] : [])

/** What a chart is sorted and kept by: "count", or such as "sum.price". */
export const keyOf = (measure: string) => measure.replace(' ', '.')
/** The parameter of the least amount of a group. */
export const leastOf = (measure: string) => `having[${keyOf(measure)}][gte]`

/** What a chart shows, as parts of a query, in the page's address and in the request. */
export function measureParts(measure: string, least: string): string[] {
  const [kind, attribute] = measure.split(' ')
  return [...(attribute ? [`${kind}=${encode(attribute)}`] : []), ...(least ? [`${encode(leastOf(measure))}=${encode(least)}`] : [])]
}

/** The path of the collection or sub-collection that a view is of, in the interface. */
export function listPath(view: View): string {
  const collection = view.collection ?? ''
  return view.parent ? pathOf(view.parent.collection, view.parent.id, collection) : pathOf(collection)
}

/** The filters and the sorting of a view, and what else its address asks for, as parts of a query. */
export function queryParts(view: View): string[] {
  const parts = view.filters.map(writeFilter)
  if (view.search) parts.unshift(`search=${encode(view.search)}`)
  if (view.sort.length) parts.push(`sort=${writeSort(view.sort)}`)
  parts.push(...view.strange)
  return parts
}

/** The view with dates in place of relative ones such as "last 7 days", computed from the current time. */
export function resolved(view: View, collection: Collection, find: Find): View {
  if (!view.filters.some(({ value }) => isRelative(value))) return view
  return { ...view, filters: view.filters.map((each) => ({ ...each, value: resolveTime(each.value, fieldAt(collection, each.field, find)?.format) })) }
}

/** A key that is equal for two views that show the same list. */
export const listKey = (view: View) => `${listPath(view)}?${queryParts(view).join('&')}`

export function readSort(text: string): SortKey[] {
  return text
    .split(',')
    .filter(Boolean)
    .map((key) => (key.startsWith('-') ? { field: key.slice(1), down: true } : { field: key, down: false }))
}

export const writeSort = (sort: SortKey[]) => sort.map((key) => (key.down ? '-' : '') + encode(key.field)).join(',')

/** The sort after a click on a header: ascending, descending, none. With `more`, the other keys stay. */
export function sortBy(sort: SortKey[], field: string, more: boolean): SortKey[] {
  const now = sort.find((key) => key.field === field)
  const next = !now ? { field, down: false } : !now.down ? { field, down: true } : null
  if (!more) return next ? [next] : []
  if (!now) return [...sort, { field, down: false }]
  return sort.flatMap((key) => (key.field !== field ? [key] : next ? [next] : []))
}
