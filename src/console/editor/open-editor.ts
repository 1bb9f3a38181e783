/**
 * The code editor, loaded when a field for code is first seen. CodeMirror lives in a shadow root: there it styles itself by constructed style
 * sheets, which the policy of the page allows. Tab leaves the editor; Ctrl ] and Ctrl [ indent.
 */
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { bracketMatching, indentOnInput, HighlightStyle, syntaxHighlighting } from '@codemirror/language';
import { Annotation, Compartment, EditorSelection, EditorState, type Extension, StateField } from '@codemirror/state';
import { EditorView, highlightSpecialChars, keymap, lineNumbers, Decoration, type DecorationSet } from '@codemirror/view';
import { codePointName, hiddenCharacter } from '../../core/text/visible-text.ts';
import { type CodeIssue, findJsonFaults, findLineFaults, markFaults, faultMarks } from './code-faults.ts';
import { json } from '@codemirror/lang-json';
import { tags } from '@lezer/highlight';
import { highlight } from '../parts/text/highlight.ts';

export type EditorDescription = {
  label: string;
  isInvalid: boolean;
  /** The ids of the elements that describe the field, with spaces between them. */
  describedBy: string;
  /** What the service says is wrong with the text: for JSON with the path of the member, for JavaScript with the line in the message. */
  issues: readonly CodeIssue[];
};

export type Editor = {
  /** Replaces the text, unless it has this value; can be undone. Does not call `onInput`. */
  set(value: string): void;
  describe(description: EditorDescription): void;
  destroy(): void;
};

/** Marks changes that the user did not make. */
const isExternal = Annotation.define<true>();

/** Faults are marked when the user stops typing for this time. */
const faultDelayMs = 300;

type EditorOptions = {
  language: 'json' | 'javascript';
  label: string;
  /** Whether an input method is composing text in the text area. */
  isComposing(): boolean;
  /** Called with what the user types. */
  onInput(value: string): void;
  signal: AbortSignal;
};

/** Makes an editor of the empty element `host`, with the text, the selection and the focus of the text area. Returns null if it is aborted. */
export async function openEditor(area: HTMLTextAreaElement, host: HTMLElement, options: EditorOptions): Promise<Editor | null> {
  const { language, label, isComposing, onInput, signal } = options;
  // Text that is being composed would be lost.
  if (isComposing())
    await new Promise<void>((resolve) => {
      for (const event of ['compositionend', 'blur']) area.addEventListener(event, () => resolve(), { once: true });
    });
  if (signal.aborted) return null;
  const { id, value, selectionStart, selectionEnd } = area;
  const attributes = new Compartment();
  let issues: readonly CodeIssue[] = [];
  let timer: ReturnType<typeof setTimeout> | undefined;
  const view = new EditorView({
    parent: host.attachShadow({ mode: 'open' }),
    doc: value,
    selection: EditorSelection.single(selectionStart, selectionEnd),
    extensions: [
      lineNumbers(),
      EditorView.lineWrapping,
      EditorState.tabSize.of(2),
      history(),
      indentOnInput(),
      bracketMatching(),
      language === 'json' ? jsonColors : javascriptColors,
      colorTheme,
      hiddenCharacters,
      faultMarks,
      replacements,
      keymap.of([...defaultKeymap, ...historyKeymap]),
      attributes.of(EditorView.contentAttributes.of({ 'aria-label': label })),
      EditorView.updateListener.of(({ docChanged, state, transactions }) => {
        if (!docChanged) return;
        findFaults(faultDelayMs);
        if (!transactions.some((one) => one.annotation(isExternal))) onInput(state.doc.toString());
      }),
      theme,
    ],
  });
  function findFaults(delayMs: number): void {
    clearTimeout(timer);
    timer = setTimeout(() => {
      const find = language === 'json' ? findJsonFaults : findLineFaults;
      view.dispatch({ effects: markFaults(find(view.state, issues)) });
    }, delayMs);
  }
  const focusByLabel = ({ target }: Event): void => {
    if (target instanceof Element && target.closest('label')?.htmlFor === id) view.focus();
  };
  document.addEventListener('click', focusByLabel);
  host.hidden = false;
  if (document.activeElement === area) view.focus();
  return {
    set(next) {
      // The editor has line feeds only, as a text area.
      const insert = next.replaceAll(/\r\n?/g, '\n');
      const { doc } = view.state;
      if (doc.toString() !== insert) view.dispatch({ changes: { from: 0, to: doc.length, insert }, annotations: isExternal.of(true) });
    },
    describe({ label, isInvalid, describedBy, issues: found }) {
      const shown = { 'aria-label': label, 'aria-invalid': String(isInvalid) };
      view.dispatch({ effects: attributes.reconfigure(EditorView.contentAttributes.of(shown)) });
      // An id names only elements of the same root.
      const elements = describedBy.split(' ').flatMap((one) => document.getElementById(one) ?? []);
      view.contentDOM.ariaDescribedByElements = elements.length === 0 ? null : elements;
      issues = found;
      findFaults(0);
    },
    destroy() {
      clearTimeout(timer);
      document.removeEventListener('click', focusByLabel);
      view.destroy();
    },
  };
}

/**
 * Text typed over a selection. Chromium would give it the style of the replaced text, in a `style` attribute, which the policy forbids. Only
 * Chromium has `getSelection` of shadow roots; target ranges are empty there.
 */
const replacements = EditorView.domEventHandlers({
  beforeinput({ inputType, isComposing, data }, view) {
    const chosen = (view.root as Document).getSelection?.();
    if (inputType !== 'insertText' || isComposing || !chosen || chosen.isCollapsed) return false;
    const { anchorNode, anchorOffset, focusNode, focusOffset } = chosen;
    if (!view.contentDOM.contains(anchorNode) || !view.contentDOM.contains(focusNode) || !anchorNode || !focusNode) return false;
    const ends = [view.posAtDOM(anchorNode, anchorOffset), view.posAtDOM(focusNode, focusOffset)];
    const [from, to, insert] = [Math.min(...ends), Math.max(...ends), view.state.toText(data ?? '')];
    view.dispatch({
      changes: { from, to, insert },
      selection: { anchor: from + insert.length },
      userEvent: 'input.type',
      scrollIntoView: true,
    });
    // CodeMirror prevents the default of what is handled.
    return true;
  },
});

const unreadable = new RegExp(String.raw`${hiddenCharacter}|[\p{Co}\p{Cs}]`, 'gu');
const hiddenCharacters = highlightSpecialChars({
  addSpecialChars: unreadable,
  render: (code, description) => {
    const shown = document.createElement('span');
    shown.className = 'cm-specialChar';
    shown.textContent = codePointName(String.fromCodePoint(code ?? 0));
    shown.title = description ?? '';
    return shown;
  },
});

const theme = EditorView.theme({
  '&': { backgroundColor: 'transparent', color: 'var(--text)', fontSize: '13px', height: '100%' },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '1.55', overflow: 'auto' },
  '.cm-content': { caretColor: 'var(--text)', padding: '5px 0' },
  '.cm-gutters': { backgroundColor: 'var(--surface)', border: '0', borderRight: '1px solid var(--line)', color: 'var(--text-3)' },
  '.cm-lineNumbers .cm-gutterElement': { minWidth: '28px' },
  '&.cm-focused .cm-matchingBracket': { backgroundColor: 'var(--sunken)', outline: '1px solid var(--control)' },
  '&.cm-focused .cm-nonmatchingBracket': { backgroundColor: 'var(--bad-soft)' },
  '.cm-specialChar': {
    backgroundColor: 'var(--bad-soft)',
    border: '1px solid var(--bad)',
    borderRadius: '4px',
    color: 'var(--bad)',
    fontSize: '11px',
    padding: '0 3px',
    unicodeBidi: 'isolate',
  },
  '.fault': { textDecoration: 'underline wavy var(--bad)', textUnderlineOffset: '3px' },
  '.fault-line': { backgroundColor: 'var(--bad-soft)' },
});

const jsonColors: Extension = [
  json(),
  syntaxHighlighting(
    HighlightStyle.define([
      { tag: tags.propertyName, class: 't-key' },
      { tag: tags.string, class: 't-string' },
      { tag: [tags.number, tags.bool, tags.null], class: 't-number' },
    ]),
  ),
];

const javascriptColors: Extension = StateField.define<DecorationSet>({
  create: ({ doc }) => toMarks(doc.toString()),
  update: (marks, { docChanged, newDoc }) => (docChanged ? toMarks(newDoc.toString()) : marks),
  provide: (field) => EditorView.decorations.from(field),
});

/** The colors of code, from the tokens of `style/tokens.css`. JSON has a parser; JavaScript is colored by its words, as in examples: its parser alone has 30 kB. */
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

const colorTheme: Extension = EditorView.theme({
  '.t-key, .t-keyword': { color: 'var(--accent)' },
  '.t-string': { color: 'var(--ok)' },
  '.t-number, .t-literal': { color: 'var(--violet)' },
  '.t-comment': { color: 'var(--text-3)' },
});
