import { expect, test } from 'vitest'
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

test('timestamps are known before the first row, and a description that is the name is none', () => {
  const json = (schema: object) => ({ content: { 'application/json;charset=utf-8': { schema } } })
  const rights = new Rights({
    tags: [{ name: 'blog-posts', description: 'Blog posts.' }, { name: 'readings', description: 'What sensors measure.' }],
    paths: { '/blog-posts': { get: { responses: { 200: { $ref: '#/components/responses/Posts' } } } }, '/readings': { get: { responses: { 200: { $ref: '#/components/responses/Readings' } } } } },
    components: {
      schemas: { Post: { properties: { id: {}, created_at: {} } }, Reading: { properties: { id: {} } } },
      responses: {
        Posts: json({ properties: { data: { items: { $ref: '#/components/schemas/Post' } } } }),
        Readings: json({ properties: { data: { items: { $ref: '#/components/schemas/Reading' } } } }),
      },
    },
  })
  expect(['blog-posts', 'readings', 'others'].map((name) => rights.timestamps(name, undefined))).toEqual([true, false, false])
  expect([rights.timestamps('blog-posts', { id: 'a' }), rights.timestamps('readings', { created_at: '' })]).toEqual([false, true])
  expect(['blog-posts', 'readings'].map((name) => rights.about(name))).toEqual(['', 'What sensors measure.'])
})
