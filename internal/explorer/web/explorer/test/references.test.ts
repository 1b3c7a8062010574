import { expect, test } from 'vitest'
import { effectsOf } from '../lib/affected'
import { includeParts, labelled, takeLabels } from '../lib/include'
import { findQueries } from '../lib/find'
import { countPath, referrersOf, viewOf } from '../lib/related'
import { fieldAt, labelAttribute, labelOf, type Attribute, type Collection } from '../lib/schema'

const text = (name: string, more: Partial<Attribute> = {}): Attribute => ({ name, type: 'string', required: false, ...more })
const people: Collection = {
  name: 'people',
  singular: 'person',
  total: 2,
  attributes: [text('mail', { format: 'email' }), text('name'), text('nick', { required: true }), { name: 'home', type: 'object', required: false, properties: { city: { type: 'string' } } }],
  relations: [{ name: 'written', collection: 'books', many: true, attribute: 'author_id' }],
}
const books: Collection = {
  name: 'books',
  singular: 'book',
  total: 3,
  label: 'title',
  search: ['title'],
  attributes: [text('title'), text('author_id', { references: 'people' }), text('owner_id', { references: 'people' }), text('part_of', { references: 'things' })],
  relations: [
    { name: 'author', collection: 'people', many: false, attribute: 'author_id' },
    { name: 'part', collection: 'things', many: false, attribute: 'part_of' },
  ],
}
const things: Collection = { name: 'things', singular: 'thing', total: 0, attributes: [{ name: 'size', type: 'integer', required: false }] }
const find = (name: string) => [people, books, things].find((each) => each.name === name)

test('a label is declared, the first required text, or a likely one', () => {
  expect(labelAttribute(books)).toBe('title')
  expect(labelAttribute(people)).toBe('nick')
  expect(labelAttribute({ ...people, attributes: people.attributes.slice(0, 2) })).toBe('name')
  expect(labelAttribute(things)).toBeUndefined()
  const orders = { ...things, attributes: [...things.attributes, { name: 'number', type: 'integer', required: true } as const] }
  expect(labelAttribute(orders)).toBe('number')
  expect(labelOf(orders, { id: '1', type: 'orders', number: 10399 })).toBe('10399')
  expect(findQueries(orders, ' 10399')).toEqual(['filter[number]=10399&fields=number&limit=8'])
  expect(findQueries(orders, 'tea')).toEqual([])
})

test('labels come with the list: relations that can be included and have one', () => {
  const relations = labelled(books, find)
  expect(relations.map(({ name }) => name)).toEqual(['author'])
  expect(includeParts(relations, find)).toEqual(['include=author', 'fields[author]=nick'])
  expect(includeParts([], find)).toEqual([])
  const row = { id: '1', type: 'books', title: 'A', author_id: 'a', author: { id: 'a', type: 'people', nick: 'Ada' } }
  expect(takeLabels(row, relations, find)).toEqual([{ type: 'people', id: 'a', text: 'Ada' }])
  expect(row).toEqual({ id: '1', type: 'books', title: 'A', author_id: 'a' })
  expect(takeLabels({ id: '2', type: 'books', author_id: 'b', author: null }, relations, find)).toEqual([{ type: 'people', id: 'b', text: null }])
  expect(takeLabels({ id: '3', type: 'books', author_id: null, author: null }, relations, find)).toEqual([])
})

test('what refers to a resource, and where it is listed', () => {
  const found = referrersOf(people, [people, books, things], [{ name: 'books', attribute: 'author_id' }])
  expect(found).toEqual([
    { name: 'books', collection: 'books', attribute: 'author_id', relation: 'written', child: true },
    { name: 'books (owner_id)', collection: 'books', attribute: 'owner_id', relation: null, child: false },
  ])
  expect(found.map((each) => viewOf(each, 'people', 'a'))).toEqual([
    { collection: 'books', parent: { collection: 'people', id: 'a' } },
    { collection: 'books', filters: [{ field: 'owner_id', op: 'eq', value: 'a' }] },
  ])
  expect(countPath('people', 'a', ['written'])).toBe('people/a?fields=id&include=written&include[written][limit]=0&include[written][total]=true')
})

test('a field is found by its path', () => {
  expect(fieldAt(books, 'author.home.city', find)).toMatchObject({ type: 'string', name: 'home.city' })
  expect(fieldAt(books, 'author.created_at', find)).toMatchObject({ format: 'date-time' })
  expect(fieldAt(people, 'home.city', find)).toMatchObject({ type: 'string', required: false })
  expect([fieldAt(people, 'home.zip', find), fieldAt(books, 'nobody.name', find), fieldAt(books, 'x', find)]).toEqual([undefined, undefined, undefined])
})

test('a picker searches where there is a search, and finds labels in any usual case', () => {
  const any = (...words: string[]) => words.map((word, i) => `filter[any][${i}][nick][contains]=${word}`).join('&') + '&fields=nick&limit=8'
  expect(findQueries(books, ' Ada lov ')).toEqual(['search=Ada%20lov&fields=title&limit=8'])
  expect(findQueries(people, 'ada lOv')).toEqual([any('ada%20lOv', 'ada%20lov', 'ADA%20LOV', 'Ada%20lov', 'Ada%20Lov')])
  expect(findQueries(people, 'ad')).toEqual([any('ad', 'AD', 'Ad')])
  expect(findQueries(people, '7')).toEqual(['filter[nick][contains]=7&fields=nick&limit=8'])
  // A search that does not look at the label finds what it finds, after the labels.
  expect(findQueries({ ...people, search: ['mail'] }, 'ad')).toEqual([any('ad', 'AD', 'Ad'), 'search=ad&fields=nick&limit=8'])
  expect(findQueries({ ...people, search: ['nick'] }, 'ad')).toEqual(['search=ad&fields=nick&limit=8'])
  expect(findQueries({ ...things, search: ['size'] }, 'ad')).toEqual(['search=ad&fields=id&limit=8'])
  expect(findQueries(books, '')).toEqual(['fields=title&limit=-8'])
  expect(findQueries(books, '01936f2e-7d3c-7a4b-9c5d-0123456789ab')).toEqual(['filter[id]=01936f2e-7d3c-7a4b-9c5d-0123456789ab&fields=title&limit=8'])
  expect(findQueries(things, 'x')).toEqual(['fields=id&limit=-8'])
})

test('what goes with a deletion, in words', () => {
  const effects = (affected: string, deleted: string, total: number) => effectsOf(new Headers({ 'X-Affected': affected, ...(deleted && { 'X-Deleted': deleted }) }), 'people', total, find)
  expect(effects('people=3, books=1200, things=1', 'people=3, books=1200, things=1', 1)).toEqual({ deleted: '2 people, 1,200 books and 1 thing', changed: '' })
  expect(effects('people=3, books=20, things=1', 'people=2, books=8', 2)).toEqual({ deleted: '8 books', changed: '1 person, 12 books and 1 thing' })
  expect(effects('people=3', 'people=3', 3)).toEqual({ deleted: '', changed: '' })
  expect(effectsOf(new Headers(), 'people', 0, find)).toEqual({ deleted: '', changed: '' })
})
