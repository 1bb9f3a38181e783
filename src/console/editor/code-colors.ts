/** The colors of code, from the tokens of `style/tokens.css`. JSON has a parser; JavaScript is colored by its words, as in examples: its parser alone has 30 kB. */
import { json } from '@codemirror/lang-json';
import { HighlightStyle, syntaxHighlighting } from '@codemirror/language';
import { type Extension, StateField } from '@codemirror/state';
import { Decoration, type DecorationSet, EditorView } from '@codemirror/view';
import { tags } from '@lezer/highlight';
import { highlight } from '../parts/text/highlight.ts';

export const jsonColors: Extension = [
  json(),
  syntaxHighlighting(
    HighlightStyle.define([
      { tag: tags.propertyName, class: 't-key' },
      { tag: tags.string, class: 't-string' },
      { tag: [tags.number, tags.bool, tags.null], class: 't-number' },
    ]),
  ),
];

export const javascriptColors: Extension = StateField.define<DecorationSet>({
  create: ({ doc }) => toMarks(doc.toString()),
  update: (marks, { docChanged, newDoc }) => (docChanged ? toMarks(newDoc.toString()) : marks),
  provide: (field) => EditorView.decorations.from(field),
});

function toMarks(text: string): DecorationSet {
  let at = 0;
  return Decoration.set(
    highlight(text, 'javascript').flatMap((token) => {
      const from = at;
      at += token.text.length;
      return token.kind === 'plain' ? [] : [Decoration.mark({ class: `t-${token.kind}` }).range(from, at)];
    }),
  );
}

export const colorTheme: Extension = EditorView.theme({
  '.t-key, .t-keyword': { color: 'var(--accent)' },
  '.t-string': { color: 'var(--ok)' },
  '.t-number, .t-literal': { color: 'var(--violet)' },
  '.t-comment': { color: 'var(--text-3)' },
});
