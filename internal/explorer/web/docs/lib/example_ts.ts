// The request as a program that uses the generated TypeScript client.

import { countsOnly, keysOf, only, type Call, type Condition } from './call'

const isName = (name: string) => /^[A-Za-z_$][\w$]*$/.test(name)
const member = (name: string) => (isName(name) ? `.${name}` : `[${JSON.stringify(name)}]`)

/** JSON as a literal of TypeScript. */
function literal(value: unknown, indent = ''): string {
  if (typeof value === 'bigint') return `${value}n`
  if (value === null || typeof value !== 'object') return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map((each) => literal(each, indent)).join(', ')}]`
  const members = Object.entries(value).map(([name, each]) => `${isName(name) ? name : JSON.stringify(name)}: ${literal(each, `${indent}  `)}`)
  const line = `{ ${members.join(', ')} }`
  if (members.length === 0) return '{}'
  if (line.length + indent.length <= 90 && !line.includes('\n')) return line
  return `{\n${members.map((each) => `${indent}  ${each},\n`).join('')}${indent}}`
}

function filterOf(conditions: Condition[]): Record<string, unknown> {
  const filter: Record<string, unknown> = {}
  for (const { field, operator, value } of conditions) {
    const before = filter[field]
    if (!operator && before === undefined) filter[field] = value
    else filter[field] = { ...(typeof before === 'object' ? before : before === undefined ? {} : { eq: before }), [operator || 'eq']: value }
  }
  return filter
}

/** Filters, order and range as one object. */
function query({ filters, given }: Call): Record<string, unknown> {
  const sort = keysOf(given.sort)
  return {
    ...Object.fromEntries(['by', 'sum', 'avg', 'min', 'max'].filter((name) => given[name]).map((name) => [name, keysOf(given[name])])),
    ...(filters!.length && { filter: filterOf(filters!) }),
    ...(sort.length && { sort: sort.length === 1 ? sort[0] : sort }),
    ...Object.fromEntries(['cursor', 'since'].filter((name) => given[name]).map((name) => [name, given[name]])),
    ...Object.fromEntries(['offset', 'limit'].filter((name) => given[name]).map((name) => [name, Number(given[name])])),
    ...(given.Prefer && { count: 'exact' }),
  }
}

function options({ given }: Call): unknown[] {
  const all = { ...(given['If-Match'] && { ifMatch: given['If-Match'] }), ...(given['Idempotency-Key'] && { idempotencyKey: given['Idempotency-Key'] }) }
  return Object.keys(all).length ? [all] : []
}

const RANGE = ['sort', 'cursor', 'offset', 'limit']

/** The call and what is taken of its result, or null if the client has none. */
function expression(call: Call): { text: string; result: string } | null {
  const { operation, given, ids, body } = call
  const one = ['If-Match', 'Idempotency-Key']
  const [parent] = Object.entries(ids).find(([key]) => key !== 'id') ?? []
  const of = operation.parent ? `api${member(operation.parent)}.of(${literal(ids[parent!])})${member(operation.collection)}` : `api${member(operation.collection)}`
  const calls = (method: string, args: unknown[], result = '{ data }') => ({ text: `${of}.${method}(${args.map((each) => literal(each)).join(', ')})`, result })
  const optional = (value: object) => (Object.keys(value).length ? [value] : [])
  switch (operation.kind) {
    case 'list':
      return only(call, ...RANGE, 'Prefer') && countsOnly(call) ? calls('list', optional(query(call))) : null
    case 'get':
      return only(call) ? calls('get', [ids.id], '{ data, etag }') : null
    case 'create':
      if (Array.isArray(body)) return only(call, 'Idempotency-Key') ? calls('createMany', [body, ...options(call)]) : null
      if (body === undefined || !only(call, 'on_conflict', 'Idempotency-Key')) return null
      if (given.on_conflict) return calls('upsert', [given.on_conflict.includes(',') ? keysOf(given.on_conflict) : given.on_conflict, body, ...options(call)], '{ data, created }')
      return calls('create', [body, ...options(call)], '{ data, etag }')
    case 'replace':
    case 'update':
      return body !== undefined && only(call, ...one) ? calls(operation.kind, [ids.id, body, ...options(call)], '{ data, etag }') : null
    case 'delete':
      return only(call, ...one) ? calls('delete', [ids.id, ...options(call)]) : null
    case 'updateMany':
      return body !== undefined && only(call, ...RANGE, 'Idempotency-Key') ? calls('updateMany', [query(call), body, ...options(call)]) : null
    case 'deleteMany':
      return only(call, ...RANGE, 'Idempotency-Key') ? calls('deleteMany', [query(call), ...options(call)]) : null
    case 'groups':
      return only(call, 'by', 'sum', 'avg', 'min', 'max', 'sort', 'offset', 'limit', 'Prefer') && countsOnly(call) ? calls('groups', optional(query(call))) : null
    case 'history':
      if (!only(call, 'cursor', 'since', 'limit') || call.filters!.length) return null
      return { text: `${of}.history(${literal(ids.id)}).list(${optional(query(call)).map((each) => literal(each)).join('')})`, result: '{ data }' }
    case 'changes':
      return only(call, 'cursor', 'since', 'limit') && !call.filters!.length ? { text: `api.changes.list(${optional(query(call)).map((each) => literal(each)).join('')})`, result: '{ data }' } : null
    case 'change':
      return only(call) ? { text: `api.changes.get(${literal(ids.id)})`, result: '{ data }' } : null
    case 'me':
      return { text: 'api.$me()', result: '{ data }' }
    case 'keys':
      return { text: 'api.$keys.list()', result: '{ data }' }
    case 'key':
    case 'revokeKey':
      return { text: `api.$keys.${operation.kind === 'key' ? 'get' : 'revoke'}(${literal(ids.prefix)})`, result: '{ data }' }
    case 'createKey':
    case 'can':
      return body === undefined ? null : { text: `api.${operation.kind === 'can' ? '$can' : '$keys.create'}(${literal(body)})`, result: '{ data }' }
    default:
      return null
  }
}

export function typescriptProgram(call: Call): string | null {
  const found = expression(call)
  if (!found) return null
  const key = call.signed ? ', key: process.env.PLURAL_KEY' : ''
  const names = found.result.slice(2, -2)
  const { version } = call.operation
  const flag = version === undefined ? '' : ` --api-version ${version}`
  return `import { createClient } from "./api.ts"; // plural client ts${flag} --out api.ts

const api = createClient({ baseURL: ${JSON.stringify(call.root)}${key} });
const ${found.result} = await ${found.text};
console.log(${names});
`
}
