/**
 * Writes values into the key of a session, so that different values never make the same key. The last value is unchanged. In the values
 * before it, `%` and the characters that the template has between values are percent-encoded: `{{a}}:{{b}}` makes `x%3Ay:z` of `x:y` and `z`,
 * and `x:y:z` of `x` and `y:z`. Where no text stands between two values, `%|` does. In templates with blocks each value is encoded.
 */
import type { Template, TemplateNode } from './parse-template.ts';

export type KeyWriter = {
  /** Writes text of the template. */
  text(node: Extract<TemplateNode, { kind: 'text' }>): string;
  /** Writes a rendered value. `isOptional`: a block of the template may leave it out. */
  value(node: Extract<TemplateNode, { kind: 'value' }>, text: string, isOptional: boolean): string;
};

/** Neither can be a percent-encoded character, since no hex digit follows the percent sign. */
const nothing = '%_';
const border = '%|';

/** Create one for each rendering: it remembers what was written last. */
export function createKeyWriter({ nodes }: Template): KeyWriter {
  const between = textsBetween(nodes);
  if (between === null) return { text: ({ text }) => text, value: (_node, text) => text };
  const last = nodes.some(isBlock) ? null : nodes.findLast(({ kind }) => kind === 'value');
  const confusable = new Set(['%', ...[...between].flatMap(({ text }) => [...text])]);
  let isAfterValue = false;
  return {
    text(node) {
      if (node.text !== '') isAfterValue = false;
      return between.has(node) ? node.text.replaceAll('%', '%%') : node.text;
    },
    value(node, text, isOptional) {
      const before = isAfterValue ? border : '';
      isAfterValue = true;
      if (node === last) return before + text;
      return before + (text === '' && isOptional ? nothing : escapeValue(text, confusable));
    },
  };
}

/** The texts that may be between two values; all texts in a template with blocks. null: there is at most one value. */
function textsBetween(nodes: readonly TemplateNode[]): ReadonlySet<TemplateNode & { kind: 'text' }> | null {
  if (nodes.some(isBlock)) return new Set(nodes.flatMap(textsIn));
  const first = nodes.findIndex(({ kind }) => kind === 'value');
  const last = nodes.findLastIndex(({ kind }) => kind === 'value');
  return first === last ? null : new Set(nodes.slice(first, last).flatMap(textsIn));
}

function isBlock({ kind }: TemplateNode): boolean {
  return kind === 'each' || kind === 'if';
}

function textsIn(node: TemplateNode): (TemplateNode & { kind: 'text' })[] {
  if (node.kind === 'text') return [node];
  return node.kind === 'value' ? [] : [...node.body, ...node.otherwise].flatMap(textsIn);
}

function escapeValue(text: string, confusable: ReadonlySet<string>): string {
  let escaped = '';
  for (const character of text) escaped += confusable.has(character) ? percentEncoded(character) : character;
  return escaped;
}

function percentEncoded(character: string): string {
  return Array.from(new TextEncoder().encode(character), (byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join('');
}
