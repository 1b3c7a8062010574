// A small document in the form of the server's, for the tests.

import type { OpenAPI } from '../lib/openapi'

const refusal = (status: number, ...codes: string[]) => ({
  description: codes.join(),
  content: {
    'application/json': {
      schema: { type: 'object', properties: { errors: { type: 'array', items: { allOf: [{ $ref: '#/components/schemas/ErrorObject' }, { properties: { status: { enum: [status] }, code: { enum: codes } } }] } } } },
    },
  },
})
const id = { name: 'id', in: 'path' as const, required: true, schema: { type: 'string', format: 'uuid' }, example: '01936f2e-7d3c-7a4b-9c5d-0123456789ab' }
const filter = (name: string, description: string, type = 'string') => ({ name, in: 'query' as const, description, schema: { type: 'array', items: { type } } })
const ok = (schema: object, example?: object) => ({
  description: 'The resource.',
  headers: { 'X-Request-Id': {}, ETag: { $ref: '#/components/headers/ETag' } },
  content: { 'application/json': { schema: { type: 'object', properties: { data: schema } }, ...(example && { example }) } },
})
const user = { $ref: '#/components/schemas/User' }
const operation = (operationId: string, summary: string, more: object) => ({ tags: ['users'], operationId, summary, responses: { 200: ok(user) }, ...more })

export const document = {
  info: { title: 'People', version: '2' },
  security: [{ bearer: [] }],
  tags: [{ name: 'users', description: 'Those who write.' }, { name: 'Server', description: 'The server.' }],
  paths: {
    '/teams/{team_id}/users': {
      parameters: [{ ...id, name: 'team_id' }],
      get: operation('listUsersOfTeam', 'List users of a team', { parameters: [{ $ref: '#/components/parameters/limit' }] }),
    },
    '/users': {
      get: operation('listUsers', 'List users', {
        security: [{}, { bearer: [] }],
        description: 'A range.',
        parameters: [
          { $ref: '#/components/parameters/limit' },
          { name: 'l', in: 'query', schema: { type: 'integer' } },
          { name: 'sort', in: 'query', schema: { type: 'array', items: { type: 'string', enum: ['name', '-name'] } } },
          filter('filter[id]', '`id` has this value.'),
          filter('filter[name]', '`name` has this value.'),
          filter('filter[name][contains]', '`name` contains this.'),
          filter('filter[age][gte]', '`age` is at least this.', 'integer'),
          filter('filter[active]', '`active` has this value; without one, it is true.', 'boolean'),
          { name: 'filters', in: 'query', description: 'Further filters.', schema: { type: 'object' } },
        ],
        responses: { 200: ok({ type: 'array', items: user }, { data: [] }), 400: refusal(400, 'unknown_parameter', 'malformed_query'), default: refusal(400, 'malformed_request') },
      }),
      post: operation('createUser', 'Create a user', {
        parameters: [{ name: 'on_conflict', in: 'query', schema: { type: 'string', enum: ['id', 'email', 'name,age'] } }],
        requestBody: { $ref: '#/components/requestBodies/UserCreateBody' },
      }),
      delete: operation('deleteUsers', 'Delete users', { parameters: [{ name: 'cursor', in: 'query', schema: { type: 'string' }, example: 'c' }, filter('filter[name]', '`name` has this value.')] }),
    },
    '/users/{id}': {
      parameters: [id],
      get: operation('getUser', 'Get a user', {}),
      patch: operation('updateUser', 'Update a user', {
        parameters: [{ name: 'If-Match', in: 'header', required: true, schema: { type: 'string' } }, { name: 'dry_run', in: 'query', schema: { type: 'boolean' } }],
        requestBody: { content: { 'application/json': { schema: { $ref: '#/components/schemas/UserPatch' }, example: { name: 'Grace' } } } },
      }),
    },
    '/user/{id}': { parameters: [id], get: operation('getUserAtSingular', 'Get a user, by the singular', {}) },
    '/users/{id}/changes': { parameters: [id], get: operation('listChangesOfUser', 'List changes of a user', { parameters: [filter('filter[kind]', '`kind` has this value.')], responses: { 200: ok({ type: 'array', items: {} }) } }) },
    '/-/groups/users': { get: operation('groupUsers', 'Group users', { parameters: [{ name: 'by', in: 'query', schema: { type: 'array', items: { type: 'string', enum: ['id', 'name', 'created_at:year'] } } }] }) },
    '/-/health': { get: { tags: ['Server'], operationId: 'getHealth', summary: 'Health', security: [], responses: { 200: { description: 'It is.' } } } },
  },
  components: {
    schemas: {
      ErrorObject: { description: 'One error:\n\n| Code | Status | Title |\n|---|---|---|\n| `unknown_parameter` | 400 | Unknown query parameter |\n| `not_found` | 404 | Not found |\n' },
      User: {
        type: 'object',
        properties: {
          id: { type: 'string', format: 'uuid', pattern: '^x$' },
          type: { type: 'string', const: 'users' },
          name: { type: 'string', maxLength: 40, description: 'As it is written.' },
          age: { type: ['integer', 'null'], format: 'int64', minimum: 0, maximum: 150 },
          role: { type: ['string', 'null'], enum: ['author', 'editor', null] },
          address: { type: ['object', 'null'], properties: { city: { type: 'string', minLength: 2, maxLength: 2 } }, required: ['city'], additionalProperties: false },
          created_at: { type: 'string', format: 'date-time', pattern: '^x$' },
          posts: { type: 'array', items: {} },
          posts_total: { type: 'integer' },
        },
        required: ['id', 'type', 'name', 'age', 'role', 'address', 'created_at'],
      },
      UserCreate: { type: 'object', properties: { id: { type: 'string' }, name: { type: 'string' }, age: { type: 'integer' }, role: { type: 'string', default: 'author' }, secret: { type: 'string', pattern: '^[a-z]+$' } }, required: ['name'] },
      UserCreateInput: { oneOf: [{ $ref: '#/components/schemas/UserCreate' }, { type: 'array' }] },
    },
    requestBodies: { UserCreateBody: { description: 'A user.', content: { 'application/json': { schema: { $ref: '#/components/schemas/UserCreateInput' }, examples: { one: { summary: 'One resource', value: { name: 'Ada', tags: ['a'], age: null } } } } } } },
    parameters: { limit: { name: 'limit', in: 'query', description: 'How many.', schema: { type: 'integer', default: 100 }, example: 100 } },
    headers: { ETag: { description: 'Its state.' } },
  },
} as unknown as OpenAPI
