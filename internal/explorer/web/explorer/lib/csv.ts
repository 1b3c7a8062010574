// Comma-separated values, as RFC 4180 has them.

/** One line, with its end. */
export function csvLine(cells: string[]): string {
  return `${cells.map((cell) => (/[",\r\n]|^\s|\s$/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell)).join(',')}\r\n`
}

/** Reads all lines. The separator is the one that the first line has most of: comma, semicolon or tab. */
export function readCsv(text: string): string[][] {
  const source = text.replace(/^\uFEFF/, '')
  const first = source.slice(0, source.search(/[\r\n]|$/))
  const [mark] = [',', ';', '\t'].sort((a, b) => first.split(b).length - first.split(a).length)
  const lines: string[][] = []
  let line: string[] = []
  let cell = ''
  let quoted = false
  const end = () => {
    line.push(cell)
    cell = ''
  }
  for (let i = 0; i < source.length; i++) {
    const c = source[i]!
    if (quoted) {
      if (c !== '"') cell += c
      else if (source[i + 1] === '"') cell += source[i++]
      else quoted = false
    } else if (c === '"' && cell === '') quoted = true
    else if (c === mark) end()
    else if (c === '\n' || c === '\r') {
      if (c === '\r' && source[i + 1] === '\n') i++
      end()
      lines.push(line)
      line = []
    } else cell += c
  }
  if (cell !== '' || line.length) {
    end()
    lines.push(line)
  }
  return lines.filter((each) => each.length > 1 || each[0] !== '')
}
