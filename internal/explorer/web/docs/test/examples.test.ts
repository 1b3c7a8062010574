import { expect, test } from 'vitest'
import { example, type Language } from '../lib/examples'
import { referenceOf } from '../lib/reference'
import { draftOf, filterParts, requestOf, type Draft, type Sample } from '../lib/request'
import { document } from './document'

const users = referenceOf(document).sections[0]!
const operation = (id: string) => users.operations.find((each) => each.id === id)!
const ada: Sample = { id: 'a1', name: 'Ada', age: 9007199254740993n, team_id: 't1', active: true }
const text = (language: Language, id: string, change: Partial<Draft> = {}) => example(language, operation(id), users, { ...draftOf(operation(id), users, ada), ...change }, 'http://localhost:8080', true)

test('a form begins with real values', () => {
  expect(draftOf(operation('listUsers'), users, ada)).toEqual({ values: { 'query limit': '10' }, filters: 'filter[name]=Ada', body: '' })
  expect(draftOf(operation('updateUser'), users, ada)).toEqual({ values: { 'path id': 'a1', 'header If-Match': '*' }, filters: '', body: '{\n  "name": "Ada"\n}' })
  expect(draftOf(operation('listUsersOfTeam'), users, ada).values).toEqual({ 'path team_id': 't1', 'query limit': '10' })
  expect(draftOf(operation('deleteUsers'), users, ada).filters).toBe('filter[id]=a1')
  expect(draftOf(operation('groupUsers'), users, ada).values).toEqual({ 'query by': 'name' })
  expect(draftOf(operation('updateUser'), users, null)).toEqual({ values: { 'path id': '01936f2e-7d3c-7a4b-9c5d-0123456789ab', 'header If-Match': '*' }, filters: '', body: '{\n  "name": "Grace"\n}' })
})

test('a form becomes a request', () => {
  expect(requestOf(operation('listUsers'), { values: { 'query limit': '-5', 'query sort': 'name,-age' }, filters: 'filter[name]=Ada L & filter[age][gte]=3', body: '' })).toEqual({
    method: 'GET',
    path: '/users?filter[name]=Ada%20L&filter[age][gte]=3&limit=-5&sort=name,-age',
    headers: {},
    body: null,
  })
  expect(requestOf(operation('updateUser'), { values: { 'path id': 'a/../b', 'header If-Match': '"1"' }, filters: '', body: '{ "age": 9007199254740993 }' })).toEqual({
    method: 'PATCH',
    path: '/users/a%2F..%2Fb',
    headers: { 'If-Match': '"1"', 'Content-Type': 'application/json' },
    body: '{"age":9007199254740993}',
  })
  expect(requestOf(operation('updateUser'), { values: {}, filters: '', body: '{nonsense' }).body).toBe('{nonsense')
})

test('filters are escaped where needed, and nothing twice', () => {
  expect(filterParts('filter[active] & filter[name]=100% of Zoë%20#😀&')).toEqual(['filter[active]', 'filter[name]=100%25%20of%20Zo%C3%AB%20%23%F0%9F%98%80'])
  expect(filterParts('')).toEqual([])
})

test('curl', () => {
  expect(text('curl', 'listUsers')).toBe(`curl -g 'http://localhost:8080/users?filter[name]=Ada&limit=10' \\\n  -H "Authorization: Bearer $PLURAL_KEY"`)
  expect(text('curl', 'updateUser')).toBe(`curl -X PATCH 'http://localhost:8080/users/a1' \\
  -H "Authorization: Bearer $PLURAL_KEY" \\
  -H 'If-Match: *' \\
  -H 'Content-Type: application/json' \\
  -d '{"name":"Ada"}'`)
})

const go = (id: string, change?: Partial<Draft>) => text('Go', id, change).split('\n').slice(16, -6).join('\n')

test('Go uses the calls of the client, and a plain request where it has none', () => {
  expect(text('Go', 'getUser')).toBe(`package main

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/plural-go/plural/client"
)

func main() {
	ctx := context.Background()
	c, err := client.New("http://localhost:8080", client.Options{Key: os.Getenv("PLURAL_KEY")})
	if err != nil {
		log.Fatal(err)
	}
	users := client.Of[map[string]any](c, "users")
	one, err := users.Get(ctx, "a1")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(one.Value, one.ETag)
}
`)
  expect(go('listUsers', { values: { 'query limit': '2', 'query sort': '-name' }, filters: 'filter[name][contains]=a%20b&filter[age][gte]=3' })).toContain(
    'users.List(ctx, params.Where("name").Contains("a b"), params.Where("age").AtLeast(3), params.Sort("-name"), params.Limit(2))',
  )
  expect(go('createUser')).toContain('users.Create(ctx, map[string]any{\n\t\t"name": "Ada",\n\t\t"tags": []any{"a"},\n\t\t"age": nil,\n\t})')
  expect(go('createUser', { values: { 'query on_conflict': 'email' } })).toContain('one, created, err := users.Upsert(ctx, "email", map')
  expect(go('updateUser')).toContain('users.Update(ctx, "a1", map[string]any{"name": "Ada"}, client.IfMatch("*"))')
  expect(go('deleteUsers')).toContain('users.DeleteMany(ctx, params.Where("id").Is("a1"))')
  expect(go('listUsersOfTeam')).toContain('client.Of[map[string]any](c, "users").Under("teams", "t1")')
  expect(go('listChangesOfUser')).toContain('client.History(users, "a1").List(ctx)')
  expect(go('listUsers', { filters: 'filter[any][0][name]=a' })).toContain('c.Do(ctx, client.Request{Method: "GET", Path: "/users", Query: "filter[any][0][name]=a&limit=10"})')
  expect(go('deleteUsers', { filters: 'filter[any][0][name]=a' })).toContain('c.Do(ctx, client.Request{Method: "DELETE", Path: "/users", Query: "filter[any][0][name]=a", Repeatable: true})')
})

test('TypeScript uses the generated client, and fetch where it has no call', () => {
  expect(text('TypeScript', 'listUsers')).toBe(`import { createClient } from "./api.ts"; // plural client ts --out api.ts

const api = createClient({ baseURL: "http://localhost:8080", key: process.env.PLURAL_KEY });
const { data } = await api.users.list({ filter: { name: "Ada" }, limit: 10 });
console.log(data);
`)
  expect(text('TypeScript', 'updateUser')).toContain('const { data, etag } = await api.users.update("a1", { name: "Ada" }, { ifMatch: "*" });')
  expect(text('TypeScript', 'listUsersOfTeam')).toContain('api.teams.of("t1").users.list({ limit: 10 })')
  expect(text('TypeScript', 'createUser', { values: { 'query on_conflict': 'name,age' } })).toContain('api.users.upsert(["name", "age"], ')
  expect(text('TypeScript', 'listUsers', { filters: 'filter[age][gte]=3&filter[age][in]=4,5' })).toContain('{ filter: { age: { gte: 3, in: [4, 5] } }, limit: 10 }')
  expect(text('TypeScript', 'listUsers', { filters: 'filter[any][0][name]=a' })).toContain('fetch("http://localhost:8080/users?filter[any][0][name]=a&limit=10"')
})

test('who the caller is, API keys and questions about roles have calls of the clients', () => {
  const get = document.paths['/-/health']!.get!
  const posting = (operationId: string, value: object) => ({ ...get, operationId, requestBody: { content: { 'application/json': { schema: { type: 'object' }, example: value } } } })
  const prefix = { name: 'prefix', in: 'path', required: true, schema: { type: 'string' }, example: 'k7f3q2m5xa' }
  const [, server] = referenceOf({
    ...document,
    paths: {
      '/-/me': { get: { ...get, operationId: 'getMe' } },
      '/-/keys': { get: { ...get, operationId: 'listKeys' }, post: posting('createKey', { name: 'ci', role: 'reader' }) },
      '/-/keys/{prefix}': { parameters: [prefix], delete: { ...get, operationId: 'revokeKey' } },
      '/-/can': { post: posting('explainAccess', { role: 'reader', sub: 'ada', verb: 'read' }) },
    },
  } as typeof document).sections
  const lines = (language: Language, body?: string) =>
    server!.operations.map((each) => {
      const draft = draftOf(each, server!, null)
      return /(?:err := (?=c\.)|await )(.*?);?$/m.exec(example(language, each, server!, { ...draft, ...(body && each.body && { body }) }, 'http://localhost:8080', true).split('\n').slice(3).filter((line) => !line.includes('client.New(')).join('\n'))?.[1]
    })
  expect(lines('Go')).toEqual(['c.Me(ctx)', 'c.Keys().List(ctx)', 'c.Keys().Create(ctx, client.NewKey{Name: "ci", Role: "reader"})', 'c.Keys().Revoke(ctx, "k7f3q2m5xa")', 'c.Can(ctx, client.Question{Role: "reader", Subject: "ada", Verb: "read"})'])
  expect(lines('Go', '{"x":1}').filter((line) => line?.includes('c.Do'))).toEqual([
    'c.Do(ctx, client.Request{Method: "POST", Path: "/-/keys", Once: true, Body: []byte(`{"x":1}`)})',
    'c.Do(ctx, client.Request{Method: "POST", Path: "/-/can", Repeatable: true, Body: []byte(`{"x":1}`)})',
  ])
  expect(lines('TypeScript')).toEqual(['api.$me()', 'api.$keys.list()', 'api.$keys.create({ name: "ci", role: "reader" })', 'api.$keys.revoke("k7f3q2m5xa")', 'api.$can({ role: "reader", sub: "ada", verb: "read" })'])
})

test('requests have the version of the document, and programs are for it', () => {
  const parameter = { name: 'API-Version', in: 'header' as const, schema: { type: 'integer', const: 2, default: 2 } }
  const versioned = referenceOf({ ...document, paths: { '/users/{id}': { ...document.paths['/users/{id}'], get: { ...document.paths['/users/{id}']!.get!, parameters: [parameter] } } } })
  const section = versioned.sections[0]!
  const [get] = section.operations
  const program = (language: Language) => example(language, get!, section, draftOf(get!, section, ada), 'http://localhost:8080', true)
  expect([get!.version, get!.parameters.map(({ name }) => name)]).toEqual([2, ['id']])
  expect(requestOf(get!, draftOf(get!, section, ada)).headers).toEqual({ 'API-Version': '2' })
  expect(program('curl')).toBe(`curl 'http://localhost:8080/users/a1' \\\n  -H "Authorization: Bearer $PLURAL_KEY" \\\n  -H 'API-Version: 2'`)
  expect(program('Go')).toContain('client.Options{Key: os.Getenv("PLURAL_KEY"), APIVersion: 2}')
  expect(program('TypeScript')).toContain('// plural client ts --api-version 2 --out api.ts')
  expect(text('Go', 'getUser')).toContain('client.Options{Key: os.Getenv("PLURAL_KEY")}')
  expect(text('TypeScript', 'getUser')).toContain('// plural client ts --out api.ts')
})
