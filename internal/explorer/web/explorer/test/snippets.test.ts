import { expect, test } from 'vitest'
import { forTrying } from '../../docs/document'
import { unfoldFilters } from '../../docs/filters'
import { Rights } from '../lib/paths'
import { snippet, type Sent } from '../lib/snippets'

const list: Sent = { method: 'GET', url: 'http://localhost:8080/users?filter[name]=x', headers: {}, body: null, signedIn: false }
const patch: Sent = {
  method: 'PATCH',
  url: 'http://localhost:8080/users/1',
  headers: { 'If-Match': '"1.1"' },
  body: `{"name":"O'Hara \`x\`"}`,
  signedIn: true,
}

test('curl', () => {
  expect(snippet('curl', list)).toBe("curl -g 'http://localhost:8080/users?filter[name]=x'")
  expect(snippet('curl', patch)).toBe(
    `curl -X PATCH 'http://localhost:8080/users/1' \\
  -H "Authorization: Bearer $PLURAL_KEY" \\
  -H 'If-Match: "1.1"' \\
  -d '{"name":"O'\\''Hara \`x\`"}'`,
  )
})

test('Go', () => {
  const program = snippet('Go', patch)
  expect(program).toContain('http.NewRequest("PATCH", "http://localhost:8080/users/1", strings.NewReader("{\\"name\\":\\"O\'Hara `x`\\"}"))')
  expect(program).toContain('request.Header.Set("If-Match", "\\"1.1\\"")')
  expect(program).toContain('os.Getenv("PLURAL_KEY")')
  expect(snippet('Go', list)).not.toContain('"strings"')
})

test('TypeScript', () => {
  expect(snippet('TypeScript', list)).toMatch(/^const response = await fetch\("http:\/\/localhost:8080\/users\?filter\[name\]=x"\)\n/)
  expect(snippet('TypeScript', patch)).toContain('  method: "PATCH",\n  headers: {\n    Authorization: `Bearer ${process.env.PLURAL_KEY}`,\n    "If-Match": "\\"1.1\\"",\n  },')
  // As text, of which no number is changed.
  expect(snippet('TypeScript', { ...patch, body: '{"n":9007199254740993}' })).toContain('  body: "{\\"n\\":9007199254740993}",\n')
})

test('what may be done is what the document has paths for', () => {
  const rights = new Rights({ paths: { '/users': { get: {} }, '/users/{id}': { patch: {} }, '/users/{owner_id}/posts': { get: {}, post: {} }, '/posts': { get: {} } } })
  expect(rights.children('users')).toEqual([{ name: 'posts', attribute: 'owner_id' }])
  expect(rights.children('posts')).toEqual([])
  expect([rights.may('POST', 'users'), rights.may('PATCH', 'users'), rights.may('DELETE', 'users'), rights.may('POST', 'posts')]).toEqual([false, true, false, false])
  expect([rights.mayBelow('users', 'posts'), rights.mayBelow('posts', 'users')]).toEqual([true, false])
})

test('what may be written is what the bodies have, and is not only sent back', () => {
  const body = (schema: object) => ({ content: { 'application/json': { schema } } })
  const rights = new Rights({
    paths: {
      '/users': { post: { requestBody: { $ref: '#/components/requestBodies/UserCreate' } } },
      '/users/{id}': { patch: { requestBody: { $ref: '#/components/requestBodies/UserPatch' } } },
    },
    components: {
      requestBodies: {
        UserCreate: body({ $ref: '#/components/schemas/UserCreateInput' }),
        UserPatch: body({ $ref: '#/components/schemas/UserPatch' }),
      },
      schemas: {
        UserCreateInput: { oneOf: [{ $ref: '#/components/schemas/UserCreate' }, {}] },
        UserCreate: { properties: { name: {} } },
        UserPatch: { properties: { name: {}, role: { readOnly: true } } },
      },
    },
  })
  const may = (method: 'POST' | 'PATCH') => ['name', 'role'].filter((attribute) => rights.mayWrite(method, 'users', attribute))
  expect([may('POST'), may('PATCH')]).toEqual([['name'], ['name']])
  expect(new Rights({ paths: {} }).mayWrite('POST', 'users', 'name')).toBe(true)
})

test('pages are as long as the server allows', () => {
  const limited = (maximum?: number) => new Rights({ paths: {}, components: { parameters: { limit: { name: 'limit', schema: { maximum } } } } })
  expect([limited().pageSize(100), limited(100).pageSize(100), limited(20).pageSize(100), limited(1).pageSize(100)]).toEqual([100, 99, 19, 1])
  expect(new Rights({ paths: {} }).pageSize(100)).toBe(100)
})

test('the reference fills in nothing that was not asked for', () => {
  const parameter = (more: object) => ({ name: 'limit', in: 'query', schema: { type: 'integer', default: 100 }, example: 10, ...more })
  const document = {
    components: { parameters: { limit: parameter({ description: 'How many.' }) } },
    paths: { '/users/{id}': { parameters: [parameter({ required: true })], get: { parameters: [parameter({}), { $ref: '#/components/parameters/limit' }] } } },
  }
  expect(forTrying(structuredClone(document))).toEqual({
    components: { parameters: { limit: { name: 'limit', in: 'query', schema: { type: 'integer' }, description: 'How many. Default: `100`. Example: `10`.' } } },
    paths: {
      '/users/{id}': {
        parameters: [parameter({ required: true })],
        get: {
          parameters: [
            { name: 'limit', in: 'query', schema: { type: 'integer' }, description: 'Default: `100`. Example: `10`.' },
            { $ref: '#/components/parameters/limit' },
          ],
        },
      },
    },
  })
})

test('the reference has one field for all filters', () => {
  const query = (name: string) => ({ name, in: 'query', schema: { type: 'string' } })
  const document = {
    components: { parameters: { 'filter.id': query('filter[id]'), 'filter.id.eq': query('filter[id][eq]'), 'users.filter.name.eq': query('filter[name][eq]'), l: query('l') } },
    paths: {
      '/users': {
        get: {
          parameters: [
            ...['l', 'filter.id', 'filter.id.eq', 'users.filter.name.eq'].map((name) => ({ $ref: `#/components/parameters/${name}` })),
            query('filter[name][contains]'),
            query('sort'),
          ],
        },
      },
    },
  }
  const { parameters } = (forTrying(document) as typeof document).paths['/users'].get
  expect(parameters).toEqual([
    { ...query('sort'), description: '' },
    {
      ...query('filters'),
      description:
        'Filters as in the URL, separated by `&`: `filter[name]=value`, or `filter[name][operator]=value`. All must match. `in` and `not_in` take values separated by commas, `null` takes true or false.\n\n- `id`: `eq`\n- `name`: `eq`, `contains`',
    },
  ])
})

test('filters of the reference become those of the interface', () => {
  const sent = (filters: string, rest = '') => unfoldFilters(`http://localhost:8080/users?limit=2&filters=${encodeURIComponent(filters)}${rest}`)
  const escaped = (text: string) => `http://localhost:8080/users?limit=2&${text}`
  expect(sent('filter[active]')).toBe(escaped('filter%5Bactive%5D'))
  expect(sent('filter[name][in]=A,B & filter[age][gte]=3', '&sort=name')).toBe(escaped('filter%5Bname%5D%5Bin%5D=A,B&filter%5Bage%5D%5Bgte%5D=3&sort=name'))
  expect(sent('filter[name]=100% of Zoë%20#😀')).toBe(escaped('filter%5Bname%5D=100%25%20of%20Zo%C3%AB%20%23%F0%9F%98%80'))
  expect(unfoldFilters('http://localhost/users?filters=')).toBe('http://localhost/users')
  expect(unfoldFilters('http://localhost/users')).toBe('http://localhost/users')
})
