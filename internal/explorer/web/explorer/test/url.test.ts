import { expect, test } from 'vitest'
import { START, listKey, listPath, pathOf, readView, sortBy, writeView, type View } from '../lib/url'

const id = '01936f2e-7d3c-7a4b-9c5d-0123456789ab'
const read = (address: string) => {
  const [path = '', query = ''] = address.split('?')
  return readView(path, query)
}

test('every view has an address, and every address its view', () => {
  const views: [string, Partial<View>][] = [
    ['', {}],
    ['users', { collection: 'users' }],
    [`users/${id}`, { collection: 'users', id }],
    [`users/${id}?view=edit`, { collection: 'users', id, mode: 'edit' }],
    ['users?view=new', { collection: 'users', mode: 'new' }],
    [`users/${id}/posts`, { collection: 'posts', parent: { collection: 'users', id } }],
    [`users/${id}/posts/${id}?offset=7`, { collection: 'posts', parent: { collection: 'users', id }, id, offset: 7 }],
    ['users?sort=-name,age&offset=1000000', { collection: 'users', sort: [{ field: 'name', down: true }, { field: 'age', down: false }], offset: 1_000_000 }],
    ['issues?filter[state]=open&chart=due:month&avg=cost', { collection: 'issues', filters: [{ field: 'state', op: 'eq', value: 'open' }], chart: 'due:month', measure: 'avg cost' }],
    ['issues?chart=owner_id&distinct=state&having[distinct.state][gte]=2&limit=10', { collection: 'issues', chart: 'owner_id', measure: 'distinct state', least: '2', top: 10 }],
    ['issues?chart=owner_id&having[count][gte]=2', { collection: 'issues', chart: 'owner_id', least: '2' }],
    ['users?sort=-count.posts,boss.name', { collection: 'users', sort: [{ field: 'count.posts', down: true }, { field: 'boss.name', down: false }] }],
    [
      'users?filter[some][0][posts.title][search]=a%20b&filter[some][0][posts.state]=open&filter[none][1][posts.state][in]=a,b&filter[posts][exists]=false&filter[count.posts][gte]=3',
      {
        collection: 'users',
        filters: [
          { field: 'posts.title', op: 'search', value: 'a b', group: 'some 0' },
          { field: 'posts.state', op: 'eq', value: 'open', group: 'some 0' },
          { field: 'posts.state', op: 'in', value: 'a,b', group: 'none 1' },
          { field: 'posts', op: 'exists', value: 'false' },
          { field: 'count.posts', op: 'gte', value: '3' },
        ],
      },
    ],
    // Attributes that are called as groups are.
    ['users?filter[some][eq]=a&filter[none.city]=b', { collection: 'users', filters: [{ field: 'some', op: 'eq', value: 'a' }, { field: 'none.city', op: 'eq', value: 'b' }] }],
    ['issues?chart=no%20such', { collection: 'issues', chart: 'no such' }],
    ['-/account', { page: 'account' }],
    ['users?filter[active]', { collection: 'users', filters: [{ field: 'active', op: 'set', value: '' }] }],
    ['users?filter[name]=', { collection: 'users', filters: [{ field: 'name', op: 'eq', value: '' }] }],
    [
      'users?filter[name][contains]=a%26b%20%2B&filter[age][null]=true',
      { collection: 'users', filters: [{ field: 'name', op: 'contains', value: 'a&b +' }, { field: 'age', op: 'null', value: 'true' }] },
    ],
    [
      'users?search=ada%20lov&filter[any][0][state]=open&filter[any][0][age][gte]=3&filter[any][1][boss.name][null]=true&filter[created_at][gte]=-7d',
      {
        collection: 'users',
        search: 'ada lov',
        filters: [
          { field: 'state', op: 'eq', value: 'open', group: 'any 0' },
          { field: 'age', op: 'gte', value: '3', group: 'any 0' },
          { field: 'boss.name', op: 'null', value: 'true', group: 'any 1' },
          { field: 'created_at', op: 'gte', value: '-7d' },
        ],
      },
    ],
  ]
  for (const [address, view] of views) {
    expect(read(address), address).toEqual({ ...START, ...view })
    expect(writeView({ ...START, ...view })).toBe(address)
  }
})

test('an id cannot lead to another path', () => {
  const strange = '../-/health?x=1#y'
  const escaped = '..%2F-%2Fhealth%3Fx%3D1%23y'
  expect(pathOf('users', strange, 'posts')).toBe(`users/${escaped}/posts`)
  const view = { ...START, collection: 'posts', parent: { collection: 'users', id: strange }, id: strange }
  expect(listPath(view)).toBe(`users/${escaped}/posts`)
  expect(writeView(view)).toBe(`users/${escaped}/posts/${escaped}`)
  expect(read(writeView(view))).toEqual(view)
})

test('several values of a field are one filter', () => {
  expect(read('users?filter[name]=a&filter[name]=b,c&filter[name]=d').filters).toEqual([{ field: 'name', op: 'in', value: 'a,b\\,c,d' }])
})

test('what makes no sense is kept, for the server to say so', () => {
  const strange = ['offset=-1', 'filter[name][like]=x', 'view=edit', 'nonsense=1', 'sort=', 'sum=cost', 'limit=5', 'having[count][gte]=2', 'filter[some][0]=x']
  expect(read(`users?${strange.join('&')}`)).toEqual({ ...START, collection: 'users', strange })
  expect(writeView(read(`users?${strange.join('&')}`))).toBe(`users?${strange.join('&')}`)
})

test('a chart of two things, or of two measures, is not one', () => {
  expect(read('issues?sum=cost&chart=state&max=cost')).toEqual({ ...START, collection: 'issues', chart: 'state', measure: 'sum cost', strange: ['max=cost'] })
  expect(read('issues?chart=state&sum=cost&having[count][gte]=2&limit=0')).toEqual({ ...START, collection: 'issues', chart: 'state', measure: 'sum cost', strange: ['having[count][gte]=2', 'limit=0'] })
  expect(read('issues?chart=state,owner_id')).toEqual({ ...START, collection: 'issues', strange: ['chart=state,owner_id'] })
})

test('pages without a list have no query', () => {
  expect(read('?sort=name&filter[a]=1')).toEqual({ ...START, strange: ['sort=name', 'filter[a]=1'] })
  expect(read('-/account?chart=state')).toEqual({ ...START, page: 'account', strange: ['chart=state'] })
})

test('a path that is too long leads to no collection', () => {
  expect(read(`users/${id}/posts/${id}/more`)).toEqual({ ...START, collection: `users/${id}/posts/${id}/more` })
})

test('the list is the same whatever is open in it', () => {
  expect(listKey(read(`users/${id}?sort=name&offset=9&view=edit`))).toBe(listKey(read('users?sort=name')))
})

test('a header sorts up, down and not at all; with others or alone', () => {
  const up = [{ field: 'a', down: false }]
  const down = [{ field: 'a', down: true }]
  expect(sortBy([], 'a', false)).toEqual(up)
  expect(sortBy(up, 'a', false)).toEqual(down)
  expect(sortBy(down, 'a', false)).toEqual([])
  expect(sortBy(down, 'b', false)).toEqual([{ field: 'b', down: false }])
  expect(sortBy(down, 'b', true)).toEqual([...down, { field: 'b', down: false }])
  expect(sortBy([...up, ...sortBy([], 'b', true)], 'a', true)).toEqual([...down, { field: 'b', down: false }])
  expect(sortBy([...down, ...sortBy([], 'b', true)], 'a', true)).toEqual([{ field: 'b', down: false }])
})
