// JSON with exact integers: those beyond what a double holds become a bigint and back.

type Reviver = (key: string, value: unknown, context?: { source?: string }) => unknown

const exact: Reviver = (_key, value, context) =>
  typeof value === 'number' && !Number.isSafeInteger(value) && context?.source && /^-?\d+$/.test(context.source)
    ? BigInt(context.source)
    : value

export function parse(text: string): unknown {
  return (JSON.parse as (text: string, reviver: Reviver) => unknown)(text, exact)
}

export function stringify(value: unknown, indent = ''): string {
  return write(value, indent, '\n')
}

function write(value: unknown, indent: string, newline: string): string {
  if (typeof value === 'bigint') return value.toString()
  if (value === null || typeof value !== 'object') return JSON.stringify(value)
  const inner = newline + indent
  const parts = Array.isArray(value)
    ? value.map((item) => write(item, indent, inner))
    : Object.entries(value)
        .filter(([, member]) => member !== undefined)
        .map(([name, member]) => JSON.stringify(name) + (indent ? ': ' : ':') + write(member, indent, inner))
  const [open, close] = Array.isArray(value) ? '[]' : '{}'
  if (parts.length === 0) return `${open}${close}`
  return indent ? open + inner + parts.join(',' + inner) + newline + close : open + parts.join(',') + close
}

/** Whether two values are the same JSON; the order of members counts, as it does for the server. */
export function same(a: unknown, b: unknown): boolean {
  return stringify(a) === stringify(b)
}
