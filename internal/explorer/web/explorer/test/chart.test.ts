import { expect, test } from 'vitest'
import { amountOf, amountText, daily, filtersOf, groupings, groupsPath, isTime, measures, periodsOf, shortTime, takeNames, namesOf, type Group } from '../lib/chart'
import { limitsOf } from '../lib/limits'
import { quantile, readMetrics, sumOf } from '../lib/metrics'
import type { Collection } from '../lib/schema'

const collection: Collection = {
  name: 'issues',
  singular: 'issue',
  total: 1,
  attributes: [
    { name: 'title', type: 'string', required: true },
    { name: 'due', type: 'string', format: 'date', required: false },
    { name: 'owner_id', type: 'string', references: 'people', required: false },
    { name: 'state', type: 'string', enum: ['open'], required: false },
    { name: 'cost', type: 'number', required: false },
    { name: 'more', type: 'object', required: false },
  ],
  relations: [
    { name: 'owner', collection: 'people', many: false, attribute: 'owner_id' },
    { name: 'notes', collection: 'notes', many: true, attribute: 'issue_id' },
  ],
}
const people: Collection = { name: 'people', singular: 'person', total: 1, label: 'name', attributes: [{ name: 'name', type: 'string', required: true }, { name: 'born', type: 'string', format: 'date', required: false }] }
const find = (name: string) => (name === 'people' ? people : undefined)

test('what a chart can show', () => {
  expect(groupings(collection, false, find)).toEqual([
    { about: '', paths: ['state', 'owner_id', 'due:month', 'due:quarter', 'due:year', 'due:week', 'due', 'title', 'cost'] },
    { about: 'of its owner', paths: ['owner.born:month', 'owner.born:quarter', 'owner.born:year', 'owner.born:week', 'owner.born', 'owner.created_at:day', 'owner.created_at:week', 'owner.created_at:month', 'owner.created_at:quarter', 'owner.created_at:year', 'owner.updated_at:day', 'owner.updated_at:week', 'owner.updated_at:month', 'owner.updated_at:quarter', 'owner.updated_at:year', 'owner.name'] },
  ])
  expect(measures(collection)).toEqual([
    { about: '', paths: ['count', 'sum cost', 'avg cost', 'min cost', 'max cost'] },
    { about: 'how many different', paths: ['distinct title', 'distinct due', 'distinct owner_id', 'distinct state', 'distinct cost'] },
  ])
  expect(['due', 'due:week', 'owner.born', 'owner.name', 'state'].map((by) => isTime(collection, by, find))).toEqual([true, true, true, false, false])
  expect(groupsPath(collection, 'state', 'sum cost', '9.5', ['filter[a]=1'], 5, find)).toBe('-/groups/issues?by=state&sum=cost&having[sum.cost][gte]=9.5&filter[a]=1&sort=-sum.cost&limit=5')
  expect(groupsPath(collection, 'owner_id', 'count', '', [], 5, find)).toBe('-/groups/issues?by=owner_id&include=owner&fields[owner]=name&sort=-count&limit=5')
  expect(groupsPath(collection, 'due:month', 'count', '', [], 5, find)).toBe('-/groups/issues?by=due:month&sort=-due:month&limit=5')
  expect(groupsPath(collection, 'due', 'count', '', [], 5, find)).toBe('-/groups/issues?by=due&sort=-due&limit=5')
  const group = { id: '1', by: {}, count: 2, sum: { cost: '3.50' }, avg: { cost: null }, min: { cost: '-1.00' }, max: { cost: 7 } }
  expect([amountOf(group, 'count'), amountOf(group, 'sum cost'), amountOf(group, 'avg cost')]).toEqual([2, 3.5, 0])
  expect(amountOf({ ...group, distinct: { owner_id: 4 } }, 'distinct owner_id')).toBe(4)
  expect([amountText(group, 'min cost'), amountText(group, 'max cost')]).toEqual(['-1.00', '7'])
  expect([amountText(group, 'count'), amountText(group, 'sum cost'), amountText(group, 'avg cost')]).toEqual(['2', '3.50', '0'])
  expect(['-1234567.00', '999', '-0.50'].map((cost) => amountText({ ...group, sum: { cost } }, 'sum cost'))).toEqual(['-1,234,567.00', '999', '-0.50'])
  expect(amountText({ ...group, avg: { cost: 1234.5678 } }, 'avg cost')).toBe('1,234.57')
})

test('the names of groups come with them', () => {
  const groups = [
    { id: '1', by: { owner_id: 'a' }, count: 2, owner: { id: 'a', type: 'people', name: 'Ada' } },
    { id: '2', by: { owner_id: null }, count: 1, owner: null },
    { id: '3', by: { owner_id: 'b' }, count: 1, owner: null },
  ]
  expect(takeNames(groups, namesOf(collection, 'owner_id', find), find)).toEqual([{ type: 'people', id: 'a', text: 'Ada' }, { type: 'people', id: 'b', text: null }])
  // A relation that is called as a member of a group cannot be included.
  const counted = { ...collection, relations: [{ name: 'count', collection: 'people', many: false, attribute: 'owner_id' }] }
  expect([namesOf(collection, 'owner.name', find), namesOf(collection, 'state', find), namesOf(counted, 'owner_id', find)]).toEqual([[], [], []])
})

test('a group is a filter', () => {
  expect(filtersOf('state', 'open')).toEqual([{ field: 'state', op: 'eq', value: 'open' }])
  expect(filtersOf('state', null)).toEqual([{ field: 'state', op: 'null', value: 'true' }])
  expect(filtersOf('due:month', '2026-12-01')).toEqual([{ field: 'due', op: 'gte', value: '2026-12-01' }, { field: 'due', op: 'lt', value: '2027-01-01' }])
  expect(filtersOf('at:day', '2026-02-28T00:00:00.000Z')[1]).toEqual({ field: 'at', op: 'lt', value: '2026-03-01T00:00:00.000Z' })
  expect([shortTime('2026-12-01', 'due:month'), shortTime('2026-02-28T00:00:00.000Z', 'at:day'), shortTime('2026-10-01', 'due:quarter'), shortTime('2026-01-01', 'due:quarter'), shortTime('2026-11-16', 'due:week')]).toEqual(['2026-12', '2026-02-28', '2026 Q4', '2026 Q1', '2026-11-16'])
})

test('a chart over time has the periods without resources: zero for counts and sums, a gap for the rest', () => {
  const group = (start: string | null, n: number, avg: number | null = n): Group => ({ id: `${start}`, by: { 'due:month': start }, count: n, sum: { cost: 10 * n }, avg: { cost: avg } })
  const groups = [group('2026-05-01', 2), group('2026-02-01', 3), group('2025-12-01', 1, null), group(null, 7)] // as they come: the latest first
  const shown = (measure: string, most = 10, least = '') => {
    const { periods, cut } = periodsOf(groups, 'due:month', measure, least, most)
    return { cut, line: periods.map(({ start, group, amount }) => `${String(start).slice(0, 7)} ${amount}${group ? '' : ' empty'}`) }
  }
  expect(shown('count')).toEqual({ cut: false, line: ['null 7', '2025-12 1', '2026-01 0 empty', '2026-02 3', '2026-03 0 empty', '2026-04 0 empty', '2026-05 2'] })
  expect(shown('sum cost').line).toEqual(['null 70', '2025-12 10', '2026-01 0 empty', '2026-02 30', '2026-03 0 empty', '2026-04 0 empty', '2026-05 20'])
  expect(shown('avg cost').line).toEqual(['null 7', '2025-12 null', '2026-01 null empty', '2026-02 3', '2026-03 null empty', '2026-04 null empty', '2026-05 2'])
  // What has less than was asked for is not zero.
  expect(shown('count', 10, '2').line).toEqual(['null 7', '2025-12 1', '2026-01 null empty', '2026-02 3', '2026-03 null empty', '2026-04 null empty', '2026-05 2'])
  // Not more periods than there is room for.
  expect(shown('count', 5)).toEqual({ cut: true, line: ['null 7', '2026-02 3', '2026-03 0 empty', '2026-04 0 empty', '2026-05 2'] })
  expect(shown('count', 3)).toEqual({ cut: true, line: ['null 7', '2026-05 2'] })
  const times = ['2026-03-01T00:00:00.000Z', '2026-02-27T00:00:00.000Z'].map((at) => ({ id: at, by: { 'at:day': at }, count: 1 }))
  expect(periodsOf(times, 'at:day', 'count', '', 10).periods.map(({ start }) => start)).toEqual(['2026-02-27T00:00:00.000Z', '2026-02-28T00:00:00.000Z', '2026-03-01T00:00:00.000Z'])
  const days = ['2026-03-03', '2026-03-01'].map((due) => ({ id: due, by: { due }, count: 1 }))
  expect(periodsOf(days, 'due', 'count', '', 10).periods.map(({ start, amount }) => [start, amount])).toEqual([['2026-03-01', 1], ['2026-03-02', 0], ['2026-03-03', 1]])
})

test('days without any are zero', () => {
  const groups = [{ id: '1', by: { 'at:day': '2026-11-14T00:00:00.000Z' }, count: 3 }]
  expect(daily(groups, 'at:day', 4, new Date('2026-11-16T05:00:00Z'))).toEqual([0, 3, 0, 0])
})

test('limits in words', () => {
  expect(limitsOf({ name: 'a', type: 'string', required: false, minLength: 1, maxLength: 40, pattern: '^a' })).toBe('1 to 40 characters, matches ^a')
  expect(limitsOf({ name: 'a', type: 'integer', required: false, minimum: 0 })).toBe('at least 0')
  expect(limitsOf({ name: 'a', type: 'array', required: false, maxItems: 3 })).toBe('at most 3 items')
})

test('metrics are summed, and latencies are quantiles of what is new', () => {
  const text = (a: number, b: number) => `# HELP x\nd_bucket{route="/a\\"b",le="0.1"} ${a}\nd_bucket{route="/a\\"b",le="1"} ${b}\nd_bucket{route="/a\\"b",le="+Inf"} ${b}\nd_count{status="500"} ${b}\nup 1\n`
  const [before, now] = [readMetrics(text(10, 10)), readMetrics(text(11, 20))]
  expect([sumOf(now, 'd_count'), sumOf(now, 'd_count', ({ status }) => status === '200'), sumOf(now, 'up')]).toEqual([20, 0, 1])
  expect([quantile(before, now, 'd', 0.1), quantile(before, now, 'd', 0.5), quantile(now, now, 'd', 0.5)]).toEqual([0.1, 1, null])
})
