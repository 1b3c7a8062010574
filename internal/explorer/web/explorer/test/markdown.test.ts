import { expect, test } from 'vitest'
import { renderMarkdown, type Piece } from '../lib/markdown'

/** As HTML, to compare: the page itself makes elements of it. */
const write = (pieces: Piece[]): string =>
  pieces.map((piece) => (typeof piece === 'string' ? piece.replaceAll('<', '&lt;') : `<${[piece.tag, ...Object.entries(piece.attributes).filter(([name]) => name === 'href' || name === 'start').map(([name, value]) => `${name}=${value}`)].join(' ')}>${write(piece.pieces)}</${piece.tag}>`)).join('')
const html = (text: string) => write(renderMarkdown(text))

test('the parts of Markdown', () => {
  expect(html('# One\n\nTwo *three* **four** ~~five~~ `six`\nseven\n')).toBe('<h3>One</h3><p>Two <em>three</em> <strong>four</strong> <del>five</del> <code>six</code>\nseven</p>')
  expect(html('- a\n- b\n  1. c\n')).toBe('<ul><li><p>a</p></li><li><p>b</p><ol><li><p>c</p></li></ol></li></ul>')
  expect(html('7. a\n8. b')).toBe('<ol start=7><li><p>a</p></li><li><p>b</p></li></ol>')
  expect(html('- [x] done\n- [ ] open')).toBe('<ul><li><p>☑ done</p></li><li><p>☐ open</p></li></ul>')
  expect(html('> quoted\n> text\n')).toBe('<blockquote><p>quoted\n text</p></blockquote>')
  expect(html('```go\na < b\n\nc\n```\n')).toBe('<pre>a &lt; b\n\nc</pre>')
  expect(html('a\\*b &amp; &lt; &nonsense;  \nc\n\n---\n')).toBe('<p>a*b & &lt; &nonsense;<br></br>c</p><hr></hr>')
  expect(html('| a | b |\n|---|---|\n| 1 |  |\n|  | 2 |\n')).toBe('<table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td></td></tr><tr><td></td><td>2</td></tr></table>')
})

test('links lead to web and mail addresses only, and images are links', () => {
  expect(html('[a *b*](https://x.y "t") <https://z.z> www.w.w m@n.o')).toBe('<p><a href=https://x.y>a <em>b</em></a> <a href=https://z.z>https://z.z</a> <a href=https://www.w.w>www.w.w</a> <a href=mailto:m@n.o>m@n.o</a></p>')
  expect(html('[a][R] [r] [no]\n\n[r]: https://x.y')).toBe('<p><a href=https://x.y>a</a> <a href=https://x.y>r</a> no</p>')
  expect(html('![chart](https://x.y/a.png)')).toBe('<p><a href=https://x.y/a.png>chart</a></p>')
  for (const address of ['javascript:alert(1)', 'JaVaScRiPt:alert(1)', 'data:text/html,x', '//x.y', '/users', 'java\tscript:alert(1)']) expect(html(`[a](<${address}>)`), address).toBe('<p>a</p>')
  expect(html('<javascript:alert(1)>')).toBe('<p>javascript:alert(1)</p>')
})

test('HTML is text, and depth is bounded', () => {
  expect(html('<script>alert(1)</script>\n\na <b onclick=x>c</b>')).toBe('<pre>&lt;script>alert(1)&lt;/script></pre><p>a &lt;b onclick=x>c&lt;/b></p>')
  expect(html('>'.repeat(3000) + ' deep')).toContain('deep')
  expect(html('>'.repeat(3000) + ' deep').match(/<blockquote>/g)!.length).toBeLessThan(60)
})
