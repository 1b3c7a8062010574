// JSON with exact integers: those beyond what a double holds become a bigint and back.

// Matches strings and numbers. In valid JSON nothing else looks like either.
const TOKENS = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g
const MARK = '\0exact' // no name of a member: U+0000 is in no text of the server

export function parse(text: string): unknown {
  if (!/\d{16}/.test(text)) return JSON.parse(text)
  const marked = text.replace(TOKENS, (token) =>
    /^-?\d{16,}$/.test(token) && !Number.isSafeInteger(Number(token)) ? `{${JSON.stringify(MARK)}:"${token}"}` : token,
  )
  return JSON.parse(marked, (_name, value) => (value?.[MARK] === undefined ? value : BigInt(value[MARK])))
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
