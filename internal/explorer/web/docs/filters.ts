// Filters as the page shows them.
//
// A list has a parameter for each field and operator, eighty of them and more. As a form
// that is taller than ten screens, so the page has one field for all of them, in which
// filters are written as in the URL.

type Json = { [name: string]: unknown }

const FILTER = /^filter\[(.+?)\](?:\[(.+)\])?$/

/** The one parameter that replaces these, or none if there is no filter among them. */
function folded(filters: Json[]): Json | undefined {
  if (filters.length === 0) return undefined
  const operators = new Map<string, string[]>() // by field
  for (const { name } of filters) {
    const [, field = '', operator] = FILTER.exec(name as string)!
    operators.set(field, [...(operators.get(field) ?? []), ...(operator ? [operator] : [])])
  }
  const fields = new Map<string, string[]>() // by their operators
  for (const [field, its] of operators) {
    const text = its.map((operator) => `\`${operator}\``).join(', ')
    fields.set(text, [...(fields.get(text) ?? []), `\`${field}\``])
  }
  const example = [...operators.keys()].find((field) => field !== 'id' && field !== 'type') ?? 'id'
  return {
    name: 'filters',
    in: 'query',
    description: [
      `Filters as in the URL, separated by \`&\`: \`filter[${example}]=value\`, or \`filter[${example}][operator]=value\`. All must match. \`in\` and \`not_in\` take values separated by commas, \`null\` takes true or false.`,
      [...fields].map(([text, names]) => `- ${names.join(', ')}: ${text}`).join('\n'),
    ].join('\n\n'),
    schema: { type: 'string' },
  }
}

const isFilter = (parameter: Json) => FILTER.test(String(parameter.name))

/** Whether the form needs no field for a parameter: it is a filter, all filters that cannot be listed, or the second name of another one. */
export const isFolded = (parameter: Json) => isFilter(parameter) || (parameter.in === 'query' && ['filters', 'o', 'l'].includes(String(parameter.name)))

/** The parameters of an operation with one in place of its filters. */
export function foldFilters(parameters: Json[], components: Record<string, Json>): Json[] {
  const resolved = (parameter: Json) => (parameter.$ref ? (components[String(parameter.$ref).split('/').at(-1)!] ?? parameter) : parameter)
  const filters = folded(parameters.map(resolved).filter(isFilter))
  return [...parameters.filter((parameter) => !isFolded(resolved(parameter))), ...(filters ? [filters] : [])]
}

/** The request URL for a URL in which all filters are one parameter. */
export function unfoldFilters(url: string): string {
  const [path, query] = split(url, '?')
  if (query === undefined) return url
  const parts = query.split('&').flatMap((part) => {
    const [name, value = ''] = split(part, '=')
    return name === 'filters' ? decodeURIComponent(value).split('&').filter(Boolean).map(escaped) : [part]
  })
  return parts.length === 0 ? path : `${path}?${parts.join('&')}`
}

function split(text: string, separator: string): [string, string?] {
  const at = text.indexOf(separator)
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + 1)]
}

/** Escapes a part of a query where needed, and nothing twice. */
const escaped = (text: string) => text.trim().replace(/%(?![0-9A-Fa-f]{2})|[^\w.~%=+:,*!'()-]/gu, encodeURIComponent)
