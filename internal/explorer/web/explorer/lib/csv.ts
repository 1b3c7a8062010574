// Comma-separated values, as RFC 4180 has them, written and read as `plural export` and `plural import` do: an empty cell is
// null, "" is the empty string, and an apostrophe before a text keeps spreadsheets from running it as a formula.

export type Cell = string | null

// A spreadsheet takes a cell that begins with one of these for a formula. The wide ones are those of Japanese and Chinese
// keyboards. Apostrophes before it count as well, so that one is removed from nothing but what has got one.
const FORMULA = /^'*[=+\-@\t\r\n\uFF1D\uFF0B\uFF0D\uFF20]/
const NEGATIVE = /^-[0-9]+(\.[0-9]+)?$/

/** A text that no spreadsheet takes for a formula. */
export const guarded = (text: string): string => (FORMULA.test(text) && !NEGATIVE.test(text) ? `'${text}` : text)
const unguarded = (text: string): string => (text.startsWith("'") && FORMULA.test(text) ? text.slice(1) : text)

/** One line, with its end. */
export function csvLine(cells: Cell[]): string {
  return `${cells.map((cell) => (cell === '' || (cell && /[",\r\n]|^\p{White_Space}|\p{White_Space}$/u.test(cell)) ? `"${cell.replaceAll('"', '""')}"` : (cell ?? ''))).join(',')}\r\n`
}

/** Reads all lines. The separator is the one that the first line has most of: comma, semicolon or tab. */
export function readCsv(text: string): Cell[][] {
  const source = text.replace(/^\uFEFF/, '')
  const first = source.slice(0, source.search(/[\r\n]|$/))
  const [mark] = [',', ';', '\t'].sort((a, b) => first.split(b).length - first.split(a).length)
  const lines: Cell[][] = []
  let line: Cell[] = []
  let cell = ''
  let quote = false // the cell has begun with one
  const end = () => {
    line.push(cell === '' && !quote ? null : unguarded(cell))
    cell = ''
    quote = false
  }
  for (let i = 0; i < source.length; i++) {
    const c = source[i]!
    if (c === '"' && cell === '' && !quote) {
      quote = true
      const close = closing(source, i)
      cell = source.slice(i + 1, close).replaceAll('""', '"')
      i = close
    } else if (c === mark) end()
    else if (c === '\n' || c === '\r') {
      if (c === '\r' && source[i + 1] === '\n') i++
      end()
      lines.push(line)
      line = []
    } else cell += c
  }
  if (cell !== '' || quote || line.length) {
    end()
    lines.push(line)
  }
  return lines.filter((each) => each.length > 1 || each[0] !== null)
}

/** Where the quote closes that begins somewhere: the next one that is not written twice. */
function closing(source: string, begin: number): number {
  for (let at = begin + 1; ; at += 2) {
    at = source.indexOf('"', at)
    if (at < 0) throw new Error(`Line ${source.slice(0, begin).split(/\r\n|\r|\n/).length}: the quote that begins here is never closed. Close it, or write a quote within quotes twice.`)
    if (source[at + 1] !== '"') return at
  }
}
