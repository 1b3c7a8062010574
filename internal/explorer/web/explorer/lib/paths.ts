// What a caller may do, by the paths of the OpenAPI document that the server makes for them.

export type Paths = Record<string, Record<string, unknown>>

export interface Child {
  name: string // of the sub-collection
  attribute: string // that holds the id of the parent
}

export class Rights {
  constructor(private paths: Paths) {}

  /** Whether a method is there for the collection, or one of its resources. */
  may(method: 'POST' | 'PATCH' | 'DELETE', collection: string): boolean {
    const path = method === 'POST' ? `/${collection}` : `/${collection}/{id}`
    return this.paths[path]?.[method.toLowerCase()] !== undefined
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
