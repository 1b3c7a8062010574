// The request as a program that uses the Go client.

import { countsOnly, keysOf, only, type Call, type Condition } from './call'
import type { Request } from './request'

const text = (value: string) => JSON.stringify(value)

/** JSON as a literal of Go. */
function literal(value: unknown, indent: string): string {
  const inner = `${indent}\t`
  if (value === null) return 'nil'
  if (Array.isArray(value)) return value.length ? `[]any{${value.map((each) => literal(each, indent)).join(', ')}}` : '[]any{}'
  if (typeof value === 'object') {
    const members = Object.entries(value)
    if (members.length === 0) return 'map[string]any{}'
    if (members.length === 1) return `map[string]any{${text(members[0]![0])}: ${literal(members[0]![1], indent)}}`
    return `map[string]any{\n${members.map(([name, each]) => `${inner}${text(name)}: ${literal(each, inner)},\n`).join('')}${indent}}`
  }
  return typeof value === 'string' ? text(value) : String(value)
}

const OPERATORS: Record<string, string> = { '': 'Is', eq: 'Is', ne: 'Not', lt: 'Less', lte: 'AtMost', gt: 'More', gte: 'AtLeast', contains: 'Contains', starts_with: 'StartsWith', in: 'In', not_in: 'NotIn' }

function filter({ field, operator, value }: Condition): string {
  const where = `params.Where(${text(field)})`
  if (operator === 'null') return `${where}.${value === false ? 'NotNull' : 'Null'}()`
  const values = Array.isArray(value) ? value.map((each) => literal(each, '')).join(', ') : literal(value, '')
  return `${where}.${OPERATORS[operator]}(${values})`
}

/** Filters, order and range as arguments. */
function params({ filters, given }: Call): string[] {
  const names = (parameter: string) => keysOf(given[parameter]).map(text).join(', ')
  return [
    ...['by', 'sum', 'avg', 'min', 'max'].filter((name) => given[name]).map((name) => `params.${name[0]!.toUpperCase()}${name.slice(1)}(${names(name)})`),
    ...filters!.map(filter),
    ...(names('sort') ? [`params.Sort(${names('sort')})`] : []),
    ...(given.cursor ? [`params.Cursor(${text(given.cursor)})`] : []),
    ...(given.since ? [`params.Since(${text(given.since)})`] : []),
    ...(given.offset ? [`params.Offset(${given.offset})`] : []),
    ...(given.limit ? [`params.Limit(${given.limit})`] : []),
    ...(given.Prefer ? ['params.WithTotal()'] : []),
  ]
}

function options({ given }: Call): string[] {
  return [
    ...(given['If-Match'] ? [`client.IfMatch(${text(given['If-Match'])})`] : []),
    ...(given['Idempotency-Key'] ? [`client.IdempotencyKey(${text(given['Idempotency-Key'])})`] : []),
  ]
}

const RANGE = ['sort', 'cursor', 'offset', 'limit']
const RESERVED = ['break', 'case', 'chan', 'const', 'continue', 'default', 'defer', 'else', 'fallthrough', 'for', 'func', 'go', 'goto', 'if', 'import', 'interface', 'map', 'package', 'range', 'return', 'select', 'struct', 'switch', 'type', 'var']
const USED = ['c', 'ctx', 'err', 'client', 'context', 'fmt', 'log', 'os', 'http', 'page', 'changes', 'steps', 'params', 'response']

function variableOf(collection: string): string {
  const name = collection.replace(/[-_](\w)/g, (_, letter: string) => letter.toUpperCase())
  return RESERVED.includes(name) || USED.includes(name) ? 'collection' : name
}

/** The statements of a call, or null if the client has none for it. */
function statements(call: Call): { lines: string[]; result: string } | null {
  const { operation, given, ids, body } = call
  const one = ['If-Match', 'Idempotency-Key']
  const name = variableOf(operation.collection)
  const [parent] = Object.entries(ids).find(([key]) => key !== 'id') ?? []
  const under = operation.parent ? `.Under(${text(operation.parent)}, ${text(ids[parent!]!)})` : ''
  const of = `${name} := client.Of[map[string]any](c, ${text(operation.collection)})${under}`
  const args = (...all: string[]) => ['ctx', ...all].join(', ')
  const ends = (lines: string[], result: string) => ({ lines, result })
  const object = body !== undefined && typeof body === 'object' && body !== null && !Array.isArray(body)
  const id = text(ids.id ?? '')
  switch (operation.kind) {
    case 'list':
      if (!only(call, ...RANGE, 'Prefer') || !countsOnly(call)) return null
      return ends([of, `page, err := ${name}.List(${args(...params(call))})`], 'page.Items')
    case 'get':
      if (!only(call)) return null
      return ends([of, `one, err := ${name}.Get(${args(id)})`], 'one.Value, one.ETag')
    case 'create':
      if (Array.isArray(body) && only(call)) return ends([of, `created, err := ${name}.CreateMany(${args(`[]map[string]any{${body.map((each) => literal(each, '\t').replace(/^map\[string\]any/, '')).join(', ')}}`)})`], 'created')
      if (!object) return null
      if (only(call, 'on_conflict', 'Idempotency-Key') && given.on_conflict)
        return ends([of, `one, created, err := ${name}.Upsert(${args(text(given.on_conflict), literal(body, '\t'), ...options(call))})`], 'one.Value, created')
      if (!only(call, 'Idempotency-Key')) return null
      return ends([of, `one, err := ${name}.Create(${args(literal(body, '\t'), ...options(call))})`], 'one.Value, one.ETag')
    case 'replace':
    case 'update':
      if (!object || !only(call, ...one)) return null
      return ends([of, `one, err := ${name}.${operation.kind === 'replace' ? 'Replace' : 'Update'}(${args(id, literal(body, '\t'), ...options(call))})`], 'one.Value, one.ETag')
    case 'delete':
      if (!only(call, ...one)) return null
      return ends([of, `one, err := ${name}.Delete(${args(id, ...options(call))})`], 'one.Value')
    case 'updateMany':
      if (!object || !only(call, ...RANGE)) return null
      return ends([of, `changed, err := ${name}.UpdateMany(${args(literal(body, '\t'), ...params(call))})`], 'changed')
    case 'deleteMany':
      if (!only(call, ...RANGE)) return null
      return ends([of, `deleted, err := ${name}.DeleteMany(${args(...params(call))})`], 'deleted')
    case 'groups':
      if (!only(call, 'by', 'sum', 'avg', 'min', 'max', 'sort', 'offset', 'limit', 'Prefer') || !countsOnly(call)) return null
      return ends([of, `page, err := client.Groups[map[string]any, map[string]any](${['ctx', name, ...params(call)].join(', ')})`], 'page.Items')
    case 'history':
      if (!only(call, 'cursor', 'since', 'limit')) return null
      return ends([of, `page, err := client.History(${name}, ${id}).List(${args(...params(call))})`], 'page.Items')
    case 'changes':
      if (!only(call, 'cursor', 'since', 'limit')) return null
      return ends([`page, err := c.Changes().List(${args(...params(call))})`], 'page.Items')
    case 'change':
      if (!only(call)) return null
      return ends([`change, err := c.Changes().Get(${args(id)})`], 'change')
    case 'transaction':
      if (!Array.isArray(body) || !only(call)) return null
      return ends([`steps, err := c.Transaction(ctx, []client.Step{\n${body.map((each) => `\t\t{${step(each as Record<string, unknown>)}},\n`).join('')}\t})`], 'len(steps)')
    case 'me':
      return ends(['me, err := c.Me(ctx)'], 'me.Role, me.Collections')
    case 'keys':
      return ends(['keys, err := c.Keys().List(ctx)'], 'keys')
    case 'key':
      return ends([`key, err := c.Keys().Get(ctx, ${text(ids.prefix ?? '')})`], 'key.Name, key.Role')
    case 'revokeKey':
      return ends([`key, err := c.Keys().Revoke(ctx, ${text(ids.prefix ?? '')})`], 'key.RevokedAt')
    case 'createKey': {
      const fields = fieldsOf(body, NEW_KEY)
      return fields === null ? null : ends([`key, err := c.Keys().Create(ctx, client.NewKey{${fields}})`], 'key.Secret')
    }
    case 'can': {
      const fields = fieldsOf(body, QUESTION)
      return fields === null ? null : ends([`decisions, err := c.Can(ctx, client.Question{${fields}})`], 'decisions')
    }
    default:
      return null
  }
}

const NEW_KEY: Record<string, string> = { name: 'Name', role: 'Role', sub: 'Subject' }
const QUESTION: Record<string, string> = { role: 'Role', sub: 'Subject', claims: 'Claims', collection: 'Collection', resource_id: 'ResourceID', verb: 'Verb' }

/** A body as the fields of a struct, or null if it has others. */
function fieldsOf(body: unknown, names: Record<string, string>): string | null {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return null
  const members = Object.entries(body).filter(([, value]) => value !== null)
  if (members.some(([name]) => !(name in names))) return null
  return members.map(([name, value]) => `${names[name]}: ${literal(value, '\t')}`).join(', ')
}

const FIELDS: Record<string, string> = { method: 'Method', path: 'Path', body: 'Body', if_match: 'IfMatch' }
const step = (given: Record<string, unknown>) =>
  Object.entries(given)
    .map(([name, value]) => `${FIELDS[name] ?? name}: ${literal(value, '\t\t')}`)
    .join(', ')

export function goProgram(call: Call, request: Request): string {
  const typed = statements(call)
  const { lines, result } = typed ?? plain(call, request)
  const headers = !typed && Object.keys(request.headers).some((name) => name !== 'Content-Type')
  const imports = ['context', 'fmt', 'log', ...(headers ? ['net/http'] : []), ...(call.signed ? ['os'] : [])]
  const packages = ['client', ...(lines.some((line) => line.includes('params.')) ? ['params'] : [])]
  const { version } = call.operation
  const clientOptions = `client.Options{${[...(call.signed ? ['Key: os.Getenv("PLURAL_KEY")'] : []), ...(version === undefined ? [] : [`APIVersion: ${version}`])].join(', ')}}`
  return `package main

import (
${imports.map((name) => `\t${text(name)}`).join('\n')}

${packages.map((name) => `\t"github.com/plural-go/plural/${name}"`).join('\n')}
)

func main() {
\tctx := context.Background()
\tc, err := client.New(${text(call.root)}, ${clientOptions})
\tif err != nil {
\t\tlog.Fatal(err)
\t}
${lines.map((line) => `\t${line}\n`).join('')}\tif err != nil {
\t\tlog.Fatal(err)
\t}
\tfmt.Println(${result})
}
`
}

/** A request that the client has no call for. */
function plain({ operation }: Call, { method, path, headers, body }: Request): { lines: string[]; result: string } {
  const [only, query] = path.split('?') as [string, string?]
  const sent = Object.entries(headers).filter(([name]) => name !== 'Content-Type')
  const fields = [
    `Method: ${text(method)}`,
    `Path: ${text(only)}`,
    ...(query ? [`Query: ${text(query)}`] : []),
    ...(sent.length ? [`Header: http.Header{${sent.map(([name, value]) => `${text(name)}: {${text(value)}}`).join(', ')}}`] : []),
    // Otherwise the client adds an Idempotency-Key, which not every operation takes.
    ...(method === 'GET' || operation.parameters.some((each) => each.name === 'Idempotency-Key') ? [] : [operation.kind === 'createKey' ? 'Once: true' : 'Repeatable: true']),
    ...(body === null ? [] : [`Body: []byte(${body.includes('`') ? text(body) : `\`${body}\``})`]),
  ]
  return { lines: [`response, err := c.Do(ctx, client.Request{${fields.join(', ')}})`], result: 'response.Status, string(response.Body)' }
}
