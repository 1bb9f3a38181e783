/** Where in a text its faults are: of its own syntax, and of what the service says about it. */
import { ensureSyntaxTree, syntaxTree } from '@codemirror/language';
import { type EditorState, StateEffect, StateField } from '@codemirror/state';
import { Decoration, type DecorationSet, EditorView } from '@codemirror/view';
import { showInvisible } from '../../core/text/visible-text.ts';

export type CodeIssue = { path: string; message: string };
type Tree = ReturnType<typeof syntaxTree>;
type SyntaxNode = Tree['topNode'];
type Fault = { from: number; to: number; message: string };

const found = StateEffect.define<readonly Fault[]>();

/** Replaces the faults that are marked. */
export function markFaults(faults: readonly Fault[]): StateEffect<unknown> {
  return found.of(faults);
}

/** Marks the lines with faults, and underlines them. The messages are in the title of the line: they are also shown outside the editor. */
export const faultMarks = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update: (marks, { changes, effects, newDoc }) =>
    effects.reduce((current, effect) => {
      if (!effect.is(found)) return current;
      const ranges = effect.value.flatMap(({ from, to, message }) => [
        Decoration.line({ class: 'fault-line', attributes: { title: message } }).range(newDoc.lineAt(from).from),
        ...(from < to ? [Decoration.mark({ class: 'fault' }).range(from, to)] : []),
      ]);
      return Decoration.set(ranges, true);
    }, marks.map(changes)),
  provide: (field) => EditorView.decorations.from(field),
});

/** What a text may cost to parse when its faults are placed, in milliseconds. */
const parseTimeoutMs = 100;

/** The first fault of the syntax; without one, the issues at the members that their paths name. */
export function findJsonFaults(state: EditorState, issues: readonly CodeIssue[]): Fault[] {
  const text = state.doc.toString();
  const tree = ensureSyntaxTree(state, text.length, parseTimeoutMs) ?? syntaxTree(state);
  try {
    JSON.parse(text);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return [toFault(state, faultPosition(tree, message) ?? text.length, message)];
  }
  return issues.flatMap(({ path, message }) => {
    const node = findMember(state, tree, path);
    return node === null ? [] : [toFault(state, node.from, `${path}: ${message}`, node.to)];
  });
}

/** The issues whose messages begin with `line <number>`. */
export function findLineFaults(state: EditorState, issues: readonly CodeIssue[]): Fault[] {
  return issues.flatMap(({ message }) => {
    const number = Number(/^line (\d+)\b/.exec(message)?.[1] ?? 0);
    if (number < 1 || number > state.doc.lines) return [];
    const { from, to, text } = state.doc.line(number);
    return [toFault(state, from + (text.length - text.trimStart().length), message, to)];
  });
}

/** A mark that ends with the line. At the end of a line it is put on the last character, where it is seen. */
function toFault({ doc }: EditorState, from: number, message: string, to = from + 1): Fault {
  const line = doc.lineAt(Math.min(from, doc.length));
  const end = Math.min(Math.max(to, from + 1), line.to);
  return { from: Math.min(from, Math.max(line.from, end - 1)), to: end, message: showInvisible(message) };
}

/** Some messages of browsers name the position; the syntax tree has the others. */
function faultPosition(tree: Tree, message: string): number | null {
  const named = /at position (\d+)/.exec(message)?.[1];
  if (named !== undefined) return Number(named);
  let found: number | null = null;
  tree.iterate({
    enter: ({ type, from }) => {
      if (type.isError && found === null) found = from;
      return found === null;
    },
  });
  return found;
}

const values = new Set(['True', 'False', 'Null', 'Number', 'String', 'Object', 'Array']);

/** The member or item that a path such as `tools[1].alias` names, or the nearest one around it. null: the path names none. */
function findMember(state: EditorState, tree: Tree, path: string): SyntaxNode | null {
  let shown: SyntaxNode | null = null;
  let value = childrenOf(tree.topNode).find(({ name }) => values.has(name));
  for (const step of path.match(/[^.[\]"]+/g) ?? []) {
    if (value === undefined) break;
    const isList = value.name === 'Array';
    const found: SyntaxNode | undefined = isList
      ? childrenOf(value).filter(({ name }) => values.has(name))[Number(step)]
      : childrenOf(value).find((one) => one.name === 'Property' && propertyName(state, one) === step);
    if (found === undefined) return shown ?? value;
    shown = found;
    value = isList ? found : (found.lastChild ?? undefined);
  }
  return shown;
}

function propertyName(state: EditorState, property: SyntaxNode): unknown {
  const name = property.getChild('PropertyName');
  // The text is JSON: its names are, too.
  return name === null ? null : JSON.parse(state.sliceDoc(name.from, name.to));
}

function childrenOf(node: SyntaxNode): SyntaxNode[] {
  const children: SyntaxNode[] = [];
  for (let child = node.firstChild; child !== null; child = child.nextSibling) children.push(child);
  return children;
}
