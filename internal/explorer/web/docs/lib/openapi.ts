// The OpenAPI document, as far as the reference reads it.

export type Json = null | boolean | number | string | Json[] | { [name: string]: Json }

export interface Schema {
  $ref?: string
  type?: string | string[]
  format?: string
  description?: string
  properties?: Record<string, Schema>
  required?: string[]
  items?: Schema
  prefixItems?: Schema[]
  oneOf?: Schema[]
  allOf?: Schema[]
  enum?: Json[]
  const?: Json
  default?: Json
  readOnly?: boolean
  pattern?: string
  minLength?: number
  maxLength?: number
  minimum?: number
  maximum?: number
  exclusiveMinimum?: number
  exclusiveMaximum?: number
  multipleOf?: number
  minItems?: number
  maxItems?: number
  additionalProperties?: boolean | Schema
}

export interface Media {
  schema?: Schema
  example?: Json
  examples?: Record<string, { summary?: string; value: Json }>
}

export interface DocumentParameter {
  $ref?: string
  name: string
  in: 'path' | 'query' | 'header'
  description?: string
  required?: boolean
  schema?: Schema
  example?: Json
}

export interface DocumentResponse {
  $ref?: string
  description: string
  headers?: Record<string, { $ref?: string; description?: string }>
  content?: Record<string, Media>
}

export interface DocumentBody {
  $ref?: string
  description?: string
  content: Record<string, Media>
}

export interface DocumentOperation {
  operationId: string
  tags: string[]
  summary: string
  description?: string
  security?: Record<string, string[]>[]
  parameters?: DocumentParameter[]
  requestBody?: DocumentBody
  responses: Record<string, DocumentResponse>
}

export type PathItem = { parameters?: DocumentParameter[] } & Partial<Record<'get' | 'post' | 'put' | 'patch' | 'delete', DocumentOperation>>

export interface Info {
  title: string
  version: string
  summary?: string
  description?: string
  contact?: { name?: string; url?: string; email?: string }
  license?: { name: string; identifier?: string; url?: string }
  'x-plural-version'?: number // of the interface, that the document describes
  'x-plural-versions'?: { version: number; sunset?: string }[] // all that the server has, the newest last
}

export interface OpenAPI {
  info: Info
  security?: Record<string, string[]>[]
  tags: { name: string; description?: string }[]
  paths: Record<string, PathItem>
  components: {
    schemas?: Record<string, Schema>
    parameters?: Record<string, DocumentParameter>
    requestBodies?: Record<string, DocumentBody>
    responses?: Record<string, DocumentResponse>
    headers?: Record<string, { description?: string }>
  }
}

/** Follows a reference of the document. */
export function resolve<T extends { $ref?: string }>(document: OpenAPI, value: T): T {
  if (!value.$ref) return value
  const [, , kind, name] = value.$ref.split('/')
  const found = (document.components as Record<string, Record<string, T> | undefined>)[kind!]?.[name!]
  return found ?? value
}
