// What a caller may do, by the paths of the OpenAPI document that the server makes for them.

/** What we read of the document. */
export interface Description {
  paths: Record<string, Record<string, unknown>>
  components?: {
    parameters?: Record<string, { name?: string; schema?: { maximum?: number } }>
    schemas?: Record<string, Shape>
    requestBodies?: Record<string, { content: Record<string, { schema: Shape }> }>
  }
}

interface Shape {
  $ref?: string
  oneOf?: Shape[] // one resource, or several
  properties?: Record<string, { readOnly?: boolean }>
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

  constructor({ paths, components }: Description) {
    this.paths = paths
    this.components = components ?? {}
    const limits = Object.values(this.components.parameters ?? {}).filter(({ name }) => name === 'limit')
    this.maxLimit = Math.min(...limits.map(({ schema }) => schema?.maximum ?? Infinity))
  }

  /** How many rows to ask for at a time: one more must be allowed, as a range by cursor begins with a known one. */
  pageSize(wanted: number): number {
    return Math.max(1, Math.min(wanted, this.maxLimit - 1))
  }

  /** Whether a method is there for the collection, or one of its resources. */
  may(method: 'POST' | 'PATCH' | 'DELETE', collection: string): boolean {
    return this.operation(method, collection) !== undefined
  }

  private operation(method: string, collection: string) {
    const path = method === 'POST' ? `/${collection}` : `/${collection}/{id}`
    return this.paths[path]?.[method.toLowerCase()] as { requestBody?: { $ref?: string } } | undefined
  }

  /** The shape of one resource, behind references and choices. */
  private resource(shape: Shape | undefined): Shape | undefined {
    if (shape?.$ref) return this.resource(this.components.schemas?.[named(shape.$ref)])
    return shape?.oneOf ? this.resource(shape.oneOf[0]) : shape
  }

  /** Whether an attribute can be given to a new resource, or changed in one that is there. */
  mayWrite(method: 'POST' | 'PATCH', collection: string, attribute: string): boolean {
    const body = this.components.requestBodies?.[named(this.operation(method, collection)?.requestBody?.$ref)]
    const shape = body?.content['application/json']?.schema
    const properties = this.resource(shape)?.properties
    return !properties || (attribute in properties && !properties[attribute]!.readOnly)
  }

  /** Whether something can be created below a parent. */
  mayBelow(parent: string, collection: string): boolean {
    const child = this.children(parent).find(({ name }) => name === collection)
    return child !== undefined && this.paths[`/${parent}/{${child.attribute}}/${collection}`]?.post !== undefined
  }

  /** The sub-collections of a collection. */
  children(collection: string): Child[] {
    return Object.keys(this.paths).flatMap((path) => {
      const match = /^\/([^/]+)\/\{([^}]+)\}\/([^/]+)$/.exec(path)
      return match?.[1] === collection ? [{ name: match[3]!, attribute: match[2]! }] : []
    })
  }
}
