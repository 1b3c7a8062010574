// What a caller may do, by the paths of the OpenAPI document that the server makes for them.

/** What we read of the document. */
export interface Description {
  info?: { title?: string; 'x-plural-versions'?: { version: number }[] }
  tags?: { name: string; description?: string }[]
  paths: Record<string, Record<string, unknown>>
  components?: {
    parameters?: Record<string, { name?: string; schema?: { maximum?: number; enum?: string[] } }>
    schemas?: Record<string, Schema>
    requestBodies?: Record<string, { content: Content }>
    responses?: Record<string, { content?: Content }>
  }
}

type Content = Record<string, { schema: Schema }>

interface Schema {
  $ref?: string
  oneOf?: Schema[] // one resource, or several
  items?: Schema
  properties?: Record<string, Schema & { readOnly?: boolean; 'x-plural-write-once'?: boolean }>
}

/** What the last part of a reference is called. */
const named = (reference: string | undefined) => reference?.split('/').pop() ?? ''

export interface Child {
  name: string // of the sub-collection
  attribute: string // that holds the id of the parent
}

export class Rights {
  private paths: Description['paths']
  private components: NonNullable<Description['components']>
  private maxLimit: number
  private tags: NonNullable<Description['tags']>
  maxItems: number // resources of one write

  constructor({ paths, components, tags }: Description) {
    this.tags = tags ?? []
    this.paths = paths
    this.components = components ?? {}
    const limits = Object.values(this.components.parameters ?? {}).filter(({ name }) => name === 'limit')
    this.maxItems = this.itemsOf(paths['/-/transaction']?.post)
    this.maxLimit = Math.min(...limits.map(({ schema }) => schema?.maximum ?? Infinity))
  }

  private itemsOf(operation: unknown): number {
    return (this.bodyOf(operation) as { maxItems?: number } | undefined)?.maxItems ?? 1000
  }

  /** The schema of the body of an operation, which is there or named. */
  private bodyOf(operation: unknown): Schema | undefined {
    const body = (operation as { requestBody?: { $ref?: string; content?: Content } } | undefined)?.requestBody
    const content = body?.content ?? this.components.requestBodies?.[named(body?.$ref)]?.content
    return content?.['application/json']?.schema
  }

  /** What a collection contains, in the words of its schema. Its name alone says nothing. */
  about(collection: string): string {
    const text = this.tags.find(({ name }) => name === collection)?.description ?? ''
    return text.toLowerCase() === `${collection.replaceAll(/[-_]/g, ' ')}.` ? '' : text
  }

  /** Whether the resources of a collection have timestamps, by one of them or, without any, by the document. */
  timestamps(collection: string, sample: object | undefined): boolean {
    if (sample) return 'created_at' in sample
    const { responses } = (this.paths[`/${collection}`]?.get ?? {}) as { responses?: Record<string, { $ref?: string }> }
    const content = this.components.responses?.[named(responses?.['200']?.$ref)]?.content
    const { data } = this.resource(Object.values(content ?? {})[0]?.schema)?.properties ?? {}
    return this.resource(data?.items)?.properties?.created_at !== undefined
  }

  /** How many rows to ask for at a time: one more must be allowed, as a range by cursor begins with a known one. */
  pageSize(wanted: number): number {
    return Math.max(1, Math.min(wanted, this.maxLimit - 1))
  }

  /** Whether a method is there for the collection, or one of its resources. */
  may(method: 'POST' | 'PATCH' | 'DELETE', collection: string): boolean {
    return this.operation(method, collection) !== undefined
  }

  /** Whether a method is there for all resources that match. */
  mayMany(method: 'PATCH' | 'DELETE', collection: string): boolean {
    return this.paths[`/${collection}`]?.[method.toLowerCase()] !== undefined
  }

  /** Whether a change has to say which state of a resource it is for. */
  requiresMatch = (collection: string): boolean => {
    const { patch, delete: remove } = this.paths[`/${collection}`] ?? {}
    return '428' in (((patch ?? remove) as { responses?: object } | undefined)?.responses ?? {})
  }

  private operation(method: string, collection: string) {
    const path = method === 'POST' ? `/${collection}` : `/${collection}/{id}`
    return this.paths[path]?.[method.toLowerCase()]
  }

  /** The schema of one resource; references and choices are followed. */
  private resource(schema: Schema | undefined): Schema | undefined {
    if (schema?.$ref) return this.resource(this.components.schemas?.[named(schema.$ref)])
    return schema?.oneOf ? this.resource(schema.oneOf[0]) : schema
  }

  /** Whether an attribute can be given to a new resource, or changed in one that is there. */
  mayWrite(method: 'POST' | 'PATCH', collection: string, attribute: string): boolean {
    const properties = this.resource(this.bodyOf(this.operation(method, collection)))?.properties
    const property = properties?.[attribute]
    return !properties || (property !== undefined && !property.readOnly && !(method === 'PATCH' && property['x-plural-write-once']))
  }

  /** Whether something can be created below a parent. */
  mayBelow(parent: string, collection: string): boolean {
    const child = this.children(parent).find(({ name }) => name === collection)
    return child !== undefined && this.paths[`/${parent}/{${child.attribute}}/${collection}`]?.post !== undefined
  }

  /** The attributes, or groups of them with commas, by which existing resources are found when they are sent again. */
  keysOf(collection: string): string[] {
    return this.components.parameters?.[`${collection}.on_conflict`]?.schema?.enum ?? []
  }

  /** Whether the resources of a collection can be grouped. */
  mayGroup(collection: string): boolean {
    return this.paths[`/-/groups/${collection}`] !== undefined
  }

  /** Whether the history of a resource can be read. */
  mayHistory(collection: string): boolean {
    return this.paths[`/${collection}/{id}/changes`] !== undefined
  }

  /** The sub-collections of a collection. */
  children(collection: string): Child[] {
    return Object.keys(this.paths).flatMap((path) => {
      const match = /^\/([^/]+)\/\{([^}]+)\}\/([^/]+)$/.exec(path)
      return match?.[1] === collection && match[3] !== 'changes' ? [{ name: match[3]!, attribute: match[2]! }] : []
    })
  }
}
