// What a list can be filtered and sorted by, as choices: its own fields, then those of related resources by relation.

import { countsOf, fieldsOf, relationOf, labelAttribute, type Collection, type Field, type Find } from './schema'

export interface Choices {
  about: string // empty: the resource itself
  paths: string[]
}

const isScalar = ({ type }: Field) => type !== 'object' && type !== 'array'

/** What can be filtered by. A relation itself is one: whether it has a resource. */
export function filterable(collection: Collection, timestamps: boolean, find: Find): Choices[] {
  const related = (collection.relations ?? []).flatMap(({ name, collection: to, many }) => {
    const fields = fieldsIn(find(to))
    return fields ? [{ about: many ? `of some of its ${name}` : `of its ${name}`, paths: [name, ...fields.map((field) => `${name}.${field.name}`)] }] : []
  })
  return [{ about: '', paths: fieldsOf(collection, timestamps).map(({ name }) => name) }, ...counts(collection, find), ...related]
}

/** What one related resource can be filtered by, also through its references. */
export function filterableOf(collection: Collection, relation: string, find: Find): Choices[] {
  const to = find(collection.relations?.find(({ name }) => name === relation)?.collection ?? '')
  if (!to) return []
  return filterable(to, true, find)
    .filter(({ paths }) => !paths[0]?.startsWith('count.'))
    .map(({ about, paths }) => ({ about, paths: paths.map((path) => `${relation}.${path}`) }))
}

/** What can be sorted by. */
export function sortable(collection: Collection, timestamps: boolean, find: Find): Choices[] {
  const related = (collection.relations ?? []).flatMap(({ name, collection: to, many }) => {
    const fields = many ? undefined : fieldsIn(find(to))?.filter(isScalar)
    return fields ? [{ about: `of its ${name}`, paths: fields.map((field) => `${name}.${field.name}`) }] : []
  })
  return [{ about: '', paths: fieldsOf(collection, timestamps).filter(isScalar).map(({ name }) => name) }, ...counts(collection, find), ...related]
}

const fieldsIn = (collection: Collection | undefined) => collection && fieldsOf(collection, true)

function counts(collection: Collection, find: Find): Choices[] {
  const paths = countsOf(collection).filter((path) => collection.relations?.some(({ name, collection: to }) => path === `count.${name}` && find(to)))
  return paths.length ? [{ about: 'how many it has', paths }] : []
}

/** What the column of a field is sorted by: a reference by the label of what it refers to, as that is what is read there. */
export function sortPath(collection: Collection, field: Field, find: Find): string | null {
  if (!isScalar(field)) return null
  const relation = field.references ? relationOf(collection, field.name) : undefined
  const to = relation && find(relation.collection)
  const label = to && labelAttribute(to)
  return label ? `${relation.name}.${label}` : field.name
}
