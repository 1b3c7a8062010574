import { expect, test } from 'vitest'
import { kindOf, referenceOf } from '../lib/reference'
import { find, indexOf } from '../lib/search'
import { document } from './document'

const reference = referenceOf(document)
const users = reference.sections[0]!
const operation = (id: string) => users.operations.find((each) => each.id === id)!

test('a section has the operations of its collection, those of a parent last, and none by the singular', () => {
  expect([reference.info, reference.guarded, reference.sections.map(({ name }) => name)]).toEqual([{ title: 'People', version: '2' }, true, ['users', 'Server']])
  expect(users.operations.map(({ id, kind, parent }) => [id, kind, parent])).toEqual([
    ['listUsers', 'list', undefined],
    ['createUser', 'create', undefined],
    ['deleteUsers', 'deleteMany', undefined],
    ['getUser', 'get', undefined],
    ['updateUser', 'update', undefined],
    ['listChangesOfUser', 'history', undefined],
    ['groupUsers', 'groups', undefined],
    ['listUsersOfTeam', 'list', 'teams'],
  ])
  expect(users.singular).toBe('/user/{id}')
  expect(reference.codes).toEqual([
    { code: 'unknown_parameter', status: '400', title: 'Unknown query parameter' },
    { code: 'not_found', status: '404', title: 'Not found' },
  ])
})

test('an operation has its parameters without filters and second names, its answers, and its errors', () => {
  expect(operation('listUsers')).toEqual({
    id: 'listUsers',
    method: 'GET',
    path: '/users',
    kind: 'list',
    summary: 'List users',
    description: 'A range.',
    collection: 'users',
    open: true,
    filtered: true,
    parameters: [
      { name: 'limit', in: 'query', description: 'How many.', required: false, type: 'integer', values: [], list: false, fallback: '100', example: '100' },
      { name: 'sort', in: 'query', description: '', required: false, type: 'string', values: ['name', '-name'], list: true },
    ],
    answers: [{ status: '200', description: 'The resource.', headers: [{ name: 'ETag', description: 'Its state.' }], example: { data: [] } }],
    refusals: [
      { status: '400', codes: ['unknown_parameter', 'malformed_query'] },
      { status: 'other', codes: ['malformed_request'] },
    ],
  })
  expect([operation('getUser').open, reference.sections[1]!.operations[0]!.open]).toEqual([false, true])
  expect(operation('createUser').body).toEqual({ description: 'A user.', type: 'UserCreate', members: [], examples: [{ name: 'One resource', value: { name: 'Ada', tags: ['a'], age: null } }] })
})

test('a body that is not made from attributes has its members', () => {
  const post = {
    ...document.paths['/-/health']!.get!,
    requestBody: { content: { 'application/json': { schema: { type: 'object', properties: { name: { type: 'string', maxLength: 9, description: 'What it is for.' }, until: { type: ['string', 'null'] } }, required: ['name'] } } } },
  }
  const [, server] = referenceOf({ ...document, paths: { '/-/keys': { post } } }).sections
  expect(server!.operations[0]!.body!.members.map(({ name, type, description, required, constraints }) => [name, type, description, required, constraints])).toEqual([
    ['name', 'string', 'What it is for.', true, [{ text: 'at most 9 characters' }]],
    ['until', 'string', '', false, []],
  ])
})

test('attributes have what their values must be', () => {
  const row = (name: string, more: object) => ({ name, depth: 0, description: '', constraints: [], required: false, nullable: false, readable: true, writable: true, ...more })
  expect(users.attributes).toEqual([
    row('id', { type: 'string (uuid)' }),
    row('type', { type: 'string', writable: false, constraints: [{ text: 'always', code: 'users' }] }),
    row('name', { type: 'string', description: 'As it is written.', required: true, constraints: [{ text: 'at most 40 characters' }] }),
    row('age', { type: 'integer', nullable: true, constraints: [{ text: '0 to 150' }] }),
    row('role', { type: 'string', nullable: true, fallback: '"author"', constraints: [{ text: 'one of', code: 'author' }, { text: '', code: 'editor' }] }),
    row('address', { type: 'object', nullable: true, writable: false, constraints: [{ text: 'no other members' }] }),
    row('address.city', { depth: 1, type: 'string', required: true, constraints: [{ text: 'exactly 2 characters' }] }),
    row('created_at', { type: 'string (date-time)', writable: false }),
    row('secret', { type: 'string', readable: false, constraints: [{ text: 'matches', code: '^[a-z]+$' }] }),
  ])
  expect(users.relations.map(({ name }) => name)).toEqual(['posts'])
  expect(users.unique).toEqual([['email'], ['name', 'age']])
})

test('filters are one table, without those of histories', () => {
  expect(users.filters).toEqual([
    { field: 'id', type: 'string (uuid)', operators: [] },
    { field: 'name', type: 'string', operators: ['contains'] },
    { field: 'age', type: 'integer', operators: ['gte'] },
    { field: 'active', type: 'string', operators: [] },
  ])
  expect(users.operators).toEqual([
    { name: 'contains', meaning: 'contains this.' },
    { name: 'gte', meaning: 'is at least this.' },
  ])
  expect(users.further).toBe('Further filters.')
})

test('every path has a kind', () => {
  const kinds = (path: string) => (['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const).map((method) => kindOf(path, method))
  expect(kinds('/users/{user_id}/posts')).toEqual(['list', 'create', 'other', 'updateMany', 'deleteMany'])
  expect(kinds('/users/{user_id}/posts/{id}')).toEqual(['get', 'other', 'replace', 'update', 'delete'])
  expect(['/', '/-/health', '/.well-known/api-catalog', '/-/transaction', '/changes', '/changes/{id}', '/users/{user_id}/posts/{id}/changes'].map((path) => kindOf(path, 'GET'))).toEqual(['other', 'other', 'other', 'transaction', 'changes', 'change', 'history'])
})

test('search finds collections, operations, attributes and error codes, the best first', () => {
  const index = indexOf(reference)
  const titles = (text: string) => find(index, text).map(({ title }) => title)
  expect(titles('users').slice(0, 2)).toEqual(['users', 'List users'])
  expect(titles('NAME')[0]).toBe('name')
  expect(titles('filter by date')).toEqual(['Filters of users'])
  expect(titles('date')[0]).toBe('Filters of users') // not "Update a user"
  expect(titles('user update')).toEqual(['Update a user'])
  expect(find(index, 'not_found')).toEqual([{ section: '', anchor: 'errors', title: 'not_found', detail: '404 Not found' }])
  expect([titles(''), titles('  '), titles('zebra')]).toEqual([[], [], []])
})
