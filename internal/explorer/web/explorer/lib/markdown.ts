// Markdown as a tree of elements. There is no HTML in it: tags come from the tables below, and everything else is text.

import { GFM, parser } from '@lezer/markdown'

/** Without the parser of HTML, which is larger than all of this. */
export const markdownParser = parser.configure(GFM)

type SyntaxNode = ReturnType<typeof markdownParser.parse>['topNode']

export type Piece = string | { tag: string; attributes: Record<string, string>; pieces: Piece[] }

const DEEP = 40 // levels, beyond which the rest is text

const TAGS: Record<string, string> = {
  ATXHeading1: 'h3', SetextHeading1: 'h3', ATXHeading2: 'h4', SetextHeading2: 'h4', ATXHeading3: 'h5', ATXHeading4: 'h6', ATXHeading5: 'h6', ATXHeading6: 'h6', // below those of the page
  Paragraph: 'p', Task: 'p', Blockquote: 'blockquote', BulletList: 'ul', OrderedList: 'ol', ListItem: 'li', FencedCode: 'pre', CodeBlock: 'pre', HTMLBlock: 'pre',
  Emphasis: 'em', StrongEmphasis: 'strong', Strikethrough: 'del', InlineCode: 'code', HorizontalRule: 'hr', HardBreak: 'br',
  Table: 'table', TableHeader: 'tr', TableRow: 'tr',
}
const LEAVES = new Set(['hr', 'br'])
const BLOCKS = new Set(['Document', 'Blockquote', 'BulletList', 'OrderedList', 'ListItem']) // between whose parts there is only space
const MARKS = new Set(['HeaderMark', 'QuoteMark', 'ListMark', 'CodeMark', 'CodeInfo', 'EmphasisMark', 'StrikethroughMark', 'LinkMark', 'LinkReference', 'TableDelimiter'])
const ENTITIES: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: '\u00a0' }

export function renderMarkdown(text: string): Piece[] {
  const { topNode } = markdownParser.parse(text)
  const slice = (from: number, to: number) => text.slice(from, to)
  const textOf = (node: SyntaxNode) => slice(node.from, node.to)
  const labelOf = (node: SyntaxNode) => textOf(node).slice(1, -1).trim().toLowerCase()
  const references = new Map<string, string>()
  for (const node of topNode.getChildren('LinkReference')) {
    const [label, address] = [node.getChild('LinkLabel'), node.getChild('URL')]
    if (label && address && !references.has(labelOf(label))) references.set(labelOf(label), textOf(address))
  }

  /** What is between two places in a node: its parts, and the text between them. */
  function inside(node: SyntaxNode, depth: number, from = node.from, to = node.to): Piece[] {
    const pieces: Piece[] = []
    let at = from
    const gap = (end: number) => !BLOCKS.has(node.name) && end > at && pieces.push(slice(at, end))
    for (let child = node.firstChild; child; child = child.nextSibling) {
      if (child.from < from || child.to > to) continue
      gap(child.from)
      pieces.push(...piecesOf(child, depth + 1))
      at = child.to
    }
    gap(to)
    return pieces
  }

  function linkTo(address: string | undefined, pieces: Piece[]): Piece[] {
    const href = address?.replace(/^<|>$/g, '') ?? ''
    return /^(https?:\/\/|mailto:)/i.test(href) ? [{ tag: 'a', attributes: { href, target: '_blank', rel: 'noopener noreferrer' }, pieces }] : pieces
  }

  function link(node: SyntaxNode, depth: number): Piece[] {
    const [open, close] = node.getChildren('LinkMark')
    if (!open || !close) return [textOf(node)]
    const label = node.getChild('LinkLabel')
    const named = label && textOf(label) !== '[]' ? labelOf(label) : slice(open.to, close.from).trim().toLowerCase()
    const address = node.getChild('URL')
    const pieces = inside(node, depth, open.to, close.from)
    // An image is a link: the page loads nothing from other servers.
    return linkTo(address ? textOf(address) : references.get(named), pieces.length ? pieces : [address ? textOf(address) : named])
  }

  /** The cells of a row. Empty ones are not in the tree: there are two delimiters instead. */
  function cells(row: SyntaxNode, depth: number): Piece[] {
    const tag = row.name === 'TableHeader' ? 'th' : 'td'
    const found: Piece[] = []
    let delimited = false
    for (let child = row.firstChild; child; child = child.nextSibling) {
      const delimiter = child.name === 'TableDelimiter'
      if (!delimiter || delimited) found.push({ tag, attributes: {}, pieces: delimiter ? [] : inside(child, depth) })
      delimited = delimiter
    }
    return found
  }

  function piecesOf(node: SyntaxNode, depth: number): Piece[] {
    const { name } = node
    const said = textOf(node)
    if (MARKS.has(name)) return []
    if (depth > DEEP) return [said]
    if (name === 'Link' || name === 'Image') return link(node, depth)
    if (name === 'Autolink') return linkTo(said.slice(1, -1), [said.slice(1, -1)])
    if (name === 'URL') return linkTo(/^[a-z]+:/i.test(said) ? said : said.includes('@') ? `mailto:${said}` : `https://${said}`, [said])
    if (name === 'Escape') return [said.slice(1)]
    if (name === 'Entity') return [ENTITIES[said.slice(1, -1)] ?? said]
    if (name === 'TaskMarker') return [said.toLowerCase() === '[x]' ? '☑' : '☐']
    const tag = TAGS[name]
    if (!tag) return name === 'CodeText' || !node.firstChild ? [said] : inside(node, depth)
    if (tag === 'pre') return [{ tag, attributes: {}, pieces: name === 'HTMLBlock' ? [said] : node.getChildren('CodeText').map(textOf) }]
    const attributes: Record<string, string> = {}
    const first = name === 'OrderedList' ? parseInt(said) : 1
    if (first !== 1) attributes.start = String(first)
    return [{ tag, attributes, pieces: LEAVES.has(tag) ? [] : tag === 'tr' ? cells(node, depth) : tag === 'table' ? node.getChildren('TableHeader').concat(node.getChildren('TableRow')).flatMap((row) => piecesOf(row, depth + 1)) : trimmed(inside(node, depth)) }]
  }

  return inside(topNode, 0)
}

/** Without the space after a mark, such as that of a heading. */
const trimmed = ([first, ...rest]: Piece[]): Piece[] => (first === undefined ? [] : typeof first === 'string' ? [first.trimStart(), ...rest] : [first, ...rest])
