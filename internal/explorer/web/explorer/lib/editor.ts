// The editor for JSON and Markdown. It is a file of its own, which is loaded when such an attribute is edited.
// It is in a shadow root: there CodeMirror's styles are an adopted style sheet, which the content security
// policy of the page allows. In the document they would be a <style> element, which it does not allow.

import { defaultKeymap, history, historyKeymap } from '@codemirror/commands'
import { jsonLanguage } from '@codemirror/lang-json'
import { bracketMatching, defineLanguageFacet, HighlightStyle, indentOnInput, Language, syntaxHighlighting } from '@codemirror/language'
import { Compartment, EditorState } from '@codemirror/state'
import { EditorView, keymap, placeholder } from '@codemirror/view'
import { tags } from '@lezer/highlight'
import { markdownParser } from './markdown'

export type CodeLanguage = 'json' | 'markdown'

/** What screen readers are told, and what is shown where there is no text. */
export interface About {
  label: string
  blank: string
  problem: string // empty: there is none
}

const LANGUAGES: Record<CodeLanguage, Language> = {
  json: jsonLanguage,
  markdown: new Language(defineLanguageFacet(), markdownParser, [], 'markdown'),
}

const colours = HighlightStyle.define([
  { tag: tags.propertyName, color: 'var(--code-name)' },
  { tag: tags.string, color: 'var(--code-text)' },
  { tag: [tags.number, tags.bool, tags.null], color: 'var(--code-value)' },
  { tag: tags.heading, color: 'var(--code-name)', fontWeight: '600' },
  { tag: tags.strong, fontWeight: '600' },
  { tag: tags.emphasis, fontStyle: 'italic' },
  { tag: tags.strikethrough, textDecoration: 'line-through' },
  { tag: [tags.link, tags.url], color: 'var(--accent)' },
  { tag: tags.monospace, color: 'var(--code-text)' },
  { tag: [tags.processingInstruction, tags.contentSeparator, tags.quote, tags.labelName], color: 'var(--faint)' },
])

const theme = EditorView.theme({
  '&': { color: 'var(--ink)' },
  '&.cm-focused': { outline: 'none' }, // what is around it has one
  '.cm-scroller': { maxHeight: '340px', overflow: 'auto', fontFamily: 'var(--mono)', lineHeight: '1.5' },
  '.cm-content': { padding: '4px 0', caretColor: 'var(--ink)' },
  '.cm-line': { padding: '0 9px' },
  '.cm-placeholder': { color: 'var(--faint)' },
  '&.cm-focused .cm-matchingBracket': { backgroundColor: 'var(--chosen)', color: 'inherit' },
  '&.cm-focused .cm-nonmatchingBracket': { backgroundColor: 'var(--danger-ground)', color: 'var(--danger)' },
})

export class CodeEditor {
  private view: EditorView
  private about = new Compartment()

  constructor(root: ShadowRoot, language: CodeLanguage, text: string, about: About, changed: (text: string) => void) {
    this.view = new EditorView({
      root,
      parent: root,
      state: EditorState.create({
        doc: text,
        extensions: [
          LANGUAGES[language],
          syntaxHighlighting(colours),
          bracketMatching(),
          indentOnInput(),
          history(),
          // Ctrl Enter sends the form, and Tab goes to the next field.
          keymap.of([...defaultKeymap.filter(({ key }) => key !== 'Mod-Enter'), ...historyKeymap]),
          EditorView.lineWrapping,
          theme,
          this.about.of(this.tell(about)),
          EditorView.updateListener.of(({ docChanged, state }) => docChanged && changed(state.doc.toString())),
        ],
      }),
    })
  }

  private tell({ label, blank, problem }: About) {
    const attributes = { 'aria-label': label, 'aria-invalid': String(problem !== ''), 'aria-description': problem, spellcheck: 'false' }
    return [EditorView.contentAttributes.of(attributes), placeholder(blank)]
  }

  describe(about: About) {
    this.view.dispatch({ effects: this.about.reconfigure(this.tell(about)) })
  }

  /** Shows another text, unless it is the one that is shown. */
  show(text: string) {
    const { doc } = this.view.state
    if (doc.toString() !== text) this.view.dispatch({ changes: { from: 0, to: doc.length, insert: text } })
  }

  focus() {
    this.view.focus()
  }

  select(anchor: number, head: number) {
    const { length } = this.view.state.doc
    this.view.dispatch({ selection: { anchor: Math.min(anchor, length), head: Math.min(head, length) } })
  }

  destroy() {
    this.view.destroy()
  }
}
