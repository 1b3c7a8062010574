import { expect, test } from 'vitest'
import { operatorsFor, sentence } from '../lib/filters'
import { fieldAt, fieldsOf, isThrough, manyAt, type Collection } from '../lib/schema'
import { filterable, filterableOf, sortable, sortPath } from '../lib/targets'

const people: Collection = {
  name: 'people',
  singular: 'person',
  total: 0,
  label: 'name',
  search: ['about'],
  attributes: [
    { name: 'name', type: 'string', required: true },
    { name: 'about', type: 'string', required: false },
    { name: 'nick', type: 'string', required: false },
    { name: 'home', type: 'object', required: false, properties: { city: { type: 'string' } } },
  ],
  relations: [
    { name: 'books', collection: 'books', many: true, attribute: 'author_id' },
    { name: 'secrets', collection: 'secrets', many: true, attribute: 'of_id' },
  ],
}
const books: Collection = {
  name: 'books',
  singular: 'book',
  total: 0,
  attributes: [
    { name: 'title', type: 'string', required: true },
    { name: 'author_id', type: 'string', format: 'uuid', references: 'people', required: false },
  ],
  relations: [{ name: 'author', collection: 'people', many: false, attribute: 'author_id' }],
}
const find = (name: string) => [people, books].find((each) => each.name === name)

test('filters are on the resource, on relations and counts, and on what is related', () => {
  expect(filterable(people, false, find)).toEqual([
    { about: '', paths: ['id', 'name', 'about', 'nick', 'home'] },
    { about: 'how many it has', paths: ['count.books'] },
    { about: 'of some of its books', paths: ['books', 'books.id', 'books.title', 'books.author_id', 'books.created_at', 'books.updated_at'] },
  ])
  // Those of one related resource go through its references.
  expect(filterableOf(people, 'books', find).map(({ about, paths }) => [about, ...paths.slice(0, 3)])).toEqual([
    ['', 'books.id', 'books.title', 'books.author_id'],
    ['of its author', 'books.author', 'books.author.id', 'books.author.name'],
  ])
  expect(filterableOf(people, 'secrets', find)).toEqual([])
  expect(['books', 'count.books', 'books.author', 'books.title', 'count.nothing', 'count'].map((path) => fieldAt(people, path, find)?.type)).toEqual(['relation', 'count', 'relation', 'string', undefined, undefined])
  expect(['books.title', 'books', 'count.books', 'name', 'home.city'].map((path) => [isThrough(people, path), manyAt(people, path)?.name])).toEqual([[true, 'books'], [true, undefined], [true, undefined], [false, undefined], [false, undefined]])
  expect(manyAt(books, 'author.name')).toBeUndefined()
  // What is called "count" is what it was.
  const counting = { ...people, attributes: [...people.attributes, { name: 'count', type: 'object' as const, required: false, properties: { books: { type: 'string' as const } } }] }
  expect([fieldAt(counting, 'count.books', find)?.type, filterable(counting, false, find).length]).toEqual(['string', 2])
})

test('the comparisons of each', () => {
  const first = (path: string) => operatorsFor(fieldAt(people, path, find)!)[0]
  expect(['name', 'about', 'nick', 'books', 'count.books'].map(first)).toEqual(['search', 'search', 'contains', 'exists', 'gte'])
  expect(operatorsFor(fieldAt(people, 'count.books', find)!)).toEqual(['gte', 'lte', 'eq', 'ne', 'gt', 'lt'])
  expect(['true', 'false'].map((value) => sentence({ field: 'books', op: 'exists', value }).verb)).toEqual(['exists', 'does not exist'])
})

test('a list is sorted by its fields, by counts and through references; a column of references by what is read there', () => {
  expect(sortable(people, false, find)).toEqual([
    { about: '', paths: ['id', 'name', 'about', 'nick'] },
    { about: 'how many it has', paths: ['count.books'] },
  ])
  expect(sortable(books, false, find)).toEqual([
    { about: '', paths: ['id', 'title', 'author_id'] },
    { about: 'of its author', paths: ['author.id', 'author.name', 'author.about', 'author.nick', 'author.created_at', 'author.updated_at'] },
  ])
  expect(fieldsOf(books, false).map((field) => sortPath(books, field, find))).toEqual(['id', 'title', 'author.name'])
  expect(fieldsOf(people, false).map((field) => sortPath(people, field, find))).toEqual(['id', 'name', 'about', 'nick', null])
  expect(sortPath({ ...books, relations: [] }, fieldsOf(books, false)[2]!, find)).toBe('author_id')
})
